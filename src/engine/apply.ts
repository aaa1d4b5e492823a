import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';
import { type NamedSecrets, namesSecret } from '../actions/secrets.ts';
import type { Client } from '../client/client.ts';
import type { AnyInput } from '../contract/operation.ts';
import { findOperation, operations } from '../contract/operations.ts';
import type { Facts } from '../facts/fact.ts';
import { type ErrorCode, messageOf, ReeveError } from '../platform/errors.ts';
import type { SendMessage } from '../platform/http/message-sender.ts';
import { type CommenterJudgement, commenterFacts } from '../rules/commenter.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { type ReadPauses, requireUnpaused, WritesPaused } from './bounds/pauses.ts';
import { isLast, isMessage, sendMessageOf } from './bounds/refusals.ts';
import {
  factsOf,
  factsToRefresh,
  groupByRequest,
  inputOf,
  keptFactsOf,
  levelOfChange,
  type PlannedChange,
  type Proposal,
  type RefusedChange,
} from './proposal.ts';
import { createReconsider, mayPlanAgain, type Reconsider, resultOfRefusal } from './reconsider.ts';
import type { Outcome } from './record.ts';
import type { OpenPulls } from './same-commit.ts';
import { assertInScope } from './write-scope.ts';

/** Result of applying the changes of a plan. */
type Applied = {
  readonly outcomes: readonly Outcome[];
  /** The input sent for each change (by change id), if it was computed immediately before the write. */
  readonly sent: ReadonlyMap<string, AnyInput>;
  /** Ids of sent changes that the forge refused, so that they certainly had no effect. */
  readonly withoutEffect: ReadonlySet<string>;
  /** Set if a write failed and a later attempt with a new plan may succeed. */
  readonly retry?: ReeveError | undefined;
  /** Set if the forge reported that the repository was renamed. */
  readonly moved?: true | undefined;
  /** Rules with a change that waits for a state that some forges change without an event. */
  readonly awaiting: ReadonlySet<string>;
  /**
   * The `awaiting` rules whose change the forge refused, although no state that the forge shows explains the refusal.
   */
  readonly resisted: ReadonlySet<string>;
  /** Changes stopped by a pause that began after planning. */
  readonly paused: readonly RefusedChange[];
  /**
   * Protective changes that failed, or that were skipped because an earlier change of their step failed, each with the
   * reason.
   */
  readonly unmade: readonly RefusedChange[];
};

/**
 * Called before a change that causes events is sent. The returned function is called with the response, or without an
 * argument if there is no response.
 */
export type BeginCause = (planned: PlannedChange) => Promise<(answer?: unknown) => Promise<void>>;

export type ApplyOptions = {
  readonly changes: readonly PlannedChange[];
  readonly facts: Facts;
  readonly client: Client;
  /** Named secrets; if absent, any change that names a secret fails. */
  readonly secrets?: NamedSecrets | undefined;
  /** Sends messages to receivers other than the forge; if absent, messages fail. */
  readonly send?: SendMessage | undefined;
  readonly beginCause?: BeginCause | undefined;
  /** Returns the pauses in force; called before each request. If absent, there are no pauses. */
  readonly pauses?: ReadPauses | undefined;
  /**
   * Throws before a request that grants something to a login if the login no longer belongs to the account of its first
   * use. If absent, no logins are remembered.
   */
  readonly checkAccounts?: ((group: readonly PlannedChange[], input: AnyInput) => Promise<void>) | undefined;
  /**
   * Returns whether a rule still obeys the author of the comment of the event; undefined if it asks for no permission.
   * Called before each request. If absent, the run has no event.
   */
  readonly judgeCommenter?:
    | ((rule: LoadedRule, facts: Facts) => Promise<CommenterJudgement | undefined>)
    | undefined;
  /** The open pull requests of the repository; if absent, there are no others. */
  readonly pulls?: OpenPulls | undefined;
  /** Plans changes with `reconsiders` again; by default, their conditions are not evaluated again. */
  readonly reconsider?: Reconsider | undefined;
  /**
   * Called, before later changes are sent, with each protective change that failed and each change that a pause
   * stopped.
   */
  readonly noteUnmade?: ((unmade: RefusedChange) => Promise<void>) | undefined;
};

