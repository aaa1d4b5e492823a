import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Subject } from '../contract/events/subject.ts';
import type { AnyInput } from '../contract/operation.ts';
import type { ActionMemory } from './memory.ts';
import type { PlanContext } from './plan-context.ts';
import type { SecretForm } from './secret-form.ts';

/** Prefix of the memory keys of sent messages. Entries have an instant `at`. */
export const sentMessagePrefix = 'message ';

/**
 * Time for which an entry is kept after its step was last planned; long enough for a quarterly schedule. After that,
 * the same content counts as a new message.
 */
export const sentMessageKeptMs = 100 * 86_400_000;

/** `at` is rewritten only if it is older than this, so that repeated sweeps over thousands of items write nothing. */
const touchMs = 86_400_000;

/** The last message sent under a key, as stored. */
type SentMessage = {
  /** Digest of the content; null after the condition was false, so that the same content is sent again. */
  readonly digest: string | null;
  /** Number of messages sent under this key so far. */
  readonly number: number;
  /** Time when the message was last sent or planned. */
  readonly at: string;
};

/** Returns the digest of a text, short enough for a header. */
export function digestOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/** Returns the identity of a subject. It does not change when the repository is renamed. */
export function subjectKey({
  kind,
  repository,
  index,
  ref,
  isTag,
  organization,
  milestone,
  thread,
}: Subject): string {
  const place = repository?.id ?? organization ?? '';
  return JSON.stringify([
    kind,
    place,
    index ?? ref ?? milestone ?? thread ?? null,
    ...(isTag ? ['tag'] : []),
  ]);
}

/** Returns the last message sent under a key. */
export async function recallMessage(memory: ActionMemory, key: string): Promise<SentMessage | undefined> {
  // The cast is safe: only the functions below write this key.
  return (await memory.get(`${sentMessagePrefix}${key}`)) as SentMessage | undefined;
}

/** Records a sent message. */
export async function rememberMessage(
  key: string,
  sent: Pick<SentMessage, 'digest' | 'number'>,
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(`${sentMessagePrefix}${key}`, { ...sent, at: now.toISOString() } satisfies SentMessage);
}

/** Records that the last message is still wanted or, if `digest` is null, that it is no longer wanted. */
export async function touchMessage(
  key: string,
  digest: string | null,
  known: SentMessage | undefined,
  context: PlanContext,
): Promise<void> {
  if (context.dryRun || known === undefined) return;
  const isYoung = context.now.getTime() - Date.parse(known.at) < touchMs;
  if (known.digest === digest && isYoung) return;
  const touched = { digest, number: known.number, at: context.now.toISOString() } satisfies SentMessage;
  // If another run has sent a message in the meantime, the record of that message is kept.
  await context.memory.revise(`${sentMessagePrefix}${key}`, (value) =>
    isDeepStrictEqual(value, known) ? touched : value,
  );
}

/**
 * Operation of changes that send a message to a receiver other than the forge. It is not part of the contract: the
 * engine sends such a message with a separate function, never with the client.
 */
export const messageOperation = 'message.send';

/** Request body of a change with this operation. */
export type OutgoingMessage = {
  readonly to: SecretForm;
  /** Id of the message, sent as `Idempotency-Key`. */
  readonly id: string;
  readonly type: string;
  readonly content: string;
};

/** Returns the message that a change sends. */
export function outgoingMessageOf({ body }: AnyInput): OutgoingMessage {
  // The cast is safe: only actions with this operation create such a body. The engine sees only inputs.
  return body as OutgoingMessage;
}
