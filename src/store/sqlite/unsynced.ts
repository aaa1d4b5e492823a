import type { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../platform/errors.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Durability } from './durability.ts';
import { asStoreError } from './failures.ts';

/** Writes that do not wait for the disk. */
export interface UnsyncedWrites {
  /** The durability for group commits: unsynced writes run between its syncs. */
  readonly durability: Durability;
  /**
   * Runs a synchronous write in a transaction of its own, without a sync. A crash of the process keeps it; a power failure may undo
   * it, unless a later write was synced. It runs while no sync is under way, so it sees no write that is not durable yet.
   */
  write<Result>(work: () => Result): Promise<Result>;
}

/** Creates the unsynced writes beside the group commits of a database. */
export function createUnsyncedWrites(
  database: DatabaseSync,
  options: { readonly path: string; readonly durability: Durability; readonly checkpoints: Checkpoints },
): UnsyncedWrites {
  const { path, durability, checkpoints } = options;
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  let isSyncing = false;
  const waiting: (() => void)[] = [];

  const runWaiting = (): void => {
    if (isSyncing) return;
    const gap = checkpoints.gap();
    if (gap !== undefined) void gap.then(runWaiting);
    else for (const step of waiting.splice(0)) step();
  };

  const run = <Result>(work: () => Result): Result => {
    durability.prepare();
    try {
      begin.run();
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // After a disk error, SQLite has already rolled back.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };

  const attempt = <Result>(work: () => Result): Result => {
    if (!database.isOpen) throw new ReeveError('store-unwritable', `the store ${path} is closed`);
    try {
      const result = run(work);
      checkpoints.committed(0);
      return result;
    } catch (error) {
      throw asStoreError(error, path);
    }
  };

  return {
    durability: {
      ...durability,
      async sync() {
        isSyncing = true;
        try {
          return await durability.sync();
        } finally {
          isSyncing = false;
          // Before the next transaction, which is synced at once: under load, one sync follows the other.
          runWaiting();
        }
      },
    },
    write: (work) =>
      new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(attempt(work));
          } catch (error) {
            reject(error);
          }
        });
        runWaiting();
      }),
  };
}
