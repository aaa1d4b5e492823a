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
 * An entry is kept as long as its step was planned within this time, which covers a quarterly schedule. After that, the
 * same content is a new message.
 */
export const sentMessageKeptMs = 100 * 86_400_000;

/** `at` is written again only if it is older than this: a sweep over thousands of items writes nothing each time. */
const touchMs = 86_400_000;

/** The stored last message of one key. */
type SentMessage = {
  /** Digest of its content; null once its condition was false: the same content is then sent again. */
  readonly digest: string | null;
  /** Number of messages of this key so far. */
  readonly number: number;
  /** Time when it was last sent or planned. */
  readonly at: string;
};

/** Returns the digest of a text, short enough for a header. */
export function digestOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/** Returns the identity of a subject, which survives a rename of its repository. */
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
  // Only the functions below write this key.
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

/** Records that a message is still wanted as sent, or, with null, that it no longer is. */
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
  // A message sent in the meantime stays recorded.
  await context.memory.revise(`${sentMessagePrefix}${key}`, (value) =>
    isDeepStrictEqual(value, known) ? touched : value,
  );
}

/**
 * Operation of changes that send a message to a receiver other than the forge. It is not in the contract: the engine
 * sends it with a separate function, never with the client.
 */
export const messageOperation = 'message.send';

/** Body of the input of such a change. */
export type OutgoingMessage = {
  readonly to: SecretForm;
  /** Id of the message, sent as `Idempotency-Key`. */
  readonly id: string;
  readonly type: string;
  readonly content: string;
};

/** Returns the message that a change sends. */
export function outgoingMessageOf({ body }: AnyInput): OutgoingMessage {
  // Boundary to the engine, which knows only inputs: only actions with this operation create them.
  return body as OutgoingMessage;
}
