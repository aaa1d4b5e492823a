import { mergeQueueKind } from '../../actions/merging/queue-desk.ts';
import type { Outcome, RecordedChange, Run } from '../../engine/record.ts';
import { requestMembers } from '../../engine/record-changes.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { QueueEvent, QueueKey } from '../../store/queue-rows.ts';
import { runIdOfAttempt, runIdOfRequest } from './run-id.ts';
import type { QueueRequestSent } from './send.ts';
import type { QueueAttemptAction, QueueState, QueueWrite } from './state.ts';

/**
 * What a queue writes is recorded as runs, one for each request: with the rule that queued the pull request, the values that its
 * conditions saw last, the tested head and base, and the answer. The id follows from what was to be sent: after a lost answer,
 * what is found out later takes the place of the first record.
 */
type QueueRunParts = {
  readonly place: QueueKey & { readonly repository: string };
  /** Id of the job that works on the queue. */
  readonly delivery: string;
  readonly at: Date;
  /** Of the rule, when the queue evaluated it last. */
  readonly verdict: Verdict | undefined;
  readonly requests: number;
  readonly ms: number;
};

/** Returns the record of a status or comment. */
export function runOfWrite(write: QueueWrite, sent: QueueRequestSent, parts: QueueRunParts): Run {
  const { number, rule = '' } = write;
  const after = write.kind === 'status' ? { state: write.state } : (sent.input.body as { body: string }).body;
  const reason = write.kind === 'status' ? write.description : write.text;
  const change = changeOf(sent, {
    target: `${write.kind}:#${number}`,
    rule,
    before: sent.before ?? null,
    after,
    reason,
    verdict: parts.verdict,
  });
  const outcome: Outcome = sent.error
    ? { change: change.id, status: 'failed', error: sent.error }
    : { change: change.id, status: 'applied' };
  return runOfRequest(runIdOfRequest(parts.place, write.id), { number, rule, change, outcome }, parts);
}

/** Returns the record of an update or a merge. `error`: what the forge answered, or why there is no answer. */
export function runOfAttempt(
  { kind, attempt }: QueueAttemptAction,
  {
    isFound,
    isMisplaced,
    ...sent
  }: QueueRequestSent & {
    readonly isFound?: boolean;
    /** It was made, into another branch. */
    readonly isMisplaced?: boolean;
  },
  parts: QueueRunParts,
): Run {
  const { number, head, base, rule = '' } = attempt;
  const short = (commit: string): string => commit.slice(0, 10);
  const branch = parts.place.base;
  const why =
    kind === 'merge'
      ? `it is the first in the merge queue of ${branch}: its checks passed on ${short(head)}, which contains ${short(base)} of ${branch}`
      : `it is the first in the merge queue of ${branch}: its head ${short(head)} lacks ${short(base)} of ${branch}`;
  const change = changeOf(sent, {
    target: `${kind}:#${number}`,
    rule,
    before: { head, base },
    after: { head, base, [kind === 'merge' ? 'merged' : 'updated']: true },
    reason: isFound ? `${why}; there was no answer, and the next look found it done` : why,
    verdict: parts.verdict,
  });
  const outcome: Outcome = sent.error
    ? {
        change: change.id,
        status: 'failed',
        error: sent.error,
        ...(isMisplaced ? { misplaced: true } : {}),
      }
    : { change: change.id, status: 'applied' };
  return runOfRequest(runIdOfAttempt(attempt, parts.place), { number, rule, change, outcome }, parts);
}

function changeOf(
  { operation, input }: QueueRequestSent,
  {
    rule,
    verdict,
    ...about
  }: Pick<RecordedChange, 'target' | 'before' | 'after' | 'reason'> & {
    readonly rule: string;
    readonly verdict: Verdict | undefined;
  },
): RecordedChange {
  return {
    id: '1',
    rules: [rule],
    ...(verdict?.level === undefined ? {} : { level: verdict.level }),
    step: 'merge queue',
    action: 'queue-merge',
    ...requestMembers('queue-merge', { operation: operation.id, input }),
    input,
    value: about.after,
    ...about,
  };
}

function runOfRequest(
  id: string,
  {
    number,
    change,
    outcome,
  }: {
    readonly number: number;
    readonly rule: string;
    readonly change: RecordedChange;
    readonly outcome: Outcome;
  },
  { place, delivery, at, verdict, requests, ms }: QueueRunParts,
): Run {
  const item = `${place.repository}#${number}`;
  return {
    schema: 1,
    id,
    mode: 'enforce',
    trigger: { door: 'cron', kind: mergeQueueKind, activity: '', delivery, item, at: at.toISOString() },
    rules: verdict ? [verdict] : [],
    changes: [change],
    refused: [],
    outcomes: [outcome],
    requests,
    ms,
  };
}

/** Returns the event with the run that records its request. */
export function withRun(event: QueueEvent, { attempt }: QueueState, place: QueueKey): QueueEvent {
  const kind = event.kind === 'merged' ? 'merge' : event.kind === 'updated' ? 'update' : undefined;
  if (attempt === undefined || attempt.kind !== kind || attempt.number !== event.number) return event;
  return { ...event, run: runIdOfAttempt(attempt, place) };
}

/** Returns the update or merge that has no answer and is seen to be done by these events. */
export function findUnanswered(
  events: readonly QueueEvent[],
  { attempt, entries }: QueueState,
): QueueAttemptAction | undefined {
  if (attempt === undefined || attempt.isAnswered || !events.some(({ run }) => run !== undefined))
    return undefined;
  if (attempt.kind === 'update') return { kind: 'update', attempt };
  const request = entries.find(({ number }) => number === attempt.number)?.request;
  return request && { kind: 'merge', attempt, request };
}

/** Returns the merge that the forge took and made into another branch, as these events say. */
export function findMisplaced(
  events: readonly QueueEvent[],
  { attempt, entries }: QueueState,
): { readonly action: QueueAttemptAction; readonly why: string } | undefined {
  if (attempt?.kind !== 'merge' || !attempt.isAnswered) return undefined;
  const event = events.find(
    ({ number, reason }) => number === attempt.number && reason === 'merged-elsewhere',
  );
  const request = entries.find(({ number }) => number === attempt.number)?.request;
  return event && request && { action: { kind: 'merge', attempt, request }, why: event.text };
}
