import { describe, expect, it } from 'vitest';
import { makeRun } from '../make.ts';
import type { StoreBench } from './store-bench.ts';

/** Tests deliveries that wait to be claimed again. */
export function describeRetriesAndDeferrals(bench: StoreBench): void {
  const { acceptInLane, advanceMs, claimIds, claimOne, reopen, moveWallClockMs } = bench;

  describe('waits for a retry', () => {
    it('do not become longer if the clock is set back, whether in this process or before it starts', async () => {
      const id = await acceptInLane('1');
      const retryAt = async () => (await bench.store.describeDelivery(id))?.retryAt?.getTime();
      await bench.store.retry(await claimOne(), { afterMs: 60_000, reason: 'later' });

      moveWallClockMs(-3 * 3_600_000);
      expect(await claimIds()).toEqual([]);
      expect(await retryAt()).toBe(bench.now.getTime() + 60_000);

      await reopen({ between: () => moveWallClockMs(-86_400_000) });
      expect(await claimIds()).toEqual([]);
      expect(await retryAt()).toBe(bench.now.getTime() + 60_000);
      advanceMs(60_000);
      expect(await claimIds()).toEqual([id]);
    });

    it('are not shortened by a correct clock', async () => {
      const id = await acceptInLane('1');
      await bench.store.retry(await claimOne(), {
        afterMs: 86_400_000,
        reason: 'the forge asks for a pause',
      });

      advanceMs(86_399_000);
      expect(await claimIds()).toEqual([]);
      advanceMs(1_000);
      expect(await claimIds()).toEqual([id]);
    });
  });

  describe('a deferred delivery', () => {
    const wait = { afterMs: 3_600_000, why: 'over the budget of 500 changes per hour', key: 'rule a' };

    it('keeps its runs, does not count as an attempt, and is claimed again after its wait', async () => {
      const id = await acceptInLane('1');

      await bench.store.defer(await claimOne(), [makeRun({ id: 'stopped' })], wait);

      expect(await bench.store.describeDelivery(id)).toMatchObject({
        state: 'deferred',
        reason: `deferred: ${wait.why}`,
        attempts: 0,
        failingSince: undefined,
        retryAt: new Date(bench.now.getTime() + 3_600_000),
      });
      expect((await bench.store.listRuns({ delivery: id })).items.map((run) => run.id)).toEqual(['stopped']);
      expect(await bench.store.oldestWaiting()).toBeUndefined();
      advanceMs(3_599_999);
      expect(await claimIds()).toEqual([]);
      advanceMs(1);
      expect(await claimOne()).toMatchObject({ id, attempts: 1 });
    });

    it('does not block later deliveries of its lane', async () => {
      await acceptInLane('1');
      const later = await acceptInLane('1');

      await bench.store.defer(await claimOne(), [], wait);

      expect(await claimIds()).toEqual([later]);
    });

    it('is superseded only by a later delivery of its lane with the same key', async () => {
      const ids: string[] = [];
      for (const [lane, key] of [
        ['1', 'rule a'],
        ['1', 'rule b'],
        ['1', undefined],
        ['2', 'rule a'],
        ['1', 'rule a'],
        ['1', undefined],
      ] as const) {
        ids.push(await acceptInLane(lane));
        const { afterMs, why } = wait;
        await bench.store.defer(await claimOne(), [], {
          afterMs,
          why,
          ...(key === undefined ? {} : { key }),
        });
      }

      const states = await Promise.all(
        ids.map(async (id) => (await bench.store.describeDelivery(id))?.state),
      );
      expect(states).toEqual(['settled', ...Array.from({ length: 5 }, () => 'deferred')]);
      expect((await bench.store.describeDelivery(ids[0] ?? ''))?.reason).toContain(`delivery ${ids[4]}`);
      expect(await bench.store.counts()).toMatchObject({ settled: 1, deferred: 5 });
    });

    it('of a job restarts the job without its checkpoint', async () => {
      await bench.startSweep({});
      const job = await claimOne();
      await bench.store.advance(job, { runs: [], checkpoint: { page: 3 } });

      await bench.store.defer(job, [], wait);

      advanceMs(3_600_000);
      expect((await claimOne()).checkpoint).toBeUndefined();
    });

    it('can be ended by its id while it still waits', async () => {
      const id = await acceptInLane('1');
      const claimed = await acceptInLane('2');
      await bench.store.defer(await claimOne(), [], wait);
      await claimOne();

      await bench.store.endDeferral(id, 'the next slot runs in its place');
      await bench.store.endDeferral(claimed, 'the next slot runs in its place');

      expect(await bench.store.describeDelivery(id)).toMatchObject({
        state: 'settled',
        settledAt: bench.now,
      });
      expect((await bench.store.describeDelivery(claimed))?.state).toBe('claimed');
      expect(await bench.store.counts()).toMatchObject({ settled: 1, deferred: 0, claimed: 1 });
    });

    it('does not wait longer if the clock is set back', async () => {
      const id = await acceptInLane('1');
      await bench.store.defer(await claimOne(), [], wait);

      moveWallClockMs(-86_400_000);

      expect(await claimIds()).toEqual([]);
      expect((await bench.store.describeDelivery(id))?.retryAt?.getTime()).toBe(
        bench.now.getTime() + 3_600_000,
      );
    });

    it('is not written under a lost lease', async () => {
      const id = await acceptInLane('1');
      const claim = await claimOne();
      await bench.store.settle(claim, []);

      await expect(bench.store.defer(claim, [makeRun({ id: 'late' })], wait)).rejects.toMatchObject({
        code: 'lease-lost',
      });

      expect((await bench.store.listRuns({ delivery: id })).items).toEqual([]);
    });
  });
}
