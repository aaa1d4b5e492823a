import { describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import { recordFigure } from '../../support/figure.ts';
import { collect, makeDelivery, makeRun } from '../make.ts';
import type { StoreBench } from './store-bench.ts';

/** Tests the ends of attempts, and jobs. */
export function describeEndingsAndJobs(bench: StoreBench): void {
  const { acceptInLane, advanceMs, claimOne, open, reopen } = bench;

  describe('the end of an attempt', () => {
    it('settles the delivery and appends its runs in one step', async () => {
      const { id } = await bench.store.accept(makeDelivery());
      await bench.store.route([{ id, to: 'lane', lane: '9#1', repositoryId: 9, repository: 'acme/nine' }]);

      await bench.store.settle(await claimOne(), [makeRun({ id: 'a' }), makeRun({ id: 'b' })]);

      expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'settled', settledAt: bench.now });
      expect((await bench.store.listRuns({ delivery: id })).items.map((run) => run.id)).toEqual(['b', 'a']);
      expect((await bench.store.listRuns({ repositoryId: 9 })).items).toHaveLength(2);
      expect(await bench.store.readRun('a')).toEqual(makeRun({ id: 'a' }));
      expect(await bench.store.readRun('none')).toBeUndefined();
    });

    it('frees the lane while the delivery waits for a retry; afterwards, the delivery is first in its lane again', async () => {
      const [first, second] = await collect(2, () => acceptInLane('1'));
      const at = new Date(bench.now.getTime() + 10_000);

      await bench.store.retry(await claimOne(), { afterMs: 10_000, reason: 'forge said 500' });
      const overtaking = await claimOne();
      await bench.store.release(overtaking);
      advanceMs(10_000);

      expect(overtaking.id).toBe(second);
      expect(await bench.store.readDelivery(first ?? '')).toMatchObject({
        state: 'retry',
        retryAt: at,
        failingSince: expect.any(Date),
      });
      expect(await claimOne()).toMatchObject({ id: first, attempts: 2 });
    });

    it('releases the delivery without counting the attempt', async () => {
      const id = await acceptInLane('1');

      await bench.store.release(await claimOne());

      expect(await claimOne()).toMatchObject({ id, attempts: 1 });
    });

    it('stores the checkpoint of a job together with the runs of that part', async () => {
      await bench.startSweep({ rule: 'x' });

      await bench.store.advance(await claimOne(), {
        runs: [makeRun({ id: 'p1' })],
        repositoryId: 3,
        checkpoint: { page: 2 },
      });
      await reopen();

      expect(await claimOne()).toMatchObject({ door: 'cron', eventType: 'sweep', checkpoint: { page: 2 } });
      expect((await bench.store.listRuns({ repositoryId: 3 })).items).toHaveLength(1);
    });

    it('buries the delivery with a reason; a redriven delivery has all its attempts again, and is redriven once', async (context) => {
      const id = await acceptInLane('1');
      await bench.store.bury(await claimOne(), 'forge refused');

      const dead = await bench.store.listDeliveries({ state: 'dead' });
      const revived = await bench.store.redrive([id, '999', 'nonsense'], 'ada');
      const again = await bench.store.redrive([id], 'ada');

      expect(dead.items).toMatchObject([{ id, reason: 'forge refused' }]);
      expect([revived, again]).toEqual([1, 0]);
      expect(await bench.store.readDelivery(id)).toMatchObject({
        state: 'accepted',
        attempts: 0,
        redrivenBy: 'ada',
        redrivenAt: bench.now,
      });
      expect((await bench.store.unrouted(5)).map((each) => each.id)).toEqual([id]);
      recordFigure(context, 'redriven twice, by whom and when is kept: handled once');
    });

    it('redrives a settled delivery only on request, keeps its runs, and updates the counts', async () => {
      const id = await acceptInLane('1');
      await bench.store.settle(await claimOne(), [makeRun({ id: 'first' })]);
      expect(await bench.store.redrive([id], 'ada')).toBe(0);

      const revived = await bench.store.redrive([id, '999'], 'ada', { settled: true });

      expect(revived).toBe(1);
      expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'accepted', redrivenBy: 'ada' });
      expect(await bench.store.counts()).toMatchObject({ accepted: 1, settled: 0 });
      await bench.store.route([{ id, to: 'lane', lane: '1' }]);
      await bench.store.settle(await claimOne(), [makeRun({ id: 'second' })]);
      expect((await bench.store.listRuns({ delivery: id })).items.map((run) => run.id)).toEqual([
        'second',
        'first',
      ]);
      expect(await bench.store.counts()).toMatchObject({ accepted: 0, settled: 1 });
    });

    it('redrives a deferred delivery on request, before its time', async () => {
      const id = await acceptInLane('1');
      const claim = await claimOne();
      await bench.store.defer(claim, [], { afterMs: 3_600_000, why: 'over the budget', key: 'rule' });
      expect(await bench.store.redrive([id], 'ada')).toBe(0);

      expect(await bench.store.redrive([id], 'ada', { settled: true })).toBe(1);

      expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'accepted', retryAt: undefined });
      await bench.store.route([{ id, to: 'lane', lane: '1' }]);
      expect((await claimOne()).id).toBe(id);
      expect((await bench.store.counts()).deferred).toBe(0);
    });

    it('never redrives a finished job, because a sweep repeats by itself', async () => {
      const { id } = await bench.store.enqueue({
        door: 'cron',
        uuid: 'sweep@2',
        kind: 'sweep',
        lane: 'sweep',
        receivedAt: bench.now,
        payload: {},
      });
      await bench.store.route([{ id, to: 'lane', lane: 'sweep' }]);
      await bench.store.settle(await claimOne(), []);

      expect(await bench.store.redrive([id], 'ada', { settled: true })).toBe(0);
    });
  });

  describe('jobs', () => {
    const job = {
      door: 'cli',
      uuid: 'sweep:labels@12:00',
      kind: 'sweep',
      lane: 'sweep labels',
      payload: { rule: 'labels' },
    } as const;

    it('are stored once by their uuid, even next to a running worker', async () => {
      const reader = await open('reader');

      const first = await reader.enqueue({ ...job, receivedAt: bench.now });
      const again = await bench.store.enqueue({ ...job, receivedAt: bench.now });

      expect(first.known).toBe(false);
      expect(again).toEqual({ id: first.id, known: true });
      const [found] = await bench.store.unrouted(5);
      expect(found).toMatchObject({ id: first.id, door: 'cli', lane: 'sweep labels' });
      expect(JSON.parse(Buffer.from(found?.body ?? []).toString())).toEqual({ rule: 'labels' });
    });

    it('are the only work that a reader may start', async () => {
      const reader = await open('reader');

      await expect(reader.accept(makeDelivery())).rejects.toBeInstanceOf(ReeveError);
      await expect(reader.claim({ limit: 1, leaseMs: 1 })).rejects.toBeInstanceOf(ReeveError);
    });
  });
}
