import type { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../errors.ts';
import { asStoreError } from './failures.ts';

type Step = {
  readonly write: () => unknown;
  readonly weight: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** At most this much in one transaction: the next one waits for no more than a few milliseconds of disk. */
const maxSteps = 256;
const maxWeight = 4 * 2 ** 20;

/**
 * Group commit: all writes of one turn of the event loop leave in one transaction, so that one fsync serves many
 * deliveries. A write resolves after the COMMIT that contains it, in the order asked.
 */
export class Commits {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #begin: { run(): unknown };
  readonly #commit: { run(): unknown };
  #steps: Step[] = [];
  #scheduled = false;
  #closed = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** Runs a synchronous write in the next transaction. `weight` is its size in bytes, where that matters. */
  write<Result>(write: () => Result, weight = 0): Promise<Result> {
    if (this.#closed)
      return Promise.reject(new ReeveError('store-unwritable', `the store ${this.#path} is closed`));
    return new Promise<Result>((resolve, reject) => {
      // The border of the queue: a step's value goes to the promise that was made with it.
      this.#steps.push({ write, weight, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Writes what waits, at once, and takes no more. */
  close(): void {
    this.#closed = true;
    while (this.#steps.length > 0) this.#flush();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#steps.length > 0) this.#flush();
      if (this.#steps.length > 0) this.#schedule();
    });
  }

  #flush(): void {
    const batch = this.#take();
    const error = this.#run(batch);
    if (error === undefined) return;
    // One write that cannot be done must not take its neighbours along; a disk that refuses refuses all of them.
    const refused = asStoreError(error, this.#path);
    const isDisk = refused instanceof ReeveError && refused.code === 'store-unwritable';
    for (const step of batch) {
      const own = isDisk || batch.length === 1 ? error : this.#run([step]);
      if (own !== undefined) step.reject(asStoreError(own, this.#path));
    }
  }

  #take(): Step[] {
    let weight = 0;
    let count = 0;
    for (const step of this.#steps) {
      if (count > 0 && (count >= maxSteps || weight + step.weight > maxWeight)) break;
      weight += step.weight;
      count += 1;
    }
    return this.#steps.splice(0, count);
  }

  /** Returns what went wrong; then nothing of the batch happened and no promise was resolved. */
  #run(batch: readonly Step[]): unknown {
    const results: unknown[] = [];
    try {
      this.#begin.run();
      for (const step of batch) results.push(step.write());
      this.#commit.run();
    } catch (error) {
      this.#rollback();
      return error;
    }
    for (const [index, step] of batch.entries()) step.resolve(results[index]);
    return undefined;
  }

  #rollback(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself (disk errors do that); what failed first is what the caller must hear.
    }
  }
}
