import { findAction, findInverse } from '../actions/actions.ts';
import { irreversibleReason } from '../actions/inverses.ts';
import type { NamedSecrets } from '../actions/secrets.ts';
import { messageOperation, outgoingMessageOf } from '../actions/sent-messages.ts';
import type { Client } from '../client/client.ts';
import type { ForgeRequest } from '../client/request-log.ts';
import { type AnyInput, fillPath, type Operation } from '../contract/operation.ts';
import { findOperation } from '../contract/operations.ts';
import type { Facts } from '../facts/fact.ts';
import type { Verdict } from '../rules/verdict.ts';
import {
  groupByRequest,
  inputOf,
  isEnforced,
  levelOfChange,
  type Plan,
  type PlannedChange,
} from './proposal.ts';
import type { Outcome, RecordedChange, Run } from './record.ts';
import type { RunInput } from './run-context.ts';

/** What one plan of a run and its application add to the record. */
export type RecordedRound = {
  readonly changes: Run['changes'];
  readonly refused: Run['refused'];
  readonly outcomes: Run['outcomes'];
};

/**
 * Records a plan that was applied. `shown`: its changes as `recordChanges` returned them before anything was written, since the
 * facts that requests are computed from change with the writes.
 */
export function recordRound(
  plan: Plan,
  shown: readonly RecordedChange[],
  { outcomes, sent }: { readonly outcomes: readonly Outcome[]; readonly sent: ReadonlyMap<string, AnyInput> },
): RecordedRound {
  return {
    changes: shown.map((change) => asSent(change, sent.get(change.id))),
    refused: plan.refused.map(({ planned, why, until, account }) => ({
      change: recordChange(planned, planned.change.input),
      why,
      ...(until === undefined ? {} : { until }),
      ...(account === undefined ? {} : { account }),
    })),
    outcomes: plan.changes.map(
      ({ id }): Outcome => outcomes.find(({ change }) => change === id) ?? { change: id, status: 'planned' },
    ),
  };
}

/** Returns the record of a run that is over. `startedMs`: when it began, by its monotonic clock. */
export function recordRun(
  input: RunInput,
  {
    verdicts,
    rounds,
    startedMs,
  }: {
    readonly verdicts: readonly Verdict[];
    readonly rounds: readonly RecordedRound[];
    readonly startedMs: number;
  },
): Run {
  const { id, mode, trigger, client, secrets, clock } = input;
  return {
    schema: 1,
    id,
    mode,
    trigger,
    rules: verdicts,
    changes: rounds.flatMap(({ changes }) => changes),
    refused: rounds.flatMap(({ refused }) => refused),
    outcomes: rounds.flatMap(({ outcomes }) => outcomes),
    requests: client?.requests ?? 0,
    ...recordRequests(client, secrets),
    ms: Math.round(clock.monotonicMs() - startedMs),
  };
}

/** What a record says of the requests of a run, where there is a forge. */
type RequestMembers = {
  readonly forgeRequests?: readonly ForgeRequest[];
  readonly forgeRequestsLeftOut?: number;
};

/** Characters of the forge's message that are kept with a request. */
const maxErrorLength = 200;

/** Returns the requests of a run so far. A forge may repeat in an error what it was sent: no value of a secret is kept. */
export function recordRequests(
  client: Client | undefined,
  secrets: NamedSecrets | undefined,
): RequestMembers {
  if (client === undefined) return {};
  const { requests, leftOut } = client.requestList;
  const redact = (text: string): string => secrets?.redact(text) ?? text;
  return {
    forgeRequests: requests.map(({ path, error, ...request }) => ({
      ...request,
      path: redact(path),
      ...(error === undefined ? {} : { error: redact(error).slice(0, maxErrorLength) }),
    })),
    ...(leftOut === 0 ? {} : { forgeRequestsLeftOut: leftOut }),
  };
}

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
function asSent(change: RecordedChange, input: AnyInput | undefined): RecordedChange {
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

/** One request, as it is planned. */
type PlannedRequest = { readonly operation: string; readonly input: AnyInput };

/** Returns method and path of the request of a change; a message goes to the address that a secret contains. */
function requestLine({ operation: id, input }: PlannedRequest): { method: string; path: string } {
  if (id === messageOperation)
    return { method: 'POST', path: `{secret: ${outgoingMessageOf(input).to.secret}}` };
  const operation = findOperation(id);
  return { method: operation?.method ?? '', path: operation ? pathOf(operation, input) : '' };
}

/** What a record says of a request beside its input: method, path, and why it cannot be reverted, if it never can. */
type RecordedRequest = {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly irreversible?: string;
};

export function requestMembers(action: string, request: PlannedRequest): RecordedRequest {
  const { operation } = request;
  const irreversible = irreversibleReason(findInverse(action, operation));
  return { operation, ...requestLine(request), ...(irreversible === undefined ? {} : { irreversible }) };
}

/** Returns a change as a run records it, with the input of its request. */
function recordChange(planned: PlannedChange, input: AnyInput): RecordedChange {
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
