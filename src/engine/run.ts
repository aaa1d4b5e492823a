import { noteDueProtections } from '../actions/merging.ts';
import { type Capabilities, unsupportedReason } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import type { Facts } from '../facts/fact.ts';
import { ReeveError } from '../platform/errors.ts';
import { judgeCommenter } from '../rules/commenter.ts';
import { applyPlan, type BeginCause } from './apply.ts';
import { createAccountCheck, findStrangers, refuseStrangers, retryOf } from './bounds/accounts.ts';
import { readDefaultBranch } from './bounds/grants.ts';
import { pauseDeferral, refusePaused } from './bounds/pauses.ts';
import { isLast, refuseEarlyEnds, refuseMessages, refuseRepeated } from './bounds/refusals.ts';
import { type Deferral, joinDeferrals } from './budget/deferral.ts';
import { type LedgerPlace, reserve } from './budget/reserve.ts';
import type { WriteHistory } from './budget/write-history.ts';
import { type Evaluated, evaluateRules, selectRules } from './evaluate-rules.ts';
import { limitDeferral } from './limits.ts';
import { makePlan, refuseUnfounded } from './plan.ts';
import {
  isEnforced,
  keptFactsOf,
  type Plan,
  type PlannedChange,
  type Proposal,
  type RefusedChange,
} from './proposal.ts';
import { createReconsider } from './reconsider.ts';
import type { Run } from './record.ts';
import { type RecordedRound, recordChanges, recordRound, recordRun } from './record-run.ts';
import { isSent, isWriting, type RunInput } from './run-context.ts';
import { refuseOutOfScope } from './write-scope.ts';

/** Result of a run, including whether a later attempt may do more, and why. */
export type Ran = {
  readonly run: Run;
  /** The facts of the run. */
  readonly facts: Facts;
  /** What the steps of the rules proposed in the first round, including changes that are not needed. Absent: nothing. */
  readonly proposals?: readonly Proposal[];
  /** Number of requests to which the forge responded with 403 or 404. */
  readonly denials: number;
  readonly retry?: ReeveError | undefined;
  /** Set if the repository was renamed: the remaining changes can be made immediately under the new name. */
  readonly moved?: true | undefined;
  /**
   * Set if the same trigger must run again: a limit or a pause stopped changes, or a repository is not protected yet.
   */
  readonly deferral?: Deferral | undefined;
  /**
   * Rules to evaluate again soon, because they wait for a state that some forges change without an event. Absent: none.
   */
  readonly awaiting?: readonly string[];
  /**
   * The `awaiting` rules whose change the forge refused, although no state that the forge shows explains the refusal.
   * The forge may show such a state soon, or never. Absent: none.
   */
  readonly resisted?: readonly string[];
  /** Rules that failed to protect their subject; they are evaluated again until they succeed. Absent: none. */
  readonly unprotected?: readonly string[];
};

/** Results of the rounds of a run so far. */
type Progress = {
  readonly rounds: RecordedRound[];
  readonly deferrals: Deferral[];
  readonly awaiting: Set<string>;
  readonly resisted: Set<string>;
  /**
   * Protective changes that failed, and changes that grant something to a login that has not been confirmed. `limited`
   * contains changes that a limit or a pause stopped.
   */
  readonly unmade: RefusedChange[];
  readonly limited: RefusedChange[];
  retry?: ReeveError | undefined;
  moved?: true | undefined;
};

/**
 * Evaluates the rules for an event or an item of a sweep, and makes their changes: select → evaluate → plan → reserve →
 * apply → record. The rules for an item must all have an `each` of the item's kind; a rule whose `in` excludes the item
 * is skipped. A second round makes the follow-up changes of steps whose changes were sent.
 */
export async function runRules(input: RunInput): Promise<Ran> {
  const startedMs = input.clock.monotonicMs();
  const evaluated = await evaluateRules(selectRules(input), input);
  const done: Progress = {
    rounds: [],
    deferrals: [],
    awaiting: new Set(evaluated.awaiting),
    resisted: new Set(),
    unmade: [],
    limited: [],
    retry: evaluated.retry,
  };
  const made = await runRound(evaluated.proposals, done, { input, evaluated });
  const next = await planFollowUps(made, input);
  done.retry ??= next.retry;
  if (next.proposals.length > 0) await runRound(next.proposals, done, { input, evaluated });

  const failed = unprotectedBy(done.unmade, input, evaluated);
  await noteProtections(evaluated, new Map([...failed, ...dueBy(done.limited)]), input);
  const { retry, moved, awaiting, resisted } = done;
  // If this run is retried, the retry also repairs the failed protections.
  const unprotected = retry === undefined && isWriting(input) ? [...failed.keys()] : [];
  return {
    run: recordRun(input, { verdicts: evaluated.verdicts, rounds: done.rounds, startedMs }),
    facts: input.facts,
    proposals: evaluated.proposals,
    denials: input.client?.denials ?? 0,
    retry,
    moved,
    deferral: joinDeferrals([...done.deferrals, ...present([protectionDeferral(unprotected, input)])]),
    ...(awaiting.size === 0 ? {} : { awaiting: [...awaiting] }),
    ...(resisted.size === 0 ? {} : { resisted: [...resisted] }),
    ...(unprotected.length === 0 ? {} : { unprotected }),
  };
}

