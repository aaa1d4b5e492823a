import { createsWhole, findAction, findInverse } from '../actions/actions.ts';
import { type DoneChange, isStill, type Undo } from '../actions/inverses.ts';
import type { ActionMemory } from '../actions/memory.ts';
import type { Client } from '../client/client.ts';
import { type AnyInput, fillPath } from '../contract/operation.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import { withPermissionHint } from './apply.ts';
import { AccountGuard, accountsGivenBack } from './bounds/accounts.ts';
import type { Outcome, RecordedChange, Run, Trigger } from './record.ts';
import { recordedInput, recordRequests } from './record-run.ts';

type RevertRefusal = { readonly change: RecordedChange; readonly why: string; readonly account?: string };

/**
 * Reverts the changes of a run in reverse order, and returns the revert as a run. A change is reverted only if the live
 * state is still the result of the change. Each change is checked and reverted before the next one is checked. In mode
 * `plan`, nothing is written. A failed change does not stop the others.
 */
export async function revertRun(
  done: Run,
  options: {
    readonly id: string;
    readonly trigger: Trigger;
    readonly client: Client;
    readonly mode: 'enforce' | 'plan';
    readonly clock: Clock;
    /** Memory of the accounts that logins belong to; if absent, no logins are remembered. */
    readonly memory?: ActionMemory | undefined;
  },
): Promise<Run> {
  const { id, trigger, client, mode, clock, memory } = options;
  const guard = memory && new AccountGuard({ client, memory, now: new Date(trigger.at), clock });
  const records = mode === 'enforce';
  const startedMs = clock.monotonicMs();
  const changes: RecordedChange[] = [];
  const refused: RevertRefusal[] = [];
  const outcomes: Outcome[] = [];
  const applied = new Map(
    done.outcomes.filter(({ status }) => status === 'applied').map((outcome) => [outcome.change, outcome]),
  );
  const requests = new Set<string>();
  const toTakeBack = done.changes.filter((change) => {
    if (!applied.has(change.id)) return false;
    if (!createsWhole(change.operation)) return true;
    const request = JSON.stringify([change.operation, change.input]);
    const isFirst = !requests.has(request);
    requests.add(request);
    return isFirst;
  });
  const takeBack = async (undo: Undo, of: readonly RecordedChange[]): Promise<void> => {
    const backs = of.map((change) => takenBack(change, undo, done));
    const logins = of.flatMap((change) => accountsGivenBack(change, undo.operation.id, undo.input));
    const stranger = await guard?.refusalOf([...new Set(logins)], { records, params: undo.input.params });
    if (stranger) {
      const { why, login, retry } = stranger;
      refused.push(...backs.map((change) => ({ change, why, ...(retry ? {} : { account: login }) })));
      return;
    }
    changes.push(...backs);
    outcomes.push(...(await send(undo, backs, mode, client)));
  };
  for (const group of byRequest(toTakeBack.toReversed())) {
    const together: { readonly undo: Undo; readonly change: RecordedChange }[] = [];
    for (const change of group) {
      const undo = await undoOf(change, applied.get(change.id)?.made, client);
      if (typeof undo === 'string') refused.push({ change: inverted(change, done), why: undo });
      else if (undo.join) together.push({ undo, change });
      else await takeBack(undo, [change]);
    }
    const [first] = together;
    if (first === undefined) continue;
    const input = first.undo.join?.(together.map(({ undo }) => undo.input)) ?? first.undo.input;
    const of = together.map(({ change }) => change);
    await takeBack({ ...first.undo, input }, of);
  }
  return {
    schema: 1,
    id,
    mode,
    trigger,
    rules: [],
    changes,
    refused,
    outcomes,
    requests: client.requests,
    ...recordRequests(client, undefined),
    ms: Math.round(clock.monotonicMs() - startedMs),
  };
}

/** Groups consecutive changes that were made by one request. */
function byRequest(changes: readonly RecordedChange[]): readonly (readonly RecordedChange[])[] {
  const groups: { readonly key: string; readonly of: RecordedChange[] }[] = [];
  for (const change of changes) {
    const key = JSON.stringify([change.operation, change.input]);
    const last = groups.at(-1);
    if (last?.key === key) last.of.push(change);
    else groups.push({ key, of: [change] });
  }
  return groups.map(({ of }) => of);
}

/** Returns the recorded form of a change that reverts another change. */
function takenBack(change: RecordedChange, undo: Undo, done: Run): RecordedChange {
  const except = undo.except === undefined ? '' : `, except ${undo.except}`;
  const plain = inverted(change, done);
  const { operation, input } = undo;
  return {
    ...plain,
    reason: `${plain.reason}${except}`,
    operation: operation.id,
    method: operation.method,
    path: fillPath(operation, input.params),
    input: recordedInput(change.action, input),
  };
}

/** Returns the request that reverts a change given the live state, or why the change cannot be reverted. */
async function undoOf(change: RecordedChange, made: Outcome['made'], client: Client): Promise<Undo | string> {
  const inverse = findInverse(change.action, change.operation);
  if (inverse === undefined) return `${change.operation} cannot be reverted`;
  const { operation, target, before, after } = change;
  // The cast is safe: the record is plain data from Reeve's own store, which contains the input as it was sent.
  const asked: DoneChange = { operation, input: change.input as AnyInput, target, before, after };
  try {
    const live = await inverse(asked, client);
    const isChanged = !isStill(after, live.value) || (made !== undefined && !isStill(made, live.value));
    if (isChanged) return `changed since: the value is ${JSON.stringify(live.value ?? null)} now`;
    return live.undo();
  } catch (error) {
    return `it cannot be read now: ${messageOf(error)}`;
  }
}

function inverted(change: RecordedChange, done: Run): RecordedChange {
  const { before, after } = change;
  return { ...change, before: after, after: before, value: before, reason: `reverts run ${done.id}` };
}

async function send(
  { operation, input }: Undo,
  changes: readonly RecordedChange[],
  mode: 'enforce' | 'plan',
  client: Client,
): Promise<readonly Outcome[]> {
  if (mode === 'plan') return changes.map(({ id }) => ({ change: id, status: 'planned' }));
  try {
    await client.send(operation, input);
    return changes.map(({ id }) => ({ change: id, status: 'applied' }));
  } catch (error) {
    return changes.map(({ id, action, target }) => {
      const needs = findAction(action)?.needs;
      return { change: id, status: 'failed', error: `${target}: ${withPermissionHint(error, needs)}` };
    });
  }
}
