import { describe, expect, it } from 'vitest';
import { ownReason } from '../../../src/rules/verdict.ts';
import {
  type Claim,
  type DeliveryQuery,
  type DeliveryState,
  deliveryStates,
} from '../../../src/store/store.ts';
import { collect, makeDelivery, makeRun } from '../make.ts';
import type { StoreBench } from './store-bench.ts';

/** Tests the data that a store returns about deliveries and runs, and the data that it remembers. */
export function describeReading(bench: StoreBench): void {
  const { acceptInLane, advanceMs, claimOne, reopen } = bench;

  describe('reading', () => {
    it('pages through deliveries, newest first, without gaps or repeats', async () => {
      const ids = await collect(7, async () => (await bench.store.accept(makeDelivery())).id);

      const seen: string[] = [];
      let before: string | undefined;
      do {
        const page = await bench.store.listDeliveries({
          limit: 3,
          ...(before === undefined ? {} : { before }),
        });
        seen.push(...page.items.map((each) => each.id));
        before = page.next;
      } while (before !== undefined);

      expect(seen).toEqual(ids.toReversed());
    });

    it('searches by kind, repository and uuid, and filters by state', async () => {
      const one = await bench.store.accept(makeDelivery({ eventType: 'issues', uuid: 'AAAA-1' }));
      const two = await bench.store.accept(
        makeDelivery({ route: { lane: '5', repositoryId: 5, repository: 'Acme/Tool' } }),
      );
      const find = async (search: string) =>
        (await bench.store.listDeliveries({ search })).items.map((each) => each.id);

      expect(await find('issue')).toEqual([one.id]);
      expect(await find('aaaa')).toEqual([one.id]);
      expect(await find('acme/t')).toEqual([two.id]);
      expect(await find("'; DROP TABLE deliveries")).toEqual([]);
      expect((await bench.store.listDeliveries({ state: 'settled' })).items).toEqual([]);
      expect((await bench.store.listDeliveries({ repositoryId: 5 })).items.map((each) => each.id)).toEqual([
        two.id,
      ]);
    });

    it('lists events of the forge and jobs separately', async () => {
      const { id: event } = await bench.store.accept(makeDelivery());
      const job = {
        door: 'cron',
        kind: 'sweep',
        lane: 'sweep',
        receivedAt: new Date(),
        payload: {},
      } as const;
      const { id: cron } = await bench.store.enqueue({ ...job, uuid: 'one' });
      const { id: cli } = await bench.store.enqueue({ ...job, door: 'cli', uuid: 'two' });
      const { id: last } = await bench.store.accept(makeDelivery());
      const find = async (door: 'webhook' | 'job') =>
        (await bench.store.listDeliveries({ door })).items.map(({ id }) => id);

      expect(await find('webhook')).toEqual([last, event]);
      expect(await find('job')).toEqual([cli, cron]);
      expect(
        (await bench.store.listDeliveries({ door: 'job', state: 'accepted', limit: 1 })).items,
      ).toMatchObject([{ id: cli }]);
      expect(
        (await bench.store.listDeliveries({ door: 'job', search: 'sweep', before: cli })).items,
      ).toMatchObject([{ id: cron }]);
    });

    it('lists events that were found by reading the forge with the webhooks', async () => {
      const { id: webhook } = await bench.store.accept(makeDelivery());
      const job = { door: 'cron', lane: '7#1', payload: {}, receivedAt: new Date(0) } as const;
      const { id: found } = await bench.store.enqueue({ ...job, uuid: 'found', kind: 'caught-up' });
      const { id: sweep } = await bench.store.enqueue({ ...job, uuid: 'sweep', kind: 'sweep' });
      const listed = async (door: 'webhook' | 'event' | 'job') =>
        (await bench.store.listDeliveries({ door, limit: 2 })).items.map(({ id }) => id);

      expect(await listed('webhook')).toContain(webhook);
      expect(await listed('event')).toEqual([found, webhook]);
      expect(await listed('job')).toContain(sweep);
      expect(await listed('job')).not.toContain(found);
    });

    it('keeps what a delivery is about', async () => {
      const ids = await collect(2, async () => (await bench.store.accept(makeDelivery())).id);
      const [first = '', second = ''] = ids;
      const summary = { activity: 'opened', title: 'Fix “the” build\u0000', actor: 'alice' };
      await bench.store.route([
        { id: first, to: 'lane', lane: '7#1', summary },
        { id: second, to: 'settled', reason: 'unknown kind', summary: { actor: 'bob' } },
      ]);

      expect((await bench.store.listDeliveries()).items.map((one) => one.summary)).toEqual([
        { actor: 'bob' },
        summary,
      ]);
      await bench.store.redrive([second], 'ada', { settled: true });
      await bench.store.route([{ id: second, to: 'lane', lane: '7' }]);
      expect((await bench.store.describeDelivery(second))?.summary).toEqual({ actor: 'bob' });
    });

    it('lists in both directions, with or without the events that Reeve caused', async () => {
      const ids = await collect(6, async () => (await bench.store.accept(makeDelivery())).id);
      await bench.store.route(
        ids.map((id, at) => ({ id, to: 'settled', reason: at % 2 === 0 ? ownReason : 'no rule listens' })),
      );
      const find = async (query: DeliveryQuery) => {
        const { items, next } = await bench.store.listDeliveries(query);
        return { found: items.map(({ id }) => ids.indexOf(id)), next };
      };

      expect((await find({ withoutOwn: true })).found).toEqual([5, 3, 1]);
      expect((await find({ after: '0' })).found).toEqual([0, 1, 2, 3, 4, 5]);
      expect(await find({ after: ids[1] ?? '', withoutOwn: true, limit: 1 })).toEqual({
        found: [3],
        next: ids[3],
      });
      expect(await find({ after: ids[3] ?? '', withoutOwn: true })).toEqual({ found: [5], next: undefined });
      expect((await find({ before: ids[3] ?? '', withoutOwn: true })).found).toEqual([1]);
    });

    it('reads the latest run of each of several deliveries', async () => {
      const ids = await collect(3, async () => (await bench.store.accept(makeDelivery())).id);
      await bench.store.route(ids.map((id, index) => ({ id, to: 'lane', lane: `lane ${index}` })));
      for (const claim of await bench.store.claim({ limit: 2, leaseMs: 60_000 }))
        await bench.store.settle(claim, [
          makeRun({ id: `old ${claim.id}` }),
          makeRun({ id: `new ${claim.id}` }),
        ]);
      await bench.store.appendRuns([makeRun({ id: 'of no delivery' })]);

      const found = await bench.store.readLatestRuns([...ids, '4711', 'x']);

      expect([...found].map(([id, run]) => [id, run.id]).toSorted()).toEqual(
        ids.slice(0, 2).map((id) => [id, `new ${id}`]),
      );
      expect(await bench.store.readLatestRuns([])).toEqual(new Map());
    });

    it('describes a delivery like a full read, but without the body', async () => {
      const { id } = await bench.store.accept(makeDelivery({ eventType: 'issues' }));
      const { body, ...rest } = (await bench.store.readDelivery(id)) ?? {};

      expect(body).toBeDefined();
      expect(await bench.store.describeDelivery(id)).toEqual(rest);
      expect(await bench.store.describeDelivery('999')).toBeUndefined();
      expect(await bench.store.describeDelivery('nonsense')).toBeUndefined();
    });

    it('lists each state separately, newest first and page by page', async () => {
      const inLane = async (lane: string): Promise<string> => {
        const { id } = await bench.store.accept(makeDelivery());
        await bench.store.route([{ id, to: 'lane', lane, repositoryId: 1, repository: 'acme/tool' }]);
        return id;
      };
      let lanes = 0;
      const take = async (end: (claim: Claim) => Promise<void>): Promise<string> => {
        const id = await inLane(`lane ${lanes++}`);
        await end(await claimOne());
        return id;
      };
      const of: Record<DeliveryState, string[]> = {
        accepted: [],
        claimed: [],
        retry: [],
        deferred: [],
        settled: [],
        dead: [],
      };
      for (let round = 0; round < 3; round += 1) {
        of.claimed.unshift(await take(async () => {}));
        of.retry.unshift(
          await take((claim) => bench.store.retry(claim, { afterMs: 3_600_000, reason: 'later' })),
        );
        of.deferred.unshift(
          await take((claim) => bench.store.defer(claim, [], { afterMs: 3_600_000, why: 'later' })),
        );
        of.settled.unshift(await take((claim) => bench.store.settle(claim, [])));
        of.dead.unshift(await take((claim) => bench.store.bury(claim, 'refused')));
      }
      // The first of these deliveries has no lane yet, the second has one.
      of.accepted.unshift((await bench.store.accept(makeDelivery())).id);
      of.accepted.unshift(await inLane('last'));

      for (const state of deliveryStates) {
        const first = await bench.store.listDeliveries({ state, limit: 2 });
        const rest = first.next
          ? await bench.store.listDeliveries({ state, limit: 2, before: first.next })
          : { items: [] };
        expect(
          [...first.items, ...rest.items].map(({ id }) => id),
          state,
        ).toEqual(of[state]);
        const found = await bench.store.listDeliveries({ state, search: 'acme/tool', limit: 500 });
        const named = state === 'accepted' ? of.accepted.slice(0, 1) : of[state];
        expect(
          found.items.map(({ id }) => id),
          state,
        ).toEqual(named);
      }
    });

    it('pages through runs and filters them by time', async () => {
      await bench.store.appendRuns(
        [1, 2, 3].map((hour) => makeRun({ id: `r${hour}`, at: `2026-03-01T0${hour}:00:00.000Z` })),
      );

      const first = await bench.store.listRuns({ limit: 2 });
      const second = await bench.store.listRuns({ limit: 2, before: first.next ?? '' });
      const since = await bench.store.listRuns({ since: new Date('2026-03-01T02:00:00Z') });

      expect(first.items.map((run) => run.id)).toEqual(['r3', 'r2']);
      expect(second).toMatchObject({ items: [{ id: 'r1' }], next: undefined });
      expect(since.items.map((run) => run.id)).toEqual(['r3', 'r2']);
    });

    it('replaces a run that has the same id', async () => {
      await bench.store.appendRuns([makeRun({ id: 'r', requests: 1 })]);
      await bench.store.appendRuns([makeRun({ id: 'r', requests: 2 })]);

      expect((await bench.store.listRuns()).items).toEqual([makeRun({ id: 'r', requests: 2 })]);
    });

    it('returns the time since which the oldest delivery has been waiting', async () => {
      expect(await bench.store.oldestWaiting()).toBeUndefined();
      const start = bench.now;
      await acceptInLane('1');
      advanceMs(5_000);
      await acceptInLane('2');

      expect(await bench.store.oldestWaiting()).toEqual(start);
    });

    it('remembers plain data under a key, even after a restart', async () => {
      await bench.store.remember('sweep', { page: 3 });
      await bench.store.remember('gone', 1);
      await bench.store.remember('gone', undefined);
      await reopen();

      expect(await bench.store.recall('sweep')).toEqual({ page: 3 });
      expect(await bench.store.recall('gone')).toBeUndefined();
    });

    it('revises data atomically', async () => {
      const increment = (value: unknown): unknown => ({ n: ((value as { n?: number })?.n ?? 0) + 1 });

      await Promise.all(Array.from({ length: 20 }, () => bench.store.revise('count', increment)));
      const same = await bench.store.revise('count', (value) => value);
      const gone = await bench.store.revise('count', () => undefined);

      expect([same, gone]).toEqual([{ n: 20 }, undefined]);
      expect(await bench.store.recall('count')).toBeUndefined();
      expect(await bench.store.revise('nothing', (value) => value)).toBeUndefined();
    });
  });
}
