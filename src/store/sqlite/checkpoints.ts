import type { DatabaseSync } from 'node:sqlite';
import { createCheckpointThread } from './checkpoint-thread.ts';

/** Copies the write-ahead log into the database from time to time, so that the log stays small. */
export interface Checkpoints {
  /** Records a committed transaction: its approximate size, and the size of the log file after it if that is known. */
  committed(bytes: number, logBytes?: number): void;
  /**
   * Returns a promise if the next transaction must wait for a checkpoint, undefined otherwise. Call it between
   * transactions: the last pass of a checkpoint is complete only while no transaction appends to the log. All callers wait for
   * the same pass.
   */
  gap(): Promise<void> | undefined;
  /** Returns why the last checkpoint failed; undefined once one succeeds. */
  failure(): string | undefined;
  close(): Promise<void>;
}

/** For a database with automatic checkpoints. */
export const noCheckpoints: Checkpoints = {
  committed() {},
  gap: () => undefined,
  failure: () => undefined,
  async close() {},
};

/** A checkpoint begins after this many bytes; SQLite's default size, but outside the event loop. */
const beginBytes = 12 * 2 ** 20;
/**
 * A log file above this size begins a checkpoint whatever the estimate is. `journal_size_limit` must be the same: SQLite then
 * truncates the file when the log restarts, so a larger file means a larger log and not a former peak.
 */
export const logLimitBytes = 32 * 2 ** 20;
/** A log file above this size makes transactions wait until the current checkpoint is complete. */
const maxLogBytes = 44 * 2 ** 20;
/** Estimated bytes of a transaction in addition to its payload: changed pages of tables and indexes. */
const overheadBytes = 4 * 32_768;
/** After an incomplete checkpoint (a reader used the log, the disk refused), the next begins after this many bytes. */
const retryBytes = 2 ** 20;

/** Passes in parallel with transactions before the one in a gap: each has less to copy than the one before. */
const passesBeside = 2;

/**
 * Creates the checkpoints of the database at `path`. They run in a thread, since a checkpoint syncs twice; the thread
 * starts with the first one.
 *
 * SQLite restarts the log only when a transaction begins while every frame is copied. Under steady load a checkpoint
 * beside transactions never gets there: new frames arrive while it copies. So two passes copy nearly everything beside
 * them, and a third copies the rest in a gap between two transactions, which waits for it.
 */
export function createThreadedCheckpoints(database: DatabaseSync, path: string): Checkpoints {
  database.exec('PRAGMA wal_autocheckpoint = 0');
  let state: 'idle' | 'beside' | 'due' | 'unavailable' = 'idle';
  let beside: Promise<void> | undefined;
  let inGap: Promise<void> | undefined;
  let sinceBytes = 0;
  let nextBytes = beginBytes;
  let logBytes = 0;
  const thread = createCheckpointThread(path, () => {
    // Without the thread, the database checkpoints in its COMMITs: slower, and equally safe.
    state = 'unavailable';
    database.exec('PRAGMA wal_autocheckpoint = 512');
  });

  const runBeside = async (): Promise<void> => {
    for (let done = 0; done < passesBeside && state === 'beside'; done += 1) await thread.pass();
    if (state === 'beside') state = 'due';
  };

  const runInGap = async (): Promise<void> => {
    // A transaction waits for it, which keeps the process alive.
    thread.ref();
    await beside;
    if (state !== 'due') return;
    const result = await thread.pass();
    thread.unref();
    if (state === 'due') state = 'idle';
    const isComplete = !('error' in result) && result.checkpointed === result.log;
    sinceBytes = 0;
    nextBytes = isComplete ? beginBytes : retryBytes;
  };

  /** A log file above the limit is checkpointed at once, unless the last attempt has just been incomplete. */
  const isDue = (): boolean =>
    sinceBytes >= nextBytes || (logBytes > logLimitBytes && sinceBytes >= retryBytes);

  return {
    committed(bytes, size) {
      sinceBytes += bytes + overheadBytes;
      logBytes = size ?? logBytes;
      if (state !== 'idle' || !isDue()) return;
      state = 'beside';
      beside = runBeside();
    },
    gap() {
      if (state === 'due' || (state === 'beside' && logBytes > maxLogBytes))
        inGap ??= runInGap().finally(() => {
          inGap = undefined;
        });
      return inGap;
    },
    failure: thread.failure,
    async close() {
      thread.ref();
      await beside;
      await thread.close();
    },
  };
}
