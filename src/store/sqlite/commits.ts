import type { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../platform/errors.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Durability } from './durability.ts';
import { asStoreError } from './failures.ts';

type CommitStep = {
  readonly write: () => unknown;
  readonly weight: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** Limits of one transaction, so that the next one waits only a few milliseconds for the disk. */
const maxSteps = 256;
const maxWeight = 4 * 2 ** 20;

/**
 * Group commit: all writes that arrive during the sync of a transaction are combined in the next one, so that one
 * sync serves many deliveries. A write resolves after the sync that covers it, in call order.
 */
export class Commits {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #durability: Durability;
  readonly #checkpoints: Checkpoints;
  readonly #onRefused: () => void;
  readonly #begin: { run(): unknown };
  readonly #commit: { run(): unknown };
  #steps: CommitStep[] = [];
  #draining: Promise<void> | undefined;
  #refusedBytes = 0;
  #isClosed = false;

  /** `onRefused` is called when writes were refused of which some may still be in the database. */
  constructor(
    database: DatabaseSync,
    options: { path: string; durability: Durability; checkpoints: Checkpoints; onRefused: () => void },
  ) {
    this.#database = database;
    this.#path = options.path;
    this.#durability = options.durability;
    this.#checkpoints = options.checkpoints;
    this.#onRefused = options.onRefused;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /**
   * Runs a synchronous write in the next transaction. `weight` is its size in bytes, if relevant. A write that
   * throws is rolled back alone; it may run twice, so its effects outside the database must be idempotent.
   */
  write<Result>(write: () => Result, weight = 0): Promise<Result> {
    if (this.#isClosed)
      return Promise.reject(new ReeveError('store-unwritable', `the store ${this.#path} is closed`));
    return new Promise<Result>((resolve, reject) => {
      // The border of the queue: a step's value goes to the promise that was made with it.
      this.#steps.push({ write, weight, resolve: resolve as (value: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Weight of the largest transaction that the disk has refused, until one of that weight is written; 0 for none. */
  get refusedBytes(): number {
    return this.#refusedBytes;
  }

  /** Accepts no more writes, and resolves when all pending ones are written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // Other writes of this turn of the event loop join the first transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#steps.length > 0) {
      const gap = this.#checkpoints.gap();
      if (gap !== undefined) await gap;
      await this.#flush(this.#take());
    }
    this.#draining = undefined;
  }

  #take(): CommitStep[] {
    let weight = 0;
    let count = 0;
    for (const step of this.#steps) {
      if (count > 0 && (count >= maxSteps || weight + step.weight > maxWeight)) break;
      weight += step.weight;
      count += 1;
    }
    return this.#steps.splice(0, count);
  }

  async #flush(batch: readonly CommitStep[]): Promise<void> {
    try {
      const results = this.#run(batch);
      const logBytes = await this.#durability.sync();
      for (const [index, step] of batch.entries()) step.resolve(results[index]);
      const bytes = weightOf(batch);
      if (bytes >= this.#refusedBytes) this.#refusedBytes = 0;
      this.#checkpoints.committed(bytes, logBytes);
    } catch (error) {
      this.#onRefused();
      const refused = asStoreError(error, this.#path);
      const isDisk =
        refused instanceof ReeveError && ['store-unwritable', 'store-lost'].includes(refused.code);
      if (isDisk) this.#refusedBytes = Math.max(this.#refusedBytes, weightOf(batch));
      if (isDisk || batch.length === 1) {
        for (const step of batch) step.reject(refused);
        return;
      }
      // One failing write must not fail the others.
      for (const step of batch) await this.#flush([step]);
    }
  }

  /** Writes the whole batch; if it throws, nothing was written. */
  #run(batch: readonly CommitStep[]): unknown[] {
    this.#durability.prepare();
    try {
      this.#begin.run();
      const results = batch.map((step) => step.write());
      this.#commit.run();
      return results;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  #rollback(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // SQLite has already rolled back (after disk errors); the caller must get the first error.
    }
  }
}

function weightOf(batch: readonly CommitStep[]): number {
  let weight = 0;
  for (const step of batch) weight += step.weight;
  return weight;
}