/** State shared by all requests of a plan that is being applied. */
type Application = ApplyOptions & {
  readonly outcomes: Outcomes;
  readonly awaiting: Set<string>;
  readonly resisted: Set<string>;
  readonly paused: RefusedChange[];
  /** The input sent for each change (by change id). */
  readonly sent: Map<string, AnyInput>;
  readonly withoutEffect: Set<string>;
  /** True once a request has been sent: facts read earlier may then be outdated. */
  hasWritten: boolean;
};

/**
 * A fact read this recently counts as read immediately before the write, unless Reeve has sent a write since. Reading
 * the same labels twice in a row costs a request and adds no safety: another write can also happen between the second
 * read and Reeve's write.
 */
const freshMs = 250;

/**
 * Applies the plan in order. A change that depends on reads is planned again from fresh reads immediately before its
 * write; if this planning fails, nothing is sent. A failed change stops only the later changes of its step.
 */
export async function applyPlan(options: ApplyOptions): Promise<Applied> {
  const outcomes = new Outcomes(options.secrets);
  const application: Application = {
    ...options,
    outcomes,
    sent: new Map(),
    withoutEffect: new Set(),
    awaiting: new Set(),
    resisted: new Set(),
    paused: [],
    hasWritten: false,
  };
  const unmade: RefusedChange[] = [];
  for (const group of groupByRequest(options.changes)) {
    const open: PlannedChange[] = [];
    for (const planned of group) {
      if (outcomes.isInFailedStep(planned))
        outcomes.settle(planned, 'skipped', 'an earlier change of its step failed');
      else if (isLast(planned) && outcomes.isInFailedRule(planned))
        outcomes.settle(planned, 'skipped', 'an earlier change of its rule failed');
      else open.push(planned);
    }
    const from = application.paused.length;
    await applyGroup(open, application);
    const failed = unmadeOf(group, outcomes);
    unmade.push(...failed);
    for (const one of [...failed, ...application.paused.slice(from)]) await options.noteUnmade?.(one);
  }
  return {
    outcomes: outcomes.of(options.changes),
    sent: application.sent,
    withoutEffect: application.withoutEffect,
    retry: outcomes.retry,
    moved: outcomes.isMoved ? true : undefined,
    awaiting: application.awaiting,
    resisted: application.resisted,
    paused: application.paused,
    unmade,
  };
}

/**
 * Returns the protective changes of a group that were not applied because they failed, or because earlier changes of
 * their step failed.
 */
function unmadeOf(group: readonly PlannedChange[], outcomes: Outcomes): readonly RefusedChange[] {
  return group.flatMap((planned) => {
    if (planned.change.protects === undefined) return [];
    const [outcome] = outcomes.of([planned]);
    const isUnmade =
      outcome?.status === 'failed' || (outcome?.status === 'skipped' && outcomes.isInFailedStep(planned));
    return isUnmade ? [{ planned, why: outcome.error ?? 'it failed' }] : [];
  });
}

/** Sends the changes of one request, and records the outcome of each. */
async function applyGroup(group: readonly PlannedChange[], application: Application): Promise<void> {
  const { outcomes } = application;
  try {
    const obeyed = await obeyedOf(group, application);
    const [first] = obeyed;
    if (first === undefined) return;
    const { open, answer, isLimit } = first.change.reconsiders
      ? await writeReconsidered(first, application)
      : await writeConfirmed(obeyed, application);
    for (const planned of open) {
      const missing = unconfirmed(planned, answer);
      if (missing === undefined) await settleShown(planned, answer, application);
      // If the forge is known to drop a value, the later changes of the step are not stopped.
      else if (isLimit) outcomes.settle(planned, 'failed', missing);
      else outcomes.fail(planned, new Error(missing));
    }
  } catch (error) {
    for (const planned of group) {
      if (outcomes.has(planned)) continue;
      if (error instanceof WritesPaused) {
        outcomes.settle(planned, 'skipped', error.message);
        application.paused.push({ planned, why: error.message, isLimited: true });
      } else outcomes.fail(planned, error);
    }
  }
}

/**
 * Returns the changes of a group with the proposals whose rules still obey the author of the comment, and records the
 * outcome of the others. Throws if this cannot be known.
 */
