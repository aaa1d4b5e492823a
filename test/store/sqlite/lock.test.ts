import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeWorkerLock } from '../../../src/store/sqlite/lock.ts';
import { openFilesIn } from './open-files.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-lock-'));
  path = join(folder, 'reeve.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const refusal = (pid: string | number) =>
  expect.objectContaining({
    code: 'store-locked',
    message: `the store ${path} is in use by another Reeve (pid ${pid}): stop it, or give this one its own REEVE_DATA`,
  });

it('only one process at a time holds the worker lock, until it releases the lock', () => {
  const lock = takeWorkerLock(path);

  expect(lock.file).toBe(`${path}.lock`);
  expect(statSync(lock.file).mode & 0o777).toBe(0o600);
  for (let count = 0; count < 2; count += 1) expect(() => takeWorkerLock(path)).toThrow(refusal(process.pid));
  lock.release();
  const next = takeWorkerLock(path);
  expect(() => takeWorkerLock(path)).toThrow(refusal(process.pid));
  next.release();
});

it.each([
  ['', 'unknown'],
  ['CREATE TABLE holder (pid INTEGER)', 'unknown'],
  ['CREATE TABLE holder (pid INTEGER); INSERT INTO holder VALUES (4711)', 4_711],
])('the owner of the lock is named as far as it is known: after %j as %s', (sql, pid) => {
  const other = new DatabaseSync(`${path}.lock`);
  other.exec(`${sql}; BEGIN IMMEDIATE`);

  expect(() => takeWorkerLock(path)).toThrow(refusal(pid));

  other.close();
  takeWorkerLock(path).release();
});

it('a damaged lock file does not count as another process, and is closed again', () => {
  writeFileSync(`${path}.lock`, 'no database, and longer than a header. '.repeat(20));

  expect(() => takeWorkerLock(path)).toThrow(
    expect.objectContaining({
      code: 'store-unwritable',
      message: expect.stringContaining(`the store ${path}.lock refuses: the file is not a SQLite database`),
    }),
  );
  expect(openFilesIn(folder) ?? []).toEqual([]);
});
