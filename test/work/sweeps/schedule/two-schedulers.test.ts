import { afterEach, describe, expect, it, vi } from 'vitest';
import { openPostgresStore } from '../../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { Scheduler } from '../../../../src/work/sweeps/schedule/schedule.ts';
import { makeReeve } from '../../../support/make-reeve.ts';
import { makeSchema } from '../../../support/postgres.ts';

describe('the schedulers of processes that share a database', () => {
  let opened: Store[] = [];
  afterEach(async () => {
    for (const store of opened) await store.close();
    opened = [];
  });

  it('enqueue every slot once, even if the leader leaves', async () => {
    const url = await makeSchema();
    const liveness = { beatMs: 50, silentMs: 1_000, lifeMs: 5_000 };
    const open = async (): Promise<Store> => {
      const store = await openPostgresStore({ url, role: 'all', isVolatile: true, liveness });
      opened.push(store);
      return store;
    };
    const stores = [await open(), await open(), await open()];
    const entry = {
      id: 'rules/a.yml#often',
      schedule: { cron: '* * * * *', timezone: 'UTC' },
      kind: 'sweep',
      payload: {},
    };
    const schedulers = stores.map((store) => new Scheduler(makeReeve({ store }), async () => [entry]));
    const minute = (n: number): Date => new Date(Date.UTC(2026, 4, 1, 12, n));
    const finish = async (store: Store): Promise<void> => {
      const unrouted = await store.unrouted(100);
      await store.route(unrouted.map(({ id, lane }) => ({ id, to: 'lane', lane: lane ?? '' })));
      for (const claim of await store.claim({ limit: 9, leaseMs: 60_000 })) await store.settle(claim, []);
    };
    let alive = stores;
    for (let n = 0; n <= 12; n += 1) {
      await Promise.all(
        schedulers.map((scheduler, at) => alive.includes(stores[at] as Store) && scheduler.tick(minute(n))),
      );
      await finish(alive[0] as Store);
      if (n % 5 !== 4) continue;
      const leader = alive.find((store) => store.isLeader());
      alive = alive.filter((store) => store !== leader);
      await leader?.close();
      await vi.waitFor(() => expect(alive.some((store) => store.isLeader())).toBe(true), {
        timeout: 240_000,
      });
    }

    const { items } = await (alive[0] as Store).listDeliveries({ limit: 500 });
    const slots = items.map(({ uuid }) => uuid.split('@')[1]).toReversed();
    expect(slots).toEqual(Array.from({ length: 12 }, (_, n) => minute(n + 1).toISOString()));
  });
});
