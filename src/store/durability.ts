import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { messageOf, ReeveError } from '../errors.ts';

const syncData = promisify(fdatasync);

/** What makes a COMMIT survive the loss of power. */
export interface Durability {
  /** Called before a transaction; throws `store-unwritable` while an earlier sync is not made good. */
  prepare(): void;
  /** Resolves when everything committed so far is on the disk. Returns the size of the log file. */
  sync(): Promise<number>;
  close(): void;
}

/** For a database without a file. */
export const noDurability: Durability = { prepare() {}, sync: async () => 0, close() {} };

/**
 * Syncs the log of the database at `path` from outside of SQLite (`synchronous=NORMAL` leaves each COMMIT unsynced), so
 * that the disk works while the event loop takes the next deliveries: the same promise as FULL, at a third of the time
 * the loop stands still.
 *
 * A sync that failed may have dropped pages that the kernel now calls clean, and frames that follow a hole in the log
 * are lost with it. So nothing is acknowledged again before a checkpoint has carried the whole log into the database
 * and synced that.
 */
export function createLogDurability(database: DatabaseSync, path: string): Durability {
  // SQLite locks the database and its shared memory, never the log: this descriptor cannot take a lock away.
  const log = openSync(`${path}-wal`, 'r+');
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  let isBroken = false;
  return {
    prepare() {
      if (!isBroken) return;
      const row = checkpoint.get();
      if (row?.busy !== 0) throw refusal(path, new Error('a reader holds the log'));
      isBroken = false;
    },
    async sync() {
      try {
        await syncData(log);
        return fstatSync(log).size;
      } catch (error) {
        isBroken = true;
        throw refusal(path, error);
      }
    },
    close: () => closeSync(log),
  };
}

function refusal(path: string, cause: unknown): ReeveError {
  return new ReeveError('store-unwritable', `the store ${path} cannot be synced: ${messageOf(cause)}`, {
    cause,
    retryAfterMs: 5_000,
  });
}