/**
 * Makes one plan from proposals, within all limits, and applies it. Returns the changes of the plan, and which of them
 * were sent.
 */
async function runRound(
  proposals: readonly Proposal[],
  done: Progress,
  { input, evaluated }: { readonly input: RunInput; readonly evaluated: Evaluated },
): Promise<MadeChanges> {
  const { facts } = input;
  const { subject } = facts;
  const rules = (): readonly string[] => input.rules.rules.map(({ id }) => id);
  const from = done.rounds.length === 0 ? 0 : countOf(evaluated.proposals);
  const isToBeSent = (planned: PlannedChange): boolean => isSent(planned, input);
  const defaultBranch = await readDefaultBranch(candidatesOf(proposals), facts);
  const pauses = (await input.pauses?.()) ?? [];
  const strangers = await findStrangers(proposals, input);
  const planOn = (past: WriteHistory | undefined) => {
    const repeatsFrom = isRepeatable(input) ? input.now : undefined;
    const limits = { budgets: input.budgets, past, rules, repeatsFrom };
    const wanted = makePlan(proposals, limits, from);
    const permitted = refuseOutOfScope(refuseRepeated(wanted, input.trigger), subject, defaultBranch);
    const unpaused = refusePaused(refuseStrangers(permitted, strangers), pauses, {
      subject,
      isSent: isToBeSent,
    });
    const limited = limitDeferral(
      wanted.refused.filter(({ planned }) => isToBeSent(planned)),
      limits,
    );
    return { ...unpaused, deferral: joinDeferrals(present([limited, unpaused.deferral])) };
  };
  // 1. Plan, and reserve room in the hourly budgets in the same step.
  const reserved = await reserve(planOn, ledgerPlaceOf(proposals, input), input);
  // 2. Refuse changes that this forge does not support, and record the plan before anything is written.
  const { plan, shown, release } = await prepare(reserved.made.plan, input, evaluated).catch(
    async (error) => {
      // Nothing was sent, so the reservations are released: a retry would otherwise find its own changes in the budgets.
      await reserved.release(new Set());
      throw error;
    },
  );
  const held = plan.refused.filter(({ isHeld }) => isHeld === true);
  const limited = plan.refused.filter(({ isLimited }) => isLimited === true);
  // A merge in this run checks for pending protections immediately before it is sent.
  await addDue(new Map([...unprotectedBy(held, input, evaluated), ...dueBy(limited)]), input);
  // 3. Apply the plan. Without a forge, the run ends after planning.
  const applied = input.client && (await applyChanges(plan, input.client, input));
  const outcomes = applied?.outcomes ?? [];
  await release(
    plan.changes.filter(({ id }) => applied?.sent.has(id) !== true || applied.withoutEffect.has(id)),
  );
  await reserved.release(
    new Set(outcomes.filter(({ status }) => status === 'applied').map(({ change }) => change)),
  );
  // 4. Record the result.
  const sent = applied?.sent ?? new Map();
  done.rounds.push(recordRound(plan, shown, { outcomes, sent }));
  done.deferrals.push(
    ...present([reserved.deferral, reserved.made.deferral, pauseDeferral(applied?.paused ?? [])]),
  );
  for (const { planned } of plan.refused)
    if (planned.change.waits?.polls) for (const { rule } of planned.proposals) done.awaiting.add(rule.id);
  for (const rule of applied?.awaiting ?? []) done.awaiting.add(rule);
  for (const rule of applied?.resisted ?? []) done.resisted.add(rule);
  done.unmade.push(...(applied?.unmade ?? []), ...held);
  done.limited.push(...limited, ...(applied?.paused ?? []));
  done.retry ??= applied?.retry ?? (isWriting(input) ? retryOf(strangers) : undefined);
  done.moved ??= applied?.moved;
  return { all: plan.changes, sent: plan.changes.filter(({ id }) => sent.has(id)) };
}

/** The changes of a plan, and those of them that were sent. */
type MadeChanges = { readonly all: readonly PlannedChange[]; readonly sent: readonly PlannedChange[] };

