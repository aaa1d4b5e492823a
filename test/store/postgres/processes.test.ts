import { afterEach, describe, expect, it, vi } from 'vitest';
import { openPostgresStore, type PostgresOptions } from '../../../src/store/postgres/postgres-store.ts';
import type { Notice, Store } from '../../../src/store/store.ts';
import { makeSchema } from '../../support/postgres.ts';

const liveness = { beatMs: 50, silentMs: 1_000, lifeMs: 5_000 };
let opened: Store[] = [];
afterEach(async () => {
  for (const store of opened) await store.close();
  opened = [];
});

async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ url, role: 'all', isVolatile: true, liveness, ...options });
  opened.push(store);
  return store;
}

describe('processes that share a PostgreSQL database', () => {
  it('have one leader, and another leader after the first one leaves', async () => {
    const url = await makeSchema();
    const web = await open(url, { role: 'web' });
    const [first, second, third] = [await open(url), await open(url), await open(url)];

    expect([web, first, second, third].map((store) => store.isLeader())).toEqual([false, true, false, false]);
    expect((await third.listProcesses()).map(({ isLeader }) => isLeader)).toEqual([
      false,
      true,
      false,
      false,
    ]);
    await first.close();
    await vi.waitFor(() => expect(second.isLeader() || third.isLeader()).toBe(true), { timeout: 240_000 });
    expect([web, first, second, third].filter((store) => store.isLeader())).toHaveLength(1);
  });

  it('revise a shared value one after another', async () => {
    const url = await makeSchema();
    const stores = [await open(url), await open(url), await open(url)];
    const add = (value: unknown): unknown => ({ count: ((value as { count: number })?.count ?? 0) + 1 });

    await Promise.all(stores.flatMap((store) => Array.from({ length: 30 }, () => store.revise('sum', add))));

    expect(await stores[0]?.recall('sum')).toEqual({ count: 90 });
  });

  it('notify the other processes of each change once, but not themselves', async () => {
    const url = await makeSchema();
    const seen: Notice[][] = [[], []];
    const of = (place: number) => ({ onNotice: (notice: Notice) => void seen[place]?.push(notice) });
    const [first] = [await open(url, of(0)), await open(url, of(1))];
    // Changes made before the connection existed are unknown.
    const everything = { topic: 'everything', key: '' };
    expect(seen).toEqual([[everything], [everything]]);

    const rules: Notice = { topic: 'rules', key: '{"id":1,"name":"a b"}' };
    const facts: Notice = { topic: 'facts', key: '7/' };
    // The first notice is sent at once; notices that follow while it is sent are combined.
    for (const notice of [rules, facts, facts]) first?.announce(notice);

    await vi.waitFor(() => expect(seen[1]).toHaveLength(3), { timeout: 240_000 });
    expect(seen[1]?.slice(1)).toEqual([rules, facts]);
    expect(seen[0]).toEqual([everything]);
  });

  it('announce "everything" if a notice is too long or if there are too many', async () => {
    const url = await makeSchema();
    const seen: Notice[] = [];
    const first = await open(url);
    await open(url, { onNotice: (notice) => seen.push(notice) });

    first.announce({ topic: 'facts', key: 'x'.repeat(9_000) });

    await vi.waitFor(() => expect(seen).toHaveLength(2), { timeout: 240_000 });
    expect(seen[1]).toEqual({ topic: 'everything', key: '' });
  });
});
