import type { QueueDesk } from '../../actions/merging/queue-desk.ts';
import type { Client } from '../../client/client.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import type { Consequences } from '../../engine/bounds/consequences.ts';
import { queueContext } from '../../facts/statuses.ts';
import { breakReferences } from '../../patterns/issue-references.ts';
import { ReeveError } from '../../platform/errors.ts';
import { runIdOfAttempt } from './run-id.ts';
import type { QueueAttemptAction, QueueObservation, QueueWrite } from './state.ts';

/** What the writes of a queue are sent with. */
type QueueSending = {
  readonly client: Client;
  readonly account: { readonly id: number };
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
  readonly base: string;
  readonly consequences?: Pick<Consequences, 'begin'> | undefined;
  /** Told of writes that the forge refuses for good. */
  readonly onRefused: (write: QueueWrite, error: ReeveError) => void;
};

/** Longest description that forges keep. */
const maxDescription = 250;

/** A request that a queue sent, for its record. */
export type QueueRequestSent = {
  readonly operation: Operation;
  readonly input: AnyInput;
  /** What was there before, where that is known. */
  readonly before?: unknown;
  /** Why the forge refused it. */
  readonly error?: string | undefined;
};

/**
 * Sends a status or a comment. One that the forge refuses for good is given up: nothing depends on it. Returns what was sent;
 * undefined if it is there already.
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

/** Edits our comment about this queue, or creates it. After a kill, it may be there already. */
async function findCommentRequest(
  { number, text }: Extract<QueueWrite, { kind: 'comment' }>,
  { client, account, base, repository: { owner, name: repo } }: QueueSending,
): Promise<QueueRequestSent | undefined> {
  const marker = `<!-- reeve:merge-queue/${encodeURIComponent(base)} -->`;
  // Names of checks and words of the forge come from elsewhere.
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
 * Sends an update or a merge. Returns what the forge says; throws if there is no answer, or none that counts: the attempt is in
 * the state, and what became of it is seen at the next look.
 */
export async function sendQueueAttempt(
  action: QueueAttemptAction,
  sending: QueueSending,
): Promise<QueueObservation['answer']> {
  const end = await beginCause(action, sending);
  const { operation, input } = attemptRequest(action, sending);
  try {
    await sending.client.send(operation, input);
    return { kind: 'taken' };
  } catch (error) {
    if (!isFinal(error)) throw error;
    // Where the head has the base already, a forge may say so with the status of a conflict.
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
  { repository: { owner, name: repo } }: Pick<QueueSending, 'repository'>,
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

/** Our merges and updates run the rules that did not cause them, such as those that delete branches. */
async function beginCause(
  { kind, attempt }: QueueAttemptAction,
  { consequences, repository, base }: QueueSending,
): Promise<(() => Promise<void>) | undefined> {
  const { number, head, rule = '' } = attempt;
  const causes =
    kind === 'merge'
      ? ({ event: 'merged', number, head, base } as const)
      : ({ event: 'updated', number, head } as const);
  // The run that records this attempt has one change.
  const because = { run: runIdOfAttempt(attempt, { repositoryId: repository.id, base }), change: '1' };
  return consequences?.begin(repository.id, { because, rules: [rule], depth: 1, causes });
}

/** A desk at which nothing is known: a rule that is evaluated with it says what it wants anew. */
export const blankDesk: QueueDesk = {
  find: async () => undefined,
  enter: async () => async () => {},
  forgive: async () => {},
};
