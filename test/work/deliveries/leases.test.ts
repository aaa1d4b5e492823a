import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../../src/store/store.ts';
import { makeRun } from '../../store/make.ts';
import { propertyRuns, recordFigure } from '../../support/figure.ts';
import { createWorkerBench } from './worker-bench.ts';

const bench = createWorkerBench();
const { accept, advance, moveClockMs, pass, start } = bench;

describe('a lease', () => {
  it('lasts as long as the work makes progress within the allowed time', async () => {
    let finish = (): void => {};
    start({
      handle: () =>
        new Promise((resolve) => {
          finish = () => resolve({ runs: [makeRun({ id: 'late' })] });
        }),
    });
    const id = await accept(1);

    await bench.worker.tick();
    await advance(300_000);
    await bench.worker.tick();
    finish();
    await bench.worker.idle();

    expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'settled', attempts: 1 });
  });

  it('ends if a handler hangs; the lane continues, and the attempt counts', async () => {
    let signal: AbortSignal | undefined;
    start({
      stallMs: 60_000,
      handle: (_delivery, _event, lease) => {
        signal = lease.signal;
        return new Promise(() => {});
      },
    });
    const id = await accept(1);

    await bench.worker.tick();
    await advance(90_000);
    await bench.worker.idle();

    expect(signal?.aborted).toBe(true);
    expect(await bench.store.readDelivery(id)).toMatchObject({
      state: 'retry',
      attempts: 1,
      reason: 'no progress within 60 s',
    });
  });

  it("discards the first holder's results once it is lost", async () => {
    const thief = new Map<string, Claim>();
    start({
      leaseMs: 1_000,
      handle: async (delivery) => {
        moveClockMs(2_000);
        const [claim] = await bench.store.claim({ limit: 1, leaseMs: 60_000 });
        if (claim !== undefined) thief.set(delivery.id, claim);
        return { runs: [makeRun({ id: 'of the first' })] };
      },
    });
    const id = await accept(1);

    await pass();

    expect(thief.has(id)).toBe(true);
    expect((await bench.store.listRuns()).items).toEqual([]);
    expect((await bench.store.readDelivery(id))?.state).toBe('claimed');
  });

  it('that was lost permits no change, whatever its holder still does', async (context) => {
    const lateCalls = [
      (claim: Claim) => bench.store.settle(claim, [makeRun({ id: 'late' })]),
      (claim: Claim) => bench.store.retry(claim, { afterMs: 0, reason: 'again' }),
      (claim: Claim) => bench.store.defer(claim, [], { afterMs: 0, why: 'budget' }),
      (claim: Claim) => bench.store.release(claim),
      (claim: Claim) => bench.store.bury(claim, 'given up'),
      (claim: Claim) => bench.store.advance(claim, { runs: [makeRun({ id: 'late' })], checkpoint: 1 }),
      (claim: Claim) => bench.store.heartbeat(claim, 60_000),
    ];
    const step = fc.record({
      isGivenBack: fc.boolean(),
      whose: fc.nat(5),
      call: fc.nat(lateCalls.length - 1),
    });
    let refused = 0;
    let interleavings = 0;

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        interleavings += 1;
        const id = await accept(interleavings);
        await bench.store.route([{ id, to: 'lane', lane: String(interleavings) }]);
        const claims: Claim[] = [];
        for (const { isGivenBack, whose, call } of steps) {
          claims.push(...(await bench.store.claim({ limit: 1, leaseMs: 1_000 })));
          const lost = claims.slice(0, -1);
          const late = lost[whose % Math.max(lost.length, 1)];
          if (late !== undefined) {
            const before = await bench.store.readDelivery(id);
            await expect(lateCalls[call]?.(late)).rejects.toMatchObject({ code: 'lease-lost' });
            expect(await bench.store.readDelivery(id)).toEqual(before);
            refused += 1;
          }
          const [current] = claims.slice(-1);
          if (isGivenBack && current !== undefined)
            await bench.store.retry(current, { afterMs: 0, reason: 'again' });
          else moveClockMs(2_000);
        }
        expect((await bench.store.listRuns()).items).toEqual([]);
        for (const claim of await bench.store.claim({ limit: 1, leaseMs: 1_000 }))
          await bench.store.bury(claim, 'the end');
      }),
      { numRuns: process.env.LONG ? 10_000 : propertyRuns(50) },
    );

    expect(refused).toBeGreaterThan(interleavings / 10);
    const [all, late] = [interleavings, refused].map((count) => count.toLocaleString('en'));
    recordFigure(context, `${all} interleavings: ${late} calls under a lost lease, all refused, 0 changes`);
  });
});
