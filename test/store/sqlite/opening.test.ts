import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { markKey } from '../../../src/store/copy/copy-mark.ts';
import { takeWorkerLock } from '../../../src/store/sqlite/lock.ts';
import {
  openSqliteFile,
  openSqliteStore,
  type SqliteOptions,
} from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { encodeHeaders } from '../../../src/store/stored-headers.ts';
import { makeDelivery } from '../make.ts';
import { openFilesIn } from './open-files.ts';

let folder: string;
let path: string;
let opened: Store[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-opening-'));
  path = join(folder, 'data', 'reeve.db');
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
  rmSync(folder, { recursive: true, force: true });
});
const open = async (options: Partial<SqliteOptions> = {}): Promise<Store> => {
  const store = await openSqliteStore({ path, role: 'worker', ...options });
  opened.push(store);
  return store;
};
const change = (sql: string): void => {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
};

/** Overwrites the first page of a table. */
const damage = (table: string): void => {
  const database = new DatabaseSync(path);
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').get(table) ?? {};
  database.close();
  const end = Number(rootpage) * 4_096;
  writeFileSync(path, readFileSync(path).fill(0xff, end - 4_096, end));
};

describe('a store that is opened', () => {
  it.each(['worker', 'reader'] as const)(
    'by a %s is accessible only to its owner if it is new',
    async (role) => {
      await open({ role });

      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(existsSync(`${path}.lock`)).toBe(role === 'worker');
    },
  );

  it('restricts the permissions of its folder when opened by a worker, but not by a reader', async () => {
    await (await open()).close();
    chmodSync(dirname(path), 0o755);
    chmodSync(path, 0o644);

    await (await open({ role: 'reader' })).close();
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o755);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await open();

    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it('has the expected settings, and a file size that it never exceeds', () => {
    mkdirSync(dirname(path));
    const read = (maxFileBytes?: number) => {
      const database = openSqliteFile({ path, ...(maxFileBytes !== undefined && { maxFileBytes }) });
      const values = [
        'page_size',
        'journal_mode',
        'synchronous',
        'fullfsync',
        'cache_size',
        'wal_autocheckpoint',
        'journal_size_limit',
        'foreign_keys',
        'busy_timeout',
        'max_page_count',
      ].map((name) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
      database.close();
      return values;
    };
    const settings = [4_096, 'wal', 1, 1, -2_048, 4_096, 32 * 2 ** 20, 1, 5_000];

    expect(read().slice(0, -1)).toEqual(settings);
    expect(read()[9]).toBeGreaterThan(1_000_000);
    expect(read(100 * 4_096 + 4_095)).toEqual([...settings, 100]);
    expect(read(1)[9]).toBe(1);
  });

  it.each([
    [
      'store-unfinished',
      `INSERT INTO memory VALUES ('${markKey}', '{"source":"old.db","startedAt":"2026-03-01"}')`,
      'an unfinished copy of old.db',
    ],
    ['store-newer', 'PRAGMA user_version = 99', 'has schema 99'],
  ])('is refused as %s, without leaving a lock or an open file', async (code, sql, message) => {
    await (await open()).close();
    change(sql);

    await expect(open()).rejects.toMatchObject({ code, message: expect.stringContaining(message) });

    expect(openFilesIn(folder) ?? []).toEqual([]);
    takeWorkerLock(path).release();
    await expect(open({ role: 'reader' })).rejects.toMatchObject({ code });
  });

  it('is accepted once its copy is complete', async () => {
    await (await open()).close();
    change(
      `INSERT INTO memory VALUES ('${markKey}', '{"source":"old.db","startedAt":"2026-03-01","completedAt":"2026-03-01"}')`,
    );

    expect(await (await open()).healthy()).toMatchObject({ ok: true });
  });

  it('in memory has no files, and otherwise works like a store in a file', async () => {
    const store = await open({ path: ':memory:' });
    const { id } = await store.accept(makeDelivery());

    expect(await store.describeDelivery(id)).toMatchObject({ state: 'accepted' });
    expect(await store.healthy()).toEqual({ ok: true, freeBytes: undefined });
    expect(existsSync(dirname(path))).toBe(false);
    expect(readdirSync('.').filter((name) => name.startsWith(':memory:'))).toEqual([]);
  });

  it('uses the system clock by default', async () => {
    const before = Date.now();
    const [process] = await (await open()).listProcesses();

    expect(process?.startedAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(process?.startedAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('is closed once, with all its files, and then accepts nothing', async () => {
    const store = await open();
    const begun = store.accept(makeDelivery());

    await Promise.all([store.close(), store.close()]);
    await store.close();

    expect((await begun).known).toBe(false);
    expect(openFilesIn(folder) ?? []).toEqual([]);
    await expect(store.accept(makeDelivery())).rejects.toMatchObject({
      code: 'store-unwritable',
      message: `the store ${path} is closed`,
    });
    takeWorkerLock(path).release();
  });

  it.each([
    { checkpoints: 'in-commits', files: ['reeve.db'] },
    // The checkpoint thread opens the database a second time.
    { checkpoints: 'in-thread', files: ['reeve.db', 'reeve.db'] },
  ] as const)('runs checkpoints $checkpoints', async ({ checkpoints, files }) => {
    const store = await open({ checkpoints });

    for (let count = 0; count < 48; count += 1)
      await store.accept(makeDelivery({ body: Buffer.alloc(2 ** 20, count) }));

    const found = openFilesIn(folder)?.map((file) => basename(file));
    expect(found?.filter((file) => file === 'reeve.db') ?? files).toEqual(files);
    expect(statSync(`${path}-wal`).size).toBeLessThan(45 * 2 ** 20);
    await store.close();
    expect((await (await open()).counts()).accepted).toBe(48);
  });

  it('by a reader neither accepts nor claims, and shows what the worker settles meanwhile', async () => {
    const worker = await open();
    const reader = await open({ role: 'reader' });
    const body = Buffer.from('{"a":1}');
    const receivedAt = new Date();
    await worker.accept(makeDelivery({ body, receivedAt }));
    expect((await reader.counts()).settled).toBe(0);

    await worker.accept(makeDelivery({ body, receivedAt }));

    expect([(await worker.counts()).settled, (await reader.counts()).settled]).toEqual([1, 1]);
    for (const refused of [reader.accept(makeDelivery()), reader.claim({ limit: 1, leaseMs: 1_000 })])
      await expect(refused).rejects.toMatchObject({
        code: 'internal',
        message: 'a store opened as reader neither accepts nor claims',
      });
  });
});

describe('a store whose disk or files fail', () => {
  it('reports the damage on a read', async () => {
    const store = await open();
    const { id } = await store.accept(makeDelivery());
    await store.close();
    damage('bodies');
    const reader = await open({ role: 'reader' });

    await expect(reader.readDelivery(id)).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringContaining(`the store ${path} refuses: the file is damaged`),
    });
    expect(await reader.describeDelivery(id)).toMatchObject({ id });
  });

  it('reports the damage while it looks for repeats', async () => {
    const { id } = await (await open()).accept(makeDelivery());
    await opened[0]?.close();
    damage('digests');
    const store = await open();

    await expect(
      store.route([{ id, to: 'lane', lane: '1', digest: Buffer.alloc(32) }]),
    ).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringContaining(`the store ${path} refuses: the file is damaged`),
    });
  });

  it('is lost if its lock file is removed, because another process could take the lock', async () => {
    const lost: string[] = [];
    const store = await open({ onLost: ({ code }) => void lost.push(code) });
    rmSync(`${path}.lock`);

    await expect(store.accept(makeDelivery())).rejects.toMatchObject({
      code: 'store-lost',
      message: expect.stringContaining(`${path}.lock was removed or replaced`),
    });
    expect(lost).toEqual(['store-lost']);
  });

  it('counts stored changes, whether or not they were acknowledged', async () => {
    const store = await open();
    const { id } = await store.accept(makeDelivery());
    await store.route([{ id, to: 'lane', lane: '1' }]);
    const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
    if (claim === undefined) throw new Error('nothing to claim');
    rmSync(`${path}.lock`);

    await expect(store.settle(claim, [])).rejects.toMatchObject({ code: 'store-lost' });

    expect(await store.counts()).toMatchObject({ claimed: 0, settled: 1 });
  });

  it('is unhealthy until it accepts what it refused, and stores rolled-back data again', async () => {
    const now = new Date('2026-03-01T12:00:00.000Z');
    const store = await open({ maxFileBytes: 3_000_000, clock: { now: () => now, monotonicMs: () => 0 } });
    const headers = encodeHeaders([['user-agent', 'forge']], 0);
    const ids: string[] = [];
    const accept = (size: number, given = {}) =>
      store.accept(makeDelivery({ body: Buffer.alloc(size, 'x'), receivedAt: now, ...given }));
    expect(await store.healthy()).toEqual({ ok: true, freeBytes: expect.any(Number) });
    expect(await store.recall('health')).toEqual({ at: now.toISOString(), padding: '' });
    for (let refused = false; !refused; )
      await accept(200_000, { eventType: `type ${ids.length}` }).then(
        ({ id }) => void ids.push(id),
        () => {
          refused = true;
        },
      );

    await expect(accept(200_000, { headers })).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringContaining('the disk is full'),
    });
    expect(await store.healthy()).toMatchObject({
      ok: false,
      reason: expect.stringContaining('the disk is full'),
    });
    await store.route(ids.map((id) => ({ id, to: 'settled', reason: 'no rule' })));
    expect(await store.counts()).toMatchObject({ accepted: 0, settled: ids.length });
    await store.prune({ maxBytes: 1_000_000 });

    const { id } = await accept(100, { headers });
    expect(await store.readHeaders(id)).toEqual({
      headers: [{ name: 'user-agent', value: 'forge' }],
      leftOut: 0,
    });
    const paddings: unknown[] = [];
    for (let count = 0; count < 2; count += 1) {
      expect(await store.healthy()).toMatchObject({ ok: true });
      paddings.push(await store.recall('health'));
    }
    expect(paddings).toMatchObject([{ padding: '0'.repeat(200_000) }, { padding: '' }]);
    const counts = await store.counts();
    expect(counts.settled).toBeLessThan(ids.length);
    expect((await store.listDeliveries({ state: 'settled', limit: 500 })).items).toHaveLength(counts.settled);
  });
});
