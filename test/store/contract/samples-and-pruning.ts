import { describe, expect, it } from 'vitest';
import { makeRun } from '../make.ts';
import type { StoreBench } from './store-bench.ts';

/** Tests samples and pruning. */
export function describeSamplesAndPruning(bench: StoreBench): void {
  const { acceptInLane, advanceMs, claimOne } = bench;

  describe('samples', () => {
    const at = new Date('2026-03-01T12:00:00.000Z');
    const later = new Date('2026-03-01T12:05:00.000Z');

    it('keep the sum, the maximum or the last value of their interval, even if values are added concurrently', async () => {
      const add = (name: string, merge: 'sum' | 'max' | 'last', ...amounts: readonly number[]) =>
        Promise.all(
          amounts.map((amount) => bench.store.addSamples([{ minutes: 5, at, name, amount, merge }])),
        );
      await add('sum', 'sum', 3, 4, 5);
      await add('max', 'max', 3, 9, 5);
      for (const amount of [3, 9, 5]) await add('last', 'last', amount);
      await bench.store.addSamples([
        { minutes: 5, at: later, name: 'sum', amount: 1, merge: 'sum' },
        { minutes: 60, at, name: 'sum', amount: 7, merge: 'sum' },
        { minutes: 60, at, name: 'level', amount: 2.4, merge: 'max' },
      ]);
      await bench.store.addSamples([]);

      expect(await bench.store.readSamples({ minutes: 5, since: at })).toEqual([
        { at, name: 'last', amount: 5 },
        { at, name: 'max', amount: 9 },
        { at, name: 'sum', amount: 12 },
        { at: later, name: 'sum', amount: 1 },
      ]);
      expect(await bench.store.readSamples({ minutes: 5, since: later })).toHaveLength(1);
      expect(await bench.store.readSamples({ minutes: 60, since: at })).toHaveLength(2);
    });

    it('are deleted by interval length and age', async () => {
      const spans = Array.from({ length: 450 }, (_, n) => new Date(at.getTime() + n * 300_000));
      await bench.store.addSamples(
        spans.map((span) => ({ minutes: 5, at: span, name: 'a', amount: 1, merge: 'sum' })),
      );
      await bench.store.addSamples([{ minutes: 60, at, name: 'a', amount: 1, merge: 'sum' }]);

      await bench.store.prune({ samples: [{ minutes: 5, before: spans[449] ?? at }] });

      expect(await bench.store.readSamples({ minutes: 5, since: at })).toEqual([
        { at: spans[449], name: 'a', amount: 1 },
      ]);
      expect(await bench.store.readSamples({ minutes: 60, since: at })).toHaveLength(1);
    });
  });

  describe('prune', () => {
    it('deletes old settled deliveries with their runs, but no waiting or dead deliveries', async () => {
      const settled = await acceptInLane('1');
      await bench.store.settle(await claimOne(), [makeRun({ id: 'of delivery' })]);
      await bench.store.appendRuns([makeRun({ id: 'loose', at: bench.now.toISOString() })]);
      const dead = await acceptInLane('1');
      await bench.store.bury(await claimOne(), 'broken');
      const waiting = await acceptInLane('2');
      advanceMs(60_000);
      const young = await acceptInLane('3');

      const gone = await bench.store.prune({ olderThan: bench.now });

      expect(gone).toEqual({ deliveries: 1, dead: 0, runs: 2 });
      const left = (await bench.store.listDeliveries()).items.map((each) => each.id);
      expect(left).toEqual([young, waiting, dead]);
      expect(await bench.store.readDelivery(settled)).toBeUndefined();
      expect((await bench.store.listRuns()).items).toEqual([]);
      expect((await bench.store.counts()).settled).toBe(0);
    });

    it('deletes dead deliveries, with their runs, by the date of their death, unless they were redriven since', async () => {
      const dead = await acceptInLane('1');
      await bench.store.bury(await claimOne(), 'broken');
      const redriven = await acceptInLane('1');
      await bench.store.bury(await claimOne(), 'broken');
      advanceMs(60_000);
      const limit = bench.now;
      await bench.store.redrive([redriven], 'ada');
      await bench.store.route([{ id: redriven, to: 'lane', lane: '1' }]);
      await bench.store.bury(await claimOne(), 'broken again');
      const last = await acceptInLane('2');

      const none = await bench.store.prune({ olderThan: limit });
      const gone = await bench.store.prune({ deadOlderThan: limit });

      expect(none).toEqual({ deliveries: 0, dead: 0, runs: 0 });
      expect(gone).toEqual({ deliveries: 1, dead: 1, runs: 0 });
      expect(await bench.store.readDelivery(dead)).toBeUndefined();
      expect((await bench.store.listDeliveries()).items.map(({ id }) => id)).toEqual([last, redriven]);
      expect((await bench.store.counts()).dead).toBe(1);
    });

    it('deletes old deliveries even if an earlier one is dated in the future', async () => {
      const before = bench.now;
      advanceMs(400 * 86_400_000);
      const future = await acceptInLane('1');
      await bench.store.settle(await claimOne(), []);
      advanceMs(before.getTime() - bench.now.getTime());
      const later = await acceptInLane('1');
      await bench.store.settle(await claimOne(), []);
      advanceMs(60_000);
      const last = await acceptInLane('1');

      const gone = await bench.store.prune({ olderThan: bench.now });

      expect(gone.deliveries).toBe(1);
      expect(await bench.store.readDelivery(later)).toBeUndefined();
      expect((await bench.store.listDeliveries()).items.map(({ id }) => id)).toEqual([last, future]);
    });

    it('over the size limit, deletes dead deliveries after all settled ones', async () => {
      await acceptInLane('1');
      await bench.store.bury(await claimOne(), 'broken');
      await acceptInLane('1');
      await bench.store.settle(await claimOne(), [makeRun({ id: 'of delivery' })]);
      const waiting = await acceptInLane('1');
      const last = await acceptInLane('1');

      const gone = await bench.store.prune({ maxBytes: 0 });

      expect(gone).toEqual({ deliveries: 2, dead: 1, runs: 1 });
      expect((await bench.store.listDeliveries()).items.map(({ id }) => id)).toEqual([last, waiting]);
    });
  });
}
