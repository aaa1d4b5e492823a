import { createHash } from 'node:crypto';
import type { QueueDesk } from '../../actions/queue-desk.ts';
import { mergeQueueKind } from '../../actions/queue-desk.ts';
import type { Client } from '../../client/client.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import type { Consequences } from '../../engine/bounds/consequences.ts';
import type { Outcome, RecordedChange, Run } from '../../engine/record.ts';
import { requestMembers } from '../../engine/record-run.ts';
import { queueContext } from '../../facts/statuses.ts';
import { breakReferences } from '../../patterns/issue-references.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { QueueEvent, QueueKey } from '../../store/queue-rows.ts';
import type { QueueAttempt, QueueAttemptAction, QueueObservation, QueueState, QueueWrite } from './state.ts';

/** Dependencies of the writes of a queue. */
type QueueSending = {
  readonly client: Client;
  readonly account: { readonly id: number };
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
  readonly base: string;
  readonly consequences?: Consequences | undefined;
  /** Called with each write that the forge permanently refuses. */
  readonly onRefused: (write: QueueWrite, error: ReeveError) => void;
};

/** Maximum length of a status description that forges store. */
const maxDescription = 250;

/** A request sent by a queue, for its record. */
type QueueRequestSent = {
  readonly operation: Operation;
  readonly input: AnyInput;
  /** The previous value, if known. */
  readonly before?: unknown;
  /** Error of the forge, if it refused the request. */
  readonly error?: string | undefined;
};

/**
 * Sends a status or a comment. A permanently refused write is dropped, because nothing depends on it. Returns the
 * request that was sent; undefined if the forge already has this status or comment.
 */
export async function sendQueueWrite(
  write: QueueWrite,
  sending: QueueSending,
): Promise<QueueRequestSent | undefined> {
  let request: QueueRequestSent | undefined;
  try {
    request =
      write.kind === 'status' ? statusRequest(write, sending) : await findCommentRequest(write, sending);
    if (request) await sending.client.send(request.operation, request.input);
    return request;
  } catch (error) {
    if (!isFinal(error)) throw error;
    sending.onRefused(write, error);
    return request && { ...request, error: error.message };
  }
}

function isFinal(error: unknown): error is ReeveError {
  return error instanceof ReeveError && !error.keepsWork && error.code !== 'forge-moved';
}

function statusRequest(
  { head, state, description }: Extract<QueueWrite, { kind: 'status' }>,
  { repository: { owner, name: repo } }: QueueSending,
): QueueRequestSent {
  const body = { context: queueContext, state, description: description.slice(0, maxDescription) };
  return { operation: operations.createStatus, input: { params: { owner, repo, sha: head }, body } };
}

/** Edits our comment about this queue, or creates it. After the process was killed, the comment may already exist. */
async function findCommentRequest(
  { number, text }: Extract<QueueWrite, { kind: 'comment' }>,
  { client, account, base, repository: { owner, name: repo } }: QueueSending,
): Promise<QueueRequestSent | undefined> {
  const marker = `<!-- reeve:merge-queue/${encodeURIComponent(base)} -->`;
  // Names of checks and messages of the forge are untrusted.
  const said = breakReferences([{ text: text.replaceAll('@', '@\u200b'), isInserted: true }]);
  const body = { body: `${marker}\n${said}` };
  const params = { owner, repo, index: number };
  for await (const one of client.items(operations.listComments, { params })) {
    const isOurs = one.user?.id === account.id && one.body?.startsWith(marker);
    if (!isOurs) continue;
    if (one.body?.trimEnd() === body.body) return undefined;
    const input = { params: { owner, repo, id: one.id }, body };
    return { operation: operations.editComment, input, before: one.body };
  }
  return { operation: operations.createComment, input: { params, body } };
}

/**
 * Sends an update or a merge. Returns the response of the forge, and throws if there is no valid response. In this
 * case, the next look determines the result, because the attempt is stored in the state.
 */
