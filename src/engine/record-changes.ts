import { findAction, findInverse } from '../actions/actions.ts';
import { irreversibleReason } from '../actions/inverses/inverse.ts';
import { messageOperation, outgoingMessageOf } from '../actions/sent-messages.ts';
import { type AnyInput, fillPath, type Operation } from '../contract/operation.ts';
import { findOperation } from '../contract/operations.ts';
import type { Facts } from '../facts/fact.ts';
import { isEnforced, levelOfChange, type PlannedChange } from './proposal.ts';
import type { RecordedChange } from './record.ts';
import { groupByRequest, inputOf } from './requests.ts';

/** Returns changes as a run records them: each with the request that is sent for it, alone or together with others. */
export async function recordChanges(
  changes: readonly PlannedChange[],
  facts: Facts,
): Promise<readonly RecordedChange[]> {
  const recorded = new Map<string, RecordedChange>();
  // What is only observed leaves with nothing: a plan must not show it in a request that is made without it.
  const [sent, observed] = [true, false].map((is) => changes.filter((one) => isEnforced(one) === is));
  for (const group of [...groupByRequest(sent ?? []), ...groupByRequest(observed ?? [])]) {
    // Where it cannot be computed, the changes fail when they are sent, and no others.
    const input = await inputOf(group, facts).catch(() => group[0]?.change.input ?? {});
    for (const planned of group) recorded.set(planned.id, recordChange(planned, input));
  }
  return changes.flatMap(({ id }) => recorded.get(id) ?? []);
}

/** What was computed immediately before the write decides, where there was one: a hook that is tried has its number only then. */
export function asSent(change: RecordedChange, input: AnyInput | undefined): RecordedChange {
  const operation = findOperation(change.operation);
  if (input === undefined || operation === undefined) return change;
  return { ...change, input: recordedInput(change.action, input), path: pathOf(operation, input) };
}

/** Returns the input of a request as a run records it. */
export function recordedInput(action: string, input: AnyInput): AnyInput {
  return findAction(action)?.recorded?.(input) ?? input;
}

/** A change whose path cannot be filled is refused; it is shown as the row has it. */
function pathOf(operation: Operation, { params }: AnyInput): string {
  try {
    return fillPath(operation, params);
  } catch {
    return operation.path;
  }
}

/** Returns method and path of the request of a change; a message goes to the address that a secret contains. */
function requestLine({ operation: id, input }: Pick<PlannedChange['change'], 'operation' | 'input'>): {
  method: string;
  path: string;
} {
  if (id === messageOperation)
    return { method: 'POST', path: `{secret: ${outgoingMessageOf(input).to.secret}}` };
  const operation = findOperation(id);
  return { method: operation?.method ?? '', path: operation ? pathOf(operation, input) : '' };
}

/** Returns what a record says of a request beside its input: method, path, and why it cannot be reverted, if it never can. */
export function requestMembers(
  action: string,
  request: Pick<PlannedChange['change'], 'operation' | 'input'>,
): Pick<RecordedChange, 'operation' | 'method' | 'path' | 'irreversible'> {
  const { operation } = request;
  return { operation, ...requestLine(request), ...irreversibleMember(action, operation) };
}

function irreversibleMember(action: string, operation: string): Pick<RecordedChange, 'irreversible'> {
  const irreversible = irreversibleReason(findInverse(action, operation));
  return irreversible === undefined ? {} : { irreversible };
}

/** Returns a change as a run records it, with the input of its request. */
export function recordChange(planned: PlannedChange, input: AnyInput): RecordedChange {
  const { id, change, proposals, watchers = [] } = planned;
  return {
    id,
    rules: [...new Set([...proposals, ...watchers].map((proposal) => proposal.rule.id))],
    level: levelOfChange(planned),
    step: proposals[0]?.step ?? '',
    action: change.action,
    ...requestMembers(change.action, change),
    input: recordedInput(change.action, input),
    target: change.target,
    value: change.value,
    before: change.before,
    after: change.after,
    reason: change.reason,
    ...(change.protects === undefined ? {} : { protects: change.protects }),
    ...(isEnforced(planned) ? {} : { observed: true }),
  };
}
