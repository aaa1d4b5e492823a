import type { QueueKey, QueueRow, QueueRows } from '../../store/queue-rows.ts';
import type { Store } from '../../store/store.ts';
import {
  editQueue,
  moveInQueue,
  pauseQueue,
  type QueueRowsToEdit,
  removeFromQueue,
  resumeQueue,
} from './edits.ts';
import { queueJob, queueStateOf } from './state.ts';

/** User command for a queue, or for a pull request in a queue. */
export type QueueCommand =
  | {
      readonly kind: 'move';
      readonly number: number;
      /** Position, starting at 1. */
      readonly position: number;
    }
  | { readonly kind: 'remove'; readonly number: number }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' };

/** A queue, with the name of its repository. */
export type NamedQueue = QueueKey & { readonly repository: string };

/** Executes a command on a queue. Returns whether the command changed anything. */
export type CommandQueue = (queue: NamedQueue, command: QueueCommand, by: string) => Promise<boolean>;

/**
 * Creates the function that executes commands. The change is stored together with its audit entry. A job wakes the
 * process that works on the queue, which may not be this one.
 */
export function createCommandQueue(store: Store, clock: { now(): Date }): CommandQueue {
  return async (queue, command, by) => {
    const at = clock.now();
    const audit = { action: command.kind, by, object: nameOfObject(queue, command) };
    const rows: QueueRowsToEdit = {
      readQueue: (key) => store.readQueue(key),
      saveQueue: (save) => store.saveQueue({ ...save, audit }),
    };
    const isChanged = await editQueue(rows, queue, editOf(command, { by, at }));
    const [owner = '', name = ''] = queue.repository.split('/');
    const repository = { id: queue.repositoryId, owner, name };
    const about = 'number' in command ? { number: command.number } : {};
    if (isChanged) await store.enqueue(queueJob(repository, queue.base, { at, ...about }));
    return isChanged;
  };
}

function editOf(command: QueueCommand, person: { readonly by: string; readonly at: Date }) {
  switch (command.kind) {
    case 'move':
      return moveInQueue(command.number, command.position, person);
    case 'remove':
      return removeFromQueue(command.number, person);
    case 'pause':
      return pauseQueue(person);
    case 'resume':
      return resumeQueue(person);
  }
}

function nameOfObject({ repository, base }: NamedQueue, command: QueueCommand): string {
  if (command.kind === 'move')
    return `${repository}#${command.number} in the queue of ${base} to position ${command.position}`;
  if (command.kind === 'remove') return `${repository}#${command.number} in the queue of ${base}`;
  return `queue ${repository} ${base}`;
}

/**
 * Finds the queues of a repository by its full name, ignoring case. With `base` or `number`, returns only the matching
 * queue.
 */
export async function findQueues(
  store: QueueRows,
  {
    repository,
    base,
    number,
  }: {
    readonly repository: string;
    readonly base?: string | undefined;
    /** Number of a pull request in the queue. */
    readonly number?: number | undefined;
  },
): Promise<readonly QueueRow[]> {
  const rows = await store.listQueues();
  return rows.filter(
    (row) =>
      row.repository.toLowerCase() === repository.toLowerCase() &&
      (base === undefined || row.base === base) &&
      (number === undefined || queueStateOf(row).entries.some((entry) => entry.number === number)),
  );
}
