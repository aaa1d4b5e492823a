import type { DatabaseSync } from 'node:sqlite';
import type { Leases } from '../leases.ts';
import type { StoreClock } from '../sql.ts';
import type { Commits } from './commits.ts';
import type { SqliteSql } from './sqlite-sql.ts';

/** Context shared by the methods of a store. */
export type SqliteContext = {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly clock: StoreClock;
  readonly commits: Commits;
  /** The statements that both kinds of store share. */
  readonly sql: SqliteSql;
  readonly leases: Leases;
  readonly settled: SettledCount;
  /** Throws if the store was opened as reader. */
  requireWorker(): void;
};

/** The number of settled deliveries. Counting reads most of the table, so a worker tracks the number. */
export class SettledCount {
  readonly #ask: () => number;
  readonly #isAlone: boolean;
  #count: number;
  #isStale = false;

  /**
   * `ask` counts in the database. With `isAlone`, only this process settles deliveries, so the number stays correct.
   */
  constructor(ask: () => number, { isAlone }: { readonly isAlone: boolean }) {
    this.#ask = ask;
    this.#isAlone = isAlone;
    this.#count = isAlone ? ask() : 0;
  }

  add(count: number): void {
    this.#count += count;
  }

  /** Invalidates the number: it is counted again at the next read. */
  markStale(): void {
    this.#isStale = true;
  }

  read(): number {
    if (!this.#isAlone || this.#isStale) this.#count = this.#ask();
    this.#isStale = false;
    return this.#count;
  }
}