async function obeyedOf(
  group: readonly PlannedChange[],
  { facts, hasWritten, judgeCommenter, outcomes }: Application,
): Promise<readonly PlannedChange[]> {
  if (judgeCommenter === undefined) return group;
  const rules = new Set(group.flatMap(({ proposals }) => proposals.map(({ rule }) => rule)));
  if (![...rules].some(({ permission }) => permission)) return group;
  const now = facts.fresh(commenterFacts, hasWritten ? -1 : freshMs);
  const disobeying = new Set<LoadedRule>();
  for (const rule of rules) {
    const judged = await judgeCommenter(rule, now);
    if (judged?.result === 'error') throw judged.cause;
    if (judged?.result === 'not') disobeying.add(rule);
  }
  return group.flatMap((planned) => {
    const proposals = planned.proposals.filter(({ rule }) => !disobeying.has(rule));
    if (proposals.length > 0) return [{ ...planned, proposals }];
    outcomes.settle(planned, 'skipped', 'the author of the comment no longer has the permission of the rule');
    return [];
  });
}

/** The changes of a request that was sent, with its response. */
type SentRequest = {
  readonly open: readonly PlannedChange[];
  readonly answer: unknown;
  /** True if the response lacks some changes, and the forge is known to drop all of them. */
  readonly isLimit: boolean;
};

const nothingSent: SentRequest = { open: [], answer: undefined, isLimit: false };

/**
 * Plans the group again from fresh reads and sends its request. If the response does not show a change (for example,
 * because a cached label was recreated under its old name), that change is planned once more from live state and sent.
 */
async function writeConfirmed(
  group: readonly PlannedChange[],
  application: Application,
): Promise<SentRequest> {
  const { facts, hasWritten } = application;
  const now = facts.fresh(factsToRefresh(group), hasWritten ? -1 : freshMs);
  const open = await replanGroup(group, now, application);
  if (open.length === 0) return nothingSent;
  let answer: unknown;
  try {
    answer = await sendGroup(open, now, application);
  } catch (error) {
    return await sendAgain(open, error, application);
  }
  const unshown = open.filter((planned) => unconfirmed(planned, answer) !== undefined);
  const isLimit = unshown.length > 0 && (await isKnownLimit(unshown, answer));
  if (unshown.length === 0 || isLimit) return { open, answer, isLimit };
  const again = facts.fresh([...factsToRefresh(group), ...factsOf(group)]);
  const left = await replanGroup(open, again, application);
  return {
    open: left,
    answer: left.length > 0 ? await sendGroup(left, again, application) : answer,
    isLimit: false,
  };
}

/** Status codes that the forge may return if its state differs from the state that the request expects. */
const outdatedStatuses: readonly (number | undefined)[] = [404, 409, 422];

/**
 * Plans a refused request again if the request names the state that it replaces. If the new plan differs, the state has
 * changed in the meantime, and the new request is sent.
 */
async function sendAgain(
  group: readonly PlannedChange[],
  refusal: unknown,
  application: Application,
): Promise<SentRequest> {
  const isPinned = group.some(({ change }) => change.pinned);
  if (!isPinned || !(refusal instanceof ReeveError) || !outdatedStatuses.includes(refusal.status))
    throw refusal;
  const again = application.facts.fresh([...factsToRefresh(group), ...factsOf(group)]);
  const open = await replanGroup(group, again, application);
  const inputs = (changes: readonly PlannedChange[]) =>
    JSON.stringify(changes.map(({ change }) => change.input));
  if (open.length > 0 && inputs(open) === inputs(group)) throw refusal;
  const answer = open.length > 0 ? await sendGroup(open, again, application) : undefined;
  return { open, answer, isLimit: false };
}

/**
 * Maximum number of evaluations of a change. If the head still moves during the last one, the change is left to a later
 * attempt.
 */
const maxJudgements = 4;

/**
 * Evaluates the conditions of a change again, plans the change from an empty fact cache, and sends it. A change that
 * the forge refused is planned again once, because the head may have moved, or another merge may have happened. A
 * change that decides about a commit relies on its first evaluation as long as the head has not moved since. If other
 * pull requests share the commit, the change is evaluated once more after it has been sent, because their state may
 * have changed before that.
 */
