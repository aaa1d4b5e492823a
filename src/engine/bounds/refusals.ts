import { messageOperation, outgoingMessageOf } from '../../actions/sent-messages.ts';
import type { AnyInput } from '../../contract/operation.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { SendMessage } from '../../platform/http/message-sender.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { Plan, PlannedChange, Proposal, RefusedChange } from '../proposal.ts';
import type { Trigger } from '../record.ts';

/** First stage of changes that end their subject. */
const lastStage = 3;

/** Returns whether a change ends its subject, and therefore depends on all earlier changes of its rule. */
export function isLast({ change }: PlannedChange): boolean {
  return (change.stage ?? 1) >= lastStage;
}

/**
 * Returns the plan without changes that would end their subject although their rule failed, or although another change
 * of their rule was refused or deferred: after the end of the subject, the missing changes could never be made. Called
 * after all other refusals.
 */
export function refuseEarlyEnds(plan: Plan, verdicts: readonly Verdict[]): Plan {
  const failed = new Set(verdicts.filter(({ verdict }) => verdict === 'failed').map(({ rule }) => rule));
  const stopped = new Map<string, string>();
  for (const { planned, until } of plan.refused) {
    if (isLast(planned)) continue;
    const what = until === undefined ? 'was refused' : 'is deferred';
    for (const { rule } of planned.proposals)
      stopped.set(rule.id, `${planned.change.target} of its rule ${what}`);
  }
  const reasonAgainst = ({ rule }: Proposal): string | undefined =>
    failed.has(rule.id) ? 'a step of its rule failed' : stopped.get(rule.id);
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const reasons = isLast(planned) ? planned.proposals.map(reasonAgainst) : [];
    const why =
      reasons.length > 0 && reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
    if (why === undefined) changes.push(planned);
    else refused.push({ planned, why: `it must be applied last, and ${why}` });
  }
  return { changes, refused };
}

/** The function that sends messages, or the reason why no messages can be sent. */
export type MessageDoor = SendMessage | { readonly refusal: string };

/** Returns whether a request is a message to a receiver other than the forge. */
export function isMessage(planned: PlannedChange | undefined): boolean {
  return planned?.change.operation === messageOperation;
}

/** Returns the plan without messages if no messages can be sent. They are refused with the reason. */
export function refuseMessages(plan: Plan, door: MessageDoor | undefined): Plan {
  if (door === undefined || typeof door === 'function') return plan;
  const messages = plan.changes.filter(isMessage);
  const refused = messages.map((planned): RefusedChange => ({ planned, why: door.refusal }));
  return {
    changes: plan.changes.filter((planned) => !isMessage(planned)),
    refused: [...plan.refused, ...refused],
  };
}

/** Sends the message of a change. `revealed` is the change's input with the value of the secret inserted. */
export async function sendMessageOf(
  input: AnyInput,
  revealed: AnyInput,
  send: SendMessage | undefined,
): Promise<void> {
  if (send === undefined) throw new ReeveError('message-refused', 'messages cannot be sent from here');
  const { to, id, type, content } = outgoingMessageOf(input);
  const { to: url } = revealed.body as { readonly to: string };
  await send({ url, secret: to.secret, id, contentType: type, content });
}

/**
 * How to handle a delivery that repeats an earlier one: run it without actions that do not describe a state, or refuse
 * it.
 */
export const repeatedChoices = ['run', 'refuse'] as const;
export type RepeatedChoice = (typeof repeatedChoices)[number];

/**
 * Returns the plan of a repeated delivery without the changes of actions that do not describe a state, because these
 * would be made a second time. All other changes are planned from live state, so a change that has already been made is
 * not repeated.
 */
export function refuseRepeated(plan: Plan, { repeated }: Trigger): Plan {
  if (!repeated) return plan;
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const describesState = planned.proposals.every(({ action }) => action.describesState);
    const why = `${planned.change.action} is not repeated: an earlier delivery had the same content`;
    if (describesState) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}
