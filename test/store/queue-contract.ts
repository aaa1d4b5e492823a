import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QueueEvent, QueueSave } from '../../src/store/queue-rows.ts';
import type { Store } from '../../src/store/store.ts';
import type { Backend } from './contract/store-bench.ts';

/** Queue used by the tests. */
export const mainQueue = { repositoryId: 7, base: 'main' };
const named = { ...mainQueue, repository: 'acme/shop' };

/** Tests what `queue-rows.ts` promises, on one kind of store. */
export function describeQueueRows(title: string, backend: Backend): void {
  describe(`the merge queues of ${title}`, () => {
    let number = 0;
    let now: Date;
    let store: Store;
    let other: Store;
    const open = (role: 'worker' | 'reader'): Promise<Store> =>
      backend.open({
        name: `queues-${number}`,
        role,
        clock: { now: () => now, monotonicMs: () => now.getTime() },
      });
    const event = (text: string, more: Partial<QueueEvent> = {}): QueueEvent => ({
      at: now,
      kind: 'entered',
      text,
      ...more,
    });
    const save = (revision: number, more: Partial<QueueSave> = {}, by = store): Promise<boolean> =>
      by.saveQueue({ ...named, state: { n: revision + 1 }, revision, ...more });

    beforeEach(async () => {
      number += 1;
      now = new Date('2026-03-01T12:00:00.000Z');
      store = await open('worker');
      other = await open('reader');
    });
    afterEach(async () => {
      await other.close();
      await store.close();
    });

    describe('a save', () => {
      it('creates a queue, which every process can read, even after a restart', async () => {
        expect(await store.readQueue(mainQueue)).toBeUndefined();

        expect(await save(0, { state: { text: 'nul \0, half \ud800', list: [1, null] } })).toBe(true);

        const row = {
          ...named,
          state: { text: 'nul \0, half \ud800', list: [1, null] },
          revision: 1,
          updatedAt: now,
        };
        expect(await other.readQueue(mainQueue)).toEqual(row);
        await store.close();
        store = await open('worker');
        expect(await store.readQueue(mainQueue)).toEqual(row);
        expect(await store.readQueue({ ...mainQueue, base: 'release' })).toBeUndefined();
        expect(await store.readQueue({ ...mainQueue, repositoryId: 8 })).toBeUndefined();
      });

      it('increments the revision of the queue, and adopts the new name of a renamed repository', async () => {
        await save(0);
        now = new Date(now.getTime() + 1_000);

        expect(await save(1, { repository: 'acme/store' })).toBe(true);

        const row = { ...mainQueue, repository: 'acme/store', state: { n: 2 }, revision: 2, updatedAt: now };
        expect(await store.listQueues()).toEqual([row]);
      });

      it.each([0, 1, 3])(
        'with the revision %i instead of the stored revision changes nothing',
        async (revision) => {
          await save(0);
          await save(1);

          const saved = await save(revision, {
            events: [event('late')],
            audit: { action: 'move', by: 'ada', object: 'acme/shop#1 in the queue of main' },
          });

          expect(saved).toBe(false);
          expect(await store.readQueue(mainQueue)).toMatchObject({ revision: 2, state: { n: 2 } });
          expect([await store.listQueueHistory(), await store.listAudit()]).toEqual([[], []]);
        },
      );

      it('of a queue without a row is refused for any revision other than 0', async () => {
        expect(await save(1, { events: [event('late')] })).toBe(false);

        expect([await store.listQueues(), await store.listQueueHistory()]).toEqual([[], []]);
      });

      it('records the actor in the audit log', async () => {
        const audit = { action: 'remove', by: 'ada', object: 'acme/shop#1 in the queue of main' } as const;

        await save(0, { audit }, other);

        expect(await store.listAudit()).toEqual([{ ...audit, number: 1, at: now }]);
      });

      it('succeeds for each revision in only one of two racing processes', async () => {
        const wins = { store: 0, other: 0 };
        const run = async (by: Store, name: keyof typeof wins): Promise<void> => {
          while (wins.store + wins.other < 40) {
            const revision = (await by.readQueue(mainQueue))?.revision ?? 0;
            if (await save(revision, { events: [event(`${name} ${revision + 1}`)] }, by)) wins[name] += 1;
          }
        };

        await Promise.all([run(store, 'store'), run(other, 'other'), run(store, 'store')]);

        const { revision = 0 } = (await store.readQueue(mainQueue)) ?? {};
        expect(revision).toBe(wins.store + wins.other);
        const texts = (await store.listQueueHistory({ limit: 500 })).map(({ text }) => text.split(' ')[1]);
        expect(texts).toEqual(Array.from({ length: revision }, (_, at) => String(revision - at)));
      });
    });

    it('a list contains all queues, or the queues of one repository, by name', async () => {
      const keys = [
        { repositoryId: 9, base: 'main', repository: 'acme/web' },
        { repositoryId: 7, base: 'release/1', repository: 'acme/shop' },
        named,
      ];
      for (const key of keys) await store.saveQueue({ ...key, state: {}, revision: 0 });

      const namesOf = (rows: Awaited<ReturnType<Store['listQueues']>>): readonly string[] =>
        rows.map(({ repository, base }) => `${repository} ${base}`);
      expect(namesOf(await other.listQueues())).toEqual([
        'acme/shop main',
        'acme/shop release/1',
        'acme/web main',
      ]);
      expect(namesOf(await other.listQueues({ repositoryId: 9 }))).toEqual(['acme/web main']);
    });

    describe('a lease', () => {
      it('is granted to one of two concurrent processes, until it is released', async () => {
        const given = await Promise.all([
          store.claimQueue(mainQueue, 60_000),
          other.claimQueue(mainQueue, 60_000),
          store.claimQueue(mainQueue, 60_000),
        ]);

        const [lease, ...none] = given.filter((one) => one !== undefined);
        expect(none).toEqual([]);
        if (lease === undefined) throw new Error('no lease was given');
        expect(await store.claimQueue({ ...mainQueue, base: 'release' }, 60_000)).toBeDefined();
        await store.releaseQueue(lease);
        const next = await other.claimQueue(mainQueue, 60_000);
        expect(next?.token).toEqual(expect.any(String));
        expect(next?.token).not.toBe(lease.token);
      });

      it('that has ended permits no save, but the next lease does', async () => {
        const first = await store.claimQueue(mainQueue, 60_000);
        expect(await save(0, { lease: first })).toBe(true);
        now = new Date(now.getTime() + 60_000);

        const late = save(1, { lease: first, events: [event('late')] });

        await expect(late).rejects.toMatchObject({ code: 'lease-lost' });
        const second = await other.claimQueue(mainQueue, 60_000);
        expect(await save(1, { lease: second }, other)).toBe(true);
        await expect(save(2, { lease: first })).rejects.toMatchObject({ code: 'lease-lost' });
        if (first === undefined || second === undefined) throw new Error('no lease was given');
        expect(await store.extendQueue(first, 60_000)).toBe(false);
        await store.releaseQueue(first);
        expect(await other.extendQueue(second, 60_000)).toBe(true);
        expect(await store.listQueueHistory()).toEqual([]);
      });

      it('of one queue does not permit a save of another', async () => {
        const lease = await store.claimQueue({ ...mainQueue, base: 'release' }, 60_000);

        await expect(save(0, { lease })).rejects.toMatchObject({ code: 'lease-lost' });
        expect(await store.listQueues()).toEqual([]);
      });

      it('lasts as long as it is extended', async () => {
        const lease = await store.claimQueue(mainQueue, 60_000);
        if (lease === undefined) throw new Error('no lease was given');
        for (let n = 0; n < 5; n += 1) {
          now = new Date(now.getTime() + 59_999);
          expect(await store.extendQueue(lease, 60_000)).toBe(true);
          expect(await other.claimQueue(mainQueue, 60_000)).toBeUndefined();
        }
        now = new Date(now.getTime() + 60_000);

        expect(await store.extendQueue(lease, 60_000)).toBe(false);
        expect(await other.claimQueue(mainQueue, 60_000)).toBeDefined();
      });

      it('is not prolonged by a clock that is set back, nor shortened by a claim for a shorter time', async () => {
        await store.claimQueue(mainQueue, 60_000);
        now = new Date(now.getTime() - 3_600_000);
        expect(await other.claimQueue(mainQueue, 1_000)).toBeUndefined();
        now = new Date(now.getTime() + 59_999);
        expect(await other.claimQueue(mainQueue, 1_000)).toBeUndefined();
        now = new Date(now.getTime() + 1);

        expect(await other.claimQueue(mainQueue, 1_000)).toBeDefined();
      });

      it('of a process that has ended is void when the store is opened again', async () => {
        const lease = await store.claimQueue(mainQueue, 60_000);
        await store.close();
        store = await open('worker');

        await expect(save(0, { lease })).rejects.toMatchObject({ code: 'lease-lost' });
        expect(await store.claimQueue(mainQueue, 60_000)).toBeDefined();
      });

      it('survives a command that opens the store', async () => {
        await store.claimQueue(mainQueue, 60_000);
        await other.close();
        other = await open('reader');

        expect(await other.claimQueue(mainQueue, 60_000)).toBeUndefined();
      });
    });

    describe('the history', () => {
      it('keeps every field of an event, and its times', async () => {
        const [enteredAt, turnAt] = [new Date(now.getTime() - 9_000), new Date(now.getTime() - 5_000)];
        const left = event('the check "ci" failed', {
          kind: 'left',
          number: 12,
          reason: 'checks',
          head: 'a'.repeat(40),
          base: 'b'.repeat(40),
          enteredAt,
          turnAt,
          by: 'ada',
        });

        await save(0, { events: [event('paused', { kind: 'paused' }), left] });

        expect(await other.listQueueHistory()).toEqual([
          { ...left, ...named, baseCommit: 'b'.repeat(40), id: 2 },
          { ...named, ...event('paused', { kind: 'paused' }), id: 1 },
        ]);
      });

      it('truncates a sentence that is too long', async () => {
        await save(0, { events: [event('x'.repeat(100_000))] });

        expect((await store.listQueueHistory())[0]?.text).toHaveLength(1_000);
      });

      it('is listed for one queue, one repository or all queues, page by page, with each event once', async () => {
        let revision = 0;
        for (const base of ['main', 'release']) {
          revision = 0;
          for (let n = 0; n < 50; n += 1) {
            const events = Array.from({ length: 100 }, (_, at) => event(`${n * 100 + at}`));
            await save(revision, { base, events });
            revision += 1;
          }
        }
        const pagesOf = async (query: { repositoryId?: number; base?: string }): Promise<number[]> => {
          const ids: number[] = [];
          for (let before: number | undefined; ; before = ids.at(-1)) {
            const page = await other.listQueueHistory({
              ...query,
              limit: 499,
              ...(before ? { before } : {}),
            });
            ids.push(...page.map(({ id }) => id));
            if (page.length === 0) return ids;
          }
        };
        const down = (from: number, to: number): number[] =>
          Array.from({ length: from - to + 1 }, (_, at) => from - at);

        expect(await pagesOf({})).toEqual(down(10_000, 1));
        expect(await pagesOf({ repositoryId: 7 })).toEqual(down(10_000, 1));
        expect(await pagesOf({ repositoryId: 7, base: 'main' })).toEqual(down(5_000, 1));
        expect(await pagesOf({ base: 'release' })).toEqual(down(10_000, 5_001));
        expect(await pagesOf({ repositoryId: 8 })).toEqual([]);
        expect(await store.listQueueHistory({ limit: 100_000 })).toHaveLength(500);
        expect(await store.listQueueHistory({ limit: -1 })).toHaveLength(1);
      });

      it('is deleted by age, while queues stay', async () => {
        const old = Array.from({ length: 450 }, (_, at) => event(`old ${at}`));
        await save(0, { events: old });
        const limit = new Date(now.getTime() + 1);
        now = new Date(now.getTime() + 86_400_000);
        await save(1, { events: [event('young')] });

        await store.prune({ maxBytes: 2 ** 40 });
        expect(await store.listQueueHistory({ limit: 500 })).toHaveLength(451);
        await store.prune({ olderThan: limit });

        expect((await store.listQueueHistory()).map(({ id, text }) => [id, text])).toEqual([[451, 'young']]);
        expect(await store.readQueue(mainQueue)).toMatchObject({ revision: 2 });
      });

      it('survives pruning if it is newer than the limit; idle queues that last changed before the limit are deleted', async () => {
        const rest = { version: 1, entries: [], left: [{ number: 1 }], outbox: [] };
        const states: Readonly<Record<string, object>> = {
          rest,
          entry: { ...rest, entries: [{ number: 1 }] },
          unsent: { ...rest, outbox: [{ kind: 'comment' }] },
          paused: { ...rest, paused: { by: 'ada' } },
          blocked: { ...rest, blocked: { commit: 'c' } },
        };
        for (const [base, state] of Object.entries(states)) await save(0, { base, state });
        for (let count = 0; count < 450; count += 1) await save(0, { base: `old-${count}`, state: rest });
        now = new Date(now.getTime() + 1_000);
        const limit = now;
        await save(0, { base: 'young', state: rest });
        await save(1, { base: 'old-7', state: rest, events: [event('left')] });
        now = new Date(now.getTime() + 86_400_000);

        await store.prune({ maxBytes: 2 ** 40 });
        expect(await store.listQueues()).toHaveLength(456);
        await store.prune({ olderThan: limit });

        const bases = (await store.listQueues()).map(({ base }) => base);
        expect(bases.toSorted()).toEqual(['blocked', 'entry', 'old-7', 'paused', 'unsent', 'young']);
        expect(await store.listQueueHistory({ base: 'old-7' })).toHaveLength(1);
        expect(await save(1, { base: 'rest', state: rest })).toBe(false);
        expect(await save(0, { base: 'rest', state: rest })).toBe(true);
      });
    });
  });
}
