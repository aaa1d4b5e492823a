import type { QueueEvent } from '../../store/queue-rows.ts';
import type {
  LeaveReason,
  QueueAction,
  QueueEntry,
  QueueObservation,
  QueueState,
  QueueWrite,
} from './state.ts';

/** A step under way: the state so far, and what has happened. */
export type QueueDraft = {
  readonly state: QueueState;
  readonly events: readonly QueueEvent[];
  /** Rules for whose pull requests nothing is written now. */
  readonly held?: readonly string[] | undefined;
};

/** Ages of a wait at which it is polled for the first times; then every minute. */
const firstAgesMs = [10_000, 40_000];
const everyMs = 60_000;
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
  const { rule = ruleOfEntry(draft.state, status.number) } = status;
  const write: QueueWrite = { kind: 'status', id, ...status, rule };
  return { ...draft, state: { ...draft.state, outbox: [...others, write] } };
}

/** Returns the draft with a comment to write. */
export function withComment(
  draft: QueueDraft,
  { number, rule }: Pick<QueueEntry, 'number' | 'rule'>,
  text: string,
  at: Date,
): QueueDraft {
  const id = `comment ${number} ${at.toISOString()}`;
  const outbox: readonly QueueWrite[] = [...draft.state.outbox, { kind: 'comment', id, number, rule, text }];
  return { ...draft, state: { ...draft.state, outbox } };
}

function ruleOfEntry({ entries }: QueueState, number: number): string | undefined {
  return entries.find((entry) => entry.number === number)?.rule;
}

/** Reasons for which nothing is left to say on the pull request. */
const silent: readonly LeaveReason[] = ['merged', 'merged-elsewhere'];
/** Reasons that are not remembered: the pull request is over. */
const ended: readonly LeaveReason[] = ['merged', 'merged-elsewhere', 'closed'];

/** Returns the draft without a pull request: a status and one comment say why it left. */
export function leaveQueue(
  draft: QueueDraft,
  entry: QueueEntry,
  { reason, text, head = entry.head }: { reason: LeaveReason; text: string; head?: string | undefined },
  { at, branch }: Pick<QueueObservation, 'at' | 'branch'>,
): QueueDraft {
  const { number, rule } = entry;
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
  if (silent.includes(reason)) return next;
  // Also of a closed one: it may be opened again, and must not look as if it waited, or could be merged.
  const state = reason === 'checks' || reason === 'conflict' ? 'failure' : 'error';
  const description = `left the merge queue of ${branch}: ${text}`;
  next = withStatus(next, { number, rule, head, state, description }, at);
  return withComment(next, entry, `This left the merge queue of \`${branch}\`: ${text}.`, at);
}

/** Returns the milliseconds between an instant of the state and now; at least 0, also where the clock was set back. */
export function msSince(instant: string, at: Date): number {
  return Math.max(at.getTime() - Date.parse(instant), 0);
}

/** Returns the action that waits: looks come after 10 s, 40 s and then every minute, and with events. */
export function waitFor({ sinceAt }: QueueEntry, at: Date, why: string): QueueAction {
  const ageMs = sinceAt === undefined ? 0 : msSince(sinceAt, at);
  const nextMs = firstAgesMs.find((one) => one > ageMs);
  return { kind: 'wait', afterMs: nextMs === undefined ? everyMs : nextMs - ageMs, why: `waits for ${why}` };
}