/** Records the protective changes that were not made. Their subject is not merged until they are made. */
async function noteProtections(
  { verdicts, retry }: Evaluated,
  due: ReadonlyMap<string, string>,
  input: RunInput,
): Promise<void> {
  const { memory, rules, facts, now, event, announcedBy } = input;
  if (memory === undefined || !isWriting(input)) return;
  const evaluated = new Set(
    verdicts.flatMap(({ rule, verdict }) => (verdict === 'matched' || verdict === 'unmatched' ? [rule] : [])),
  );
  // The rules of the run are looked up by id, because a pass over all rules in force, which may be a thousand, takes
  // noticeable time.
  const isConcerned = [...evaluated].some((id) =>
    rules.find(id)?.steps.some(({ action }) => action.protects || action.awaitsChecks),
  );
  if (!isConcerned && due.size === 0) return;
  // A run for a delivery knows all rules in force, so a rule that is missing here no longer exists.
  const isWhole = event !== undefined && announcedBy === undefined;
  // If the whole run must be repeated, nothing was written.
  const isSettled = (rule: string): boolean =>
    retry === undefined && (evaluated.has(rule) || (isWhole && rules.find(rule) === undefined));
  await noteDueProtections(memory, facts.subject, { due, isSettled, now });
}

/**
 * Returns the rules that failed to protect their subject, with the reason: the rule as a whole failed, or these changes
 * of the rule were not made. Subjects that are branches are left out, because nothing is merged for a branch, and a
 * deleted branch could never be evaluated again.
 */
function unprotectedBy(
  unmade: readonly RefusedChange[],
  { rules, facts }: RunInput,
  evaluated?: Evaluated,
): ReadonlyMap<string, string> {
  const { kind } = facts.subject;
  if (kind !== 'pull_request' && kind !== 'repository') return new Map();
  const failed = (evaluated?.verdicts ?? []).flatMap(({ rule: id, verdict, reason }) => {
    const rule = verdict === 'failed' ? rules.find(id) : undefined;
    const isProtecting = rule?.mode === 'enforce' && rule.steps.some(({ action }) => action.protects);
    return isProtecting ? [[id, reason ?? 'it failed'] as const] : [];
  });
  return new Map([...failed, ...dueBy(unmade)]);
}

/** Returns the rules that want the protective changes among these, with the reason why the changes were not made. */
function dueBy(stopped: readonly RefusedChange[]): ReadonlyMap<string, string> {
  const due = new Map<string, string>();
  for (const { planned, why } of stopped) {
    if (planned.change.protects === undefined || !isEnforced(planned)) continue;
    for (const { rule } of planned.proposals) due.set(rule.id, why);
  }
  return due;
}

/** Adds pending protective changes of the subject; the entries of other rules stay unchanged. */
async function addDue(due: ReadonlyMap<string, string>, input: RunInput): Promise<void> {
  const { memory, facts, now } = input;
  if (memory === undefined || due.size === 0 || !isWriting(input)) return;
  await noteDueProtections(memory, facts.subject, { due, isSettled: () => false, now });
}

/**
 * Delay before a run is repeated because its rules failed to protect a repository. For a pull request, the rules are
 * stored as waiting instead.
 */
const unprotectedMs = 600_000;

function protectionDeferral(unprotected: readonly string[], input: RunInput): Deferral | undefined {
  const [rule] = unprotected;
  if (rule === undefined || input.facts.subject.kind !== 'repository' || !isRepeatable(input))
    return undefined;
  return { afterMs: unprotectedMs, why: `a protective change of ${rule} has not been applied yet` };
}

function countOf(proposals: readonly Proposal[]): number {
  return proposals.reduce((count, { changes }) => count + changes.length, 0);
}

/** Plans the follow-up changes of steps whose changes were sent, from an empty fact cache. */
async function planFollowUps(
  { all, sent }: MadeChanges,
  { facts }: RunInput,
): Promise<{ readonly proposals: readonly Proposal[]; readonly retry?: ReeveError | undefined }> {
  const proposals: Proposal[] = [];
  const now = facts.anew(all.flatMap(({ change }) => keptFactsOf(change, true)));
  for (const proposal of new Set(sent.flatMap((planned) => planned.proposals))) {
    const { action, context, arguments: given } = proposal;
    try {
      const changes = (await action.followUp?.(given, now, context, proposal.changes)) ?? [];
      if (changes.some(({ already }) => !already)) proposals.push({ ...proposal, changes });
    } catch (error) {
      if (error instanceof ReeveError && error.keepsWork) return { proposals, retry: error };
      // The changes already sent are recorded anyway; the next event or sweep plans the rest.
    }
  }
  return { proposals };
}

function present<T>(values: readonly (T | undefined)[]): readonly T[] {
  return values.filter((value) => value !== undefined);
}

/**
 * Returns whether stopped changes can be planned again when the limit ends. With a ledger, deferred runs are repeated.
 * An item of a sweep is processed again in the next slot of the schedule instead, because repeating the sweep would
 * process all of its items again.
 */
