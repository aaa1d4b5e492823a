import { type QueueDesk, queueContext } from '../actions/merging/queue-desk.ts';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import type { Consequences } from '../engine/bounds/consequences.ts';
import { ReeveError } from '../errors.ts';
import { breakReferences } from '../patterns/issue-references.ts';
import type { QueueAction, QueueObservation, QueueState, QueueWrite } from './state.ts';

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

/** Sends a status or a comment. One that the forge refuses for good is given up: nothing depends on it. */
export async function sendQueueWrite(write: QueueWrite, sending: QueueSending): Promise<void> {
  try {
    await (write.kind === 'status' ? sendStatus(write, sending) : sendComment(write, sending));
  } catch (error) {
    if (!(error instanceof ReeveError) || error.keepsWork || error.code === 'forge-moved') throw error;
    sending.onRefused(write, error);
  }
}

async function sendStatus(
  { head, state, description }: Extract<QueueWrite, { kind: 'status' }>,
  { client, repository: { owner, name: repo } }: QueueSending,
): Promise<void> {
  const body = { context: queueContext, state, description: description.slice(0, maxDescription) };
  await client.send(operations.createStatus, { params: { owner, repo, sha: head }, body });
}

/** Edits our comment about this queue, or creates it. After a kill, it may be there already. */
async function sendComment(
  { number, text }: Extract<QueueWrite, { kind: 'comment' }>,
  { client, account, base, repository: { owner, name: repo } }: QueueSending,
): Promise<void> {
  const marker = `<!-- reeve:merge-queue/${encodeURIComponent(base)} -->`;
  // Names of checks and words of the forge come from elsewhere.
  const said = breakReferences([{ text: text.replaceAll('@', '@\u200b'), isInserted: true }]);
  const body = { body: `${marker}\n${said}` };
  const params = { owner, repo, index: number };
  for await (const one of client.items(operations.listComments, { params })) {
    const isOurs = one.user?.id === account.id && one.body?.startsWith(marker);
    if (!isOurs) continue;
    if (one.body?.trimEnd() === body.body) return;
    await client.send(operations.editComment, { params: { owner, repo, id: one.id }, body });
    return;
  }
  await client.send(operations.createComment, { params, body });
}

/**
 * Sends an update or a merge. Returns what the forge says; throws if there is no answer, or none that counts: the attempt is in
 * the state, and what became of it is seen at the next look.
 */
export async function sendQueueAttempt(
  action: Extract<QueueAction, { kind: 'update' | 'merge' }>,
  rule: string,
  sending: QueueSending,
): Promise<QueueObservation['answer']> {
  const end = await beginCause(action, rule, sending);
  try {
    await sendAttempt(action, sending);
    return { kind: 'taken' };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.keepsWork) throw error;
    // Where the head has the base already, a forge may say so with the status of a conflict.
    const isConflict =
      error.status === 409 && /conflict/i.test(error.message) && !/up to date/i.test(error.message);
    return { kind: 'refused', why: error.message, isConflict };
  } finally {
    await end?.();
  }
}

async function sendAttempt(
  action: Extract<QueueAction, { kind: 'update' | 'merge' }>,
  { client, repository: { owner, name: repo } }: QueueSending,
): Promise<void> {
  const params = { owner, repo, index: action.attempt.number };
  if (action.kind === 'update') {
    await client.send(operations.updatePull, { params, query: { style: 'merge' } });
    return;
  }
  const { method, title, message } = action.request;
  const body = {
    do: method,
    head_commit_id: action.attempt.head,
    delete_branch_after_merge: false,
    ...(title === undefined ? {} : { merge_title_field: title }),
    ...(message === undefined ? {} : { merge_message_field: message }),
  };
  await client.send(operations.mergePull, { params, body });
}

/** Our merges and updates run the rules that did not cause them, such as those that delete branches. */
async function beginCause(
  { kind, attempt: { number, head } }: Extract<QueueAction, { kind: 'update' | 'merge' }>,
  rule: string,
  { consequences, repository, base }: QueueSending,
): Promise<(() => Promise<void>) | undefined> {
  const causes =
    kind === 'merge'
      ? ({ event: 'merged', number, head, base } as const)
      : ({ event: 'updated', number, head } as const);
  const because = { run: 'merge-queue', change: `queue:#${number}` };
  return consequences?.begin(repository.id, { because, rules: [rule], depth: 1, causes });
}

/** Returns the rule that queued a pull request. */
export function ruleOfEntry(state: QueueState, number: number): string {
  return state.entries.find((entry) => entry.number === number)?.rule ?? '';
}

/** A desk at which nothing is known: a rule that is evaluated with it says what it wants anew. */
export const blankDesk: QueueDesk = {
  find: async () => undefined,
  enter: async () => async () => {},
  forgive: async () => {},
};