async function writeReconsidered(planned: PlannedChange, application: Application): Promise<SentRequest> {
  const { outcomes, awaiting, resisted } = application;
  let refusals = 0;
  let sent: SentRequest | undefined;
  for (let judgements = 0; judgements < maxJudgements; judgements += 1) {
    const found = await reconsiderAll(planned, application, {
      isFirst: judgements === 0,
      isRefused: refusals > 0,
    });
    if ('moved' in found) continue;
    if ('reason' in found) {
      // The change sent in an earlier round remains valid.
      if (sent) return sent;
      outcomes.settle(planned, 'skipped', found.reason);
      return nothingSent;
    }
    const { change, wanted, others, now } = found;
    const open = [{ ...planned, change, proposals: wanted }];
    try {
      sent = { open, answer: await sendGroup(open, now, application), isLimit: false };
    } catch (error) {
      if (!mayPlanAgain(error, wanted)) throw error;
      refusals += 1;
      if (refusals === 1) continue;
      const result = await resultOfRefusal(error, change, wanted);
      if (result !== undefined) {
        outcomes.settle(planned, 'skipped', result);
        return nothingSent;
      }
      // The forge has not checked for conflicts yet, or has only just found a conflict: until its next check, it
      // reports that there is none.
      const isNew = error.status === 409 && wanted.some(({ action }) => action.awaitsChecks);
      if (isNew) for (const { rule } of wanted) resisted.add(rule.id);
      if (isNew || /try again later/i.test(error.message))
        for (const { rule } of wanted) awaiting.add(rule.id);
      throw error;
    }
    const isRivalled =
      wanted.some(({ action }) => action.ofCommit?.isBetter(change)) &&
      (others || (await hasNewRival(change, application)));
    if (!isRivalled) return sent;
  }
  throw new ReeveError(
    'forge-unexpected',
    'the head, or the result of other pull requests with the same head, changed during every evaluation',
  );
}

/** The change that the proposals now want for their target. */
type ReconsideredAll =
  | { readonly moved: true }
  | { readonly reason: string }
  | {
      readonly change: Change;
      readonly wanted: readonly Proposal[];
      readonly others: boolean;
      readonly now: Facts;
    };

async function reconsiderAll(
  planned: PlannedChange,
  { facts, awaiting, hasWritten, reconsider = createReconsider(undefined) }: Application,
  { isFirst, isRefused }: { readonly isFirst: boolean; readonly isRefused: boolean },
): Promise<ReconsideredAll> {
  const { target, reads = [] } = planned.change;
  const anew = facts.anew(keptFactsOf(planned.change, isRefused));
  const wanted: Proposal[] = [];
  let change: Change | undefined;
  let now = anew;
  let others = false;
  let reason = '';
  for (const proposal of planned.proposals) {
    const pin = isFirst ? proposal.pin : undefined;
    const judging = pin ? facts.fresh(reads, hasWritten ? -1 : freshMs) : anew;
    const found = await reconsider(proposal, target, judging, pin);
    if ('moved' in found) return found;
    if ('why' in found) {
      reason ||= found.why;
      if (found.polls) awaiting.add(proposal.rule.id);
    } else if (change === undefined || JSON.stringify(found.change.value) === JSON.stringify(change.value)) {
      if (change === undefined) now = judging;
      change ??= found.change;
      others ||= found.others === true;
      wanted.push(proposal);
    }
  }
  return change === undefined ? { reason } : { change, wanted, others, now };
}

/** Returns whether a pull request with the same head was opened while the change was being sent. */
async function hasNewRival({ input }: Change, { facts, pulls }: Application): Promise<boolean> {
  const { kind, index } = facts.subject;
  if (pulls === undefined || kind !== 'pull_request') return false;
  const open = await pulls.list(true);
  return open.some((pull) => pull.number !== index && pull.head?.sha === input.params?.sha);
}

/**
 * Records the outcome of a change that the response shows. For an operation whose response does not show the result, a
 * new read decides.
 */
async function settleShown(
  planned: PlannedChange,
  answer: unknown,
  { outcomes, facts, client }: Application,
): Promise<void> {
  const { verify, reads } = planned.change;
  const isMissing = verify && (await replan(planned, facts.fresh(reads ?? []))) !== undefined;
  if (isMissing) {
    outcomes.fail(planned, new Error('the forge accepted the request, but the change is missing'));
    return;
  }
  const [proposal] = planned.proposals;
  const wrong = await proposal?.action.misplaced?.(planned.change, facts.fresh(reads ?? []));
  if (wrong !== undefined) {
    await remark(wrong, planned, client);
    outcomes.failMisplaced(planned, wrong);
    return;
  }
  await proposal?.action.remember?.(planned.change, answer, proposal.context);
  outcomes.settleApplied(planned, proposal?.action.made?.(planned.change, answer));
}

