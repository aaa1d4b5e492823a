import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStoreAt, storeFileOf } from '../../src/store/open-store.ts';
import { makeDelivery } from './make.ts';
import { openFilesIn } from './sqlite/open-files.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'reeve-open-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

it('without a database, data is stored in a file of the data folder, for one process and any number of readers', async () => {
  const now = new Date('2026-03-01T12:00:00.000Z');
  const clock = { now: () => now, monotonicMs: () => 0 };
  const store = await openStoreAt({ data }, { role: 'all', clock });
  const reader = await openStoreAt({ data }, { role: 'reader' });
  const { id } = await store.enqueue({
    door: 'cli',
    uuid: 'one',
    kind: 'sweep',
    lane: 'sweep',
    receivedAt: now,
    payload: {},
  });

  expect(storeFileOf({ data })).toBe(join(data, 'reeve.db'));
  expect(await reader.describeDelivery(id)).toMatchObject({ uuid: 'one' });
  expect((await store.listProcesses()).map(({ startedAt }) => startedAt)).toEqual([now]);
  await expect(openStoreAt({ data }, { role: 'worker' })).rejects.toMatchObject({ code: 'store-locked' });
  await expect(reader.accept(makeDelivery())).rejects.toMatchObject({ code: 'internal' });
  await reader.close();
  await store.close();
});

it('a command that has the store to itself starts no checkpoint thread', async () => {
  const store = await openStoreAt({ data }, { role: 'worker', isAlone: true });

  // A checkpoint thread would open the database a second time before the last delivery is accepted.
  for (let count = 0; count < 48; count += 1)
    await store.accept(makeDelivery({ body: Buffer.alloc(2 ** 20, count) }));

  const databases = openFilesIn(data)?.filter((path) => basename(path) === 'reeve.db');
  expect(databases ?? [storeFileOf({ data })]).toEqual([storeFileOf({ data })]);
  await store.close();
});

it('the role web needs a database', async () => {
  await expect(openStoreAt({ data }, { role: 'web' })).rejects.toMatchObject({
    code: 'settings',
    message: 'REEVE_ROLE web needs DATABASE_URL: a store in a file has one process',
  });
});

it('a store whose file is removed stores nothing more, and reports that once', async () => {
  const lost: string[] = [];
  const store = await openStoreAt({ data }, { role: 'all', onLost: ({ code }) => void lost.push(code) });
  await store.accept(makeDelivery());
  rmSync(storeFileOf({ data }));

  for (let count = 0; count < 2; count += 1)
    await expect(store.accept(makeDelivery())).rejects.toMatchObject({ code: 'store-lost' });

  expect(lost).toEqual(['store-lost']);
  await store.close();
});

it('an unreachable database is refused, and is not replaced by a store in a file', async () => {
  const databaseUrl = 'postgres://reeve:secret@127.0.0.1:1/reeve';

  for (const role of ['all', 'web', 'reader'] as const)
    await expect(openStoreAt({ data, databaseUrl }, { role, isAlone: true })).rejects.toMatchObject({
      code: 'store-unwritable',
    });

  expect(readdirSync(data)).toEqual([]);
});
