import { closeSync, fdatasync, fstatSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { messageOf, ReeveError } from '../../platform/errors.ts';

const syncData = promisify(fdatasync);

/** Makes COMMITs durable across power failures. */
export interface Durability {
  /** Called before a transaction; throws `store-unwritable` until a failed sync is repaired, and `store-lost` permanently. */
  prepare(): void;
  /** Resolves when everything committed so far is on the disk. Returns the size of the log file. Throws `store-lost`. */
  sync(): Promise<number>;
  close(): void;
}

/** For a database without a file. */
export const noDurability: Durability = { prepare() {}, sync: async () => 0, close() {} };

/**
 * Syncs the log of the database at `path` outside SQLite (`synchronous=NORMAL` leaves each COMMIT unsynced), so
 * that the disk works while the event loop accepts the next deliveries: the same guarantee as FULL, and the event loop
 * is blocked for a third of the time.
 *
 * A failed sync may have dropped pages that the kernel now treats as clean, and frames after a gap in the log
 * are lost with it. So nothing is acknowledged until a checkpoint has copied the whole log into the database
 * and synced it.
 *
 * A deleted or replaced file still accepts writes and syncs, and is lost when the process ends. So the paths of all
 * files, and of those in `others`, are compared with the opened files before each sync; `onLost` is called once.
 */
export function createLogDurability(
  database: DatabaseSync,
  path: string,
  options: { readonly others?: readonly string[]; readonly onLost?: (error: ReeveError) => void } = {},
): Durability {
  // SQLite locks the database and its shared memory, never the log: this descriptor cannot take a lock away.
  const log = openSync(`${path}-wal`, 'r+');
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  // The shared memory as well: a process that opens the store without it makes another one, and both write the log.
  const findGone = watchOpenedFiles([path, `${path}-wal`, `${path}-shm`, ...(options.others ?? [])]);
  let isBroken = false;
  let lost: ReeveError | undefined;

  const requireFiles = (): void => {
    const gone = findGone();
    if (gone === undefined) return;
    lost = new ReeveError(
      'store-lost',
      `${gone} was removed or replaced while Reeve runs: nothing can be stored any more. Put the data folder back as it was, or start with an empty one`,
    );
    options.onLost?.(lost);
    throw lost;
  };

  return {
    prepare() {
      if (lost !== undefined) throw lost;
      if (!isBroken) return;
      const row = checkpoint.get();
      if (row?.busy !== 0) throw refusal(path, new Error('a reader holds the log'));
      isBroken = false;
    },
    async sync() {
      requireFiles();
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

type Opened = { readonly path: string; readonly device: number; readonly inode: number };

/**
 * Remembers which files are at these paths now. The returned function names the first path that leads to another file, or to
 * none: what is written to a file that was removed is gone with the process, although every write and sync succeeds.
 */
export function watchOpenedFiles(paths: readonly string[]): () => string | undefined {
  const opened: readonly Opened[] = paths.map((path) => {
    const { dev, ino } = statSync(path);
    return { path, device: dev, inode: ino };
  });
  return () => opened.find(isGone)?.path;
}

function isGone({ path, device, inode }: Opened): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined || found.ino !== inode || found.dev !== device;
}
