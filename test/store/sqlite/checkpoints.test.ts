import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Checkpoints, createThreadedCheckpoints } from '../../../src/store/sqlite/commits.ts';

const miB = 2 ** 20;

let folder: string;
let database: DatabaseSync;
let checkpoints: Checkpoints;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-checkpoints-'));
  database = new DatabaseSync(join(folder, 'reeve.db'));
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)');
  checkpoints = createThreadedCheckpoints(database, join(folder, 'reeve.db'));
});
afterEach(async () => {
  await checkpoints.close();
  database.close();
  rmSync(folder, { recursive: true, force: true });
});
const insert = (): void => database.exec('INSERT INTO t VALUES (1)');
/** Returns the number of rows in the database file without its log. */
const copied = (): number => {
  const path = join(folder, 'copy.db');
  copyFileSync(join(folder, 'reeve.db'), path);
  const copy = new DatabaseSync(path);
  try {
    return Number(copy.prepare('SELECT count(*) AS n FROM t').get()?.n);
  } catch {
    return 0;
  } finally {
    copy.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  }
};
/** Waits until the current checkpoint requests a gap, and grants it. */
const giveGap = async (): Promise<void> => {
  await expect.poll(() => checkpoints.gap() !== undefined, { interval: 1 }).toBe(true);
  await checkpoints.gap();
};
/**
 * Returns whether a transaction of this size starts a checkpoint that requests a gap at once, as checkpoints do while
 * the log is large.
 */
const begins = (bytes: number, logBytes: number): boolean => {
  checkpoints.committed(bytes, logBytes);
  return checkpoints.gap() !== undefined;
};

it('a checkpoint begins after 12 MiB, and copies the whole log in a gap between transactions', async () => {
  insert();
  // The size of a transaction is its payload plus eight pages.
  for (let count = 0; count < 191; count += 1) checkpoints.committed(32_768);
  expect([checkpoints.gap(), copied()]).toEqual([undefined, 0]);

  checkpoints.committed(32_768);
  await giveGap();

  expect([copied(), checkpoints.gap(), checkpoints.failure()]).toEqual([1, undefined, undefined]);
});

it('a transaction waits for a checkpoint only while the log is larger than 44 MiB', async () => {
  expect(begins(12 * miB, 44 * miB)).toBe(false);
  await giveGap();

  expect(begins(12 * miB, 44 * miB + 1)).toBe(true);
  expect(checkpoints.gap()).toBe(checkpoints.gap());
  await checkpoints.gap();
});

it('a large log starts a checkpoint, but not immediately after the last one', async () => {
  const large = 45 * miB;
  expect(begins(0, large)).toBe(false);
  expect(begins(miB, large)).toBe(true);
  await checkpoints.gap();

  expect(begins(miB / 2, large)).toBe(false);
  expect(begins(miB / 2, large)).toBe(true);
  await checkpoints.gap();
  expect(begins(2 * miB, 32 * miB)).toBe(false);
});

it('a checkpoint that a reader prevents from finishing is repeated after 1 MiB', async () => {
  insert();
  const reader = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT * FROM t').all();
  insert();
  checkpoints.committed(12 * miB);
  await giveGap();
  expect(copied()).toBeLessThan(2);
  reader.exec('COMMIT');
  reader.close();

  checkpoints.committed(miB);
  await giveGap();

  expect(copied()).toBe(2);
  checkpoints.committed(miB);
  await new Promise((resolve) => setImmediate(resolve));
  expect(checkpoints.gap()).toBeUndefined();
});

it('SQLite copies the log itself if the checkpoint thread fails', async () => {
  const autocheckpoint = () => database.prepare('PRAGMA wal_autocheckpoint').get()?.wal_autocheckpoint;
  const broken = createThreadedCheckpoints(database, join(folder, 'none', 'reeve.db'));
  expect(autocheckpoint()).toBe(0);

  broken.committed(12 * miB);
  await expect.poll(() => broken.failure(), { interval: 1 }).toContain('unable to open database file');

  expect([autocheckpoint(), broken.gap()]).toEqual([4_096, undefined]);
  broken.committed(100 * miB, 100 * miB);
  expect(broken.gap()).toBeUndefined();
  await broken.close();
});

it('a checkpoint keeps the process alive while a transaction waits for it, and while it is being closed', async () => {
  const holds = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const before = holds();
  const own = createThreadedCheckpoints(database, join(folder, 'reeve.db'));
  own.committed(12 * miB);
  await expect.poll(() => own.gap() !== undefined, { interval: 1 }).toBe(true);
  const during = holds();
  await own.gap();
  const after = holds();

  const closed = own.close();
  const closing = holds();
  await closed;

  expect([during, after, closing, holds()].map((count) => count - before)).toEqual([1, 0, 1, 0]);
});
