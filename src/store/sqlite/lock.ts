import { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../platform/errors.ts';
import { createPrivateFile } from '../../platform/private-files.ts';
import { asStoreError, isBusy } from './failures.ts';

/** The exclusive role *worker* of one store. */
export interface WorkerLock {
  /** The file that holds the lock. */
  readonly file: string;
  release(): void;
}

/**
 * Takes the role *worker* of the store at `path`. Throws `store-locked` with the pid of the process that has it, or
 * `store-unwritable` if the disk refuses.
 * The lock is a write transaction that stays open on a small database beside the store: the kernel ends it with the
 * process in any case, so there are no stale locks and no pid has to be checked. The stored pid is for display.
 */
export function takeWorkerLock(path: string): WorkerLock {
  const file = `${path}.lock`;
  createPrivateFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN IMMEDIATE');
    database.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL); DELETE FROM holder');
    database.prepare('INSERT INTO holder VALUES (?)').run(process.pid);
    // Committed, so that others can read it; taken again at once. A process that takes it in between is detected by the
    // second BEGIN.
    database.exec('COMMIT; BEGIN IMMEDIATE');
  } catch (error) {
    const pid = isBusy(error) ? holderOf(database) : undefined;
    database.close();
    // A full disk or a damaged file does not mean that another process has the lock, so stopping one would not help.
    if (!isBusy(error)) throw asStoreError(error, file);
    throw new ReeveError(
      'store-locked',
      `the store ${path} is in use by another Reeve (pid ${pid ?? 'unknown'}): stop it, or give this one its own REEVE_DATA`,
      { cause: error },
    );
  }
  return { file, release: () => database.close() };
}

function holderOf(database: DatabaseSync): number | undefined {
  try {
    return Number(database.prepare('SELECT pid FROM holder').get()?.pid) || undefined;
  } catch {
    // The other process is between its two transactions: only the lock is known.
    return undefined;
  }
}
