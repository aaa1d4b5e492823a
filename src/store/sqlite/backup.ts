import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../platform/errors.ts';
import { createPrivateFile, createPrivateFolder } from '../../platform/private-files.ts';
import { asStoreError } from './failures.ts';
import { takeWorkerLock } from './lock.ts';
import { schemaVersionOf, schemaVersions } from './migrations.ts';
import { pageBytes } from './sqlite-store.ts';

/** Size and contents of a copy of a store. */
export type StoreCopy = { readonly bytes: number; readonly deliveries: number; readonly runs: number };

/**
 * Copies the store at `path` into a new file with mode 0600, as a snapshot, also while a server writes to it. The copy
 * is checked and synced when this returns. Throws `usage` if the file exists, `store-unwritable` if a disk refuses.
 */
export function backUpStore(path: string, target: string): StoreCopy {
  if (existsSync(target)) {
    throw new ReeveError('usage', `${target} already exists: name a new file, or move this one away`);
  }
  const part = `${target}.${process.pid}.part`;
  try {
    const copy = copyStore(path, part);
    renameSync(part, target);
    syncFolder(dirname(target));
    return copy;
  } catch (error) {
    throw asStoreError(error, target);
  } finally {
    rmSync(part, { force: true });
  }
}

/**
 * Replaces the store at `path` with a copy, and moves the existing store to the returned path `replaced`. `stamp` is
 * part of that name. Throws `store-locked` while a server uses the store, or `usage` if the source is not a store that
 * this program can read; nothing has changed then.
 */
export function restoreStore(
  path: string,
  source: string,
  stamp: string,
): StoreCopy & { readonly replaced: string | undefined } {
  if (!existsSync(source)) throw new ReeveError('usage', `there is no file ${source}`);
  createPrivateFolder(dirname(path), { holds: basename(path) });
  const lock = takeWorkerLock(path);
  const part = `${path}.${process.pid}.part`;
  const replaced = `${path}.replaced-${stamp}`;
  try {
    const copy = copyStore(source, part);
    const hadStore = keepAside(path, replaced);
    renameSync(part, path);
    syncFolder(dirname(path));
    return { ...copy, replaced: hadStore ? replaced : undefined };
  } catch (error) {
    throw asStoreError(error, path);
  } finally {
    rmSync(part, { force: true });
    lock.release();
  }
}

/**
 * Gives the store at `path` and its log a second name, so that a store exists under the first name even if the process
 * is killed at any time. Returns whether there was a store. No log stays under the first name, because SQLite would
 * apply it to any database beside it.
 */
function keepAside(path: string, replaced: string): boolean {
  const hadStore = existsSync(path);
  const hadLog = existsSync(`${path}-wal`);
  if (hadLog) linkSync(`${path}-wal`, `${replaced}-wal`);
  if (hadStore) emptyLog(path);
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  if (hadLog && statSync(`${replaced}-wal`).size === 0) rmSync(`${replaced}-wal`);
  if (hadStore) linkSync(path, replaced);
  return hadStore;
}

/** Moves data that is only in the log into the database. A damaged database keeps its log. */
function emptyLog(path: string): void {
  try {
    const database = new DatabaseSync(path);
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  } catch {
    // The store is replaced in any case. The log already has its second name, and the database gets one.
  }
}

/** Writes one consistent copy to `part`, checks it, and syncs it to the disk. */
function copyStore(path: string, part: string): StoreCopy {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  try {
    requireStore(database, path);
    createPrivateFile(part);
    // Reads in one transaction: writers continue concurrently, and their changes stay in the log until this transaction
    // ends. The copy of a file of an earlier version gets the smaller pages.
    database.exec(`PRAGMA page_size = ${pageBytes}`);
    database.prepare('VACUUM INTO ?').run(part);
  } finally {
    database.close();
  }
  const file = openSync(part, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  const copy = new DatabaseSync(part, { readOnly: true });
  try {
    const { quick_check: verdict } = copy.prepare('PRAGMA quick_check(1)').get() ?? {};
    if (verdict !== 'ok') throw new ReeveError('store-unwritable', `${path} is damaged: ${String(verdict)}`);
    return {
      bytes: statSync(part).size,
      deliveries: countOf(copy, 'deliveries'),
      runs: countOf(copy, 'runs'),
    };
  } finally {
    copy.close();
  }
}

/** Throws `usage` if a database is not a store, or `store-newer` if a later program has changed it. */
export function requireStore(database: DatabaseSync, path: string): void {
  const known = database
    .prepare(
      `SELECT count(*) AS count FROM sqlite_master WHERE type = 'table' AND name IN ('deliveries', 'runs')`,
    )
    .get();
  const version = schemaVersionOf(database);
  if (Number(known?.count) !== 2 || version === 0) {
    throw new ReeveError('usage', `${path} is a database, but not a store of Reeve`);
  }
  if (version > schemaVersions) {
    throw new ReeveError(
      'store-newer',
      `${path} has schema ${version}, this program knows ${schemaVersions}: use the newer Reeve`,
    );
  }
}

function countOf(database: DatabaseSync, table: 'deliveries' | 'runs'): number {
  return Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count);
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
