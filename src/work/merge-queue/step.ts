import { leaveQueue, msSince, type QueueDraft, waitFor, withEntry, withEvent, withStatus } from './draft.ts';
import { placeEntry, waitUnlessFirst } from './edits.ts';
import { holdPaused } from './hold.ts';
import { attemptUnderWay, settleAttempt } from './settle-attempt.ts';
import type {
  LeaveReason,
  PullSeen,
  QueueAction,
  QueueAttempt,
  QueueEntry,
  QueueObservation,
  QueueState,
  QueueStep,
} from './state.ts';

const lookAgainMs = 5_000;
/** Wait after a look that failed for a reason that may last. */
const unseenMs = 60_000;
/** Wait after a refusal, for each refusal in a row. */
const refusedMs = 10_000;
/** A forge says that a pull request cannot be merged until it has checked: this long it is not believed. */
const unmergeableMs = 60_000;
/** Time in which a status of a new base is expected, if there is ever one. */
const baseStatusMs = 120_000;
/** The rule that lets a pull request in writes its status at the same time: ours must come later. */
const settlingMs = 2_000;

/**
 * Decides what a merge queue does next, from its state and from what was seen. It is pure: the caller stores the new state, then
 * takes the actions in their order, then looks again. Whatever is to be sent is in the state before, so that after a kill at any
 * point the next step continues.
 *
 * A head is merged only if it was seen green while it contained the base, `reeve/queue` was written, and a look after that has
 * shown the same head, the same base and the same checks.
 */
export function stepQueue(state: QueueState, seen: QueueObservation): QueueStep {
  if (state.paused) return { state, events: [], actions: [{ kind: 'wait', why: 'it is paused' }] };
  const held = seen.held?.map(({ rule }) => rule);
  const settled = settleAttempt({ state, events: [], held }, seen);
  const judged = holdPaused(judgePull(settled, seen));
  const [next] = judged.state.entries;
  if (next?.held) {
    const why = seen.held?.find(({ rule }) => rule === next.rule)?.why ?? 'it is paused';
    return endOf(judged, { kind: 'wait', why });
  }
  const newMs = ageOfNewcomer(next, seen.at);
  if (newMs !== undefined)
    return endOf(judged, { kind: 'wait', afterMs: settlingMs - newMs, why: 'it has just entered' });
  const draft = giveTurn(judged, seen);
  const [first] = draft.state.entries;
  if (first === undefined) return endOf(draft, { kind: 'wait', why: 'it is empty' });
  if (seen.problem !== undefined) {
    if (isOverdue(first, seen.at)) return leaveOverdue(draft, first, seen);
    return endOf(draft, { kind: 'wait', afterMs: unseenMs, why: seen.problem });
  }
  const waiting = awaitAttempt(draft, first, seen);
  if (waiting !== undefined) return waiting;
  if (seen.pull?.number !== first.number || seen.base === undefined) return endOf(draft, { kind: 'look' });
  return proceed(draft, first, seen);
}

/** Returns the age of a pull request that has just entered and has no turn yet; undefined for any other. */
function ageOfNewcomer(first: QueueEntry | undefined, at: Date): number | undefined {
  if (first === undefined || first.turnAt !== undefined) return undefined;
  const ageMs = at.getTime() - Date.parse(first.enteredAt);
  return ageMs >= 0 && ageMs < settlingMs ? ageMs : undefined;
}

/** Returns the step that ends with this action, after the writes. Those of paused rules are kept until the pause ends. */
function endOf({ state, events, held = [] }: QueueDraft, ...last: readonly QueueAction[]): QueueStep {
  const writes = state.outbox
    .filter(({ rule = '' }) => !held.includes(rule))
    .map((write): QueueAction => ({ kind: 'write', write }));
  return { state, events, actions: [...writes, ...last] };
}

/** Gives the turn to the first, and takes it from those that were overtaken. */
function giveTurn(draft: QueueDraft, { at }: QueueObservation): QueueDraft {
  const entries = draft.state.entries.map(waitUnlessFirst);
  const next: QueueDraft = { ...draft, state: { ...draft.state, entries } };
  const [first] = entries;
  if (first === undefined || first.turnAt !== undefined) return next;
  const now = at.toISOString();
  const turned = withEntry(next, first.number, { turnAt: now, sinceAt: now, phase: 'updating' });
  const { number, head } = first;
  return withEvent(turned, { at, kind: 'first', number, text: 'is the first', head });
}

/**
 * Waits until it is known what became of what was sent: nothing else is sent before, for the first neither, where a person has moved
 * it before the one that was.
 */
