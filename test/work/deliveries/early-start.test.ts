import { expect, it } from 'vitest';
import { mayWrite } from '../../../src/platform/write-gate.ts';
import type { ClaimOptions, Store } from '../../../src/store/store.ts';
import { AttemptAborted } from '../../../src/work/deliveries/attempt.ts';
import { makeDelivery } from '../../store/make.ts';
import { bodyOf, createWorkerBench, nothing, settle } from './worker-bench.ts';

const bench = createWorkerBench();

/**
 * Starts a worker with its loop, and records claims and reads of the store. The claims are durable when the given
 * promise resolves.
 */
function startEarly(handle: (id: string, signal: AbortSignal) => Promise<void>, durable?: Promise<unknown>) {
  const { store } = bench;
  const claims: ClaimOptions[] = [];
  let reads = 0;
  const watched: Store = {
    ...store,
    async unrouted(limit) {
      reads += 1;
      return store.unrouted(limit);
    },
    async claim(options) {
      claims.push(options);
      const found = await store.claim(options);
      return durable === undefined ? found : found.map((claim) => ({ ...claim, durable }));
    },
  };
  bench.start({
    store: watched,
    handle: async ({ id }, _event, { signal }) => {
      await handle(id, signal);
      return nothing;
    },
  });
  bench.worker.start();
  return {
    routed: () => claims.flatMap(({ routings = [] }) => routings.map(({ id }) => id)),
    reads: () => reads,
  };
}
const stateOf = async (id: string) => (await bench.store.describeDelivery(id))?.state;

it('a delivery is routed from memory with its claim, without a read of the store', async () => {
  const handled: string[] = [];
  const { routed, reads } = startEarly(async (id) => void handled.push(id));
  await bench.advance(1);
  const before = reads();

  const id = await bench.accept(1);
  await settle();

  expect([routed(), handled, reads() - before]).toEqual([[id], [id], 0]);
  expect(await stateOf(id)).toBe('settled');
});

it('an attempt starts before its delivery is durable, and writes nothing until then', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: string[] = [];
  startEarly(async (_id, signal) => {
    seen.push('read');
    await mayWrite(signal);
    seen.push('write');
  }, promise);
  await bench.advance(1);

  const id = await bench.accept(1);
  await settle();
  const before = [...seen, await stateOf(id)];
  resolve();
  await settle();

  expect(before).toEqual(['read', 'claimed']);
  expect([...seen, await stateOf(id)]).toEqual(['read', 'write', 'settled']);
});

it('an attempt whose delivery cannot be synced writes nothing, and is released', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  startEarly(async (_id, signal) => {
    await mayWrite(signal).catch((error) => {
      seen.push(error, signal.reason instanceof AttemptAborted);
      throw error;
    });
    seen.push('write');
  }, promise);
  await bench.advance(1);

  const id = await bench.accept(1);
  await settle();
  const broken = new Error('EIO');
  reject(broken);
  await settle();

  expect(seen.slice(0, 2)).toEqual([broken, true]);
  expect(seen).not.toContain('write');
  expect(await bench.store.describeDelivery(id)).toMatchObject({ attempts: expect.toSatisfy((n) => n <= 1) });
});

it('deliveries are routed from the store, in order, if they are many in one transaction, large, or behind a job', async () => {
  const handled: string[] = [];
  const { routed } = startEarly(async (id) => void handled.push(id));
  await bench.advance(1);

  const many = await Promise.all([1, 2, 3, 4, 5].map((index) => bench.accept(1, index)));
  await settle();
  const large = await bench.store.accept(
    makeDelivery({ body: Buffer.concat([bodyOf(2), Buffer.alloc(70_000, ' ')]), receivedAt: bench.now }),
  );
  await settle();
  const job = bench.store.enqueue({
    door: 'cron',
    uuid: 'job',
    kind: 'k',
    lane: 'job k',
    receivedAt: bench.now,
    payload: 1,
  });
  const behind = bench.accept(3);
  await job;
  await settle();

  expect(routed()).toEqual([]);
  expect(handled).toEqual([...many, large.id, await behind]);
});

it('a malformed delivery is dead, and one of an unknown kind is settled', async () => {
  startEarly(async () => {});
  await bench.advance(1);

  const [dead, unknown] = await Promise.all([
    bench.store.accept(makeDelivery({ body: Buffer.from('no JSON'), receivedAt: bench.now })),
    bench.store.accept(makeDelivery({ eventType: 'unheard', body: bodyOf(1), receivedAt: bench.now })),
  ]);
  await settle();

  expect([await stateOf(dead.id), await stateOf(unknown.id)]).toEqual(['dead', 'settled']);
  expect((await bench.store.counts()).settled).toBe(1);
});

it('deliveries whose claim failed are routed from the store', async () => {
  const handled: string[] = [];
  let failures = 1;
  const { store } = bench;
  bench.start({
    store: {
      ...store,
      async claim(options) {
        if ((options.routings ?? []).length > 0 && failures > 0) {
          failures -= 1;
          throw new Error('the disk refused');
        }
        return store.claim(options);
      },
    },
    handle: async ({ id }) => {
      handled.push(id);
      return nothing;
    },
  });
  bench.worker.start();
  await bench.advance(1);

  const first = await bench.accept(1);
  await settle();
  const second = await bench.accept(1);
  await bench.advance(2_000);

  expect([failures, handled]).toEqual([0, [first, second]]);
});
