import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Sql, SqlRow, SqlValue, SqlWords, Statement } from '../sql.ts';
import { asStoreError } from './failures.ts';

const words: SqlWords = {
  deliveriesBy: (index) => `deliveries INDEXED BY ${index}`,
  isRouted: 'routed = 1',
  isUnrouted: 'routed = 0',
  door: '+door',
  find: 'instr',
  namedDelivery: "CAST(json_extract(run, '$.trigger.delivery') AS INTEGER)",
  memoryDate: "json_extract(value, '$.at')",
  // A pause is kept until it is ended, and a foreign write until the checks of the base have passed.
  isAtRest: `(json_array_length(state, '$.entries') = 0 AND json_array_length(state, '$.outbox') = 0
    AND json_extract(state, '$.paused') IS NULL AND json_extract(state, '$.blocked') IS NULL)`,
  missingColumns: new Set(['memory.at', 'queues.is_at_rest', 'queue_leases.worker']),
};

/** Maximum number of prepared statements kept; lists of many lengths have many texts. */
const maxPrepared = 200;

/** The statements that both databases share, in a file. */
export class SqliteSql implements Sql {
  readonly words = words;
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #now: () => Date;
  readonly #write: <Result>(work: () => Result) => Promise<Result>;
  readonly #prepared = new Map<string, StatementSync>();

  /** `write` runs a synchronous write in the next transaction (`Commits`). */
  constructor(
    database: DatabaseSync,
    options: {
      readonly path: string;
      readonly now: () => Date;
      readonly write: <Result>(work: () => Result) => Promise<Result>;
    },
  ) {
    this.#database = database;
    this.#path = options.path;
    this.#now = options.now;
    this.#write = options.write;
  }

  async all(sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return this.#read(() => this.#prepare(sql).all(...this.#bind(values)) as readonly SqlRow[]);
  }

  async get(sql: string, values: readonly SqlValue[] = []): Promise<SqlRow | undefined> {
    return this.find({ sql, values });
  }

  batch(statements: readonly Statement[]): Promise<readonly number[]> {
    return this.#write(() => this.run(statements));
  }

  /** Reads one row synchronously, as inside a transaction. */
  find({ sql, values }: Statement): SqlRow | undefined {
    // SQLite boundary: every value of a row is one of the five storage classes.
    return this.#read(() => this.#prepare(sql).get(...this.#bind(values)) as SqlRow | undefined);
  }

  /** Runs the statements of `batch` inside a transaction. */
  run(statements: readonly Statement[]): readonly number[] {
    const counts: number[] = [];
    for (const { sql, values, isGuard } of statements) {
      const count = Number(this.#prepare(sql).run(...this.#bind(values)).changes);
      counts.push(count);
      if (isGuard && count === 0) break;
    }
    return counts;
  }

  /** Reads, and converts a refusal of the disk to a store error. */
  #read<Result>(ask: () => Result): Result {
    try {
      return ask();
    } catch (error) {
      throw asStoreError(error, this.#path);
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    if (this.#prepared.size >= maxPrepared) this.#prepared.clear();
    const prepared = this.#database.prepare(sql);
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  #bind(values: readonly SqlValue[]): SQLInputValue[] {
    const nowMs = this.#now().getTime();
    return values.map((value) => {
      if (typeof value === 'boolean') return Number(value);
      if (typeof value !== 'object' || value === null) return value;
      if ('indexed' in value) return value.indexed;
      return new Date(nowMs + value.fromNowMs).toISOString();
    });
  }
}
