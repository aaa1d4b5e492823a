import { describe, expect, it } from 'vitest';
import { digestOfBody } from '../../../src/store/fingerprint.ts';
import { collect, makeDelivery } from '../make.ts';
import type { StoreBench } from './store-bench.ts';

/** Tests how deliveries are routed, and which deliveries repeat an earlier one. */
export function describeRoutingAndRepeats(bench: StoreBench): void {
  const { advanceMs, claimIds, claimOne, reopen } = bench;

  describe('routing', () => {
    it('hands out unrouted deliveries in order of acceptance, with their bodies', async () => {
      const ids = await collect(5, async () => (await bench.store.accept(makeDelivery())).id);

      const unrouted = await bench.store.unrouted(3);

      expect(unrouted.map((each) => each.id)).toEqual(ids.slice(0, 3));
      expect(unrouted.every((each) => each.body.length > 0)).toBe(true);
    });

    it('claims nothing that was not assigned to a lane, even if the lane is known', async () => {
      await bench.store.accept(makeDelivery({ route: { lane: '7', repositoryId: 7 } }));

      expect(await claimIds()).toEqual([]);
      expect((await bench.store.unrouted(10))[0]).toMatchObject({ lane: '7', repositoryId: 7 });
    });

    it('ends malformed deliveries as dead, and those without a matching rule as settled', async () => {
      const dead = await bench.store.accept(makeDelivery());
      const settled = await bench.store.accept(makeDelivery());

      await bench.store.route([
        { id: dead.id, to: 'dead', reason: 'not JSON' },
        { id: settled.id, to: 'settled', reason: 'unknown kind', repositoryId: 4, repository: 'acme/x' },
      ]);

      expect(await bench.store.readDelivery(dead.id)).toMatchObject({ state: 'dead', reason: 'not JSON' });
      expect(await bench.store.readDelivery(settled.id)).toMatchObject({ state: 'settled', repositoryId: 4 });
      expect(await bench.store.counts()).toEqual({
        accepted: 0,
        claimed: 0,
        retry: 0,
        deferred: 0,
        settled: 1,
        dead: 1,
      });
    });
  });

  describe('a delivery with the content of an earlier one', () => {
    const content = digestOfBody(Buffer.from('{"content":1}'));
    const acceptContent = async (digest = content): Promise<string> => {
      const { id } = await bench.store.accept(makeDelivery({ receivedAt: bench.now }));
      await bench.store.route([{ id, to: 'lane', lane: '1', digest }]);
      return id;
    };
    const handle = async () => {
      const claim = await claimOne();
      await bench.store.settle(claim, []);
      return claim;
    };

    it('is marked as a repeat of that delivery after routing, even after a restart', async () => {
      const first = await acceptContent();
      expect((await handle()).repeatOf).toBeUndefined();
      const second = await acceptContent();
      expect(await bench.store.describeDelivery(second)).toMatchObject({ repeatOf: first });
      await reopen();
      const third = await acceptContent();

      expect((await handle()).repeatOf).toBe(first);
      expect((await handle()).repeatOf).toBe(first);
      expect((await bench.store.describeDelivery(third))?.repeatOf).toBe(first);
    });

    it('is not a repeat if a byte of the body differs', async () => {
      await acceptContent();
      await acceptContent(digestOfBody(Buffer.from('{"content":2}')));

      expect([(await handle()).repeatOf, (await handle()).repeatOf]).toEqual([undefined, undefined]);
    });

    it('is not a repeat if the earlier delivery is dead, and is then the original of later deliveries', async () => {
      await acceptContent();
      const redelivered = await acceptContent();
      await acceptContent();
      await bench.store.bury(await claimOne(), 'the forge was away for too long');

      expect((await handle()).repeatOf).toBeUndefined();
      expect((await handle()).repeatOf).toBe(redelivered);
      await reopen();
      await acceptContent();
      expect((await handle()).repeatOf).toBe(redelivered);
    });

    it('is not a repeat of itself in later attempts or after a redrive', async () => {
      const id = await acceptContent();
      const claim = await claimOne();
      await bench.store.retry(claim, { afterMs: 0, reason: 'slow' });
      expect((await handle()).repeatOf).toBeUndefined();
      await bench.store.redrive([id], 'ada', { settled: true });
      await bench.store.route([{ id, to: 'lane', lane: '1', digest: content }]);

      expect((await handle()).repeatOf).toBeUndefined();
    });

    it('is not a repeat after the earlier delivery was pruned', async () => {
      await acceptContent();
      await handle();
      advanceMs(1_000);
      await bench.store.prune({ olderThan: bench.now });
      await acceptContent();
      await handle();
      await bench.store.prune({ olderThan: bench.now });
      await reopen();
      await acceptContent();

      // The latest delivery is never pruned, so the third delivery repeats the second.
      expect((await handle()).repeatOf).toBe('2');
    });
  });
}
