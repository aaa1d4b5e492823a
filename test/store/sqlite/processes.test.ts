import { hostname } from 'node:os';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageVersion } from '../../../src/platform/package.ts';
import { indexableText } from '../../../src/store/postgres/postgres-sql.ts';
import { SettledCount } from '../../../src/store/sqlite/context.ts';
import { makeStore } from '../../support/make-store.ts';
import { storeKinds } from '../../support/store-kinds.ts';

let made: Awaited<ReturnType<typeof makeStore>>;
const now = new Date('2026-03-01T12:00:00.000Z');
const clock = { now: () => now, monotonicMs: () => 0 };
beforeEach(async () => {
  made = await makeStore({ clock });
});
afterEach(() => made.close());

it('a store in a file has one process, which is the leader, in addition to its readers', async () => {
  const [sqlite] = storeKinds;
  const other = await sqlite?.make({ clock });
  const reader = await other?.open('reader');

  expect(made.store.isShared).toBe(false);
  expect([made.store.isLeader(), reader?.isLeader()]).toEqual([true, false]);
  expect(await reader?.listProcesses()).toEqual([]);
  expect(await made.store.listProcesses()).toEqual([
    {
      id: String(process.pid),
      name: `${hostname()} ${process.pid}`,
      role: 'all',
      version: packageVersion(),
      startedAt: now,
      seenAt: now,
      isLeader: true,
      isSelf: true,
    },
  ]);
  await reader?.close();
  await other?.close();
});

it('plain data is found under a key in the form that PostgreSQL stores, and is written under the given key', async () => {
  const { store } = made;
  for (const key of ['nul \0', `long ${'x'.repeat(600)}`]) {
    const copied = indexableText(key);
    await store.remember(copied, { n: 1 });
    expect(await store.recall(key)).toEqual({ n: 1 });

    expect(await store.revise(key, () => ({ n: 2 }))).toEqual({ n: 2 });

    expect([await store.recall(key), await store.recall(copied)]).toEqual([{ n: 2 }, undefined]);
    await store.remember(copied, { n: 3 });
    await store.remember(key, undefined);
    expect([await store.recall(key), await store.recall(copied)]).toEqual([undefined, undefined]);
  }
});

it.each([
  [true, [10, 12, 12, 30, 31]],
  [false, [10, 10, 10, 30, 30]],
])(
  'settled deliveries are counted again after a refusal, or if other processes settle too: alone is %s',
  (isAlone, expected) => {
    let stored = 10;
    const count = new SettledCount(() => stored, { isAlone });
    const seen = [count.read()];
    count.add(2);
    seen.push(count.read());
    seen.push(count.read());
    stored = 30;
    count.markStale();
    seen.push(count.read());
    count.add(1);
    seen.push(count.read());

    expect(seen).toEqual(expected);
  },
);