function isRepeatable(input: RunInput): boolean {
  return input.ledger !== undefined && input.trigger.kind !== 'schedule' && isWriting(input);
}

/**
 * Returns the ledger, and the place in it for the writes of the proposals; undefined if there is nothing to write, or
 * no ledger.
 */
function ledgerPlaceOf(proposals: readonly Proposal[], { ledger, facts }: RunInput): LedgerPlace | undefined {
  const hasWork = proposals.some(({ changes }) => changes.some(({ already }) => !already));
  // The place is the id of the repository or, for other subjects, the kind and the organization.
  const { kind, repository, organization } = facts.subject;
  return hasWork && ledger ? { ledger, place: repository?.id ?? `${kind} ${organization ?? ''}` } : undefined;
}

/** Returns the changes of proposals in the form of planned changes, before a plan exists. */
function candidatesOf(proposals: readonly Proposal[]): readonly PlannedChange[] {
  return proposals.flatMap((proposal) =>
    proposal.changes.map((change) => ({ id: '', change, proposals: [proposal] })),
  );
}

/** Refuses changes that this forge does not support, and records the plan before anything is written. */
async function prepare(planned: Plan, input: RunInput, evaluated: Evaluated) {
  const { messages, capabilities, facts } = input;
  const supported = await refuseUnsupported(refuseMessages(planned, messages), capabilities);
  const { plan: once, release } = await refuseOneTime(supported, input);
  try {
    const plan = refuseUnfounded(refuseEarlyEnds(once, evaluated.verdicts));
    const shown = await recordChanges(plan.changes, facts);
    await evaluated.claimCommands();
    return { plan, shown, release };
  } catch (error) {
    await release(once.changes);
    throw error;
  }
}

/** A plan, and the function that takes back the record of its one-time changes that had no effect. */
type GuardedPlan = {
  readonly plan: Plan;
  readonly release: (unmade: readonly PlannedChange[]) => Promise<void>;
};

/**
 * Returns the plan without the one-time changes that the guard refuses. A change is one-time if its action does not
 * describe a state, unless it ends its subject, which can happen only once. The refusals that depend on other refusals
 * follow.
 */
async function refuseOneTime(plan: Plan, input: RunInput): Promise<GuardedPlan> {
  const oneTime = plan.changes.filter(
    (planned) => !isLast(planned) && planned.proposals.some(({ action }) => !action.describesState),
  );
  if (input.oneTime === undefined || oneTime.length === 0) return { plan, release: async () => {} };
  const { reasons, release } = await input.oneTime(oneTime, input);
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const why = reasons.get(planned);
    if (why === undefined) changes.push(planned);
    else refused.push({ planned, why });
  }
  return {
    plan: { changes, refused },
    release: async (unmade) => release?.(unmade.filter((planned) => oneTime.includes(planned))),
  };
}

function applyChanges({ changes }: Plan, client: Client, input: RunInput) {
  const { facts, secrets, messages } = input;
  return applyPlan({
    changes: changes.filter((planned) => isSent(planned, input)),
    facts,
    client,
    secrets,
    send: typeof messages === 'function' ? messages : undefined,
    pulls: input.pulls,
    reconsider: createReconsider(input),
    beginCause: createBeginCause(input),
    pauses: input.pauses,
    checkAccounts: createAccountCheck(input),
    judgeCommenter: (rule, now) => judgeCommenter(rule, { event: input.event, facts: now }),
    noteUnmade: (unmade) => addDue(unprotectedBy([unmade], input), input),
  });
}

/** Returns the function that stores a change that causes events, together with the rules that led to it. */
function createBeginCause({ id, consequences, cause, facts }: RunInput): BeginCause | undefined {
  const { repository } = facts.subject;
  if (consequences === undefined || repository === undefined) return undefined;
  return async ({ id: change, change: { causes }, proposals }) => {
    if (causes === undefined) return async () => {};
    const rules = new Set([...(cause?.rules ?? []), ...proposals.map(({ rule }) => rule.id)]);
    const because = { run: id, change };
    const depth = (cause?.depth ?? 0) + 1;
    return consequences.begin(repository.id, { because, causes, rules: [...rules], depth });
  };
}

/**
 * Returns the plan without the changes that this forge does not support. These are refused with the reason, because a
 * field that the forge silently ignores would be written again on every run. The capabilities are read only if a change
 * requires one.
 */
async function refuseUnsupported(
  plan: Plan,
  capabilities: (() => Promise<Capabilities>) | undefined,
): Promise<Plan> {
  if (capabilities === undefined || !plan.changes.some(({ change }) => change.requires)) return plan;
  const known = await capabilities();
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const why = unsupportedReason(known, planned.change.requires ?? []);
    if (why === undefined) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}
