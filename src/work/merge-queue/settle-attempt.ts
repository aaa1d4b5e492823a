import { leaveQueue, msSince, type QueueDraft, withComment, withEntry, withEvent } from './draft.ts';
import type { PullSeen, QueueAttempt, QueueEntry, QueueObservation, QueueState } from './state.ts';

/** Time that the forge has to show what it has taken, or what it may have taken. */
const shownMs = 30_000;
/** Refusals in a row after which a pull request leaves. */
const maxRefusals = 3;

/** Finds out what became of an update or a merge. */
export function settleAttempt(draft: QueueDraft, seen: QueueObservation): QueueDraft {
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
    // Retargeted meanwhile, it was merged by the queue of its new base.
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

/** Whether the forge took our merge and made it into another branch: the pull request was retargeted in that moment. */
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
  const text = `it was merged into ${base}, and not into ${branch}, with which it was tested: its base was changed in that moment`;
  const left = leaveQueue(draft, entry, { reason: 'merged-elsewhere', text }, seen);
  return withComment(left, entry, `The merge queue of \`${branch}\` merged this, but ${text}.`, at);
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

/** A refusal counts once a look has shown that the forge has not taken an earlier one, whose answer was lost. */
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
    const text = `the forge refused to ${kind} it ${refusals} times: ${refused?.why}`;
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
 * Returns the update or merge of a pull request that was sent not long ago and is not to be seen yet: it may still arrive, whatever
 * has changed meanwhile.
 */
export function attemptUnderWay(
  { attempt }: QueueState,
  pull: Pick<PullSeen, 'number' | 'head'>,
  at: Date,
): QueueAttempt | undefined {
  if (attempt?.number !== pull.number || attempt.head !== pull.head || attempt.refused) return undefined;
  return msSince(attempt.at, at) < shownMs ? attempt : undefined;
}
