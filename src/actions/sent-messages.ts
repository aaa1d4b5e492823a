import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Subject } from '../contract/events/subject.ts';
import type { AnyInput } from '../contract/operation.ts';
import type { ActionMemory } from './memory.ts';
import type { PlanContext } from './plan-context.ts';
import type { SecretForm } from './secret-form.ts';

/** The beginning of the keys under which the memory keeps what was sent. Entries have an instant `at`. */
export const sentMessagePrefix = 'message ';

/**
 * An entry is kept as long as its step was planned within this time, so that a schedule of a quarter remembers. After that, the
 * same content is a new message.
 */
export const sentMessageKeptMs = 100 * 86_400_000;

/** `at` is written again only if it is older than this: a sweep over thousands of items writes nothing each time. */
const touchMs = 86_400_000;

/** The last message of one key, as the memory keeps it. */
type SentMessage = {
  /** Digest of its content; null once its condition was false: the same content is then sent again. */
  readonly digest: string | null;
  /** How many messages this key has had. */
  readonly number: number;
  /** Last time that it was sent or planned again. */
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

/** Returns what was sent last under a key. */
export async function recallMessage(memory: ActionMemory, key: string): Promise<SentMessage | undefined> {
  // The value in the memory was written by the functions below.
  return (await memory.get(`${sentMessagePrefix}${key}`)) as SentMessage | undefined;
}

/** Notes a message that was sent. */
export async function rememberMessage(
  key: string,
  sent: Pick<SentMessage, 'digest' | 'number'>,
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(`${sentMessagePrefix}${key}`, { ...sent, at: now.toISOString() } satisfies SentMessage);
}

/** Notes that a message is still wanted as it was sent, or, with null, that it no longer is. */
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
  // A message that was sent meanwhile stays noted.
  await context.memory.revise(`${sentMessagePrefix}${key}`, (value) =>
    isDeepStrictEqual(value, known) ? touched : value,
  );
}

/**
 * Operation of changes that send a message to a receiver that is not the forge. It has no row in the contract: the engine sends
 * it with a function of its own, never with the client.
 */
export const messageOperation = 'message.send';

/** Body of the input of such a change. */
export type OutgoingMessage = {
  readonly to: SecretForm;
  /** Identifies the message: sent as `Idempotency-Key`. */
  readonly id: string;
  readonly type: string;
  readonly content: string;
};

/** Returns the message that a change sends. */
export function outgoingMessageOf({ body }: AnyInput): OutgoingMessage {
  // The border to the engine, which knows only inputs: an action that uses this operation wrote it.
  return body as OutgoingMessage;
}
