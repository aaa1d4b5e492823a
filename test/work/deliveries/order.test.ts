import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { collect } from '../../store/make.ts';
import { propertyRuns, recordFigure } from '../../support/figure.ts';
import { createWorkerBench, nothing } from './worker-bench.ts';

const bench = createWorkerBench();
const { accept, pass, renewStore, start } = bench;

/** Claims as the store does, in this time. */
function slowClaim(ms: number): Store['claim'] {
  return async (options) => {
    bench.moveClockMs(ms);
    return bench.store.claim(options);
  };
}

describe('order', () => {
  it('is kept within every lane, one delivery at a time, under random schedules and failures', async (context) => {
    let [schedules, deliveries] = [0, 0];
    const schedule = fc.record({
      lanes: fc.array(
        fc.record({ repository: fc.integer({ min: 1, max: 3 }), index: fc.integer({ min: 1, max: 2 }) }),
        { minLength: 1, maxLength: 50 },
      ),
      // If a claim takes time and attempts take none, deliveries are claimed ahead.
      claimMs: fc.constantFrom(0, 1_000),
      concurrency: fc.integer({ min: 1, max: 6 }),
      turns: fc.infiniteStream(fc.nat(3)),
    });
    await fc.assert(
      fc.asyncProperty(schedule, async ({ lanes, claimMs, concurrency, turns }) => {
        await renewStore();
        const active = new Set<string>();
        const begun = new Map<string, number[]>();
        start({
          concurrency,
          store: { ...bench.store, claim: slowClaim(claimMs) },
          handle: async (delivery, event) => {
            const lane = `${event.repository?.id}#${event.subject?.index}`;
            expect(active.has(lane)).toBe(false);
            expect(active.size).toBeLessThan(concurrency);
            active.add(lane);
            begun.set(lane, [...(begun.get(lane) ?? []), Number(delivery.id)]);
            const pause = turns.next().value ?? 0;
            await collect(pause, async () => new Promise((resolve) => setImmediate(resolve)));
            active.delete(lane);
            if (pause === 3) throw new ReeveError('forge-forbidden', 'refused');
            return nothing;
          },
        });
        for (const [at, { repository, index }] of lanes.entries()) {
          await accept(repository, index);
          if (at % 4 === 3) await bench.worker.tick();
        }
        for (let turn = 0; turn < lanes.length; turn += 1) await pass();

        expect([...begun.values()].flat()).toHaveLength(lanes.length);
        for (const ids of begun.values()) expect(ids).toEqual(ids.toSorted((a, b) => a - b));
        schedules += 1;
        deliveries += lanes.length;
      }),
      { numRuns: process.env.LONG ? 10_000 : propertyRuns(50) },
    );
    recordFigure(
      context,
      `${schedules.toLocaleString('en')} random schedules, ${deliveries.toLocaleString('en')} deliveries, 0 out of order`,
    );
  });
});
