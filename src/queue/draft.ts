import type { QueueEvent } from '../store/queue-rows.ts';
import type { LeaveReason, QueueEntry, QueueObservation, QueueState, QueueWrite } from './state.ts';

/** A step under way: the state so far, and what has happened. */
export type QueueDraft = { readonly state: QueueState; readonly events: readonly QueueEvent[] };

/** Pull requests that left, which are remembered. */
const maxLeft = 200;

/** Returns the draft with members of an entry changed. */
export function withEntry(draft: QueueDraft, number: number, more: Partial<QueueEntry>): QueueDraft {
  const entries = draft.state.entries.map((entry) =>
    entry.number === number ? { ...entry, ...more } : entry,
  );
  return { ...draft, state: { ...draft.state, entries } };
}

/** Returns the draft with an event. */
export function withEvent(draft: QueueDraft, event: QueueEvent): QueueDraft {
  return { ...draft, events: [...draft.events, event] };
}

type StatusWrite = Omit<Extract<QueueWrite, { kind: 'status' }>, 'kind' | 'id'>;

/** Returns the draft with a status to write; it replaces an unwritten one of the same pull request. */
export function withStatus(draft: QueueDraft, status: StatusWrite, at: Date): QueueDraft {
  const others = draft.state.outbox.filter(
    (write) => write.kind !== 'status' || write.number !== status.number,
  );
  const id = `status ${status.number} ${at.toISOString()}`;
  return { ...draft, state: { ...draft.state, outbox: [...others, { kind: 'status', id, ...status }] } };
}

/** Returns the draft with a comment to write. */
export function withComment(draft: QueueDraft, number: number, text: string, at: Date): QueueDraft {
  const id = `comment ${number} ${at.toISOString()}`;
  const outbox: readonly QueueWrite[] = [...draft.state.outbox, { kind: 'comment', id, number, text }];
  return { ...draft, state: { ...draft.state, outbox } };
}

/** Reasons for which nothing is left to say on the pull request. */
const silent: readonly LeaveReason[] = ['merged', 'merged-elsewhere'];
/** Reasons after which a status would say nothing: the pull request is over. */
const ended: readonly LeaveReason[] = ['merged', 'merged-elsewhere', 'closed'];

/** Returns the draft without a pull request: a status and one comment say why it left. */
export function leaveQueue(
  draft: QueueDraft,
  entry: QueueEntry,
  { reason, text, head = entry.head }: { reason: LeaveReason; text: string; head?: string | undefined },
  { at, branch }: Pick<QueueObservation, 'at' | 'branch'>,
): QueueDraft {
  const { number } = entry;
  const { attempt, ...rest } = draft.state;
  const left = { number, head, reason, at: at.toISOString() };
  let next: QueueDraft = {
    ...draft,
    state: {
      ...rest,
      ...(attempt === undefined || attempt.number === number ? {} : { attempt }),
      entries: rest.entries.filter((one) => one.number !== number),
      left: ended.includes(reason)
        ? rest.left.filter((one) => one.number !== number)
        : [left, ...rest.left.filter((one) => one.number !== number)].slice(0, maxLeft),
      outbox: rest.outbox.filter((write) => write.kind !== 'status' || write.number !== number),
    },
  };
  next = withEvent(next, {
    at,
    kind: reason === 'merged' ? 'merged' : 'left',
    number,
    ...(reason === 'merged' ? {} : { reason }),
    text,
    head,
    base: entry.contains,
    enteredAt: new Date(entry.enteredAt),
    turnAt: entry.turnAt === undefined ? undefined : new Date(entry.turnAt),
  });
  if (!ended.includes(reason)) {
    const state = reason === 'checks' || reason === 'conflict' ? 'failure' : 'error';
    const description = `left the merge queue of ${branch}: ${text}`;
    next = withStatus(next, { number, head, state, description }, at);
  }
  if (silent.includes(reason)) return next;
  return withComment(next, number, `This left the merge queue of \`${branch}\`: ${text}.`, at);
}

/** Returns the milliseconds between an instant of the state and now; at least 0, also where the clock was set back. */
export function msSince(instant: string, at: Date): number {
  return Math.max(at.getTime() - Date.parse(instant), 0);
}
