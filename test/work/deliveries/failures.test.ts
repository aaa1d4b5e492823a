import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeDelivery } from '../../store/make.ts';
import { makeClock } from '../../support/make-clock.ts';
import { bodyOf, createWorkerBench, failing, nothing } from './worker-bench.ts';

const bench = createWorkerBench();
const { accept, clock, moveClockMs, pass, start } = bench;

describe('a failure', () => {
  it('that may be temporary is retried at growing intervals for seven days', async () => {
    start({ handle: failing('forge-unexpected') });
    const id = await accept(1);
    const waits: number[] = [];
    const receivedMs = bench.now.getTime();

    for (let tries = 0; tries < 1_000; tries += 1) {
      await pass();
      const { state, retryAt } = (await bench.store.readDelivery(id)) ?? {};
      if (state !== 'retry' || retryAt === undefined) break;
      const waitMs = retryAt.getTime() - bench.now.getTime();
      waits.push(waitMs);
      moveClockMs(waitMs);
    }

    expect(waits.slice(0, 12).map((ms) => ms / 1_000)).toEqual([
      10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 6_000, 6_000,
    ]);
    expect(await bench.store.readDelivery(id)).toMatchObject({
      state: 'dead',
      reason: 'older than 7 days; last: it said forge-unexpected',
    });
    expect(bench.now.getTime() - receivedMs).toBeGreaterThan(7 * 86_400_000);
    expect(bench.now.getTime() - receivedMs).toBeLessThan(8 * 86_400_000);
  });

  it('ends a delivery at the age set by the operator', async () => {
    start({ handle: failing('forge-unexpected'), backoff: { lifetimeMs: 3_600_000 } });
    const id = await accept(1);

    await pass();
    expect((await bench.store.readDelivery(id))?.state).toBe('retry');
    moveClockMs(3_600_001);
    await pass();

    expect(await bench.store.readDelivery(id)).toMatchObject({
      state: 'dead',
      reason: 'older than 1 h; last: it said forge-unexpected',
    });
  });

  it('does not end a delivery because the wall clock jumps ahead', async () => {
    start({ handle: failing('forge-unexpected'), clock: makeClock({ ...clock, monotonicMs: () => 0 }) });
    const id = await accept(1);

    moveClockMs(30 * 86_400_000);
    await pass();

    expect((await bench.store.readDelivery(id))?.state).toBe('retry');
  });

  it('is retried no earlier than the forge asks for, even if that is beyond the lifetime', async () => {
    start({ handle: failing('forge-throttled', { retryAfterMs: 10 * 86_400_000 }) });
    const id = await accept(1);

    await pass();

    expect((await bench.store.readDelivery(id))?.retryAt?.getTime()).toBe(
      bench.now.getTime() + 10 * 86_400_000,
    );
  });

  it.each([
    ['that cannot pass', new ReeveError('forge-forbidden', 'no access'), 'no access'],
    ['of an unexpected kind', new TypeError('x is undefined'), 'unexpected: x is undefined'],
    ['that is no error at all', 'thrown text', 'unexpected: thrown text'],
  ])('%s ends the delivery at once', async (_title, thrown, reason) => {
    start({
      handle: async () => {
        throw thrown;
      },
    });
    const id = await accept(1);

    await pass();

    expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'dead', reason, attempts: 1 });
  });

  it('does not delay other deliveries in its lane while the failed delivery waits', async () => {
    const handled: string[] = [];
    start({
      handle: async (delivery) => {
        handled.push(delivery.id);
        if (handled.length === 1) throw new ReeveError('forge-throttled', 'slow');
        return nothing;
      },
    });
    const first = await accept(1);
    const second = await accept(1);

    await pass();
    await pass();
    moveClockMs(10_000);
    await pass();

    expect(handled).toEqual([first, second, first]);
  });

  it('of the process, five times while handling one delivery alone, ends that delivery', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'reeve-worker-')), 'reeve.db');
    const opened = async (): Promise<Store> => openSqliteStore({ path, role: 'worker', clock });
    let crashing = await opened();
    const { id: deadly } = await crashing.accept(makeDelivery({ receivedAt: bench.now, body: bodyOf(1) }));
    await crashing.route([{ id: deadly, to: 'lane', lane: '1' }]);
    for (let crash = 0; crash < 5; crash += 1) {
      await crashing.claim({ limit: 1, leaseMs: 60_000 });
      await crashing.close();
      crashing = await opened();
    }
    let handled = 0;
    start({
      store: crashing,
      handle: async () => {
        handled += 1;
        return { runs: [] };
      },
    });

    await pass();

    expect(handled).toBe(0);
    expect(await crashing.readDelivery(deadly)).toMatchObject({
      state: 'dead',
      reason: 'the process died 5 times while it handled this delivery alone',
    });
    await crashing.close();
    await rm(dirname(path), { recursive: true });
  });
});
