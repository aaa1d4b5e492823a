import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Claim, Store } from '../../src/store/store.ts';
import { type MadeStore, storeKindsOfDetails } from '../support/store-kinds.ts';
import { makeDelivery, makeRun } from './make.ts';

const endings: readonly [string, (store: Store, claim: Claim) => Promise<unknown>][] = [
  ['settled', (store, claim) => store.settle(claim, [])],
  ['retried', (store, claim) => store.retry(claim, { afterMs: 60_000, reason: 'later' })],
  ['deferred', (store, claim) => store.defer(claim, [], { afterMs: 60_000, why: 'a budget' })],
  ['released', (store, claim) => store.release(claim)],
  ['buried', (store, claim) => store.bury(claim, 'refused', [makeRun({ id: 'last' })])],
];

describe.each(storeKindsOfDetails)('in $title', ({ make }) => {
  let made: MadeStore;
  let store: Store;
  let now: Date;
  beforeEach(async () => {
    now = new Date('2026-03-01T12:00:00.000Z');
    made = await make({ clock: { now: () => now, monotonicMs: () => now.getTime() } });
    store = made.store;
  });
  afterEach(() => made.close());
  const accept = async (lane: string): Promise<string> => {
    const { id } = await store.accept(makeDelivery({ receivedAt: now }));
    await store.route([{ id, to: 'lane', lane, repositoryId: 7, repository: 'acme/shop' }]);
    return id;
  };
  const claim = async (options: { readonly only?: readonly string[] } = {}): Promise<readonly Claim[]> =>
    store.claim({ limit: 10, leaseMs: 60_000, ...options });

  it('the lease of an attempt ends with the attempt, however the attempt ends', async () => {
    for (const [name, end] of endings) {
      await accept(`lane of ${name}`);
      const [one] = await claim();
      if (one === undefined) throw new Error(`${name}: nothing to claim`);

      await end(store, one);

      for (const late of [store.heartbeat(one, 60_000), end(store, one)])
        await expect(late, name).rejects.toMatchObject({ code: 'lease-lost' });
      if (name === 'released') await store.settle((await claim())[0] ?? one, []);
    }
    expect(await store.counts()).toEqual({
      accepted: 0,
      claimed: 0,
      retry: 1,
      deferred: 1,
      settled: 2,
      dead: 1,
    });
    expect((await store.listRuns({ repositoryId: 7 })).items.map(({ id }) => id)).toEqual(['last']);
  });

  it('a wait is a whole number of milliseconds, and never negative', async () => {
    const waits: [number, number][] = [
      [-5_000, 0],
      [1_499.6, 1_500],
    ];
    for (const [afterMs, waitMs] of waits) {
      for (const end of [
        (one: Claim) => store.retry(one, { afterMs, reason: 'later' }),
        (one: Claim) => store.defer(one, [], { afterMs, why: 'a budget' }),
      ]) {
        const id = await accept('1');
        const [one] = await claim({ only: ['1'] });
        if (one === undefined) throw new Error('nothing to claim');

        await end(one);

        expect((await store.describeDelivery(id))?.retryAt).toEqual(new Date(now.getTime() + waitMs));
        now = new Date(now.getTime() + waitMs);
        for (const again of await claim()) await store.settle(again, []);
      }
    }
  });

  it('a reader ends no attempt, routes nothing, and does not recover claims when opened', async () => {
    await accept('1');
    const [one] = await claim();
    if (one === undefined) throw new Error('nothing to claim');
    const reader = await made.open('reader');

    for (const late of [
      ...endings.map(([, end]) => end(reader, one)),
      reader.advance(one, { runs: [], checkpoint: 1 }),
      reader.route([{ id: one.id, to: 'settled', reason: 'no rule' }]),
    ])
      await expect(late).rejects.toMatchObject({ code: 'internal' });

    await reader.close();
    expect((await store.describeDelivery(one.id))?.state).toBe('claimed');
    await store.settle(one, []);
  });

  it('a claim of given lanes takes the oldest delivery of each free lane, up to its limit', async () => {
    const [first] = [await accept('1'), await accept('1')];
    const other = await accept('2');
    await accept('3');

    const taken = await claim({ only: ['2', '1', 'none'] });
    const none = await claim({ only: ['1', '2'] });
    const limited = await store.claim({ limit: 0, leaseMs: 60_000, only: ['3'] });

    expect(taken.map(({ id }) => id)).toEqual([other, first]);
    expect([none, limited]).toEqual([[], []]);
  });

  it('a delivery that is routed to settled or dead keeps the known lane and repository, and nothing is routed twice', async () => {
    const route = { lane: '7', repositoryId: 7, repository: 'acme/shop' };
    const { id } = await store.accept(makeDelivery({ route }));
    const { id: bare } = await store.accept(makeDelivery());

    await store.route([
      { id, to: 'settled', reason: 'no rule' },
      { id: bare, to: 'settled', reason: 'no rule', ...route, lane: '8' },
      { id: bare, to: 'dead', reason: 'late' },
    ]);

    expect(await store.describeDelivery(id)).toMatchObject({ state: 'settled', ...route, settledAt: now });
    expect(await store.describeDelivery(bare)).toMatchObject({
      state: 'settled',
      reason: 'no rule',
      lane: '8',
    });
    expect(await store.counts()).toMatchObject({ settled: 2, dead: 0 });
  });
});
