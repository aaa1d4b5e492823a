import {
  leaveQueue,
  msSince,
  type QueueDraft,
  withComment,
  withEntry,
  withEvent,
  withStatus,
} from './draft.ts';
import { waitUnlessFirst } from './edits.ts';
import { judgePull } from './judge-pull.ts';
import type {
  QueueAction,
  QueueAttempt,
  QueueEntry,
  QueueObservation,
  QueueState,
  QueueStep,
} from './state.ts';

/** Time that the forge has to show what it has taken, or what it may have taken. */
const shownMs = 30_000;
const lookAgainMs = 5_000;
/** Wait after a refusal, for each refusal in a row. */
const refusedMs = 10_000;
/** A forge says that a pull request cannot be merged until it has checked: this long it is not believed. */
const unmergeableMs = 60_000;
/** Time in which a status of a new base is expected, if there is ever one. */
const baseStatusMs = 120_000;
/** Ages of a wait at which it is polled for the first times; then every minute. */
const firstAgesMs = [10_000, 40_000];
const everyMs = 60_000;
/** The rule that lets a pull request in writes its status at the same time: ours must come later. */
const settlingMs = 2_000;
/** Refusals in a row after which a pull request leaves. */
const maxRefusals = 3;

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
  const settled = settleAttempt({ state, events: [] }, seen);
  const judged = judgePull(settled, seen);
  const newMs = ageOfNewcomer(judged.state.entries[0], seen.at);
  if (newMs !== undefined)
    return endOf(judged, { kind: 'wait', afterMs: settlingMs - newMs, why: 'it has just entered' });
  const draft = giveTurn(judged, seen);
  const [first] = draft.state.entries;
  if (first === undefined) return endOf(draft, { kind: 'wait', why: 'it is empty' });
  if (seen.pull?.number !== first.number || seen.base === undefined) return endOf(draft, { kind: 'look' });
  return proceed(draft, first, seen);
}

/** Returns the age of a pull request that has just entered and has no turn yet; undefined for any other. */
function ageOfNewcomer(first: QueueEntry | undefined, at: Date): number | undefined {
  if (first === undefined || first.turnAt !== undefined) return undefined;
  const ageMs = at.getTime() - Date.parse(first.enteredAt);
  return ageMs >= 0 && ageMs < settlingMs ? ageMs : undefined;
}

/** Returns the step that ends with this action, after the writes. */
function endOf(draft: QueueDraft, ...last: readonly QueueAction[]): QueueStep {
  const writes = draft.state.outbox.map((write): QueueAction => ({ kind: 'write', write }));
  return { ...draft, actions: [...writes, ...last] };
}

/** Finds out what became of an update or a merge. */
function settleAttempt(draft: QueueDraft, seen: QueueObservation): QueueDraft {
  const { attempt, ...rest } = draft.state;
  if (attempt === undefined) return draft;
  const { answer, pull } = seen;
  const entry = rest.entries.find(({ number }) => number === attempt.number);
  const over: QueueDraft = { ...draft, state: rest };
  if (entry === undefined) return over;
  if (answer?.kind === 'refused') return refuseAttempt(over, entry, { attempt, answer }, seen);
  if (answer?.kind === 'taken') {
    const taken: QueueAttempt = { ...attempt, isAnswered: true };
    return { ...draft, state: { ...rest, attempt: taken } };
  }
  if (pull?.number !== attempt.number) return draft;
  if (attempt.kind === 'update') {
    const isShown = pull.head !== attempt.head || msSince(attempt.at, seen.at) >= shownMs;
    return isShown ? over : draft;
  }
  if (!pull.merged) return draft;
  const isOurs = pull.merged.isByUs && pull.head === attempt.head;
  return isOurs ? settleMerge(over, entry, attempt, seen) : over;
}

