import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Run } from '../../src/engine/record.ts';
import { silentLog } from '../../src/platform/log.ts';
import { type Activity, startActivity } from '../../src/server/activity.ts';
import { chartStretches, marksOf } from '../../src/server/dashboard/activity-samples.ts';
import { foundEventKind } from '../../src/store/store.ts';
import { createRunnerMemory } from '../../src/work/sweeps/targets/runner-memory.ts';
import { makeDelivery, makeRun } from '../store/make.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeStore } from '../support/make-store.ts';

let made: Awaited<ReturnType<typeof makeStore>>;
let activity: Activity;
let now: Date;
beforeEach(async () => {
  now = new Date('2026-03-02T09:31:00.000Z');
  made = await makeStore();
  activity = startActivity({ store: made.store, clock: makeClock({ now: () => now }), log: silentLog });
});
afterEach(async () => {
  await activity.stop();
  await made.close();
});

const failing: Run = { ...makeRun({}), outcomes: [{ change: '1', status: 'failed' }] };
const correcting: Run = { ...makeRun({}), outcomes: [{ change: '1', status: 'applied' }] };
const hook = { door: 'webhook', eventType: 'issues' } as const;
const handled = (msAgo: number, runs: readonly Run[] = [], redrivenAt?: Date): void =>
  activity.countHandled({ ...hook, receivedAt: new Date(now.getTime() - msAgo), redrivenAt }, runs);
const marks = async (name: 'day' | 'week' | 'month') => {
  const stretch = chartStretches.find((one) => one.name === name);
  if (stretch === undefined) throw new Error(name);
  const points = await made.store.readSamples({ minutes: stretch.minutes, since: new Date(0) });
  return marksOf(points, stretch, now);
};

it('new counts appear in the last mark of each chart after a write, in addition to earlier values', async () => {
  for (const result of ['stored', 'copy', 'known', 'throttled']) activity.countReceived(result);
  for (let n = 0; n < 90; n += 1) handled(100);
  for (let n = 0; n < 10; n += 1) handled(60_000, [failing]);
  handled(86_400_000, [], now);
  activity.countDead(hook);
  activity.countHandled({ door: 'cron', eventType: 'sweep', receivedAt: now, redrivenAt: undefined }, [
    failing,
  ]);
  activity.countSweepRun(correcting);
  activity.countSweepRun(failing);
  await activity.write();
  activity.countReceived('stored');
  await activity.stop();

  for (const name of ['day', 'week', 'month'] as const) {
    const last = (await marks(name)).at(-1);
    expect(last?.values, name).toMatchObject({
      received: 3,
      handled: 91,
      failed: 10,
      dead: 1,
      corrected: 1,
      'failed in sweeps': 1,
    });
    expect(last?.p50, name).toBeGreaterThan(80);
    expect(last?.p50, name).toBeLessThan(125);
    expect(last?.p95, name).toBeGreaterThan(50_000);
    expect(last?.p95, name).toBeLessThan(70_000);
  }
});

it('an event that was found by reading the forge counts as received once, and like a webhook otherwise', async () => {
  const found = { door: 'cron', eventType: foundEventKind, receivedAt: now } as const;
  activity.countHandled(found, []);
  activity.countHandled(found, [failing]);
  activity.countDead(found);
  activity.countHandled({ ...found, redrivenAt: now }, []);
  await activity.write();

  const last = (await marks('day')).at(-1);
  expect(last?.values).toMatchObject({ received: 3, handled: 2, failed: 1, dead: 1 });
});

it('samples include the queue, runners and drift', async () => {
  await made.store.accept(makeDelivery({ receivedAt: new Date(now.getTime() - 30_000) }));
  const runner = { busy: true, disabled: false, labels: [] };
  await createRunnerMemory(made.store).observe(
    'instance',
    [
      { id: 1, name: 'a', status: 'online', ...runner },
      { id: 2, name: 'b', status: 'offline', ...runner },
    ],
    now,
  );
  await made.store.remember('drift', ['a.yml#a']);
  await made.store.remember('drift a.yml#a', [{ rule: 'a.yml#a', since: now.toISOString() }]);
  await activity.write({ isThorough: true });

  expect((await marks('day')).at(-1)?.values).toMatchObject({
    waiting: 1,
    oldest: 30,
    'runners online': 1,
    'runners busy': 1,
    'runners offline': 1,
    drift: 1,
  });
});

it('a mark covers the samples of its interval, and no sample is lost at the boundaries', async () => {
  for (let minute = 0; minute < 24 * 60; minute += 5) {
    activity.countReceived('stored');
    now = new Date(now.getTime() + 5 * 60_000);
  }
  now = new Date(now.getTime() - 5 * 60_000);
  await activity.write();

  const day = await marks('day');
  expect(day).toHaveLength(96);
  const received = day.map(({ values }) => values.received ?? 0);
  expect(received.slice(1, -1)).toEqual(Array(94).fill(3));
  // The first mark begins before the first sample, and the last mark is incomplete.
  expect(received.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(285);
});
