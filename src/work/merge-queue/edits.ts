import type { QueueEvent, QueueKey, QueueRows } from '../../store/queue-rows.ts';
import {
  type LeaveReason,
  type LeftPull,
  type QueueAction,
  type QueueEntry,
  type QueueState,
  type QueueWrite,
  queueStateOf,
} from './state.ts';

/** Computes the new state of a queue and its events; undefined if nothing changes. */
type QueueEdit = (
  state: QueueState,
) => { readonly state: QueueState; readonly events: readonly QueueEvent[] } | undefined;

/** Store of the queues that are edited. */
export type QueueRowsToEdit = {
  readQueue: QueueRows['readQueue'];
  saveQueue: QueueRows['saveQueue'];
};

/** Edits a queue, and retries if another save comes first. Returns whether the queue was changed. */
export async function editQueue(
  rows: QueueRowsToEdit,
  { repositoryId, base, repository }: QueueKey & { readonly repository: string },
  edit: QueueEdit,
): Promise<boolean> {
  for (;;) {
    const row = await rows.readQueue({ repositoryId, base });
    const edited = edit(queueStateOf(row));
    if (edited === undefined) return false;
    const revision = row?.revision ?? 0;
    if (await rows.saveQueue({ repositoryId, base, repository, revision, ...edited })) return true;
  }
}

/**
 * Inserts a pull request after all others with a higher priority, and after those with the same priority whose
 * deliveries arrived earlier, but never before the one that has its turn. Runs of several pull requests end in any
 * order.
 */
export function placeEntry(entries: readonly QueueEntry[], entry: QueueEntry): readonly QueueEntry[] {
  const first = entries[0]?.turnAt === undefined ? 0 : 1;
  let at = entries.findLastIndex(({ request }) => request.priority >= entry.request.priority) + 1;
  while (at > first && standsAfter(entries[at - 1], entry)) at -= 1;
  return entries.toSpliced(Math.max(at, first), 0, entry);
}

/**
 * Returns whether a queued pull request has the same priority and entered for a later delivery, or else entered later.
 */
export function standsAfter(queued: QueueEntry | undefined, entry: QueueEntry): boolean {
  if (queued === undefined || queued.request.priority !== entry.request.priority) return false;
  if (queued.delivery === undefined || entry.delivery === undefined)
    return queued.enteredAt > entry.enteredAt;
  return Number(queued.delivery) > Number(entry.delivery);
}

type QueueEditor = { readonly by: string; readonly at: Date };

/**
 * Moves a pull request to a position, starting at 1. If the pull request that had its turn is overtaken, it waits
 * again.
 */
export function moveInQueue(number: number, position: number, { by, at }: QueueEditor): QueueEdit {
  return (state) => {
    const from = state.entries.findIndex((entry) => entry.number === number);
    const entry = state.entries[from];
    const to = Math.min(Math.max(Math.trunc(position), 1), state.entries.length) - 1;
    if (entry === undefined || to === from) return undefined;
    const entries = state.entries.toSpliced(from, 1).toSpliced(to, 0, entry).map(waitUnlessFirst);
    const text = `moved to position ${to + 1}`;
    return { state: { ...state, entries }, events: [{ at, kind: 'moved', number, text, by }] };
  };
}

/** Returns the entry without a turn, so that it waits again, unless it is the first. */
export function waitUnlessFirst(entry: QueueEntry, at: number): QueueEntry {
  if (at === 0 || entry.turnAt === undefined) return entry;
  const { turnAt: _turn, sinceAt: _since, toldHead: _told, unmergeableAt: _unmergeable, ...kept } = entry;
  return { ...kept, phase: 'waiting' };
}

/**
 * Requests the removal of a pull request. The process that works on the queue removes it, and writes a status and a
 * comment.
 */
export function removeFromQueue(number: number, { by }: QueueEditor): QueueEdit {
  return (state) => {
    const found = state.entries.find((entry) => entry.number === number);
    if (found === undefined || found.removal) return undefined;
    const entries = state.entries.map((entry) => (entry === found ? { ...entry, removal: { by } } : entry));
    return { state: { ...state, entries }, events: [] };
  };
}