/**
 * Posts a comment about a change that failed in a way that users must know about. The record contains the failure in
 * any case.
 */
async function remark(text: string, { change }: PlannedChange, client: Client): Promise<void> {
  const { owner, repo, index } = change.input.params ?? {};
  const params = { owner: String(owner), repo: String(repo), index: Number(index) };
  const body = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  await client.call(operations.createComment, { params, body: { body } }).catch(() => {});
}

/**
 * Returns whether the forge is known to drop all of these changes. Every action is given the response, so that it can
 * store the actual result.
 */
async function isKnownLimit(unshown: readonly PlannedChange[], answer: unknown): Promise<boolean> {
  let isKnown = true;
  for (const { change, proposals } of unshown) {
    const [proposal] = proposals;
    if (!(await proposal?.action.learn?.(change, answer, proposal.context))) isKnown = false;
  }
  return isKnown;
}

/**
 * Plans the changes again from fresh reads and returns those that are still needed; records the outcome of the others.
 */
async function replanGroup(
  group: readonly PlannedChange[],
  now: Facts,
  { outcomes }: Application,
): Promise<readonly PlannedChange[]> {
  const open: PlannedChange[] = [];
  for (const planned of group) {
    if (planned.change.reads === undefined) {
      open.push(planned);
      continue;
    }
    const again = await replan(planned, now);
    if (again === undefined || again.already)
      outcomes.settle(planned, 'skipped', 'already in the desired state');
    else if (again.waits) outcomes.settle(planned, 'skipped', again.waits.why);
    else open.push({ ...planned, change: again });
  }
  return open;
}

/** Returns the change planned from these facts; undefined if it is no longer needed. */
async function replan(planned: PlannedChange, now: Facts): Promise<Change | undefined> {
  for (const proposal of planned.proposals) {
    const changes = await proposal.action.plan(proposal.arguments, now, proposal.context);
    const same = changes.find(
      ({ target, value }) =>
        target === planned.change.target && JSON.stringify(value) === JSON.stringify(planned.change.value),
    );
    if (same && !same.already) return same;
  }
  return undefined;
}

/** Returns why the response does not show the change; undefined if it does. */
function unconfirmed(planned: PlannedChange, answer: unknown): string | undefined {
  return planned.proposals[0]?.action.confirm?.(planned.change, answer);
}

/** Outcomes of the changes of one plan. Values of secrets are removed from all error messages. */
class Outcomes {
  readonly #outcomes = new Map<string, Outcome>();
  readonly #failedSteps = new Set<Proposal>();
  readonly #failedRules = new Set<string>();
  readonly #secrets: NamedSecrets | undefined;
  /** The first error after which a later attempt with a new plan may succeed. */
  retry: ReeveError | undefined;
  /** Whether the forge reported that the repository was renamed. */
  isMoved = false;

  constructor(secrets: NamedSecrets | undefined) {
    this.#secrets = secrets;
  }

  /** Records the outcome of a change. */
  settle({ id, proposals }: PlannedChange, status: Outcome['status'], error?: string): void {
    if (status === 'failed') for (const { rule } of proposals) this.#failedRules.add(rule.id);
    this.#outcomes.set(id, {
      change: id,
      status,
      ...(error === undefined ? {} : { error: this.#redact(error) }),
    });
  }

  /** Records that a change was applied, with the result from the response. */
  settleApplied({ id }: PlannedChange, made: Outcome['made']): void {
    this.#outcomes.set(id, { change: id, status: 'applied', ...(made === undefined ? {} : { made }) });
  }

  /** Records that a change was applied, but not where it was planned. */
  failMisplaced(planned: PlannedChange, why: string): void {
    this.settle(planned, 'failed', `${planned.change.target}: ${why}`);
    for (const proposal of planned.proposals) this.#failedSteps.add(proposal);
    const outcome = this.#outcomes.get(planned.id);
    if (outcome) this.#outcomes.set(planned.id, { ...outcome, misplaced: true });
  }

