import type { QueueEvent, QueueRow } from '../../src/store/queue-rows.ts';
import type { Store } from '../../src/store/store.ts';
import { emptyQueue, type QueueEntry, type QueueState } from '../../src/work/merge-queue/state.ts';

/** Returns a pull request that waits in a queue. */
export function makeQueueEntry(number: number, more: Partial<QueueEntry> = {}): QueueEntry {
  return {
    number,
    head: String(number).padStart(40, '0'),
    rule: 'rules/merge.yml#queue',
    request: { method: 'merge', priority: 0, timeoutMs: 3_600_000, forks: false },
    phase: 'waiting',
    enteredAt: '2030-01-01T00:00:00.000Z',
    ...more,
  };
}

/** Saves a state of a queue as its worker does. The default queue is that of `acme/shop` `main`. */
export async function saveQueueState(
  store: Pick<Store, 'readQueue' | 'saveQueue'>,
  state: Partial<QueueState>,
  {
    events = [],
    ...name
  }: Partial<Pick<QueueRow, 'repositoryId' | 'base' | 'repository'>> & {
    readonly events?: readonly QueueEvent[];
  } = {},
): Promise<void> {
  const key = { repositoryId: 7, base: 'main', repository: 'acme/shop', ...name };
  const revision = (await store.readQueue(key))?.revision ?? 0;
  const isSaved = await store.saveQueue({ ...key, revision, state: { ...emptyQueue, ...state }, events });
  if (!isSaved) throw new Error('another save came first');
}
