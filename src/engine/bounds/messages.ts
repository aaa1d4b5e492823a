import { messageOperation, outgoingMessageOf } from '../../actions/sent-messages.ts';
import type { AnyInput } from '../../contract/operation.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { SendMessage } from '../../platform/http/message-sender.ts';
import type { Plan, PlannedChange, RefusedChange } from '../proposal.ts';

/** How messages leave: the function that sends them, or why there is none. */
export type MessageDoor = SendMessage | { readonly refusal: string };

/** Returns whether a request is a message to a receiver that is not the forge. */
export function isMessage(planned: Pick<PlannedChange, 'change'> | undefined): boolean {
  return planned?.change.operation === messageOperation;
}

/** Returns the plan without messages where none can be sent: they are refused with the reason. */
export function refuseMessages(plan: Plan, door: MessageDoor | undefined): Plan {
  if (door === undefined || typeof door === 'function') return plan;
  const messages = plan.changes.filter(isMessage);
  const refused = messages.map((planned): RefusedChange => ({ planned, why: door.refusal }));
  return {
    changes: plan.changes.filter((planned) => !isMessage(planned)),
    refused: [...plan.refused, ...refused],
  };
}

/** Sends the message of a change. `revealed` is its input with the value of the secret. */
export async function sendMessageOf(
  input: AnyInput,
  revealed: AnyInput,
  send: SendMessage | undefined,
): Promise<void> {
  if (send === undefined) throw new ReeveError('message-refused', 'no messages are sent from here');
  const { to, id, type, content } = outgoingMessageOf(input);
  const { to: url } = revealed.body as { readonly to: string };
  await send({ url, secret: to.secret, id, contentType: type, content });
}
