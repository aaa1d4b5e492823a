import type { Change } from '../../actions/change.ts';
import type { ActionMemory } from '../../actions/memory.ts';
import { toLowerCase } from '../../actions/names.ts';
import type { Client } from '../../client/client.ts';
import type { AnyInput } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { absentAsUndefined } from '../../facts/where.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import {
  isEnforcing,
  type Plan,
  type PlannedChange,
  type Proposal,
  type RefusedChange,
} from '../proposal.ts';
import type { RecordedChange } from '../record.ts';
import type { RunInput } from '../run-context.ts';

/**
 * Forges grant permissions by login, and a stranger can register a login that has become free. When Reeve first grants
 * something to a login, it stores the id of the account that has the login. If the login later belongs to another
 * account, that account gets nothing until an operator confirms it. Requests to the forge do not accept ids, so a login
 * is looked up again immediately before each request.
 */

/** A remembered login. Never deleted, because a rule may name a login for years without a change. */
export type KnownAccount = {
  readonly id: number;
  /** RFC 3339 time of the first use or of the confirmation. */
  readonly at: string;
  /** Another account that had the login when a rule last named it; the id is 0 if no account had it. */
  readonly other?: { readonly id: number; readonly at: string };
};

/** Returns the memory key of a login. The key ignores case, because logins are unique regardless of case. */
export function accountKey(login: string): string {
  return `account ${toLowerCase(login)}`;
}

/**
 * Request fields that name accounts, by operation id. Fields that take something away from an account are not included.
 */
const namingMembers: Readonly<
  Record<string, { readonly in: 'params' | 'body'; readonly names: readonly string[] }>
> = (() => {
  const inBody = (...names: string[]) => ({ in: 'body', names }) as const;
  const inPath = (...names: string[]) => ({ in: 'params', names }) as const;
  const allowed = inBody(
    'push_whitelist_usernames',
    'force_push_allowlist_usernames',
    'merge_whitelist_usernames',
    'bypass_allowlist_usernames',
    'approvals_whitelist_username',
  );
  const assigned = inBody('assignee', 'assignees');
  return {
    [operations.putCollaborator.id]: inPath('collaborator'),
    [operations.putTeamMember.id]: inPath('username'),
    [operations.createBranchProtection.id]: allowed,
    [operations.editBranchProtection.id]: allowed,
    [operations.createTagProtection.id]: inBody('whitelist_usernames'),
    [operations.editTagProtection.id]: inBody('whitelist_usernames'),
    [operations.requestReviews.id]: inBody('reviewers'),
    [operations.createPull.id]: inBody('reviewers', 'assignee', 'assignees'),
    [operations.editPull.id]: assigned,
    [operations.createIssue.id]: assigned,
    [operations.editIssue.id]: assigned,
  };
})();

/** Returns the logins that receive permissions or assignments through a request. */
export function accountsIn(operation: string, input: AnyInput): readonly string[] {
  const row = namingMembers[operation];
  if (row === undefined) return [];
  const given: unknown = row.in === 'params' ? input.params : input.body;
  if (typeof given !== 'object' || given === null) return [];
  return textsIn(row.names.map((name) => Reflect.get(given, name)));
}

/** Fields that name accounts, in request bodies and in a branch protection returned by the forge. */
const namingNames = [
  ...new Set(Object.values(namingMembers).flatMap((row) => (row.in === 'body' ? row.names : []))),
];

/** Prefix of the target for an assignee; the login follows. */
const assigneePrefix = 'assignee:';

/** Returns the logins that lose something through a change, because a revert would grant it again. */
function takenFrom({ operation, input: { params = {} }, target, before }: Change): readonly string[] {
  if (operation === operations.deleteCollaborator.id) return [String(params.collaborator)];
  if (operation === operations.deleteTeamMember.id) return [String(params.username)];
  if (target.startsWith(assigneePrefix)) return before === true ? [target.slice(assigneePrefix.length)] : [];
  if (typeof before !== 'object' || before === null) return [];
  if (Array.isArray(before)) return namingMembers[operation]?.in === 'body' ? textsIn([before]) : [];
  // The lists in a deleted branch protection.
  return textsIn(namingNames.map((name) => Reflect.get(before, name)));
}

