import { describe, expect, it } from 'vitest';
import { collect, makeRun } from '../make.ts';
import type { StoreBench } from './store-bench.ts';

/** Tests claims and their leases, also after a crash. */
export function describeClaimsAndLeases(bench: StoreBench): void {
  const { acceptInLane, advanceUptimeMs, claimIds, claimOne, reopen, moveWallClockMs } = bench;

  describe('claim', () => {
    it('takes the oldest delivery of a lane first, and one delivery of a lane at a time', async () => {
      const [first, second] = await collect(2, () => acceptInLane('1#1'));

      const claims = await bench.store.claim({ limit: 10, leaseMs: 60_000 });
      const none = await claimIds();
      for (const claim of claims) await bench.store.settle(claim, []);

      expect(claims.map((claim) => claim.id)).toEqual([first]);
      expect(none).toEqual([]);
      expect(await claimIds()).toEqual([second]);
    });

    it('alternates between repositories, so that a busy repository does not starve others', async () => {
      const busy = await collect(20, (index) => acceptInLane(`1#${index + 10}`));
      const quiet = [await acceptInLane('2#1'), await acceptInLane('3')];

      const first = await claimIds(4);

      expect(first).toEqual(expect.arrayContaining(quiet));
      expect(first.filter((id) => busy.includes(id))).toHaveLength(2);
      expect(await claimIds(50)).toHaveLength(18);
    });

    it('skips excluded lanes', async () => {
      await acceptInLane('1#1');
      const second = await acceptInLane('1#2');
      const third = await acceptInLane('2#1');

      const claims = await bench.store.claim({ limit: 10, leaseMs: 60_000, avoid: ['1#1', 'none'] });

      expect(claims.map(({ id }) => id).toSorted()).toEqual([second, third].toSorted());
    });

    it('finds work behind repositories whose lanes are all busy', async () => {
      await collect(3, () => acceptInLane('1'));
      await collect(3, (index) => acceptInLane(`2#${index}`));

      expect(await claimIds(2)).toHaveLength(2);
      expect(await claimIds(10)).toHaveLength(2);
      expect(await claimIds(10)).toEqual([]);
    });

    it('counts the attempt, and returns the count', async () => {
      await acceptInLane('1');

      const claim = await claimOne();

      expect(claim).toMatchObject({ state: 'claimed', attempts: 1, lane: '1' });
      expect((await bench.store.counts()).claimed).toBe(1);
    });
  });

  describe('leases', () => {
    it('are void after a restart, and the attempt still counts', async () => {
      const id = await acceptInLane('1');
      const lost = await claimOne();

      await reopen();

      await expect(bench.store.settle(lost, [makeRun({})])).rejects.toMatchObject({ code: 'lease-lost' });
      expect(await claimOne()).toMatchObject({ id, attempts: 2 });
      expect((await bench.store.listRuns()).items).toEqual([]);
    });

    it('end without a heartbeat, and then only the next holder can act', async () => {
      const id = await acceptInLane('1');
      const slow = await claimOne();
      advanceUptimeMs(60_001);

      const next = await claimOne();

      expect(next.id).toBe(id);
      for (const late of [
        () => bench.store.settle(slow, [makeRun({})]),
        () => bench.store.retry(slow, { afterMs: 0, reason: 'late' }),
        () => bench.store.release(slow),
        () => bench.store.bury(slow, 'late'),
        () => bench.store.heartbeat(slow, 60_000),
        () => bench.store.advance(slow, { runs: [makeRun({})], checkpoint: 1 }),
      ]) {
        await expect(late()).rejects.toMatchObject({ code: 'lease-lost' });
      }
      await bench.store.settle(next, [makeRun({ id: 'good' })]);
      expect((await bench.store.listRuns()).items.map((run) => run.id)).toEqual(['good']);
    });

    it('hold as long as heartbeats arrive, whatever the clock does', async () => {
      await acceptInLane('1');
      const claim = await claimOne();
      advanceUptimeMs(50_000);
      await bench.store.heartbeat(claim, 60_000);
      advanceUptimeMs(50_000);
      moveWallClockMs(86_400_000);

      expect(await claimIds()).toEqual([]);
      await expect(bench.store.settle(claim, [])).resolves.toBeUndefined();
    });
  });

  describe('after a crash', () => {
    it('counts an attempt and a crash for a delivery that was alone in flight', async () => {
      const id = await acceptInLane('1');
      await claimOne();
      await reopen();

      expect(await claimOne()).toMatchObject({ id, attempts: 2, crashes: 1 });
    });

    it('counts no attempt if several deliveries were in flight, and then hands out each of them alone', async () => {
      const ids = await collect(3, (index) => acceptInLane(String(index)));
      await claimIds();
      const later = await acceptInLane('later');
      await reopen();

      for (const id of ids) {
        const claim = await claimOne();
        expect(claim).toMatchObject({ id, attempts: 1, crashes: 0 });
        expect(await claimIds()).toEqual([]);
        await bench.store.settle(claim, []);
      }
      expect(await claimIds()).toEqual([later]);
    });

    it('isolates a suspected delivery only for a limited time', async () => {
      await acceptInLane('1');
      await acceptInLane('2');
      await claimIds();
      await reopen();
      const later = await acceptInLane('later');

      const [first] = await claimIds();
      expect(await claimIds()).toEqual([]);
      advanceUptimeMs(10_000);
      const [second] = await claimIds();
      expect(await claimIds()).toEqual([]);
      advanceUptimeMs(10_000);

      expect(await claimIds()).toEqual([later]);
      expect(first).not.toBe(second);
    });

    it('finds the delivery that takes the process down, even next to a delivery that runs for a long time', async () => {
      const endless = await acceptInLane('endless');
      const deadly = await acceptInLane('deadly');
      await claimIds();
      let starts = 0;
      const crashesOf = async (id: string): Promise<number> =>
        (await bench.store.describeDelivery(id))?.crashes ?? 0;

      for (; (await crashesOf(deadly)) < 5 && starts < 30; starts += 1) {
        await reopen();
        while (!(await claimIds()).includes(deadly)) advanceUptimeMs(10_000);
      }

      expect(await crashesOf(deadly)).toBe(5);
      expect(await crashesOf(endless)).toBe(0);
      expect(starts).toBeLessThan(15);
    });
  });
}
