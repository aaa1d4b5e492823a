import type { RepositoryRef } from '../../contract/events/subject.ts';
import type { AnyInput } from '../../contract/operation.ts';
import type { Run } from '../../engine/record.ts';
import { queueContext } from '../../facts/statuses.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AdmittedEvent } from '../../rules/sources/admission.ts';
import type { QueueRow } from '../../store/queue-rows.ts';
import type { Store } from '../../store/store.ts';
import { editQueue, removeFromQueue } from '../merge-queue/edits.ts';
import { queueStateOf } from '../merge-queue/state.ts';
import { queueJob } from '../merge-queue/wake.ts';

type QueueWaking = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly account: () => Promise<{ id: number }>;
  readonly onEnqueued: () => void;
};

/**
 * Wakes the queues that an event may matter to. Our own events count too, except the statuses of the queue itself. Nothing
 * depends on it: a queue that waits is polled.
 */
export async function wakeQueues(
  event: Pick<AdmittedEvent, 'family' | 'activity' | 'repository' | 'subject' | 'sender' | 'payload'>,
  { store, clock, account, onEnqueued }: QueueWaking,
): Promise<void> {
  const { repository, family, activity, subject, payload } = event;
  const rows = await store.listQueues({ repositoryId: repository.id });
  for (const row of rows) {
    const { entries } = queueStateOf(row);
    const [first] = entries;
    if (first === undefined) continue;
    const number = entries.find((entry) => entry.number === subject.index)?.number;
    const isOfFirst = payload.sha === first.head && payload.context !== queueContext;
    const isCheck = isOfFirst || family?.startsWith('workflow_') || family?.startsWith('action_run_');
    const isBase = family === 'push' && payload.ref === `refs/heads/${row.base}`;
    if (number === undefined && !isCheck && !isBase) continue;
    const pushed =
      number !== undefined && activity === 'synchronized' && event.sender?.id !== (await account()).id;
    const at = clock.now();
    await store.enqueue(queueJob(repository, row.base, { at, number, ...(pushed ? { pushed } : {}) }));
    onEnqueued();
  }
}

/** Wakes every queue that has something to do, after a start. */
export async function wakeAllQueues({
  store,
  clock,
  onEnqueued,
}: Pick<QueueWaking, 'store' | 'clock' | 'onEnqueued'>): Promise<void> {
  for (const row of await store.listQueues()) {
    const { entries, outbox } = queueStateOf(row);
    if (entries.length === 0 && outbox.length === 0) continue;
    await store.enqueue(queueJob(repositoryOfRow(row), row.base, { at: clock.now() }));
    onEnqueued();
  }
}

/** Takes out of their queues what a reverted run let in. */
export async function leaveReverted(
  run: Run,
  { store, clock, onEnqueued }: Pick<QueueWaking, 'store' | 'clock' | 'onEnqueued'>,
): Promise<void> {
  const applied = new Set(
    run.outcomes.filter(({ status }) => status === 'applied').map(({ change }) => change),
  );
  for (const { id, action, target, input } of run.changes) {
    if (action !== 'queue-merge' || !applied.has(id)) continue;
    const number = Number(target.slice('queue:#'.length));
    // The border to the store: the change was recorded from an input of the contract.
    const { owner, repo } = (input as AnyInput).params ?? {};
    for (const row of await store.listQueues()) {
      if (row.repository !== `${owner}/${repo}`) continue;
      const at = clock.now();
      if (!(await editQueue(store, row, removeFromQueue(number, { by: 'a revert', at })))) continue;
      await store.enqueue(queueJob(repositoryOfRow(row), row.base, { at, number }));
      onEnqueued();
    }
  }
}

function repositoryOfRow({ repositoryId, repository }: QueueRow): RepositoryRef {
  const [owner = '', name = ''] = repository.split('/');
  return { id: repositoryId, owner, name };
}
