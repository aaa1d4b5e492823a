/** The clock of a store, without timers. */
export type StoreClock = { now(): Date; monotonicMs(): number };

/** A row: values by column name. Times are RFC 3339, and JSON is text. */
export type SqlRow = Readonly<Record<string, null | number | bigint | boolean | string | Uint8Array>>;

/**
 * A value of a statement. `indexed`: a text for an indexed column, which PostgreSQL stores shortened if it is long.
 * `fromNowMs`: an instant of the store's clock, given as an offset from now in milliseconds.
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

/** A statement with a `?` for each value, in order. A guard that changes no row ends the batch it belongs to. */
export type Statement = {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly isGuard?: boolean;
};

/**
 * The database of a store, for everything that both kinds of database have in common. Statements are written once;
 * `SqlWords` contains the differences. Instants are RFC 3339 text in values and in rows.
 */
export interface Sql {
  readonly words: SqlWords;
  all(sql: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  get(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | undefined>;
  /**
   * Runs writes in one transaction, in order, up to the first guard that changes no row; the writes before it are kept.
   * Returns the number of rows that each write changed.
   */
  batch(statements: readonly Statement[]): Promise<readonly number[]>;
}

/** SQL fragments that differ between the two kinds of database. */
export type SqlWords = {
  /** Returns the table of deliveries for use with an index. SQLite needs a hint. */
  readonly deliveriesBy: (index: string) => string;
  /** Conditions of the partial indexes. */
  readonly isRouted: string;
  readonly isUnrouted: string;
  /** The column `door`, written such that its index is not used. */
  readonly door: string;
  /** Function that finds one text in another. */
  readonly find: string;
  /** The delivery that a run names, for runs that are not stored with their delivery. */
  readonly namedDelivery: string;
  /** Date by which the retention deletes plain data. */
  readonly memoryDate: string;
  /** Condition that a queue is idle. */
  readonly isAtRest: string;
  /** Columns that this database does not have, as `table.column`. */
  readonly missingColumns: ReadonlySet<string>;
};

/** Returns the parts of an INSERT or UPDATE for columns of a table, without those that the database does not have. */
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