function awaitAttempt(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep | undefined {
  const { attempt, ...rest } = draft.state;
  if (attempt === undefined) return undefined;
  if (seen.pull?.number !== attempt.number) return endOf(draft, { kind: 'look' });
  if (attemptUnderWay(draft.state, seen.pull, seen.at) === undefined)
    return attempt.number === first.number ? undefined : endOf({ ...draft, state: rest }, { kind: 'look' });
  const why = `the ${attempt.kind} of #${attempt.number} is not to be seen yet`;
  return endOf(draft, { kind: 'wait', afterMs: lookAgainMs, why });
}

/** Brings the first pull request a step closer to its merge. */
function proceed(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep {
  const { at, pull, base } = seen;
  if (pull === undefined || base === undefined) return endOf(draft, { kind: 'look' });
  const { turnAt = at.toISOString() } = first;
  if (isOverdue(first, at)) return leaveOverdue(draft, first, seen);
  const refusedForMs = refusedMs * (first.refusals ?? 0) - msSince(first.sinceAt ?? turnAt, at);
  if (refusedForMs > 0 && first.phase === 'updating')
    return endOf(draft, { kind: 'wait', afterMs: refusedForMs, why: 'the forge refused it' });
  const blocked = keepBlocked(draft, seen);
  if (blocked.state.blocked) return endOf(blocked, waitFor(first, at, 'the checks of the base'));
  if (!pull.isMergeable) return waitForMergeable(blocked, first, seen);
  const open = withEntry(blocked, first.number, { unmergeableAt: undefined });
  return pull.containsBase ? awaitChecks(open, first, seen) : bringUpToDate(open, first, seen);
}

function isOverdue({ turnAt = '', request }: QueueEntry, at: Date): boolean {
  return turnAt !== '' && msSince(turnAt, at) >= request.timeoutMs;
}

function leaveOverdue(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep {
  const minutes = Math.round(first.request.timeoutMs / 60_000);
  const why = seen.problem === undefined ? '' : `; it cannot be looked at: ${seen.problem}`;
  const text = `it was not merged within ${minutes} min of its turn${why}`;
  return leaveAndLook(draft, first, 'timeout', text, seen);
}

function leaveAndLook(
  draft: QueueDraft,
  entry: QueueEntry,
  reason: Parameters<typeof leaveQueue>[2]['reason'],
  text: string,
  seen: QueueObservation,
): QueueStep {
  const left = leaveQueue(draft, entry, { reason, text, head: seen.pull?.head }, seen);
  return endOf(giveTurn(left, seen), { kind: 'look' });
}

/** Keeps the queue blocked after a foreign write until the checks of the newest base have passed. */
function keepBlocked(draft: QueueDraft, { at, base }: QueueObservation): QueueDraft {
  const { blocked, ...rest } = draft.state;
  if (blocked === undefined || base === undefined) return draft;
  const { commit, checks } = base;
  if (commit !== blocked.commit)
    return { ...draft, state: { ...rest, blocked: { commit, since: at.toISOString() } } };
  const isOpen =
    checks?.state === 'success' || (checks?.state === 'none' && msSince(blocked.since, at) >= baseStatusMs);
  return isOpen ? { ...draft, state: rest } : draft;
}

function waitForMergeable(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep {
  const { at, branch } = seen;
  const { unmergeableAt = at.toISOString() } = first;
  if (msSince(unmergeableAt, at) >= unmergeableMs)
    return leaveAndLook(draft, first, 'conflict', `it conflicts with ${branch}`, seen);
  return endOf(withEntry(draft, first.number, { unmergeableAt }), {
    kind: 'wait',
    afterMs: 10_000,
    why: 'the forge says that it cannot be merged',
  });
}

/** Brings the head up to date with the base. */
function bringUpToDate(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep {
  const { at, branch, pull, base } = seen;
  const { number, request } = first;
  if (pull?.isFork && !request.forks) {
    const text = `it is behind ${branch}, and its head is in a fork, which Reeve does not update`;
    return leaveAndLook(draft, first, 'fork', text, seen);
  }
  const attempt: QueueAttempt = {
    kind: 'update',
    number,
    rule: first.rule,
    head: first.head,
    base: base?.commit ?? '',
    at: at.toISOString(),
  };
  const next = withEntry(draft, number, {
    phase: 'updating',
    sinceAt: at.toISOString(),
    contexts: first.contexts ?? pull?.contexts,
    toldHead: undefined,
  });
  return endOf({ ...next, state: { ...next.state, attempt } }, { kind: 'update', attempt });
}

/** Waits for the checks of a head that contains the base, and merges it once they have passed and nothing has moved. */
function awaitChecks(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep {
  const { at, pull, base } = seen;
  const { number, head } = first;
  const commit = base?.commit ?? '';
  const checks = pull?.checks ?? { state: 'pending' };
  if (checks.state === 'failure')
    return leaveAndLook(draft, first, 'checks', `the check ${checks.context ?? ''} failed`, seen);
  const isTested = first.phase === 'testing' || first.phase === 'ready';
  const sinceAt = isTested ? first.sinceAt : at.toISOString();
  const known = { contains: commit, contexts: first.contexts ?? pull?.contexts, sinceAt } as const;
  const isGreen = checks.state === 'success' && pull?.wanted.state === 'yes';
  if (!isGreen) {
    const told = first.phase !== 'ready' && first.toldHead === head;
    const why = checks.context === undefined ? 'its checks' : `the check ${checks.context}`;
    const kept = withEntry(draft, number, { ...known, phase: 'testing', toldHead: head });
    const description = `first in the merge queue: waits for ${why}`;
    const next = told ? kept : withStatus(kept, { number, head, state: 'pending', description }, at);
    return endOf(next, waitFor({ ...first, sinceAt }, at, why));
  }
  if (first.phase !== 'ready' || first.contains !== commit) {
    const ready = withEntry(draft, number, { ...known, phase: 'ready', toldHead: head });
    const description = 'its checks passed with the base: it is merged now';
    return endOf(withStatus(ready, { number, head, state: 'success', description }, at), { kind: 'look' });
  }
  const { rule } = first;
  const attempt: QueueAttempt = { kind: 'merge', number, rule, head, base: commit, at: at.toISOString() };
  return endOf(
    { ...draft, state: { ...draft.state, attempt } },
    { kind: 'merge', attempt, request: first.request },
  );
}

/** Lets a pull request go that was seen not to belong in the queue any more, whatever its position; notes what has changed. */
function judgePull(draft: QueueDraft, seen: QueueObservation): QueueDraft {
  const { pull, gone, at, branch } = seen;
  const entry = draft.state.entries.find(({ number }) => number === (pull?.number ?? gone));
  if (entry === undefined) return draft;
  if (pull === undefined)
    return leaveQueue(draft, entry, { reason: 'closed', text: 'the forge does not show it any more' }, seen);
  // Of a merge that was sent, it is first found out what became of it: it may arrive after all, also where it was closed and opened.
  const isSent = attemptUnderWay(draft.state, pull, at)?.kind === 'merge' && !pull.merged;
  const leaving = isSent ? undefined : reasonToLeave(entry, pull, branch);
  if (leaving !== undefined) return leaveQueue(draft, entry, { ...leaving, head: pull.head }, seen);
  let next = draft;
  if (pull.head !== entry.head) {
    const { head, number, updatedWith: base } = pull;
    const sinceAt = at.toISOString();
    next = withEntry(next, number, { head, contains: base, phase: 'testing', sinceAt, refusals: undefined });
    next = withEvent(next, {
      at,
      kind: 'updated',
      number,
      text: `brought up to date with ${branch}`,
      head,
      base,
    });
  }
  return pull.wanted.state === 'yes' ? withRequest(next, entry, pull.wanted.request) : next;
}

/** The first reason counts: what ended the pull request goes before what was done to it. */
function reasonToLeave(
  entry: QueueEntry,
  pull: PullSeen,
  branch: string,
): { readonly reason: LeaveReason; readonly text: string } | undefined {
  const { wanted } = pull;
  if (pull.merged) {
    const text =
      pull.base === branch ? 'it was merged, and not by the queue' : `it was merged into ${pull.base}`;
    return { reason: 'merged-elsewhere', text };
  }
  if (pull.state === 'closed') return { reason: 'closed', text: 'it was closed' };
  if (entry.removal) return { reason: 'removed', text: `it was removed by ${entry.removal.by}` };
  if (pull.base !== branch) return { reason: 'retargeted', text: `it is to be merged into ${pull.base} now` };
  if (pull.head !== entry.head && pull.updatedWith === undefined)
    return { reason: 'pushed', text: 'someone pushed to it' };
  if (pull.isDraft) return { reason: 'unwanted', text: 'it is a draft now' };
  return wanted.state === 'no' ? { reason: 'unwanted', text: wanted.why } : undefined;
}

/** A priority that has changed changes the place, except of the one that has its turn. */
function withRequest(draft: QueueDraft, { number }: QueueEntry, request: QueueEntry['request']): QueueDraft {
  const entry = draft.state.entries.find((one) => one.number === number);
  if (entry === undefined || JSON.stringify(entry.request) === JSON.stringify(request)) return draft;
  const next = withEntry(draft, number, { request });
  if (entry.request.priority === request.priority || entry.turnAt !== undefined) return next;
  const others = next.state.entries.filter((one) => one.number !== number);
  return { ...next, state: { ...next.state, entries: placeEntry(others, { ...entry, request }) } };
}