export async function sendQueueAttempt(
  action: QueueAttemptAction,
  sending: QueueSending,
): Promise<QueueObservation['answer']> {
  const end = await beginCause(action, sending);
  const { operation, input } = attemptRequest(action, sending.repository);
  try {
    await sending.client.send(operation, input);
    return { kind: 'taken' };
  } catch (error) {
    if (!isFinal(error)) throw error;
    // If the head already contains the base, a forge may respond with the HTTP status of a conflict.
    const isConflict =
      error.status === 409 && /conflict/i.test(error.message) && !/up to date/i.test(error.message);
    return { kind: 'refused', why: error.message, isConflict };
  } finally {
    await end?.();
  }
}

/** Returns the request of an update or a merge. */
export function attemptRequest(
  action: QueueAttemptAction,
  { owner, name: repo }: QueueSending['repository'],
): QueueRequestSent {
  const params = { owner, repo, index: action.attempt.number };
  if (action.kind === 'update')
    return { operation: operations.updatePull, input: { params, query: { style: 'merge' } } };
  const { method, title, message } = action.request;
  const body = {
    do: method,
    head_commit_id: action.attempt.head,
    delete_branch_after_merge: false,
    ...(title === undefined ? {} : { merge_title_field: title }),
    ...(message === undefined ? {} : { merge_message_field: message }),
  };
  return { operation: operations.mergePull, input: { params, body } };
}

/**
 * Records the cause of a merge or update. Our merges and updates trigger the rules that did not cause them, such as
 * those that delete branches.
 */
async function beginCause(
  { kind, attempt }: QueueAttemptAction,
  { consequences, repository, base }: QueueSending,
): Promise<(() => Promise<void>) | undefined> {
  const { number, head, rule = '' } = attempt;
  const causes =
    kind === 'merge'
      ? ({ event: 'merged', number, head, base } as const)
      : ({ event: 'updated', number, head } as const);
  // The run that records this attempt contains a single change.
  const because = { run: runIdOfAttempt(attempt, { repositoryId: repository.id, base }), change: '1' };
  return consequences?.begin(repository.id, { because, rules: [rule], depth: 1, causes });
}

/** A desk without entries. A rule that is evaluated with it requests its entry again. */
export const blankDesk: QueueDesk = {
  find: async () => undefined,
  enter: async () => async () => {},
  forgive: async () => {},
};

/** Returns the id of the run that records an update or a merge. */
function runIdOfAttempt({ kind, number, at }: QueueAttempt, place: QueueKey): string {
  return runIdOfRequest(place, `${kind} ${number} ${at}`);
}

/**
 * Returns the id of the run that records a request of a queue. It is a UUID that is deterministic for the same request.
 */
function runIdOfRequest({ repositoryId, base }: QueueKey, request: string): string {
  const hex = createHash('sha256').update(`${repositoryId} ${base} ${request}`).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Parts of the runs that record a queue's writes. There is one run per request, with the rule that queued the pull
 * request, the last values of its conditions, the tested head and base, and the response. The run id is derived from
 * the intended request, so that after a lost response the later result replaces the first record.
 */
export type QueueRunParts = {
  readonly place: QueueKey & { readonly repository: string };
  /** Id of the job of the queue. */
  readonly delivery: string;
  readonly at: Date;
  /** Verdict of the rule in the last evaluation by the queue. */
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

/** Returns the record of an update or a merge. `error`: the error of the forge, or why there is no response. */
export function runOfAttempt(
  { kind, attempt }: QueueAttemptAction,
  {
    isFound,
    isMisplaced,
    ...sent
  }: QueueRequestSent & {
    readonly isFound?: boolean;
    /** Whether the merge was applied to another branch. */
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
  }: {
    readonly target: string;
    readonly before: unknown;
    readonly after: unknown;
    readonly reason: string;
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

/** Returns the event together with the run that records its request. */
export function withRun(event: QueueEvent, { attempt }: QueueState, place: QueueKey): QueueEvent {
  const kind = event.kind === 'merged' ? 'merge' : event.kind === 'updated' ? 'update' : undefined;
  if (attempt === undefined || attempt.kind !== kind || attempt.number !== event.number) return event;
  return { ...event, run: runIdOfAttempt(attempt, place) };
}

/** Returns the unanswered update or merge that, according to these events, was completed. */
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

/** Returns the merge that, according to these events, the forge applied to another branch. */
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
