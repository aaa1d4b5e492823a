import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Occurrence } from '../../src/engine/incidents/incident.ts';
import type { Run } from '../../src/engine/record.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Verdict } from '../../src/rules/verdict.ts';
import type { Claim, Store } from '../../src/store/store.ts';
import { type MadeStore, storeKinds } from '../support/store-kinds.ts';
import { makeDelivery, makeRun } from './make.ts';

let nowMs: number;
let store: Store;
let made: MadeStore;
const clock = { ...systemClock, now: () => new Date(nowMs) };
const start = Date.parse('2030-01-01T00:00:00Z');
const dayMs = 86_400_000;

const failed: Verdict = {
  rule: 'rules.yml#mark',
  source: 'rules.yml',
  commit: '',
  line: 3,
  level: 'operator',
  revision: 'r1',
  verdict: 'failed',
  reason: 'no label "x"',
  findings: [],
};
const runOf = (verdict: Partial<Verdict>, more: Partial<Run> = {}): Run => ({
  ...makeRun({ at: clock.now().toISOString() }),
  rules: [{ ...failed, ...verdict }],
  ...more,
});

async function claimIn(lane: string): Promise<Claim> {
  const { id } = await store.accept(makeDelivery());
  await store.route([{ id, to: 'lane', lane, repositoryId: 1 }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
  if (claim === undefined) throw new Error('nothing to claim');
  return claim;
}

async function settle(lane: string, run: Run): Promise<void> {
  await store.settle(await claimIn(lane), [run]);
}

describe.each(storeKinds)('in $title', ({ make }) => {
  beforeEach(async () => {
    nowMs = start;
    made = await make({ clock });
    store = made.store;
  });
  afterEach(async () => {
    await store.close();
    await made.close();
  });

  describe('a rule that fails in a run', () => {
    it('is counted when the run is settled, with its first and last time, its latest reason and its run', async () => {
      await settle('issue 1', runOf({}));
      nowMs += 60_000;
      const last = runOf({ reason: 'no label "y"' });
      await settle('issue 2', last);

      expect(await store.listIncidents()).toEqual([
        {
          kind: 'rule-failed',
          key: 'rules.yml#mark',
          count: 2,
          subject: 'issue 2',
          repositoryId: 1,
          firstAt: new Date(start),
          lastAt: new Date(start + 60_000),
          reason: 'no label "y"',
          level: 'operator',
          source: 'rules.yml',
          revision: 'r1',
          run: last.id,
          isPublic: true,
        },
      ]);
    });

    it('is listed by its kind, apart from incidents of other kinds', async () => {
      await settle('issue 1', runOf({}));
      const blind = {
        kind: 'rule-blind',
        at: new Date(start),
        reason: 'sees nothing',
        level: 'operator',
      } as const;
      await store.raise(['a', 'b'].map((key) => ({ ...blind, key })));

      const keysOf = async (...kinds: Parameters<typeof store.listIncidents>) =>
        (await store.listIncidents(...kinds)).map(({ key }) => key).toSorted();
      expect(await keysOf(['rule-failed'])).toEqual(['rules.yml#mark']);
      expect(await keysOf(['rule-failed', 'rule-blind'])).toEqual(['a', 'b', 'rules.yml#mark']);
      expect(await keysOf(['hook-silent'])).toEqual([]);
    });

    it('is counted in its repository when the run is deferred', async () => {
      await store.defer(await claimIn('issue 1'), [runOf({})], { afterMs: 1_000, why: 'no room' });

      expect(await store.listIncidents()).toMatchObject([{ count: 1, subject: 'issue 1', repositoryId: 1 }]);
    });

    it('is counted when a job advances, and when a delivery is buried', async () => {
      const claim = await claimIn('issue 1');
      await store.advance(claim, { runs: [runOf({})], checkpoint: 1 });
      expect(await store.listIncidents()).toMatchObject([{ count: 1, subject: 'issue 1' }]);

      await store.bury(claim, 'refused', [runOf({})]);

      expect(await store.listIncidents()).toMatchObject([{ count: 2, subject: 'issue 1' }]);
    });

    it('is counted in a sweep for the evaluated item, and ends for that item', async () => {
      const trigger = { door: 'cron', kind: 'sweep', activity: '', at: clock.now().toISOString() } as const;
      await settle('sweep', runOf({}, { trigger: { ...trigger, item: 'issue 7' } }));
      expect(await store.listIncidents()).toMatchObject([{ subject: 'issue 7' }]);

      await settle('sweep', runOf({ verdict: 'matched' }, { trigger }));
      expect(await store.listIncidents()).toHaveLength(1);
      await settle('sweep', runOf({ verdict: 'matched' }, { trigger: { ...trigger, item: 'issue 7' } }));

      expect(await store.listIncidents()).toEqual([]);
    });

    it('is counted if the forge refused its change, and its reason is not public', async () => {
      const change = { id: 'c1', rules: [failed.rule], action: 'set-labels', target: 'label:x' };
      const error = 'PUT /x: the forge answered 403';
      await settle('issue 1', {
        ...runOf({ verdict: 'matched' }),
        // The count uses only these fields of the change.
        changes: [change as unknown as Run['changes'][number]],
        outcomes: [{ change: 'c1', status: 'failed', error }],
      });

      const [incident] = await store.listIncidents();
      expect(incident).toMatchObject({ key: failed.rule, reason: `set-labels label:x: ${error}` });
      expect(incident?.isPublic).toBeUndefined();
    });

    it('because of an error of the forge has a reason that only operators may read', async () => {
      await settle('issue 1', runOf({ code: 'forge-forbidden', reason: 'GET /orgs/secret: 403' }));

      expect((await store.listIncidents())[0]?.isPublic).toBeUndefined();
    });

    it('ends when the rule passes on the same subject, but not when it passes on another subject or is skipped', async () => {
      await settle('issue 1', runOf({}));
      await settle('issue 2', runOf({ verdict: 'matched' }));
      await settle('issue 1', runOf({ verdict: 'skipped' }));
      expect(await store.listIncidents()).toHaveLength(1);

      await settle('issue 1', runOf({ verdict: 'unmatched' }));
      expect(await store.listIncidents()).toEqual([]);
    });

    it('expires after seven days without a failure, and is then counted from one again', async () => {
      await settle('issue 1', runOf({}));
      nowMs += 7 * dayMs;
      expect(await store.listIncidents()).toEqual([]);

      await settle('issue 1', runOf({}));
      expect(await store.listIncidents()).toMatchObject([{ count: 1, firstAt: new Date(nowMs) }]);
    });

    it('is not counted for an attempt that is retried, or for a lost lease', async () => {
      await store.appendRuns([runOf({})], { repositoryId: 1 });
      const claim = await claimIn('issue 1');
      await store.release(claim);
      await expect(store.settle(claim, [runOf({})])).rejects.toMatchObject({ code: 'lease-lost' });

      expect(await store.listIncidents()).toEqual([]);
    });

    it('survives a restart, and is visible to a reader next to the worker', async () => {
      await settle('issue 1', runOf({}));
      const reader = await made.open('reader');
      expect(await reader.listIncidents()).toHaveLength(1);
      await reader.close();
      await store.close();
      store = await made.open('worker');

      expect(await store.listIncidents()).toHaveLength(1);
    });
  });

  describe('incidents', () => {
    const occurrence = (key: string, at = clock.now()): Occurrence => ({
      kind: 'sweep-failed',
      key,
      at,
      reason: 'refused',
      level: 'operator',
    });

    it('are limited to the latest thousand of each kind', async () => {
      await store.raise(
        Array.from({ length: 1_005 }, (_, at) => occurrence(`r${at}`, new Date(start + at * 1_000))),
      );

      const found = await store.listIncidents();
      expect(found).toHaveLength(1_000);
      expect(found[0]?.key).toBe('r1004');
      expect(found.at(-1)?.key).toBe('r5');
    });

    it('that do not expire are counted from their first occurrence, however long ago', async () => {
      await store.raise([occurrence('a')]);
      nowMs += 400 * dayMs;
      await store.raise([occurrence('a')]);

      expect(await store.listIncidents()).toMatchObject([
        { count: 2, firstAt: new Date(start), lastAt: new Date(nowMs) },
      ]);
    });

    it('end by their keys, or with a time, only if they were not seen since then', async () => {
      await store.raise([occurrence('old'), occurrence('new', new Date(start + 1_000)), occurrence('other')]);

      expect(await store.clear('sweep-failed', ['old', 'new'], { before: new Date(start + 500) })).toBe(1);
      expect((await store.listIncidents()).map(({ key }) => key)).toEqual(['new', 'other']);
      expect(await store.clear('rule-failed', ['new', 'other'])).toBe(0);
      expect(await store.clear('sweep-failed', ['new', 'other', 'none'])).toBe(2);
      expect(await store.listIncidents()).toEqual([]);
    });

    it('that have expired are pruned with other old data', async () => {
      await settle('issue 1', runOf({}));
      await store.raise([occurrence('stays')]);
      nowMs += 8 * dayMs;
      await store.prune({});
      nowMs = start;

      expect((await store.listIncidents()).map(({ kind }) => kind)).toEqual(['sweep-failed']);
    });
  });
});
