/** The clock of a store, which never waits. */
export type StoreClock = { now(): Date; monotonicMs(): number };

/** A row: values by the names of their columns. Times are RFC 3339, JSON is text. */
export type SqlRow = Readonly<Record<string, null | number | bigint | boolean | string | Uint8Array>>;

/**
 * A value of a statement. `indexed`: a text for a column with an index, which PostgreSQL holds shortened if it is long.
 * `fromNowMs`: an instant of the store's clock, so many milliseconds from now.
 */
export type SqlValue =
  | null
  | number
  | boolean
  | string
  | { readonly indexed: string }
  | { readonly fromNowMs: number };

/** The current instant of the store's clock. */
export const now = { fromNowMs: 0 };

/** A statement whose `?` stand for the values, in their order. A guard that changes no row ends its batch. */
export type Statement = {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly isGuard?: boolean;
};

/**
 * The database of a store, for everything that both databases do alike. Statements are written once, with the words of `SqlWords`
 * where the databases differ. Instants are RFC 3339 text in values and in rows.
 */
export interface Sql {
  readonly words: SqlWords;
  all(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  get(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | undefined>;
  /**
   * Runs writes in one transaction, in order, up to the first guard that changes no row; those before it are kept. Returns how many
   * rows each one changed.
   */
  batch(statements: readonly Statement[]): Promise<readonly number[]>;
}

/** The words that differ between the two databases. */
export type SqlWords = {
  /** Returns the table of deliveries, read by an index: SQLite has to be told. */
  readonly deliveriesBy: (index: string) => string;
  /** The conditions of the partial indexes. */
  readonly isRouted: string;
  readonly isUnrouted: string;
  /** The column, without the index on it. */
  readonly door: string;
  /** The function that finds a text in another one. */
  readonly find: string;
  /** The date by which plain data expires. */
  readonly memoryDate: string;
  /** Whether a queue holds nothing. */
  readonly isAtRest: string;
  /** Columns that this database does not have, as `table.column`. */
  readonly missingColumns: ReadonlySet<string>;
};

/** Returns the parts of an INSERT or UPDATE of columns of a table, without those that the database does not have. */
export function columnsOf({ words }: Sql, table: string, given: Readonly<Record<string, SqlValue>>) {
  const columns = Object.entries(given).filter(([name]) => !words.missingColumns.has(`${table}.${name}`));
  const join = (write: (name: string) => string): string => columns.map(([name]) => write(name)).join(', ');
  return {
    names: join((name) => name),
    marks: join(() => '?'),
    /** `name = ?` for each. */
    assignments: join((name) => `${name} = ?`),
    /** `name = excluded.name` for each. */
    replacements: join((name) => `${name} = excluded.${name}`),
    values: columns.map(([, value]) => value),
  };
}

/** Returns so many `?`, for a list. */
export function marksFor(list: readonly unknown[]): string {
  return list.map(() => '?').join(', ');
}

/** Conditions joined by AND, with their values. */
export class Conditions {
  readonly #texts: string[] = [];
  readonly values: SqlValue[] = [];

  add(text: string, ...values: readonly SqlValue[]): this {
    this.#texts.push(text);
    this.values.push(...values);
    return this;
  }

  get sql(): string {
    return this.#texts.length === 0 ? 'true' : this.#texts.join(' AND ');
  }
}
