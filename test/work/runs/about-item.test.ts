import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../src/engine/record.ts';
import { parseItem, readAboutItem } from '../../../src/work/runs/about-item.ts';
import { routeDelivery } from '../../../src/work/runs/route-delivery.ts';
import { sweepOf } from '../../../src/work/sweeps/schedule/schedule.ts';
import { makeDelivery, makeRun } from '../../store/make.ts';
import { type MadeStore, storeKinds } from '../../support/store-kinds.ts';
import { makeQueueEntry, saveQueueState } from '../../support/stored-queue.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const item = { repository: 'acme/shop', index: 1 };

it.each([
  ['acme/shop#1', item],
  ['acme/shop', undefined],
  ['acme/shop/x#1', undefined],
  ['#1', undefined],
  ['acme/shop#1234567890', undefined],
])('parses %s', (text, expected) => {
  expect(parseItem(text)).toEqual(expected);
});

describe.each(storeKinds)('about one item, in $title', ({ make }) => {
  let made: MadeStore;
  beforeEach(async () => {
    made = await make({ clock: { now: () => now, monotonicMs: () => now.getTime() } });
  });
  afterEach(() => made.close());

  /** Stores a delivery about `acme/shop#index`, settled with these runs. */
  const settle = async (index: number, runs: readonly Run[] = [], more: object = {}): Promise<string> => {
    const { store } = made;
    const route = { lane: `7#${index}`, repositoryId: 7, repository: 'Acme/Shop', ...more };
    const { id } = await store.accept(makeDelivery({ route }));
    await store.route([{ id, to: 'lane', ...route }]);
    const [claim] = await store.claim({ limit: 1, leaseMs: 1_000, only: [route.lane] });
    if (claim === undefined) throw new Error('nothing to claim');
    await store.settle(
      claim,
      runs.map((run) => ({ ...run, trigger: { ...run.trigger, delivery: id } })),
    );
    return id;
  };
  const enqueue = async (kind: string, lane: string): Promise<string> => {
    const { store } = made;
    const { id } = await store.enqueue({
      door: 'cron',
      uuid: `${kind} ${lane}`,
      kind,
      lane,
      receivedAt: now,
      payload: {},
    });
    const routings = (await store.unrouted(10)).map((one) => routeDelivery(one).routing);
    await store.route(routings);
    return id;
  };
  const about = (asked = item, schedules = [] as Parameters<typeof readAboutItem>[1]['schedules']) =>
    readAboutItem(asked, { store: made.store, schedules, now });
  const scheduleRun = (name: string, rule: string): Run => ({
    ...makeRun({}),
    trigger: { door: 'cron', kind: 'schedule', activity: '', slot: 'x', item: name, at: now.toISOString() },
    rules: [{ rule, source: rule, commit: '', line: 1, verdict: 'unmatched', findings: [] }],
  });

  it('returns the runs of its deliveries, sweeps and jobs, newest first, and none about other items', async () => {
    const [byEvent, ofOther, ofConcerned, bySweep, ofTenth, byJob] = Array.from({ length: 6 }, () =>
      makeRun({}),
    );
    if (!byEvent || !ofOther || !ofConcerned || !bySweep || !ofTenth || !byJob) throw new Error('no runs');
    const named = (run: Run, name: string): Run => ({ ...run, trigger: { ...run.trigger, item: name } });
    await settle(1, [byEvent, named(ofConcerned, 'Acme/Shop#2')]);
    await settle(2, [ofOther]);
    await settle(8, [], { repositoryId: 8, repository: 'acme/other', lane: '8#1' });
    await made.store.appendRuns([named(bySweep, 'Acme/Shop#1'), named(ofTenth, 'Acme/Shop#10')], {
      repositoryId: 7,
    });
    await enqueue('waiting', '7#1');
    const [claim] = await made.store.claim({ limit: 1, leaseMs: 1_000, only: ['7#1'] });
    if (claim === undefined) throw new Error('nothing to claim');
    await made.store.settle(claim, [{ ...byJob, trigger: { ...byJob.trigger, delivery: claim.id } }]);

    const found = await about();

    expect(found.runs.map(({ id }) => id)).toEqual([byJob.id, bySweep.id, byEvent.id]);
    expect(found).toMatchObject({
      item: { repository: 'Acme/Shop', index: 1 },
      repositoryId: 7,
      isWhole: true,
    });
  });

  it('returns runs of attempts that failed, which are stored without their delivery', async () => {
    const delivery = await settle(1);
    await settle(2);
    const [failed, ofOther] = [makeRun({}), makeRun({})];
    const trigger = (id: string) => ({ ...failed.trigger, delivery: id });
    await made.store.appendRuns(
      [
        { ...failed, trigger: trigger(delivery) },
        { ...ofOther, trigger: trigger('not a number') },
      ],
      { repositoryId: 7 },
    );

    expect((await about()).runs.map(({ id }) => id)).toEqual([failed.id]);
  });

  it('returns what waits, also jobs, with the time of the next look', async () => {
    await settle(1);
    const job = await enqueue('waiting', '7#1');
    const [claim] = await made.store.claim({ limit: 1, leaseMs: 1_000, only: ['7#1'] });
    if (claim === undefined) throw new Error('nothing to claim');
    await made.store.defer(claim, [], { afterMs: 60_000, why: 'waits for checks' });
    await enqueue('waiting', '7#2');

    const found = await about();

    expect(found.waiting).toMatchObject([
      { id: job, state: 'deferred', reason: 'deferred: waits for checks' },
    ]);
    expect(found.looks).toEqual([{ at: new Date('2026-03-01T12:01:00.000Z'), by: { delivery: job } }]);
  });

  it('returns the next slot of each rule with a schedule that has visited it', async () => {
    await settle(1);
    await made.store.appendRuns([scheduleRun('Acme/Shop#1', 'stale.yml#stale')], { repositoryId: 7 });
    const schedule = { cron: '0 3 * * *', timezone: 'UTC' };
    const schedules = ['stale.yml#stale', 'other.yml#other'].map((id) => sweepOf({ id, schedule }));

    expect((await about(item, schedules)).looks).toEqual([
      { at: new Date('2026-03-02T03:00:00.000Z'), by: { rule: 'stale.yml#stale' } },
    ]);
  });

  it('returns its place in each merge queue', async () => {
    await settle(1);
    await saveQueueState(made.store, { entries: [makeQueueEntry(5), makeQueueEntry(1)] });
    await saveQueueState(made.store, { entries: [makeQueueEntry(9)] }, { base: 'old' });

    const { queues } = await about();

    expect(queues).toMatchObject([{ base: 'main', position: 2, phase: 'waiting', waitsFor: '#5' }]);
    expect(queues).toHaveLength(1);
  });

  it('finds runs of sweeps in a repository that has sent no delivery, and nothing about an unknown item', async () => {
    await made.store.appendRuns([scheduleRun('acme/shop#1', 'stale.yml#stale')], { repositoryId: 7 });

    expect(await about()).toMatchObject({
      repositoryId: undefined,
      runs: [{ trigger: { item: 'acme/shop#1' } }],
    });
    expect(await about({ repository: 'acme/none', index: 1 })).toEqual({
      item: { repository: 'acme/none', index: 1 },
      repositoryId: undefined,
      runs: [],
      waiting: [],
      queues: [],
      looks: [],
      isWhole: true,
    });
  });
});
