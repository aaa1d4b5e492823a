import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MadeStore, storeKindsOfDetails } from '../support/store-kinds.ts';
import { makeDelivery, makeRun } from './make.ts';

describe.each(storeKindsOfDetails)('in $title', ({ make }) => {
  let made: MadeStore;
  const now = new Date('2026-03-01T12:00:00.000Z');
  const route = { lane: '7#1', repositoryId: 7, repository: 'acme/shop' };
  beforeEach(async () => {
    made = await make({ clock: { now: () => now, monotonicMs: () => now.getTime() } });
  });
  afterEach(() => made.close());

  it('a delivery and its copy keep the route that the receiver already knows', async () => {
    const { store } = made;
    const given = { receivedAt: now, body: Buffer.from('{"a":1}') };
    const first = await store.accept(makeDelivery({ ...given, route }));
    const copy = await store.accept(makeDelivery({ ...given, route }));
    const bare = await store.accept(makeDelivery(given));

    const found = await Promise.all([first, copy, bare].map(({ id }) => store.describeDelivery(id)));

    const reason = `copy of delivery ${first.id}`;
    expect(found).toMatchObject([
      { ...route, state: 'accepted', reason: undefined, settledAt: undefined, copyOf: undefined },
      { ...route, state: 'settled', reason, settledAt: now, copyOf: first.id },
      { lane: undefined, repositoryId: undefined, state: 'settled', reason, settledAt: now },
    ]);
    await store.route([{ id: first.id, to: 'lane', ...route }]);
    expect(await store.claim({ limit: 10, leaseMs: 1_000 })).toMatchObject([{ id: first.id, lane: '7#1' }]);
  });

  it('a delivery is a copy if it has the same bytes and arrives within a minute of its original, before or after', async () => {
    const { store } = made;
    const body = Buffer.from('{"a":1}');
    const accept = async (ms: number, more: object = {}) =>
      (await store.accept(makeDelivery({ receivedAt: new Date(now.getTime() + ms), body, ...more }))).copyOf;

    const { id } = await store.accept(makeDelivery({ receivedAt: now, body }));

    expect([await accept(60_000), await accept(-60_000)]).toEqual([id, id]);
    expect(await accept(0, { body: Buffer.from('{"a":2}') })).toBeUndefined();
    expect(await accept(-60_001)).toBeUndefined();
  });

  it('a job is a delivery with the door that enqueued it, and with its payload as the body', async () => {
    const { store } = made;
    const job = { uuid: 'sweep@1', kind: 'sweep', lane: 'sweep#1', receivedAt: now, payload: { a: 1 } };
    const { id } = await store.enqueue({ door: 'cron', ...job });

    const { body, ...about } = (await store.readDelivery(id)) ?? {};

    expect(Buffer.from(body ?? []).toString()).toBe('{"a":1}');
    expect(about).toMatchObject({
      door: 'cron',
      uuid: 'sweep@1',
      eventType: 'sweep',
      entry: 'cron',
      contentType: 'application/json',
      receivedAt: now,
      state: 'accepted',
      bytes: 7,
      lane: 'sweep#1',
    });
  });

  it('the last page ends with the last item, and pages contain 50 items by default', async () => {
    const { store } = made;
    for (let count = 1; count <= 51; count += 1) await store.accept(makeDelivery());
    await store.appendRuns(
      Array.from({ length: 51 }, (_, count) => makeRun({ id: `r${count}` })),
      { repositoryId: 7 },
    );

    const [deliveries, runs] = [await store.listDeliveries(), await store.listRuns({ repositoryId: 7 })];

    expect([deliveries.items.length, runs.items.length]).toEqual([50, 50]);
    expect(await store.listDeliveries({ before: deliveries.next ?? '' })).toMatchObject({
      items: [{ id: '1' }],
      next: undefined,
    });
    expect(await store.listRuns({ before: runs.next ?? '' })).toMatchObject({
      items: [{ id: 'r0' }],
      next: undefined,
    });
    expect((await store.listRuns({ repositoryId: 8 })).items).toEqual([]);
    expect((await store.listRuns({ delivery: 'nonsense' })).items).toEqual([]);
    for (const search of ['', 'PUSH']) {
      const page = await store.listDeliveries({ search, state: 'accepted', limit: 60 });
      expect([page.items.length, page.next]).toEqual([51, undefined]);
    }
    expect((await store.listDeliveries({ repositoryId: 8 })).next).toBeUndefined();
  });

  it('the latest runs of at most 500 deliveries are read in one call', async () => {
    const { store } = made;
    const { id } = await store.accept(makeDelivery());
    await store.route([{ id, to: 'lane', lane: '1' }]);
    for (const claim of await store.claim({ limit: 1, leaseMs: 60_000 }))
      await store.settle(claim, [makeRun({ id: 'of it' })]);
    const others = Array.from({ length: 499 }, (_, count) => String(1_000 + count));

    const [first, last] = [
      await store.readLatestRuns([...others, id]),
      await store.readLatestRuns([...others, 'x', id]),
    ];

    expect([[...first.keys()], [...last.keys()]]).toEqual([[id], []]);
  });
});
