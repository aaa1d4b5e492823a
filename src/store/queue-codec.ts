import type { QueueEvent, QueueHistoryRow, QueueRow } from './queue-rows.ts';
import type { SqlRow } from './rows.ts';

/** Characters of a sentence of the history: it may quote the answer of a forge. */
const maxTextChars = 1_000;

/** Result of a save: `stale`: another save came first; `lost`: the lease is over. Both have changed nothing. */
export type QueueSaved = 'saved' | 'stale' | 'lost';

/** Returns an event as it is stored. */
export function encodeQueueEvent(event: QueueEvent): string {
  return JSON.stringify({ ...event, text: event.text.slice(0, maxTextChars) });
}

/** Returns a stored row as a queue. */
export function queueRowOf(row: SqlRow): QueueRow {
  return {
    repositoryId: Number(row.repository_id),
    base: String(row.base),
    repository: String(row.repository),
    state: JSON.parse(String(row.state)),
    revision: Number(row.revision),
    updatedAt: new Date(String(row.updated_at)),
  };
}

/** An event as JSON keeps it. */
type StoredQueueEvent = Omit<QueueEvent, 'at' | 'enteredAt' | 'turnAt'> &
  Readonly<Record<'at', string> & Partial<Record<'enteredAt' | 'turnAt', string>>>;

/** Returns a stored event as it is listed. */
export function queueHistoryRowOf(row: SqlRow): QueueHistoryRow {
  // The border to the store: what is in this column was written by `encodeQueueEvent` alone.
  const {
    at,
    base: baseCommit,
    enteredAt,
    turnAt,
    ...event
  } = JSON.parse(String(row.event)) as StoredQueueEvent;
  return {
    ...event,
    id: Number(row.id),
    repositoryId: Number(row.repository_id),
    base: String(row.base),
    repository: String(row.repository),
    at: new Date(at),
    ...(baseCommit === undefined ? {} : { baseCommit }),
    ...(enteredAt === undefined ? {} : { enteredAt: new Date(enteredAt) }),
    ...(turnAt === undefined ? {} : { turnAt: new Date(turnAt) }),
  };
}

/** Returns whether a queue holds nothing. A pause is kept until it is ended, and a foreign write until the checks of the base have passed. */
export function isAtRest(state: unknown): boolean {
  if (typeof state !== 'object' || state === null) return false;
  const { entries, outbox, paused, blocked } = state as Readonly<Record<string, unknown>>;
  const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0;
  return isEmpty(entries) && isEmpty(outbox) && (paused ?? blocked ?? null) === null;
}
