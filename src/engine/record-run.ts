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

/** The part of a run's record that results from one plan and its application. */
export type RecordedRound = {
  readonly changes: Run['changes'];
  readonly refused: Run['refused'];
  readonly outcomes: Run['outcomes'];
};

/**
 * Records an applied plan. `shown` contains the plan's changes, as returned by `recordChanges` before any write,
 * because the writes change the facts from which requests are computed.
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

/** Returns the record of a completed run. `startedMs` is the start of the run on the monotonic clock. */
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

/** Fields of a record that list the requests sent to a forge. */
type RequestMembers = {
  readonly forgeRequests?: readonly ForgeRequest[];
  readonly forgeRequestsLeftOut?: number;
};

/** Maximum stored length of the forge's error message for a request. */
const maxErrorLength = 200;

/**
 * Returns the requests that a run has sent so far. Values of secrets are removed, because an error message of the forge
 * may repeat the input.
 */
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

/**
 * Returns changes in their recorded form, each with the request that is sent for it, either alone or together with
 * other changes.
 */
export async function recordChanges(
  changes: readonly PlannedChange[],
  facts: Facts,
): Promise<readonly RecordedChange[]> {
  const recorded = new Map<string, RecordedChange>();
  // Observed changes are grouped separately, because they are never sent: a plan must not show them as part of a
  // request that is sent without them.
  const [sent, observed] = [true, false].map((is) => changes.filter((one) => isEnforced(one) === is));
  for (const group of [...groupByRequest(sent ?? []), ...groupByRequest(observed ?? [])]) {
    // If the input cannot be computed, only these changes fail when they are sent.
    const input = await inputOf(group, facts).catch(() => group[0]?.change.input ?? {});
    for (const planned of group) recorded.set(planned.id, recordChange(planned, input));
  }
  return changes.flatMap(({ id }) => recorded.get(id) ?? []);
}

/**
 * Returns a change with the input that was computed immediately before the write, if any. For example, the id of a hook
 * to test is not known earlier.
 */
function asSent(change: RecordedChange, input: AnyInput | undefined): RecordedChange {
  const operation = findOperation(change.operation);
  if (input === undefined || operation === undefined) return change;
  return { ...change, input: recordedInput(change.action, input), path: pathOf(operation, input) };
}

/** Returns the input of a request in its recorded form. */
export function recordedInput(action: string, input: AnyInput): AnyInput {
  return findAction(action)?.recorded?.(input) ?? input;
}

/**
 * Returns the path of a request. If a parameter of the path is invalid, returns the path's template; such a change is
 * refused.
 */
function pathOf(operation: Operation, { params }: AnyInput): string {
  try {
    return fillPath(operation, params);
  } catch {
    return operation.path;
  }
}

/** One planned request. */
type PlannedRequest = { readonly operation: string; readonly input: AnyInput };

/**
 * Returns the method and path of a change's request. For a message, the path is the name of the secret that contains
 * the receiver's URL.
 */
function requestLine({ operation: id, input }: PlannedRequest): { method: string; path: string } {
  if (id === messageOperation)
    return { method: 'POST', path: `{secret: ${outgoingMessageOf(input).to.secret}}` };
  const operation = findOperation(id);
  return { method: operation?.method ?? '', path: operation ? pathOf(operation, input) : '' };
}

/** Fields recorded for a request besides its input: method, path, and why it is irreversible, if it is. */
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

/** Returns a change in its recorded form, with the input of its request. */
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