/** Notes our merge, and compares what it was made on with what was tested. */
function settleMerge(
  draft: QueueDraft,
  entry: QueueEntry,
  attempt: QueueAttempt,
  seen: QueueObservation,
): QueueDraft {
  const { at, branch } = seen;
  const { number } = entry;
  const { parent } = seen.pull?.merged ?? {};
  const text = `merged into ${branch}`;
  const merged = leaveQueue(draft, { ...entry, contains: attempt.base }, { reason: 'merged', text }, seen);
  if (parent === undefined || parent === attempt.base) return merged;
  const why = `someone wrote to ${branch} between the last check and the merge: it was tested with ${attempt.base.slice(0, 10)} and merged onto ${parent.slice(0, 10)}`;
  const noted = withEvent(merged, {
    at,
    kind: 'foreign-write',
    number,
    text: why,
    head: attempt.head,
    base: parent,
  });
  const commented = withComment(
    noted,
    number,
    `This was merged by the merge queue, but ${why}. The queue merges nothing more until the checks of \`${branch}\` have passed.`,
    at,
  );
  return {
    ...commented,
    state: { ...commented.state, blocked: { commit: parent, since: at.toISOString() } },
  };
}

function refuseAttempt(
  draft: QueueDraft,
  entry: QueueEntry,
  {
    attempt,
    answer,
  }: {
    readonly attempt: QueueAttempt;
    readonly answer: Extract<QueueObservation['answer'], { kind: 'refused' }>;
  },
  seen: QueueObservation,
): QueueDraft {
  if (answer.isConflict && attempt.kind === 'update')
    return leaveQueue(draft, entry, { reason: 'conflict', text: `it conflicts with ${seen.branch}` }, seen);
  const refusals = (entry.refusals ?? 0) + 1;
  if (refusals >= maxRefusals) {
    const what = attempt.kind === 'merge' ? 'merge it' : 'update it';
    const text = `the forge refused to ${what} ${refusals} times: ${answer.why}`;
    return leaveQueue(draft, entry, { reason: 'refused', text }, seen);
  }
  return withEntry(draft, entry.number, {
    refusals,
    phase: 'updating',
    sinceAt: seen.at.toISOString(),
    ...(entry.phase === 'ready' ? { toldHead: undefined } : {}),
  });
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

/** Brings the first pull request a step closer to its merge. */
function proceed(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep {
  const { at, pull, base } = seen;
  if (pull === undefined || base === undefined) return endOf(draft, { kind: 'look' });
  const { turnAt = at.toISOString() } = first;
  if (msSince(turnAt, at) >= first.request.timeoutMs) {
    const minutes = Math.round(first.request.timeoutMs / 60_000);
    return leaveAndLook(draft, first, 'timeout', `it was not merged within ${minutes} min of its turn`, seen);
  }
  const { attempt } = draft.state;
  const isUnderWay =
    attempt?.number === first.number && msSince(attempt.at, at) < shownMs && pull.head === attempt.head;
  if (isUnderWay && seen.answer?.kind !== 'taken')
    return endOf(draft, {
      kind: 'wait',
      afterMs: lookAgainMs,
      why: `the ${attempt.kind} is not to be seen yet`,
    });
  if (isUnderWay) return endOf(draft, { kind: 'look' });
  const refusedForMs = refusedMs * (first.refusals ?? 0) - msSince(first.sinceAt ?? turnAt, at);
  if (refusedForMs > 0 && first.phase === 'updating')
    return endOf(draft, { kind: 'wait', afterMs: refusedForMs, why: 'the forge refused it' });
  const blocked = keepBlocked(draft, seen);
  if (blocked.state.blocked) return endOf(blocked, waitFor(first, at, 'the checks of the base'));
  if (!pull.isMergeable) return waitForMergeable(blocked, first, seen);
  const open = withEntry(blocked, first.number, { unmergeableAt: undefined });
  return pull.containsBase ? awaitChecks(open, first, seen) : bringUpToDate(open, first, seen);
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
  const attempt: QueueAttempt = { kind: 'merge', number, head, base: commit, at: at.toISOString() };
  return endOf(
    { ...draft, state: { ...draft.state, attempt } },
    { kind: 'merge', attempt, request: first.request },
  );
}

/** Waits: looks come after 10 s, 40 s and then every minute, and with events. */
function waitFor({ sinceAt }: QueueEntry, at: Date, why: string): QueueAction {
  const ageMs = sinceAt === undefined ? 0 : msSince(sinceAt, at);
  const nextMs = firstAgesMs.find((one) => one > ageMs);
  return { kind: 'wait', afterMs: nextMs === undefined ? everyMs : nextMs - ageMs, why: `waits for ${why}` };
}