function textsIn(values: readonly unknown[]): readonly string[] {
  const texts = values.flat().filter((one): one is string => typeof one === 'string' && one !== '');
  return [...new Set(texts)];
}

/**
 * Returns the logins that receive something through the request of a revert. For an assignee, the request also repeats
 * all other assignees; these are not included.
 */
export function accountsGivenBack(
  { target, before }: RecordedChange,
  operation: string,
  input: AnyInput,
): readonly string[] {
  if (!target.startsWith(assigneePrefix)) return accountsIn(operation, input);
  return before === true ? [target.slice(assigneePrefix.length)] : [];
}

/**
 * Returns the logins that receive something through changes sent as one request. Values that the request only repeats,
 * such as other assignees, are left out.
 */
function accountsOf(changes: readonly Change[], input: AnyInput): readonly string[] {
  const declared = changes.flatMap(({ accounts }) => (accounts === undefined ? [] : [accounts]));
  return declared.length > 0 ? declared.flat() : accountsIn(changes[0]?.operation ?? '', input);
}

/** Reason why a login is refused. */
export type AccountRefusal = {
  readonly login: string;
  readonly why: string;
  /** Set if the forge did not respond and may do so later. */
  readonly retry?: ReeveError;
};

/** Repository of the grant. A forge shows hidden accounts to administrators and readers of a repository. */
type AccountPlace = { readonly owner: string; readonly repo: string };

type AccountUse = {
  /** Whether to remember a login that is used for the first time. */
  readonly records: boolean;
  /** The path parameters of the request. */
  readonly params: AnyInput['params'];
};

/** Lifetime of a cached account lookup: long enough for planning and the first request after it. */
const freshMs = 1_000;

/** Logins known to be stored, per memory; entries never expire. */
const remembered = new WeakMap<ActionMemory, Set<string>>();

/** Checks that the logins used by one run still belong to the accounts of their first use. */
export class AccountGuard {
  readonly #client: Client;
  readonly #memory: ActionMemory;
  readonly #clock: Clock;
  /** Time of the run, RFC 3339. */
  readonly #at: string;
  readonly #answers = new Map<string, { readonly id: Promise<number | undefined>; readonly atMs: number }>();
  readonly #known: Set<string>;

