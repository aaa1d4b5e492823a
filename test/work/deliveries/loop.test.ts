import { describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeRun } from '../../store/make.ts';
import { createWorkerBench, nothing, settle } from './worker-bench.ts';

const bench = createWorkerBench();
const { accept, advance, start } = bench;

describe('the loop', () => {
  it('looks for work when something was stored, and at intervals', async () => {
    start();
    await accept(1);
    bench.worker.start();
    await advance(0);
    await settle();
    expect(await bench.store.counts()).toMatchObject({ settled: 1 });

    await accept(2);
    bench.worker.wake();
    await settle();
    expect(await bench.store.counts()).toMatchObject({ settled: 2 });

    await accept(3);
    await advance(1_000);
    await settle();
    expect(await bench.store.counts()).toMatchObject({ settled: 3 });
    await bench.worker.stop();
  });

  it('survives a store that refuses writes, and records the ending once the disk allows it', async () => {
    let refusals = 3;
    const settleWhenPossible: Store['settle'] = async (claim, runs, reason) => {
      refusals -= 1;
      if (refusals >= 0) throw new ReeveError('store-unwritable', 'disk full');
      await bench.store.settle(claim, runs, reason);
    };
    let handled = 0;
    start({
      store: { ...bench.store, settle: settleWhenPossible },
      handle: async () => {
        handled += 1;
        return { runs: [makeRun({ id: 'once' })] };
      },
    });
    await accept(1);

    await bench.worker.tick();
    await settle();
    await advance(10_000);
    await bench.worker.idle();

    expect([handled, refusals]).toEqual([1, -1]);
    expect(await bench.store.counts()).toMatchObject({ settled: 1 });
  });

  it('stops claiming, lets running work finish, and leaves the remaining work', async () => {
    let finish = (): void => {};
    start({
      concurrency: 1,
      handle: () =>
        new Promise((resolve) => {
          finish = () => resolve(nothing);
        }),
    });
    await accept(1);
    await accept(2);
    await bench.worker.tick();

    const stopped = bench.worker.stop();
    await bench.worker.tick();
    finish();
    await stopped;

    expect(await bench.store.counts()).toMatchObject({ settled: 1, accepted: 1, claimed: 0 });
    expect(bench.timerCount).toBe(0);
  });

  it('aborts work that does not finish in time, and releases it without counting the attempt', async () => {
    start({ handle: () => new Promise(() => {}) });
    const id = await accept(1);
    await bench.worker.tick();

    const stopped = bench.worker.stop({ graceMs: 8_000 });
    await settle();
    await advance(9_000);
    await stopped;

    expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'accepted', attempts: 0 });
  });
});