/** Pauses a queue: it keeps its pull requests and writes nothing until it is resumed. */
export function pauseQueue({ by, at }: QueueEditor): QueueEdit {
  return (state) =>
    state.paused
      ? undefined
      : {
          state: { ...state, paused: { by, at: at.toISOString() } },
          events: [{ at, kind: 'paused', text: 'paused', by }],
        };
}

/** Ends the pause of a queue. The paused time does not count towards timeouts. */
export function resumeQueue({ by, at }: QueueEditor): QueueEdit {
  return (state) => {
    if (state.paused === undefined) return undefined;
    const { paused: _paused, ...kept } = state;
    const [first, ...others] = state.entries;
    const entries =
      first?.turnAt === undefined
        ? state.entries
        : [
            { ...first, turnAt: at.toISOString(), sinceAt: at.toISOString(), unmergeableAt: undefined },
            ...others,
          ];
    return { state: { ...kept, entries }, events: [{ at, kind: 'resumed', text: 'resumed', by }] };
  };
}

/** A pull request that is about to enter the queue. */
type QueueCandidate = {
  readonly number: number;
  readonly head: string;
  readonly rule: string;
  readonly delivery?: string | undefined;
  readonly request: QueueEntry['request'];
};

/** Reasons that apply until the head changes, or until the conditions have been false once. */
const lasting: readonly LeaveReason[] = ['checks', 'conflict', 'timeout', 'fork', 'refused', 'removed'];

/** Returns why a pull request must not enter again: it left with this head, for a reason that still applies. */
export function findBar(
  state: QueueState,
  { number, head }: { readonly number: number; readonly head: string },
): LeftPull | undefined {
  return state.left.find(
    (left) => left.number === number && left.head === head && lasting.includes(left.reason),
  );
}

/**
 * Adds a pull request to the queue, unless it is already queued or left for a reason that still applies. If the queued
 * pull request has a different head, it leaves and enters again at the end.
 */
export function enterQueue(candidate: QueueCandidate, at: Date, branch: string): QueueEdit {
  return (before) => {
    const { number, head } = candidate;
    const queued = before.entries.find((entry) => entry.number === number);
    if (queued?.head === head || findBar(before, candidate)) return undefined;
    const leaving = { reason: 'pushed', text: 'someone pushed to it' } as const;
    const { state, events } = queued
      ? leaveQueue({ state: before, events: [] }, queued, leaving, { at, branch })
      : { state: before, events: [] };
    const entry: QueueEntry = { ...candidate, phase: 'waiting', enteredAt: at.toISOString() };
    const entries = placeEntry(state.entries, entry);
    const next = entries[entries.indexOf(entry) + 1];
    const overtakes = standsAfter(next, entry)
      ? `, before #${next?.number}, whose delivery arrived later`
      : '';
    const text = `entered with priority ${candidate.request.priority}${overtakes}`;
    return {
      state: {
        ...state,
        entries,
        left: state.left.filter((left) => left.number !== number),
        outbox: state.outbox.filter((write) => write.kind !== 'status' || write.number !== number),
      },
      events: [...events, { at, kind: 'entered', number, text, head }],
    };
  };
}

/** Reverts the entry of a pull request with this head, because the forge refused the status that shows the entry. */
export function withdrawEntry(number: number, head: string): QueueEdit {
  return (state) => {
    const entries = state.entries.filter((entry) => entry.number !== number || entry.head !== head);
    return entries.length === state.entries.length ? undefined : { state: { ...state, entries }, events: [] };
  };
}

/** Removes the record of why a pull request left, because the conditions of its rule have been false once. */
export function forgiveLeft(number: number): QueueEdit {
  return (state) => {
    const left = state.left.filter((one) => one.number !== number);
    return left.length === state.left.length ? undefined : { state: { ...state, left }, events: [] };
  };
}

