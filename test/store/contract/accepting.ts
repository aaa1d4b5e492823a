import { describe, expect, it } from 'vitest';
import { encodeHeaders } from '../../../src/store/stored-headers.ts';
import { recordFigure } from '../../support/figure.ts';
import { collect, makeDelivery } from '../make.ts';
import type { StoreBench } from './store-bench.ts';

/** Tests how deliveries are accepted. */
export function describeAccepting(bench: StoreBench): void {
  const { acceptInLane, advanceMs, claimIds, reopen } = bench;

  describe('accept', () => {
    it('stores equal sets of headers once, and fills in the values that differ from delivery to delivery', async () => {
      const headers = encodeHeaders(
        [
          ['user-agent', 'forge: 1=2'],
          ['x-gitea-delivery', { same: 'uuid' }],
          ['content-length', { same: 'bytes' }],
          ['cookie'],
        ],
        3,
      );
      const given = [1, 2].map(() => makeDelivery({ receivedAt: bench.now, headers }));
      const ids = await collect(
        2,
        async (index) => (await bench.store.accept(given[index] ?? makeDelivery())).id,
      );
      const { id: bare } = await bench.store.accept(makeDelivery({ receivedAt: bench.now }));
      await reopen();

      for (const [index, id] of ids.entries())
        expect(await bench.store.readHeaders(id)).toEqual({
          headers: [
            { name: 'user-agent', value: 'forge: 1=2' },
            { name: 'x-gitea-delivery', value: given[index]?.uuid },
            { name: 'content-length', value: String(given[index]?.body.length) },
            { name: 'cookie' },
          ],
          leftOut: 3,
        });
      expect(await bench.store.readHeaders(bare)).toBeUndefined();
      expect(await bench.store.readHeaders('999')).toBeUndefined();
    });

    it('keeps headers as long as deliveries refer to them', async () => {
      const accept = async (agent: string): Promise<string> =>
        (
          await bench.store.accept(
            makeDelivery({ receivedAt: bench.now, headers: encodeHeaders([['user-agent', agent]], 0) }),
          )
        ).id;
      const days = (count: number): void => advanceMs(count * 86_400_000);
      const gone = await accept('old');
      const renewed = await accept('in use');
      days(3);
      await accept('in use');

      await bench.store.prune({ olderThan: bench.now, deadOlderThan: bench.now });

      expect(await bench.store.readHeaders(gone)).toBeUndefined();
      expect(await bench.store.readHeaders(renewed)).toBeDefined();
    });

    it("keeps the bytes of the body, and the delivery's metadata", async () => {
      const given = makeDelivery({
        receivedAt: bench.now,
        body: Buffer.from([0x7b, 0x22, 0xff, 0x00, 0x7d]),
      });

      const { id, known } = await bench.store.accept(given);

      const read = await bench.store.readDelivery(id);
      expect(known).toBe(false);
      expect(Buffer.from(read?.body ?? [])).toEqual(given.body);
      expect(read).toMatchObject({
        id,
        door: 'webhook',
        uuid: given.uuid,
        eventType: given.eventType,
        entry: given.entry,
        contentType: given.contentType,
        receivedAt: bench.now,
        state: 'accepted',
        bytes: 5,
        attempts: 0,
      });
    });

    it('stores nothing for a uuid that is known, even after a restart', async () => {
      const given = makeDelivery();
      const first = await bench.store.accept(given);

      const again = await bench.store.accept({ ...given, body: Buffer.from('{"other":1}') });
      await reopen();
      const later = await bench.store.accept(given);

      expect(again).toEqual({ id: first.id, known: true });
      expect(later).toEqual({ id: first.id, known: true });
      expect((await bench.store.counts()).accepted).toBe(1);
    });

    it('stores one row for a hundred concurrent copies of one uuid', async (context) => {
      const given = makeDelivery();

      const all = await Promise.all(Array.from({ length: 100 }, () => bench.store.accept(given)));

      expect(all.filter((each) => !each.known)).toHaveLength(1);
      expect(new Set(all.map((each) => each.id)).size).toBe(1);
      expect((await bench.store.counts()).accepted).toBe(1);
      recordFigure(context, `${all.length} concurrent copies of one delivery: 1 row`);
    });

    it('does not let a secret entry hide the deliveries of another entry by using their uuid', async () => {
      const given = makeDelivery({ entry: 'mallory' });
      await bench.store.accept(given);

      const victim = await bench.store.accept({ ...given, entry: 'acme', body: Buffer.from('{"real":1}') });

      expect(victim.known).toBe(false);
    });

    it('stores the same body and kind within a minute as a copy that does not run', async () => {
      const first = await bench.store.accept(
        makeDelivery({ receivedAt: bench.now, body: Buffer.from('{"a":1}') }),
      );
      advanceMs(59_000);

      const copy = await bench.store.accept(
        makeDelivery({ receivedAt: bench.now, body: Buffer.from('{"a":1}') }),
      );

      expect(copy).toEqual({ id: copy.id, known: false, copyOf: first.id });
      expect(await bench.store.readDelivery(copy.id)).toMatchObject({ state: 'settled', copyOf: first.id });
      expect(await bench.store.counts()).toMatchObject({ accepted: 1, settled: 1 });
    });

    it('recognises a copy of a copy, and a copy after a restart, as a copy of the first delivery', async () => {
      const make = () => makeDelivery({ receivedAt: bench.now, body: Buffer.from('{"a":1}') });
      const first = await bench.store.accept(make());
      await bench.store.accept(make());

      const third = await bench.store.accept(make());
      await reopen();
      const fourth = await bench.store.accept(make());

      expect([third.copyOf, fourth.copyOf]).toEqual([first.id, first.id]);
    });

    it('runs the same body again if the first delivery is claimed, if the kind differs, and after a minute', async () => {
      const body = Buffer.from('{"a":1}');
      await acceptInLane('other');
      const { id } = await bench.store.accept(makeDelivery({ receivedAt: bench.now, body }));

      const otherKind = await bench.store.accept(
        makeDelivery({ receivedAt: bench.now, body, eventType: 'create' }),
      );
      advanceMs(60_001);
      const late = await bench.store.accept(makeDelivery({ receivedAt: bench.now, body }));
      await bench.store.route([
        { id, to: 'lane', lane: '1' },
        { id: otherKind.id, to: 'lane', lane: '2' },
        { id: late.id, to: 'lane', lane: '3' },
      ]);
      await claimIds();
      const afterClaim = await bench.store.accept(makeDelivery({ receivedAt: bench.now, body }));

      expect([otherKind, late, afterClaim].map((each) => each.copyOf)).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });
  });
}