  constructor(options: {
    readonly client: Client;
    readonly memory: ActionMemory;
    readonly now: Date;
    readonly clock: Clock;
  }) {
    this.#client = options.client;
    this.#memory = options.memory;
    this.#clock = options.clock;
    this.#at = options.now.toISOString();
    this.#known = remembered.get(options.memory) ?? new Set();
    remembered.set(options.memory, this.#known);
  }

  /** Returns the refusal of the first refused login; undefined if none is refused. */
  async refusalOf(logins: readonly string[], use: AccountUse): Promise<AccountRefusal | undefined> {
    const refusals = await Promise.all(logins.map((login) => this.#refusalOfOne(login, use)));
    return refusals.find((refusal) => refusal !== undefined);
  }

  /** Stores logins that are not granted anything now; logins that are already known are not looked up. */
  async note(logins: readonly string[], params: AccountUse['params']): Promise<void> {
    const unknown = logins.filter((login) => !this.#known.has(accountKey(login)));
    await Promise.all(unknown.map((login) => this.#noteOne(login, params)));
  }

  async #noteOne(login: string, params: AccountUse['params']): Promise<void> {
    const key = accountKey(login);
    if ((await this.#memory.get(key)) === undefined) {
      // An error is ignored, because nothing is granted now, and a later grant looks up the login again.
      const id = await this.#idOf(login, params).catch(unlessStopped);
      if (id === undefined) return;
      await this.#memory.revise(key, (value) => value ?? { id, at: this.#at });
    }
    this.#known.add(key);
  }

  async #refusalOfOne(login: string, use: AccountUse): Promise<AccountRefusal | undefined> {
    const key = accountKey(login);
    const at = this.#at;
    const before = (await this.#memory.get(key)) as KnownAccount | undefined;
    if (before === undefined && !use.records) return undefined;
    let id: number | undefined;
    try {
      id = await this.#idOf(login, use.params);
    } catch (error) {
      return unaskedRefusal(login, error);
    }
    // Refused, because a later request could grant something to this login after another account has taken it.
    if (before === undefined && id === undefined) return { login, why: unseenWords(login) };
    const edit = (value: unknown): KnownAccount => {
      const account = value as KnownAccount | undefined;
      if (account === undefined) return { id: id ?? 0, at };
      const isSame = account.id === id ? account.other === undefined : account.other?.id === (id ?? 0);
      if (isSame) return account;
      const { other: _other, ...itself } = account;
      return account.id === id ? itself : { ...itself, other: { id: id ?? 0, at } };
    };
    const account = (use.records ? await this.#memory.revise(key, edit) : before) as KnownAccount;
    this.#known.add(key);
    return account.id === id ? undefined : { login, why: wordsOf(login, account, id) };
  }

  #idOf(login: string, params: AccountUse['params']): Promise<number | undefined> {
    const place = placeOf(params);
    const key = `${login} ${place?.owner}/${place?.repo}`;
    const answer = this.#answers.get(key);
    if (answer && this.#clock.monotonicMs() - answer.atMs < freshMs) return answer.id;
    const id = findAccount(this.#client, login, place);
    this.#answers.set(key, { id, atMs: this.#clock.monotonicMs() });
    return id;
  }
}

function placeOf(params: AccountUse['params']): AccountPlace | undefined {
  const { owner, repo } = params ?? {};
  return typeof owner === 'string' && typeof repo === 'string' ? { owner, repo } : undefined;
}

/**
 * Returns the id of the account that currently has a login. For a former login, a forge redirects to the account under
 * its new name, which does not match. Hidden accounts are still visible in their repositories: to administrators, and
 * in the list of possible assignees.
 */
async function findAccount(
  client: Client,
  login: string,
  place: AccountPlace | undefined,
): Promise<number | undefined> {
  const lower = toLowerCase(login);
  const user = await absentAsUndefined(client.call(operations.getUser, { params: { username: login } }));
  if (user !== undefined) return toLowerCase(user.login) === lower ? user.id : undefined;
  if (place === undefined) return undefined;
  try {
    const { user: hidden } = await client.call(operations.getPermission, {
      params: { ...place, collaborator: login },
    });
    return hidden && toLowerCase(hidden.login) === lower ? hidden.id : undefined;
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    if (error.code === 'forge-not-found') return undefined;
    if (error.code !== 'forge-forbidden') throw error;
  }
  const assignees = await client.call(operations.listAssignees, { params: place });
  return assignees.find((one) => toLowerCase(one.login) === lower)?.id;
}

/** Ignores an error of an account lookup, unless the process is stopping. */
function unlessStopped(error: unknown): undefined {
  if (error instanceof ReeveError && error.code === 'stopped') throw error;
  return undefined;
}

/**
 * Refuses a login that cannot be looked up (for example, because it is invalid in a request) without stopping the other
 * rules of the run.
 */
function unaskedRefusal(login: string, error: unknown): AccountRefusal {
  unlessStopped(error);
  const why = `nothing is granted to "${login}", because its account cannot be looked up: ${messageOf(error)}`;
  return { login, why, ...(error instanceof ReeveError && error.keepsWork ? { retry: error } : {}) };
}

function unseenWords(login: string): string {
  return `no account that Reeve can see has the name "${login}": nothing is granted to this name, because a later change of its account could not be detected; correct the name, or let the account of Reeve see that account`;
}

function wordsOf(login: string, { id, at }: KnownAccount, now: number | undefined): string {
  const is =
    now === undefined ? 'now belongs to no account that Reeve can see' : `now belongs to account ${now}`;
  return `"${login}" ${is}, but belonged to account ${id} on ${at.slice(0, 10)}, when it was first used or confirmed: nothing is granted to it; if the change is intended, confirm it with reeve adopt ${login}`;
}

/**
 * Returns the refusal of each change that must not be made because of an account that it names. Nothing is stored for
 * rules in `observe` mode.
 */
export async function findStrangers(
  proposals: readonly Proposal[],
  input: RunInput,
): Promise<ReadonlyMap<Change, AccountRefusal>> {
  const strangers = new Map<Change, AccountRefusal>();
  const guard = guardOf(input);
  if (guard === undefined) return strangers;
  const examine = async (change: Change, records: boolean): Promise<void> => {
    const logins = accountsOf([change], change.input);
    const { params } = change.input;
    if (records) await guard.note([...takenFrom(change), ...(change.already ? logins : [])], params);
    if (change.already) return;
    const refusal = await guard.refusalOf(logins, { records, params });
    if (refusal) strangers.set(change, refusal);
  };
  await Promise.all(
    proposals.flatMap((proposal) => {
      const records = input.mode === 'enforce' && isEnforcing(proposal);
      return proposal.changes.map((change) => examine(change, records));
    }),
  );
  return strangers;
}

const guards = new WeakMap<RunInput, AccountGuard>();

/**
 * Returns the account guard of a run; undefined without a persistent memory, because there is then nothing to compare a
 * login with.
 */
function guardOf(input: RunInput): AccountGuard | undefined {
  const { client, memory } = input;
  if (client === undefined || memory === undefined) return undefined;
  const guard = guards.get(input) ?? new AccountGuard({ ...input, client, memory });
  guards.set(input, guard);
  return guard;
}

/**
 * Returns a function that throws before a request that names a stranger, because another account may have taken the
 * login since planning.
 */
export function createAccountCheck(
  input: RunInput,
): ((group: readonly PlannedChange[], request: AnyInput) => Promise<void>) | undefined {
  const guard = guardOf(input);
  return (
    guard &&
    (async (group, request) => {
      const use = { records: true, params: request.params };
      const logins = accountsOf(
        group.map(({ change }) => change),
        request,
      );
      const refusal = await guard.refusalOf(logins, use);
      if (refusal) throw refusal.retry ?? new ReeveError('forge-refused', refusal.why);
    })
  );
}

/** Returns the plan without the changes that would grant something to a stranger. */
export function refuseStrangers(plan: Plan, strangers: ReadonlyMap<Change, AccountRefusal>): Plan {
  if (strangers.size === 0) return plan;
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const refusal = strangers.get(planned.change);
    if (refusal === undefined) changes.push(planned);
    else {
      const account = refusal.retry ? {} : { account: refusal.login };
      refused.push({ planned, why: refusal.why, isHeld: true, ...account });
    }
  }
  return { changes, refused };
}

/** Returns an error that allows a retry, if a later lookup of one of these logins may succeed. */
export function retryOf(strangers: ReadonlyMap<Change, AccountRefusal>): ReeveError | undefined {
  return [...strangers.values()].find(({ retry }) => retry)?.retry;
}

/** Stores the accounts that an operator confirms by id, and replaces any ids stored for their logins. */
export async function confirmAccounts(
  memory: ActionMemory,
  accounts: Readonly<Record<string, number>>,
  now: Date,
): Promise<void> {
  for (const [login, id] of Object.entries(accounts)) {
    await memory.revise(accountKey(login), (value) => {
      const account = value as KnownAccount | undefined;
      return account?.id === id && account.other === undefined ? account : { id, at: now.toISOString() };
    });
  }
}