/** Removes all pull requests without a write to the forge, because the repository is no longer served. */
export function abandonQueue(why: string, at: Date, branch: string): QueueEdit {
  return (before) => {
    if (before.entries.length + before.outbox.length === 0) return undefined;
    let draft: QueueDraft = { state: before, events: [] };
    for (const entry of before.entries)
      draft = leaveQueue(draft, entry, { reason: 'unserved', text: why }, { at, branch });
    return { state: { ...draft.state, outbox: [] }, events: draft.events };
  };
}

/** A step in progress: the state and the events so far. */
export type QueueDraft = {
  readonly state: QueueState;
  readonly events: readonly QueueEvent[];
  /** Rules whose pull requests currently get no writes. */
  readonly held?: readonly string[] | undefined;
};

/** Ages of a wait at which its first polls happen. Later polls happen every minute. */
const firstAgesMs = [10_000, 40_000];
const everyMs = 60_000;
/** Maximum number of removed pull requests to remember. */
const maxLeft = 200;

/** Returns the draft with some fields of an entry changed. */
export function withEntry(draft: QueueDraft, number: number, more: Partial<QueueEntry>): QueueDraft {
  const entries = draft.state.entries.map((entry) =>
    entry.number === number ? { ...entry, ...more } : entry,
  );
  return { ...draft, state: { ...draft.state, entries } };
}

/** Returns the draft with an additional event. */
export function withEvent(draft: QueueDraft, event: QueueEvent): QueueDraft {
  return { ...draft, events: [...draft.events, event] };
}

type StatusToWrite = {
  readonly number: number;
  readonly rule?: string | undefined;
  readonly head: string;
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  readonly description: string;
};

/** Returns the draft with a status to write, which replaces an unwritten status of the same pull request. */
export function withStatus(draft: QueueDraft, status: StatusToWrite, at: Date): QueueDraft {
  const others = draft.state.outbox.filter(
    (write) => write.kind !== 'status' || write.number !== status.number,
  );
  const id = `status ${status.number} ${at.toISOString()}`;
  const { rule = ruleOfEntry(draft.state, status.number) } = status;
  const write: QueueWrite = { kind: 'status', id, ...status, rule };
  return { ...draft, state: { ...draft.state, outbox: [...others, write] } };
}

/** Returns the draft with an additional comment to write. */
export function withComment(
  draft: QueueDraft,
  { number, rule }: QueueEntry,
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

/** Reasons for which the pull request gets neither a status nor a comment. */
const silent: readonly LeaveReason[] = ['merged', 'merged-elsewhere'];
/** Reasons that are not remembered, because the pull request has ended. */
const ended: readonly LeaveReason[] = ['merged', 'merged-elsewhere', 'closed'];

/** Returns the draft without a pull request. A status and one comment on it state the reason. */
export function leaveQueue(
  draft: QueueDraft,
  entry: QueueEntry,
  { reason, text, head = entry.head }: { reason: LeaveReason; text: string; head?: string | undefined },
  { at, branch }: { readonly at: Date; readonly branch: string },
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
  // This also applies to a closed pull request: it may be reopened, and must not appear to be waiting or mergeable.
  const state = reason === 'checks' || reason === 'conflict' ? 'failure' : 'error';
  const description = `left the merge queue of ${branch}: ${text}`;
  next = withStatus(next, { number, rule, head, state, description }, at);
  return withComment(next, entry, `This left the merge queue of \`${branch}\`: ${text}.`, at);
}

/**
 * Returns the milliseconds from an instant of the state until now. The result is at least 0, even if the clock was set
 * back.
 */
export function msSince(instant: string, at: Date): number {
  return Math.max(at.getTime() - Date.parse(instant), 0);
}

/** Returns the action that waits. Polls happen after 10 s, after 40 s and then every minute, and on events. */
export function waitFor({ sinceAt }: QueueEntry, at: Date, why: string): QueueAction {
  const ageMs = sinceAt === undefined ? 0 : msSince(sinceAt, at);
  const nextMs = firstAgesMs.find((one) => one > ageMs);
  return { kind: 'wait', afterMs: nextMs === undefined ? everyMs : nextMs - ageMs, why: `waits for ${why}` };
}
