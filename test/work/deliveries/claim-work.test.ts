import { expect, it } from 'vitest';
import type { WorkerStore } from '../../../src/store/leases.ts';
import type { Claim } from '../../../src/store/store.ts';
import type { Breaker, BreakerState } from '../../../src/work/deliveries/breaker.ts';
import { createClaimWork } from '../../../src/work/deliveries/worker.ts';

const work = [{ id: '1' }] as unknown as readonly Claim[];

/** Claims work for eight free slots by default, and returns the queries to the store and the claims. */
async function claim(given: {
  state: BreakerState;
  room: number;
  suspects?: string[];
  localLanes?: string[];
  places?: number;
  found?: (asked: object) => readonly Claim[];
}): Promise<{ asked: object[]; claims: readonly Claim[] }> {
  const asked: object[] = [];
  const { state, room, suspects = [], localLanes = [], places = 8, found = () => work } = given;
  const claimWork = createClaimWork({
    store: {
      claim: async (query: object) => {
        asked.push(query);
        return found(query);
      },
    } as unknown as WorkerStore,
    breaker: { state: () => state, room: () => room, suspects: () => suspects } as unknown as Breaker,
    leaseMs: 60_000,
    localLanes,
  });
  return { claims: await claimWork(places, []), asked };
}

it('claims for the free slots from every lane while the forge works', async () => {
  const { asked, claims } = await claim({ state: 'closed', room: 8, suspects: ['3#1'] });

  expect(asked).toEqual([{ limit: 8, leaseMs: 60_000, avoid: [], routings: [] }]);
  expect(claims).toBe(work);
});

it('does not query the store without a free slot', async () => {
  expect(await claim({ state: 'closed', room: 0 })).toEqual({ asked: [], claims: [] });
  expect(await claim({ state: 'open', room: 0, places: 0, localLanes: ['local'] })).toEqual({
    asked: [],
    claims: [],
  });
});

it('claims only work that needs no forge during an outage', async () => {
  const { asked } = await claim({ state: 'open', room: 0, localLanes: ['local'] });

  expect(asked).toEqual([{ limit: 8, leaseMs: 60_000, only: ['local'], routings: [] }]);
  expect(await claim({ state: 'open', room: 0 })).toEqual({ asked: [], claims: [] });
});

it('tries a lane that has not failed, and a failed lane only if there is no other', async () => {
  const suspects = ['3#1', '4#1'];
  const first = await claim({ state: 'half-open', room: 1, suspects });
  expect(first.asked).toEqual([{ limit: 1, leaseMs: 60_000, avoid: suspects, routings: [] }]);

  const second = await claim({
    state: 'half-open',
    room: 1,
    suspects,
    found: (query) => ('avoid' in query ? [] : work),
  });
  expect(second.asked).toEqual([
    { limit: 1, leaseMs: 60_000, avoid: suspects, routings: [] },
    { limit: 1, leaseMs: 60_000 },
  ]);
  expect(second.claims).toBe(work);
});

it('queries the store once if no lane has to be avoided', async () => {
  expect((await claim({ state: 'closed', room: 8, found: () => [] })).asked).toHaveLength(1);
});

it('routes prepared deliveries with the claim, or separately if there is no free slot', async () => {
  const routings = [{ id: '7', to: 'lane', lane: '3#1' }] as const;
  const asked: unknown[] = [];
  const store = {
    claim: async ({ routings: given }: { routings: unknown }) => {
      asked.push(['claim', given]);
      return [];
    },
    route: async (given: unknown) => void asked.push(['route', given]),
  } as unknown as WorkerStore;
  for (const room of [1, 0]) {
    const breaker = { state: () => 'closed', room: () => room, suspects: () => [] } as unknown as Breaker;
    await createClaimWork({ store, breaker, leaseMs: 60_000, localLanes: [] })(1, routings);
  }

  expect(asked).toEqual([
    ['claim', routings],
    ['route', routings],
  ]);
});
