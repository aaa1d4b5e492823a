import { type NamedSecrets, namesSecret } from '../actions/secrets.ts';
import type { Client } from '../client/client.ts';
import type { AnyInput } from '../contract/operation.ts';
import { findOperation } from '../contract/operations.ts';
import type { Facts } from '../facts/fact.ts';
import { ReeveError } from '../platform/errors.ts';
import type { SendMessage } from '../platform/http/message-sender.ts';
import { isMessage, sendMessageOf } from './bounds/messages.ts';
import { type ReadPauses, requireUnpaused } from './bounds/pauses.ts';
import { levelOfChange, type PlannedChange } from './proposal.ts';
import { inputOf } from './requests.ts';
import { assertInScope } from './write-scope.ts';

/** What the requests of a plan share. */
export type GroupSending = {
  readonly facts: Facts;
  readonly client: Client;
  /** Absent: a change that names a secret fails. */
  readonly secrets?: NamedSecrets | undefined;
  /** Sends messages to receivers that are not the forge; absent: they fail. */
  readonly send?: SendMessage | undefined;
  /** Called before a change that causes events is sent; the returned function is called with its answer, or without one. */
  readonly beginCause?:
    | ((planned: PlannedChange) => Promise<(answer?: unknown) => Promise<void>>)
    | undefined;
  /** Returns the pauses in force, asked before each request; absent: there are none. */
  readonly pauses?: ReadPauses | undefined;
  /** Throws before a request that gives something to a login which another account has than at first use; absent: nothing is remembered. */
  readonly checkAccounts?: ((group: readonly PlannedChange[], input: AnyInput) => Promise<void>) | undefined;
  /** Change → what was really sent. */
  readonly sent: Map<string, AnyInput>;
  /** True once a request was sent: facts that were read before may be outdated. */
  hasWritten: boolean;
};

/** Sends the request of a group of changes, and returns its answer. The one place from which plans write. */
export async function sendGroup(
  group: readonly PlannedChange[],
  now: Facts,
  sending: GroupSending,
): Promise<unknown> {
  const { facts, client, secrets, sent } = sending;
  const input = await inputOf(group, now);
  for (const planned of group) await assertInScope(planned, input, facts);
  const [first] = group;
  const operation = findOperation(first?.change.operation ?? '');
  if (operation === undefined && !isMessage(first))
    throw new ReeveError('internal', `no operation "${first?.change.operation}"`);
  await sending.checkAccounts?.(group, input);
  await requireUnpaused(group, facts.subject, sending.pauses);
  for (const planned of group) sent.set(planned.id, input);
  const request = reveal(group, input, secrets);
  if (operation === undefined) return sendMessageOf(input, request, sending.send);
  sending.hasWritten = true;
  const withdraw = await intend(group);
  const end = first?.change.causes && (await sending.beginCause?.(first));
  let answer: unknown;
  try {
    answer = await client.send(operation, request);
  } catch (error) {
    if (hadNoEffect(error)) await withdraw();
    throw error;
  } finally {
    await end?.(answer);
  }
  facts.forget(group.flatMap((planned) => planned.change.forgets ?? []));
  return answer;
}

/** Stores what is about to be sent, for actions whose result cannot be read back. Returns what takes that back. */
async function intend(group: readonly PlannedChange[]): Promise<() => Promise<void>> {
  const stored: (() => Promise<void>)[] = [];
  for (const { change, proposals } of group) {
    const [proposal] = proposals;
    const withdraw = await proposal?.action.intend?.(change, proposal.context);
    if (withdraw) stored.push(withdraw);
  }
  return async () => {
    for (const withdraw of stored) await withdraw();
  };
}

/** Says whether the forge has refused a request. After a timeout or an error of the server, it may have been executed. */
function hadNoEffect(error: unknown): boolean {
  if (!(error instanceof ReeveError)) return false;
  const { code, status = 0 } = error;
  return code === 'forge-moved' || (status >= 400 && status < 500 && status !== 408);
}

/** The choke point of secrets: their values go into requests that the operator's own rules ask for, nowhere else. */
function reveal(
  group: readonly PlannedChange[],
  input: AnyInput,
  secrets: NamedSecrets | undefined,
): AnyInput {
  if (!namesSecret(input.body)) return input;
  if (secrets === undefined || group.some((planned) => levelOfChange(planned) !== 'operator')) {
    throw new ReeveError('forge-forbidden', 'only rules of the operator may name secrets');
  }
  return secrets.reveal(input);
}
