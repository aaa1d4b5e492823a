import { leaveQueue, type QueueDraft, withEntry, withEvent } from './draft.ts';
import { placeEntry } from './edits.ts';
import { attemptUnderWay } from './settle-attempt.ts';
import type { LeaveReason, PullSeen, QueueEntry, QueueObservation } from './state.ts';

/** Lets a pull request go that was seen not to belong in the queue any more, whatever its position; notes what has changed. */
export function judgePull(draft: QueueDraft, seen: QueueObservation): QueueDraft {
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
