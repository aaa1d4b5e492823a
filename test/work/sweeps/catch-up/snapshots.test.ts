import { afterEach, describe, expect, it } from 'vitest';
import { parseEvent } from '../../../../src/contract/events/events.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { openPostgresStore } from '../../../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { type RepositorySnapshot, Snapshots } from '../../../../src/work/sweeps/catch-up/snapshots.ts';
import { makeSchema } from '../../../support/postgres.ts';

const repository = { id: 1, full_name: 'acme/demo', owner: { id: 2, login: 'acme' } };
const at = '2026-05-04T10:00:00Z';
const empty: RepositorySnapshot = { at, items: {}, refs: { main: 'c0' }, tags: {} };
const push = (from: string, to: string) =>
  parseEvent('push', { ref: 'refs/heads/main', before: from, after: to, repository, sender: null });
const opened = (number: number, id = repository.id) =>
  parseEvent('issues', {
    action: 'opened',
    number,
    issue: { id: number, number, title: `issue ${number}`, state: 'open', updated_at: at },
    repository: { ...repository, id },
    sender: null,
  });

let stores: Store[] = [];
let nowMs = 0;
const clock = { ...systemClock, monotonicMs: () => nowMs };
afterEach(async () => {
  for (const store of stores) await store.close();
  stores = [];
});

/** Opens the snapshots of this many processes that share one database. */
async function openShared(count: number) {
  const url = await makeSchema();
  stores = await Promise.all(
    Array.from({ length: count }, () => openPostgresStore({ url, role: 'reader', isVolatile: true })),
  );
  const [first, ...others] = stores.map((store) => new Snapshots(store, clock));
  if (first === undefined) throw new Error('no process');
  await first.edit(1, () => empty);
  return [first, ...others] as const;
}

describe('snapshots of processes that share a database', () => {
  it('show each process what the other processes have handled, in order', async () => {
    const [one, two = one, three = one] = await openShared(3);
    for (let number = 0; number < 7; number += 1) {
      await (number % 2 === 0 ? one : two).note(push(`c${number}`, `c${number + 1}`));
    }

    expect(await three.read(1)).toMatchObject({ refs: { main: 'c7' } });
    await three.edit(1, (seen) => seen && { ...seen, tags: { v1: 't1' } });
    await one.note(push('c7', 'c8'));
    expect(await two.read(1)).toMatchObject({ refs: { main: 'c8' }, tags: { v1: 't1' } });
    expect(await stores[0]?.recall('seen notes 1')).toHaveLength(1);
  });

  it('keep every note of events that are handled at the same time, and merge notes into the snapshot from time to time', async () => {
    const [one, two = one] = await openShared(2);

    await Promise.all(
      Array.from({ length: 140 }, (_, place) => (place % 2 === 0 ? one : two).note(opened(place + 1))),
    );

    expect(Object.keys((await two.read(1))?.items ?? {})).toHaveLength(140);
    const left = (await stores[0]?.recall('seen notes 1')) as readonly unknown[] | undefined;
    expect(left?.length ?? 0).toBeLessThan(100);
  });

  it('contain nothing for a repository without a snapshot', async () => {
    const [one] = await openShared(1);
    const other = { ...repository, id: 5 };
    const payload = { ref: 'refs/heads/main', before: 'a', after: 'b', repository: other, sender: null };
    await one.note(parseEvent('push', payload));

    expect(await one.read(5)).toBeUndefined();
    expect(await stores[0]?.recall('seen notes 5')).toBeUndefined();
  });
});

describe('snapshots of one process', () => {
  it('are written after half a minute, or by `save`, and contain all earlier notes', async () => {
    const store = await openSqliteStore({ path: ':memory:', role: 'worker' });
    stores = [store];
    const snapshots = new Snapshots(store, clock);
    await snapshots.edit(1, () => empty);

    await snapshots.note(push('c0', 'c1'));
    expect(await snapshots.read(1)).toMatchObject({ refs: { main: 'c1' } });
    expect(await store.recall('seen 1')).toEqual(empty);
    await snapshots.save();
    expect(await store.recall('seen 1')).toMatchObject({ refs: { main: 'c1' } });
    await snapshots.note(push('c1', 'c2'));
    nowMs += 30_001;
    await snapshots.note(opened(7));
    expect(await store.recall('seen 1')).toMatchObject({ refs: { main: 'c2' }, items: { 7: {} } });
  });

  it('are written early if one repository has many notes, or if all repositories together have many', async () => {
    const store = await openSqliteStore({ path: ':memory:', role: 'worker' });
    stores = [store];
    const snapshots = new Snapshots(store, clock);
    for (let id = 1; id <= 22; id += 1) await snapshots.edit(id, () => empty);
    for (let number = 1; number <= 100; number += 1) await snapshots.note(opened(number));
    expect(await store.recall('seen 1')).toMatchObject({ items: { 100: {} } });

    for (let id = 2; id <= 21; id += 1)
      for (let number = 1; number <= 99; number += 1) await snapshots.note(opened(number, id));
    expect(await store.recall('seen 2')).toEqual(empty);
    for (let number = 1; number <= 25; number += 1) await snapshots.note(opened(number, 22));
    expect(Object.keys(((await store.recall('seen 2')) as RepositorySnapshot).items)).toHaveLength(99);
    expect(await store.recall('seen 3')).toEqual(empty);
    await snapshots.save();
    expect(await store.recall('seen 22')).toMatchObject({ items: { 25: {} } });
    expect(await store.recall('seen 21')).toMatchObject({ items: { 99: {} } });
  });
});
