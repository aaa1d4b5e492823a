import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMetrics } from '../../../src/server/dashboard/metrics.ts';
import { leaveReasons } from '../../../src/work/merge-queue/state.ts';
import { dashboardData } from '../../support/dashboard-app.ts';
import { makeStore } from '../../support/make-store.ts';
import { makeQueueEntry, saveQueueState } from '../../support/stored-queue.ts';

let made: Awaited<ReturnType<typeof makeStore>>;
beforeEach(async () => {
  made = await makeStore();
});
afterEach(() => made.close());

const at = new Date('2030-01-01T00:10:00Z');
const enteredAt = new Date('2030-01-01T00:00:00Z');
const linesOf = async (metrics = createMetrics()): Promise<readonly string[]> =>
  (await metrics.text(dashboardData(made.store)))
    .split('\n')
    .filter((line) => line.startsWith('reeve_merge'));

it('a server without merge queues has every counter at 0', async () => {
  const lines = await linesOf();

  for (const phase of ['waiting', 'updating', 'testing', 'ready'])
    expect(lines).toContain(`reeve_merge_queue_length{phase="${phase}"} 0`);
  for (const name of ['queue_merged_total', 'queue_bypassed_total', 'queues_paused'])
    expect(lines).toContain(`reeve_merge_${name} 0`);
  for (const reason of Object.keys(leaveReasons).filter((one) => one !== 'merged'))
    expect(lines).toContain(`reeve_merge_queue_removed_total{reason="${reason}"} 0`);
});

it('the length covers all queues, by phase, and is read at each scrape', async () => {
  const first = makeQueueEntry(1, { phase: 'testing', turnAt: enteredAt.toISOString() });
  await saveQueueState(made.store, { entries: [first, makeQueueEntry(2), makeQueueEntry(3)] });
  const paused = { by: 'ada', at: enteredAt.toISOString() };
  await saveQueueState(made.store, { entries: [makeQueueEntry(1)], paused }, { repositoryId: 8 });
  const metrics = createMetrics();

  const before = await linesOf(metrics);
  await saveQueueState(made.store, { entries: [] });

  expect(before).toContain('reeve_merge_queue_length{phase="testing"} 1');
  expect(before).toContain('reeve_merge_queue_length{phase="waiting"} 3');
  expect(before).toContain('reeve_merge_queues_paused 1');
  const after = await linesOf(metrics);
  expect(after).toContain('reeve_merge_queue_length{phase="testing"} 0');
  expect(after).toContain('reeve_merge_queue_length{phase="waiting"} 1');
});

it('only merges, removals by reason, waits and bypassed bases are counted, and no other events', async () => {
  const metrics = createMetrics();
  for (const kind of ['entered', 'first', 'updated', 'moved', 'paused', 'resumed'] as const)
    metrics.countQueueEvent({ kind, at, enteredAt });
  metrics.countQueueEvent({ kind: 'merged', at, enteredAt });
  metrics.countQueueEvent({ kind: 'foreign-write', at });
  metrics.countQueueEvent({ kind: 'left', reason: 'checks', at, enteredAt });
  metrics.countQueueEvent({ kind: 'left', reason: 'checks', at, enteredAt: at });
  // The clock was set back.
  metrics.countQueueEvent({ kind: 'left', reason: 'fork', at: enteredAt, enteredAt: at });

  const lines = await linesOf(metrics);

  expect(lines).toContain('reeve_merge_queue_merged_total 1');
  expect(lines).toContain('reeve_merge_queue_bypassed_total 1');
  expect(lines).toContain('reeve_merge_queue_removed_total{reason="checks"} 2');
  expect(lines).toContain('reeve_merge_queue_removed_total{reason="fork"} 1');
  expect(lines).toContain('reeve_merge_queue_wait_seconds_sum{outcome="merged"} 600');
  expect(lines).toContain('reeve_merge_queue_wait_seconds_bucket{le="300",outcome="merged"} 0');
  expect(lines).toContain('reeve_merge_queue_wait_seconds_count{outcome="removed"} 3');
  expect(lines).toContain('reeve_merge_queue_wait_seconds_sum{outcome="removed"} 600');
});

it('a text from a rule or the forge never becomes a metric label', async () => {
  const metrics = createMetrics();
  const before = (await linesOf(metrics)).length;

  for (let n = 0; n < 100; n += 1)
    metrics.countQueueEvent({ kind: 'left', reason: `the check "acme ${n}" failed`, at });
  metrics.countQueueEvent({ kind: 'left', at });

  const lines = await linesOf(metrics);
  expect(lines).toContain('reeve_merge_queue_removed_total{reason="other"} 101');
  expect(lines).toHaveLength(before);
});
