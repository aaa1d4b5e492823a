import { findPause, type Pause, pausedWords } from '../../engine/bounds/pauses.ts';
import { count } from '../../platform/count.ts';
import type { QueueKey } from '../../store/queue-rows.ts';
import {
  leaveQueue,
  msSince,
  placeEntry,
  type QueueDraft,
  standsAfter,
  waitFor,
  waitUnlessFirst,
  withComment,
  withEntry,
  withEvent,
  withStatus,
} from './edits.ts';
import type {
  HeldRule,
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
/** Delay after a failed look whose cause may persist. */
const unseenMs = 60_000;
/** Delay after a refusal, multiplied by the number of consecutive refusals. */
const refusedMs = 10_000;
/** Time during which "not mergeable" is ignored, because a forge also reports it before it has checked. */
const unmergeableMs = 60_000;
/** Time within which the first status of a new base is expected. */
const baseStatusMs = 120_000;
/**
 * Delay after a pull request has entered. The rule that adds it writes a status at the same time, and ours must come
 * later.
 */
const settlingMs = 2_000;

/**
 * Decides the next actions of a merge queue from its state and the observation. This function is pure: the caller
 * stores the new state, then takes the actions in order, and then looks again. Every write is in the stored state
 * before it is sent, so that the next step can continue after the process was killed at any point. A head is merged
 * only if its checks had passed while it contained the base, `reeve/queue` was written, and a later look showed the
 * same head, base and checks.
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

/** Returns the age of a pull request that has just entered and does not have its turn yet; otherwise undefined. */
function ageOfNewcomer(first: QueueEntry | undefined, at: Date): number | undefined {
  if (first === undefined || first.turnAt !== undefined) return undefined;
  const ageMs = at.getTime() - Date.parse(first.enteredAt);
  return ageMs >= 0 && ageMs < settlingMs ? ageMs : undefined;
}

/**
 * Returns the step that ends with this action, after the writes. Writes of paused rules are kept until the pause ends.
 */
function endOf({ state, events, held = [] }: QueueDraft, ...last: readonly QueueAction[]): QueueStep {
  const writes = state.outbox
    .filter(({ rule = '' }) => !held.includes(rule))
    .map((write): QueueAction => ({ kind: 'write', write }));
  return { state, events, actions: [...writes, ...last] };
}

/** Gives the turn to the first entry, and takes it from entries that were overtaken. */
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
 * Waits until the result of the sent attempt is known. Nothing else is sent before that, not even for the first pull
 * request if a user has moved it in front of the attempted one.
 */
function awaitAttempt(draft: QueueDraft, first: QueueEntry, seen: QueueObservation): QueueStep | undefined {
  const { attempt, ...rest } = draft.state;
  if (attempt === undefined) return undefined;
  if (seen.pull?.number !== attempt.number) return endOf(draft, { kind: 'look' });
  if (attemptUnderWay(draft.state, seen.pull, seen.at) === undefined)
    return attempt.number === first.number ? undefined : endOf({ ...draft, state: rest }, { kind: 'look' });
  const why = `the ${attempt.kind} of #${attempt.number} is not visible yet`;
  return endOf(draft, { kind: 'wait', afterMs: lookAgainMs, why });
}

/** Advances the first pull request by one step towards its merge. */
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
  reason: LeaveReason,
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

/** Merges the base into the head of the pull request. */
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

/**
 * Waits for the checks of a head that contains the base, and merges it once they have passed and nothing has changed.
 */
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

/** Removes a pull request that no longer belongs in the queue, at any position. Otherwise records its changes. */
function judgePull(draft: QueueDraft, seen: QueueObservation): QueueDraft {
  const { pull, gone, at, branch } = seen;
  const entry = draft.state.entries.find(({ number }) => number === (pull?.number ?? gone));
  if (entry === undefined) return draft;
  if (pull === undefined)
    return leaveQueue(draft, entry, { reason: 'closed', text: 'the forge does not show it any more' }, seen);
  // The result of a sent merge is determined first, because the merge may still be applied, even to a pull request that
  // was closed and reopened.
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

/** Returns the first reason to leave. The end of the pull request takes precedence over changes to it. */
function reasonToLeave(
  entry: QueueEntry,
  pull: PullSeen,
  branch: string,
): { readonly reason: LeaveReason; readonly text: string } | undefined {
  const { wanted } = pull;
  if (pull.merged) {
    const text =
      pull.base === branch ? 'it was merged, but not by the queue' : `it was merged into ${pull.base}`;
    return { reason: 'merged-elsewhere', text };
  }
  if (pull.state === 'closed') return { reason: 'closed', text: 'it was closed' };
  if (entry.removal) return { reason: 'removed', text: `it was removed by ${entry.removal.by}` };
  if (pull.base !== branch) return { reason: 'retargeted', text: `its target branch is now ${pull.base}` };
  if (pull.head !== entry.head && pull.updatedWith === undefined)
    return { reason: 'pushed', text: 'someone pushed to it' };
  if (pull.isDraft) return { reason: 'unwanted', text: 'it is a draft now' };
  return wanted.state === 'no' ? { reason: 'unwanted', text: wanted.why } : undefined;
}

/** Applies a changed request. A changed priority changes the position, unless the pull request has its turn. */
function withRequest(draft: QueueDraft, { number }: QueueEntry, request: QueueEntry['request']): QueueDraft {
  const entry = draft.state.entries.find((one) => one.number === number);
  if (entry === undefined || JSON.stringify(entry.request) === JSON.stringify(request)) return draft;
  const next = withEntry(draft, number, { request });
  if (entry.request.priority === request.priority || entry.turnAt !== undefined) return next;
  const others = next.state.entries.filter((one) => one.number !== number);
  return { ...next, state: { ...next.state, entries: placeEntry(others, { ...entry, request }) } };
}

/** Time within which the forge must show the result of an attempt that it accepted or may have accepted. */
const shownMs = 30_000;
/** Number of consecutive refusals after which a pull request leaves. */
const maxRefusals = 3;

/** Determines the result of an update or a merge. */
function settleAttempt(draft: QueueDraft, seen: QueueObservation): QueueDraft {
  const { attempt, ...rest } = draft.state;
  if (attempt === undefined) return draft;
  const { answer, pull } = seen;
  const entry = rest.entries.find(({ number }) => number === attempt.number);
  const over: QueueDraft = { ...draft, state: rest };
  if (entry === undefined) return over;
  if (answer?.kind === 'unsent') return over;
  if (answer?.kind === 'refused') {
    const { why, isConflict } = answer;
    return { ...draft, state: { ...rest, attempt: { ...attempt, refused: { why, isConflict } } } };
  }
  if (answer?.kind === 'taken') {
    const taken: QueueAttempt = { ...attempt, isAnswered: true };
    return { ...draft, state: { ...rest, attempt: taken } };
  }
  if (pull?.number !== attempt.number) return draft;
  if (pull.merged) {
    // If the pull request was retargeted in the meantime, the queue of its new base merged it.
    const isHere = pull.base === seen.branch && pull.head === attempt.head;
    const isOurs = attempt.kind === 'merge' && pull.merged.isByUs && isHere;
    if (isOurs) return settleMerge(over, entry, attempt, seen);
    const isMisplaced = isOurMisplacedMerge(attempt, pull, seen.branch);
    return isMisplaced ? settleMisplaced(over, entry, pull, seen) : over;
  }
  if (attempt.refused) return refuseAttempt(over, entry, attempt, seen);
  if (attempt.kind === 'merge') return draft;
  const isShown = pull.head !== attempt.head || msSince(attempt.at, seen.at) >= shownMs;
  return isShown ? over : draft;
}

/**
 * Returns whether the forge applied our merge to another branch, because the pull request was retargeted at that
 * moment.
 */
function isOurMisplacedMerge(attempt: QueueAttempt, pull: PullSeen, branch: string): boolean {
  const isTaken = attempt.kind === 'merge' && attempt.isAnswered === true && pull.merged?.isByUs === true;
  return isTaken && pull.head === attempt.head && pull.base !== branch;
}

function settleMisplaced(
  draft: QueueDraft,
  entry: QueueEntry,
  { base }: PullSeen,
  seen: QueueObservation,
): QueueDraft {
  const { at, branch } = seen;
  const text = `it was merged into ${base}, not into ${branch}, with which it was tested: its base was changed at that moment`;
  const left = leaveQueue(draft, entry, { reason: 'merged-elsewhere', text }, seen);
  return withComment(left, entry, `The merge queue of \`${branch}\` merged this, but ${text}.`, at);
}

/** Records our merge, and compares its base commit with the tested one. */
function settleMerge(
  draft: QueueDraft,
  entry: QueueEntry,
  attempt: QueueAttempt,
  seen: QueueObservation,
): QueueDraft {
  const { at, branch } = seen;
  const { number } = entry;
  const { parent } = seen.pull?.merged ?? {};
  const text = `merged into ${branch}: ${attempt.head.slice(0, 10)}, tested with ${attempt.base.slice(0, 10)}`;
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
    entry,
    `This was merged by the merge queue, but ${why}. The queue merges nothing more until the checks of \`${branch}\` have passed.`,
    at,
  );
  return {
    ...commented,
    state: { ...commented.state, blocked: { commit: parent, since: at.toISOString() } },
  };
}

/** Counts a refusal, after a look has shown that the forge did not apply an earlier attempt whose response was lost. */
function refuseAttempt(
  draft: QueueDraft,
  entry: QueueEntry,
  { kind, refused }: QueueAttempt,
  { at, branch }: QueueObservation,
): QueueDraft {
  if (refused?.isConflict && kind === 'update')
    return leaveQueue(
      draft,
      entry,
      { reason: 'conflict', text: `it conflicts with ${branch}` },
      { at, branch },
    );
  const refusals = (entry.refusals ?? 0) + 1;
  if (refusals >= maxRefusals) {
    const text = `the forge refused to ${kind} it ${count(refusals, 'time')}: ${refused?.why}`;
    return leaveQueue(draft, entry, { reason: 'refused', text }, { at, branch });
  }
  return withEntry(draft, entry.number, {
    refusals,
    phase: 'updating',
    sinceAt: at.toISOString(),
    ...(entry.phase === 'ready' ? { toldHead: undefined } : {}),
  });
}

/**
 * Returns the recent update or merge of a pull request whose result is not visible yet. It may still be applied,
 * regardless of later changes.
 */
function attemptUnderWay({ attempt }: QueueState, pull: PullSeen, at: Date): QueueAttempt | undefined {
  if (attempt?.number !== pull.number || attempt.head !== pull.head || attempt.refused) return undefined;
  return msSince(attempt.at, at) < shownMs ? attempt : undefined;
}

/**
 * Returns the rules whose pull requests are queued or have pending writes, each once. A write without a rule yields an
 * empty text.
 */
export function rulesOfQueue({ entries, outbox }: QueueState): readonly string[] {
  return [...new Set([...entries, ...outbox].map(({ rule = '' }) => rule))];
}

/** Returns the rules that are paused in the repository of a queue, and why. */
export function findHeldRules(
  rules: readonly string[],
  pauses: readonly Pause[],
  { repositoryId: id, repository: name }: QueueKey & { readonly repository: string },
): readonly HeldRule[] {
  return rules.flatMap((rule) => {
    const pause = findPause(pauses, { repository: { name, id }, rule });
    return pause ? [{ rule, why: pausedWords(pause) }] : [];
  });
}

/**
 * Moves pull requests of paused rules to the end, without a turn, and moves those whose pause has ended back to their
 * place. A pull request with a pending update or merge stays until the result is known.
 */
function holdPaused(draft: QueueDraft): QueueDraft {
  const { held = [], state } = draft;
  const { entries, attempt } = state;
  const isHeld = ({ rule, number }: QueueEntry): boolean => held.includes(rule) && attempt?.number !== number;
  const wereAllHeld = entries.every((entry) => entry.held);
  const stopped = entries
    .filter(isHeld)
    .map((entry, at) => ({ ...waitUnlessFirst(entry, at + 1), held: true as const }));
  const going = entries.filter((entry) => !isHeld(entry));
  const stayed = going.filter((entry) => wereAllHeld || !entry.held).map(withoutHold);
  const returned = going.filter((entry) => !wereAllHeld && entry.held).map(withoutHold);
  return { ...draft, state: { ...state, entries: [...returned.reduce(putBack, stayed), ...stopped] } };
}

function withoutHold({ held: _held, ...entry }: QueueEntry): QueueEntry {
  return entry;
}

/** Inserts an entry before the entries with a later place, but never before the one that has its turn. */
function putBack(entries: readonly QueueEntry[], entry: QueueEntry): readonly QueueEntry[] {
  const { priority } = entry.request;
  const at = entries.findIndex(
    (queued) =>
      queued.turnAt === undefined && (queued.request.priority < priority || standsAfter(queued, entry)),
  );
  return at === -1 ? [...entries, entry] : entries.toSpliced(at, 0, entry);
}
