import type { AnyInput } from '../contract/operation.ts';
import type { SecretForm } from './secret-form.ts';

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