  /** Records that a change failed. The later changes of its steps are then skipped. */
  fail(planned: PlannedChange, error: unknown): void {
    const needs = planned.proposals[0]?.action.needs;
    const { target, forbidden } = planned.change;
    this.settle(planned, 'failed', `${target}: ${withPermissionHint(error, needs, forbidden)}`);
    for (const proposal of planned.proposals) this.#failedSteps.add(proposal);
    if (!(error instanceof ReeveError)) return;
    if (error.code === 'forge-moved') this.isMoved = true;
    if (!error.keepsWork) return;
    const { code, retryAfterMs, status } = error;
    this.retry ??= new ReeveError(code, this.#redact(error.message), { retryAfterMs, status });
  }

  /** Returns whether all steps that propose the change have already failed. */
  isInFailedStep({ proposals }: PlannedChange): boolean {
    return proposals.every((proposal) => this.#failedSteps.has(proposal));
  }

  /** Returns whether an earlier change of every rule that proposes the change has failed. */
  isInFailedRule({ proposals }: PlannedChange): boolean {
    return proposals.every(({ rule }) => this.#failedRules.has(rule.id));
  }

  has({ id }: PlannedChange): boolean {
    return this.#outcomes.has(id);
  }

  /** Returns the outcomes of these changes, in order. */
  of(changes: readonly PlannedChange[]): readonly Outcome[] {
    return changes.flatMap(({ id }) => this.#outcomes.get(id) ?? []);
  }

  #redact(text: string): string {
    return this.#secrets?.redact(text) ?? text;
  }
}

/** Sends the request of a group of changes and returns the response. All writes of plans go through this function. */
async function sendGroup(
  group: readonly PlannedChange[],
  now: Facts,
  application: Application,
): Promise<unknown> {
  const { facts, client, secrets, sent } = application;
  const input = await inputOf(group, now);
  for (const planned of group) await assertInScope(planned, input, facts);
  const [first] = group;
  const operation = findOperation(first?.change.operation ?? '');
  if (operation === undefined && !isMessage(first))
    throw new ReeveError('internal', `no operation "${first?.change.operation}"`);
  await application.checkAccounts?.(group, input);
  await requireUnpaused(group, facts.subject, application.pauses);
  for (const planned of group) sent.set(planned.id, input);
  const request = reveal(group, input, secrets);
  if (operation === undefined) return sendMessageOf(input, request, application.send);
  application.hasWritten = true;
  const withdraw = await intend(group);
  const end = first?.change.causes && (await application.beginCause?.(first));
  let answer: unknown;
  try {
    answer = await client.send(operation, request);
  } catch (error) {
    if (hadNoEffect(error)) {
      for (const planned of group) application.withoutEffect.add(planned.id);
      await withdraw();
    }
    throw error;
  } finally {
    await end?.(answer);
  }
  facts.forget(group.flatMap((planned) => planned.change.forgets ?? []));
  return answer;
}

/**
 * Stores the intended writes, for actions whose result cannot be read back. Returns a function that removes these
 * records again.
 */
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

/**
 * Returns whether the forge refused a request without executing it. After a timeout or a server error, the request may
 * have been executed.
 */
function hadNoEffect(error: unknown): boolean {
  if (!(error instanceof ReeveError)) return false;
  const { code, status = 0 } = error;
  return code === 'forge-moved' || (status >= 400 && status < 500 && status !== 408);
}

/** Reveals secrets in a request. This is the only place that does so, and only for rules of the operator. */
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

/** Hints for refused writes whose message does not explain the cause. */
const hints: Partial<Record<ErrorCode, string>> = {
  'forge-not-found':
    'the object does not exist, or the account cannot see it: check the name in the rule and the account’s access',
  'forge-conflict':
    'something else changed it in the meantime: the next event or sweep plans the change again',
  'forge-refused': 'the forge does not accept these values: compare them with the action’s reference page',
  'forge-moved': 'the repository was renamed: missing changes are planned again under the new name',
};

/**
 * Returns the error text of a write: the forge's status and message, and a hint. `forbidden`: why the status may be 403
 * despite sufficient access.
 */
export function withPermissionHint(
  error: unknown,
  needs: Action['needs'] | undefined,
  forbidden?: string,
): string {
  const message = messageOf(error);
  if (!(error instanceof ReeveError)) return message;
  if (error.status === 403 && needs) {
    const scopes = needs.scopes.map((scope) => `write:${scope}`).join(', ');
    const words = `${message}; it needs ${needs.access} access and a token with ${scopes}`;
    return forbidden === undefined ? words : `${words}, and ${forbidden}`;
  }
  // An error without a status is Reeve's own refusal, which already contains the reason.
  const more = error.status === undefined && error.code !== 'forge-moved' ? undefined : hints[error.code];
  return more === undefined ? message : `${message}; ${more}`;
}
