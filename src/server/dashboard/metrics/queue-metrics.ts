import type { Counter, Gauge, Histogram } from 'prom-client';
import type { QueueEvent, QueueRow } from '../../../store/queue-rows.ts';
import { leaveReasons, type QueuePhase, queueStateOf } from '../../../work/merge-queue/state.ts';
import type { MetricName } from './metric-table.ts';

/** Seconds in a queue: from a minute to a day. */
const waitSeconds = [60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400];
const phases: readonly QueuePhase[] = ['waiting', 'updating', 'testing', 'ready'];
/** Reasons other than the merge; a reason of a later version counts as `other`. */
const removals: readonly string[] = [
  ...Object.keys(leaveReasons).filter((reason) => reason !== 'merged'),
  'other',
];

/** The metrics of merge queues. */
export interface QueueMetrics {
  /** Counts what happened in a queue, once it is stored. */
  countQueueEvent(event: Pick<QueueEvent, 'kind' | 'reason' | 'at' | 'enteredAt'>): void;
  /** Sets the lengths to what the store has. */
  measureQueues(rows: readonly QueueRow[]): void;
}

/** Creates the metrics of merge queues; each counter begins at 0. */
export function createQueueMetrics(make: {
  readonly counter: (name: MetricName) => Counter;
  readonly gauge: (name: MetricName) => Gauge;
  readonly histogram: (name: MetricName, buckets: readonly number[]) => Histogram;
}): QueueMetrics {
  const length = make.gauge('reeve_merge_queue_length');
  const paused = make.gauge('reeve_merge_queues_paused');
  const merged = make.counter('reeve_merge_queue_merged_total');
  const removed = make.counter('reeve_merge_queue_removed_total');
  const wait = make.histogram('reeve_merge_queue_wait_seconds', waitSeconds);
  const bypassed = make.counter('reeve_merge_queue_bypassed_total');
  for (const reason of removals) removed.inc({ reason }, 0);

  return {
    countQueueEvent({ kind, reason = 'other', at, enteredAt }) {
      if (kind === 'foreign-write') bypassed.inc();
      if (kind !== 'merged' && kind !== 'left') return;
      if (kind === 'merged') merged.inc();
      else removed.inc({ reason: removals.includes(reason) ? reason : 'other' });
      if (enteredAt === undefined) return;
      const seconds = Math.max(at.getTime() - enteredAt.getTime(), 0) / 1_000;
      wait.observe({ outcome: kind === 'merged' ? 'merged' : 'removed' }, seconds);
    },
    measureQueues(rows) {
      const states = rows.map(queueStateOf);
      const entries = states.flatMap((state) => state.entries);
      for (const phase of phases)
        length.set({ phase }, entries.filter((entry) => entry.phase === phase).length);
      paused.set(states.filter((state) => state.paused !== undefined).length);
    },
  };
}
