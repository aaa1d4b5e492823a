import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CheckpointThread } from '../../../src/store/sqlite/commits.ts';

let folder: string;
let threads: CheckpointThread[];
let breaks: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-thread-'));
  threads = [];
  breaks = 0;
});
afterEach(async () => {
  for (const thread of threads) await thread.close();
  rmSync(folder, { recursive: true, force: true });
});
const create = (path: string): CheckpointThread => {
  const thread = new CheckpointThread(path, () => {
    breaks += 1;
  });
  threads.push(thread);
  return thread;
};
const makeDatabase = (path: string): DatabaseSync => {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER)');
  return database;
};

it('each pass copies the contents of the log at that time, however many passes there were before', async () => {
  const path = join(folder, 'reeve.db');
  const database = makeDatabase(path);
  const thread = create(path);

  const first = await thread.pass();
  database.exec('INSERT INTO t VALUES (1)');
  const second = await thread.pass();

  expect(first).toEqual({ log: expect.any(Number), checkpointed: expect.any(Number) });
  for (const pass of [first, second])
    expect(pass).toMatchObject({ log: expect.any(Number), checkpointed: 'log' in pass ? pass.log : -1 });
  expect([thread.failure(), breaks]).toEqual([undefined, 0]);
  database.close();
});

it('the memory of the thread does not grow with the number of passes', async () => {
  const path = join(folder, 'reeve.db');
  const database = makeDatabase(path);
  const started: Worker[] = [];
  const note = (message: unknown): void => void started.push((message as { worker: Worker }).worker);
  subscribe('worker_threads', note);
  const thread = create(path);
  const passes = async (count: number): Promise<number> => {
    for (let done = 0; done < count; done += 1) await thread.pass();
    const heap = await started[0]?.getHeapStatistics();
    return heap?.total_heap_size ?? Number.NaN;
  };

  let before = await passes(2_000);
  // A heap may grow once while its thread waits for a processor. Garbage left by each pass would make it grow in all of
  // these rounds.
  const growths: number[] = [];
  while (growths.length < 3 && (growths.at(-1) ?? Number.POSITIVE_INFINITY) > 2 ** 18) {
    const after = await passes(12_000);
    growths.push(after - before);
    before = after;
  }

  unsubscribe('worker_threads', note);
  // Heap pages have 256 KiB. If each pass left 70 bytes, the garbage would fill three pages.
  expect(Math.min(...growths)).toBeLessThanOrEqual(2 ** 18);
  database.close();
});

it('a thread that ends with an error is reported once, and the next pass starts another thread', async () => {
  const path = join(folder, 'later', 'reeve.db');
  const thread = create(path);

  const failed = await thread.pass();
  const failure = thread.failure();
  const database = makeDatabase(path);
  const passed = await thread.pass();

  expect(failed).toEqual({ error: expect.stringContaining('unable to open database file') });
  expect(failure).toBe('error' in failed ? failed.error : undefined);
  expect(passed).toMatchObject({ log: expect.any(Number) });
  expect([thread.failure(), breaks]).toEqual([undefined, 1]);
  database.close();
});

it('a thread that cannot be started is reported, and the pass returns the reason', async () => {
  // A value that cannot be passed to a thread simulates a system that refuses to start a thread.
  const thread = create(Symbol('no thread') as unknown as string);

  expect(await thread.pass()).toEqual({ error: expect.stringContaining('could not be cloned') });

  expect(thread.failure()).toContain('could not be cloned');
  expect(breaks).toBe(1);
});

it('the thread keeps the process alive only between ref and unref', async () => {
  const path = join(folder, 'reeve.db');
  const database = makeDatabase(path);
  const thread = create(path);
  const ports = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  thread.ref();
  thread.unref();
  const before = ports();
  const passing = thread.pass();
  await passing;

  const idle = ports();
  thread.ref();
  const held = ports();
  thread.unref();

  expect([idle - before, held - before, ports() - before]).toEqual([0, 1, 0]);
  database.close();
});

it('the thread ends when it is closed, whether or not it has worked', async () => {
  const path = join(folder, 'reeve.db');
  const database = makeDatabase(path);
  const [worked, idle] = [create(path), create(path)];
  await worked.pass();
  threads = [];

  await worked.close();
  await idle.close();

  // The last connection to close removes the log.
  database.close();
  const alone = new DatabaseSync(path, { timeout: 0 });
  expect(alone.prepare('PRAGMA journal_mode = DELETE').get()).toEqual({ journal_mode: 'delete' });
  alone.close();
});
