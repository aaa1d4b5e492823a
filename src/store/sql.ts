/** The clock of a store, without timers. */
export type StoreClock = { now(): Date; monotonicMs(): number };

/** A row: values by column name. Times are RFC 3339, JSON is text. */
export type SqlRow = Readonly<Record<string, null | number | bigint | boolean | string | Uint8Array>>;

/**
 * A value of a statement. `indexed`: a text for an indexed column, which PostgreSQL stores shortened if it is long.
 * `fromNowMs`: an instant of the store's clock, as an offset from now in milliseconds.
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

/** A statement with a `?` for each value, in order. A guard that changes no row ends its batch. */
export type Statement = {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly isGuard?: boolean;
};

/**
 * The database of a store, for everything that both databases share. Statements are written once, with `SqlWords` for
 * the differences. Instants are RFC 3339 text in values and in rows.
 */
export interface Sql {
  readonly words: SqlWords;
  all(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  get(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | undefined>;
  /**
   * Runs writes in one transaction, in order, up to the first guard that changes no row; earlier ones are kept. Returns
   * the number of rows changed by each.
   */
  batch(statements: readonly Statement[]): Promise<readonly number[]>;
}

/** SQL fragments that differ between the two databases. */
export type SqlWords = {
  /** Returns the table of deliveries with an index: SQLite needs a hint. */
  readonly deliveriesBy: (index: string) => string;
  /** The conditions of the partial indexes. */
  readonly isRouted: string;
  readonly isUnrouted: string;
  /** The column, without the use of its index. */
  readonly door: string;
  /** The function that finds a text in another one. */
  readonly find: string;
  /** The date at which plain data expires. */
  readonly memoryDate: string;
  /** Whether a queue is idle. */
  readonly isAtRest: string;
  /** Columns that this database lacks, as `table.column`. */
  readonly missingColumns: ReadonlySet<string>;
};

/** Returns the parts of an INSERT or UPDATE of a table's columns, without those that the database lacks. */
export function columnsOf({ words }: Sql, table: string, given: Readonly<Record<string, SqlValue>>) {
  const columns = Object.entries(given).filter(([name]) => !words.missingColumns.has(`${table}.${name}`));
  const join = (write: (name: string) => string): string => columns.map(([name]) => write(name)).join(', ');
  return {
    names: join((name) => name),
    marks: join(() => '?'),
    /** `name = ?` for each column. */
    assignments: join((name) => `${name} = ?`),
    /** `name = excluded.name` for each column. */
    replacements: join((name) => `${name} = excluded.${name}`),
    values: columns.map(([, value]) => value),
  };
}

/** Returns one `?` for each element of a list. */
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
