import type { Change } from '../actions/change.ts';
import { noteDueProtections } from '../actions/merging/due-protections.ts';
import { type Capabilities, unsupportedReason } from '../client/capabilities.ts';
import { ReeveError } from '../platform/errors.ts';
import { type Applied, type ApplyOptions, applyPlan } from './apply.ts';
import { createAccountCheck, findStrangers, refuseStrangers, retryOf } from './bounds/accounts.ts';
import { readDefaultBranch } from './bounds/grants.ts';
import { refuseEarlyEnds } from './bounds/last.ts';
import { refuseMessages } from './bounds/messages.ts';
import { pauseDeferral, refusePaused } from './bounds/pauses.ts';
import { type Deferral, joinDeferrals } from './budget/deferral.ts';
import { type LedgerPlace, reserve } from './budget/reserve.ts';
import type { WriteHistory } from './budget/write-history.ts';
import { type Evaluated, evaluateRules } from './evaluate-rules.ts';
import { limitDeferral } from './limits.ts';
import { makePlan, refuseUnfounded } from './plan.ts';
import { isEnforced, type Plan, type PlannedChange, type Proposal, type RefusedChange } from './proposal.ts';
import { createReconsider } from './reconsider.ts';
import type { Run } from './record.ts';
import { recordRun } from './record-run.ts';
import { refuseRepeated } from './repeated.ts';
import { keptFactsOf } from './requests.ts';
import { isSent, type RunInput } from './run-input.ts';
import { selectRules } from './select-rules.ts';
import { refuseOutOfScope } from './write-scope.ts';

/** A run and, where a later attempt may do what this one could not, why. */
export type Ran = {
  readonly run: Run;
  readonly retry?: ReeveError | undefined;
  /** Set where the repository has another name now: under that name the rest can be done at once. */
  readonly moved?: true | undefined;
  /** Set where an hourly budget or a pause stopped changes: the same trigger is to run again. */
  readonly deferral?: Deferral | undefined;
  /** Rules to evaluate again soon: what they wait for comes without an event on some forges. Absent: none. */
  readonly awaiting?: readonly string[];
  /**
   * Those of them whose change the forge refused although nothing that it shows speaks against it: it may show that soon, or
   * never. Absent: none.
   */
  readonly resisted?: readonly string[];
  /** Rules that failed to protect their subject, to evaluate again until they do. Absent: none. */
  readonly unprotected?: readonly string[];
};

/**
 * Evaluates the rules against an event or an item of a sweep, and makes the changes that they ask for: select → evaluate →
 * plan → reserve → apply → record. The rules of an item all walk over items of its kind; a rule whose `in` leaves the item
 * out is skipped. Steps whose changes may call for others are planned once more.
 */
export async function runRules(input: RunInput): Promise<Ran> {
  const startedMs = input.clock.monotonicMs();
  const evaluated = await evaluateRules(selectRules(input), input);
  const first = await runRound(evaluated.proposals, { input, evaluated, startedMs, from: 0 });
  const next = await planFollowUps(first, input);
  const second =
    next.proposals.length === 0
      ? undefined
      : await runRound(next.proposals, { input, evaluated, startedMs, from: countOf(evaluated.proposals) });
  const rounds = second ? [first, second] : [first];
  const retry = evaluated.retry ?? first.retry ?? next.retry ?? second?.retry;
  const failed = unprotectedBy(
    rounds.flatMap(({ applied, plan }) => [...applied.unmade, ...plan.refused.filter(isHeld)]),
    input,
    evaluated,
  );
  const limited = rounds
    .flatMap(({ plan, applied }) => [...plan.refused, ...applied.paused])
    .filter(isLimited);
  await noteProtections(evaluated, new Map([...failed, ...dueBy(limited)]), input);
  const awaiting = new Set([...evaluated.awaiting, ...rounds.flatMap((round) => round.awaiting)]);
  const resisted = new Set(rounds.flatMap(({ applied }) => [...applied.resisted]));
  // A later attempt at this run makes it good as well.
  const unprotected = retry === undefined && isWriting(input) ? [...failed.keys()] : [];
  return {
    run: joinRuns(rounds.map(({ run }) => run)),
    retry,
    moved: first.applied.moved ?? second?.applied.moved,
    deferral: joinDeferrals(
      present([first.deferral, second?.deferral, protectionDeferral(unprotected, input)]),
    ),
    ...(awaiting.size === 0 ? {} : { awaiting: [...awaiting] }),
    ...(resisted.size === 0 ? {} : { resisted: [...resisted] }),
    ...(unprotected.length === 0 ? {} : { unprotected }),
  };
}

/** Notes the protective changes that are not made: nothing is merged there before they are. */
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
  const isConcerned = rules.rules.some(
    ({ id, steps }) =>
      evaluated.has(id) && steps.some(({ action }) => action.protects || action.awaitsChecks),
  );
  if (!isConcerned && due.size === 0) return;
  // A run over a delivery has all rules in force: a rule that is not among them is gone.
  const isWhole = event !== undefined && announcedBy === undefined;
  const known = new Set(rules.rules.map(({ id }) => id));
  // Where the run is made again as a whole, nothing was written.
  const isSettled = (rule: string): boolean =>
    retry === undefined && (evaluated.has(rule) || (isWhole && !known.has(rule)));
  await noteDueProtections(memory, facts.subject, { due, isSettled, now });
}

/**
 * Returns the rules that failed to protect their subject, and why: they failed as a whole, or these changes of theirs are not made. Of a
 * branch, nothing is merged, and one that is gone could not be judged ever again.
 */
function unprotectedBy(
  unmade: readonly RefusedChange[],
  { rules, facts }: RunInput,
  evaluated?: Evaluated,
): ReadonlyMap<string, string> {
  const { kind } = facts.subject;
  if (kind !== 'pull_request' && kind !== 'repository') return new Map();
  const protecting = new Set(
    rules.rules.flatMap(({ id, mode, steps }) =>
      mode === 'enforce' && steps.some(({ action }) => action.protects) ? [id] : [],
    ),
  );
  const failed = (evaluated?.verdicts ?? []).flatMap(({ rule, verdict, reason }) =>
    verdict === 'failed' && protecting.has(rule) ? [[rule, reason ?? 'it failed'] as const] : [],
  );
  return new Map([...failed, ...dueBy(unmade)]);
}

/** Returns the rules whose protective changes are among these, and why they are not made. */
function dueBy(stopped: readonly RefusedChange[]): ReadonlyMap<string, string> {
  const due = new Map<string, string>();
  for (const { planned, why } of stopped) {
    if (planned.change.protects === undefined || !isEnforced(planned)) continue;
    for (const { rule } of planned.proposals) due.set(rule.id, why);
  }
  return due;
}

/** Adds to the protective changes of the subject that are not made; says nothing about those of other rules. */
async function addDue(
  due: ReadonlyMap<string, string>,
  { memory, facts, now, ...input }: RunInput,
): Promise<void> {
  if (memory === undefined || due.size === 0 || !isWriting(input)) return;
  await noteDueProtections(memory, facts.subject, { due, isSettled: () => false, now });
}

/** Time after which a run goes on whose rules failed to protect a repository. Those of a pull request have rows that wait. */
const unprotectedMs = 600_000;

function protectionDeferral(unprotected: readonly string[], input: RunInput): Deferral | undefined {
  const [rule] = unprotected;
  if (rule === undefined || input.facts.subject.kind !== 'repository' || !isRepeatable(input))
    return undefined;
  return { afterMs: unprotectedMs, why: `a protective change of ${rule} is still to be made` };
}

function isWriting({ mode, client }: Pick<RunInput, 'mode' | 'client'>): boolean {
  return mode === 'enforce' && client !== undefined;
}

type RoundInput = {
  readonly input: RunInput;
  readonly evaluated: Evaluated;
  readonly startedMs: number;
  /** Number of changes that were proposed before. */
  readonly from: number;
};

/** Proposals as they were planned and made. */
type Round = {
  readonly run: Run;
  readonly plan: Plan;
  readonly applied: Applied;
  readonly deferral: Deferral | undefined;
  readonly awaiting: readonly string[];
  /** Set where a later attempt may make what this one could not. */
  readonly retry: ReeveError | undefined;
};

/** Makes one plan of proposals, within all bounds, and applies it. */
async function runRound(proposals: readonly Proposal[], round: RoundInput): Promise<Round> {
  const { input, evaluated } = round;
  const defaultBranch = await readDefaultBranch(candidatesOf(proposals), input.facts);
  const pauses = (await input.pauses?.()) ?? [];
  const { subject } = input.facts;
  const strangers = await findStrangers(proposals, input);
  const planOn = (past: WriteHistory | undefined) => {
    const repeatsFrom = isRepeatable(input) ? input.now : undefined;
    const rules = input.rules.rules.map(({ id }) => id);
    const limits = { budgets: input.budgets, past, rules, repeatsFrom };
    const wanted = makePlan(proposals, limits, round.from);
    const permitted = refuseOutOfScope(refuseRepeated(wanted, input.trigger), subject, defaultBranch);
    const isToBeSent = (planned: PlannedChange): boolean => isSent(planned, input);
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
  const reserved = await reserve(planOn, ledgerPlaceOf(proposals, input), input);
  const { plan, recorded } = await prepare(reserved.made.plan, round).catch(async (error) => {
    // Nothing was sent: an attempt that is made again must not find its own changes in the budgets.
    await reserved.release(new Set());
    throw error;
  });
  // A merge of this run asks for what is due immediately before it is sent.
  const failed = unprotectedBy(plan.refused.filter(isHeld), input, evaluated);
  await addDue(new Map([...failed, ...dueBy(plan.refused.filter(isLimited))]), input);
  const applied = await applyChanges(plan, input);
  await reserved.release(idsOfApplied(applied));
  return {
    run: recorded.complete(applied),
    plan,
    applied,
    deferral: joinDeferrals(
      present([reserved.deferral, reserved.made.deferral, pauseDeferral(applied.paused)]),
    ),
    awaiting: awaitingOf(plan, applied),
    retry: applied.retry ?? (isWriting(input) ? retryOf(strangers) : undefined),
  };
}

function isLimited({ isLimited }: RefusedChange): boolean {
  return isLimited === true;
}

/** Returns whether a change is refused because the account of a login in it is not confirmed. */
function isHeld({ isHeld }: RefusedChange): boolean {
  return isHeld === true;
}

function countOf(proposals: readonly Proposal[]): number {
  return proposals.reduce((count, { changes }) => count + changes.length, 0);
}

/** The record of a run with two rounds: the changes of both, and what the second one says of the whole. */
function joinRuns(runs: readonly Run[]): Run {
  const [last] = runs.slice(-1);
  if (last === undefined) throw new ReeveError('internal', 'a run without a round');
  return {
    ...last,
    changes: runs.flatMap(({ changes }) => changes),
    refused: runs.flatMap(({ refused }) => refused),
    outcomes: runs.flatMap(({ outcomes }) => outcomes),
  };
}

/**
 * Plans those steps once more whose changes were sent and may call for others, from facts that know nothing yet. What was
 * planned before is left out: a change that failed is not made again here.
 */
async function planFollowUps(
  { plan, applied }: Round,
  { facts }: RunInput,
): Promise<{ readonly proposals: readonly Proposal[]; readonly retry?: ReeveError | undefined }> {
  const sent = plan.changes.filter(({ id }) => applied.sent.has(id)).flatMap((planned) => planned.proposals);
  const proposals: Proposal[] = [];
  const now = facts.anew(plan.changes.flatMap(({ change }) => keptFactsOf(change, true)));
  for (const proposal of new Set(sent)) {
    const { action, context, arguments: given } = proposal;
    if (!action.followsUp) continue;
    const before = new Set(proposal.changes.map(decisionKey));
    try {
      const planned = await action.plan(given, now, context);
      const changes = planned.filter((change) => !before.has(decisionKey(change)));
      if (changes.some(({ already }) => !already)) proposals.push({ ...proposal, changes });
    } catch (error) {
      if (error instanceof ReeveError && error.keepsWork) return { proposals, retry: error };
      // What was sent is recorded all the same; the next event or sweep plans the rest.
    }
  }
  return { proposals };
}

function decisionKey({ target, value }: Change): string {
  return `${target} ${JSON.stringify(value)}`;
}

function present<T>(values: readonly (T | undefined)[]): readonly T[] {
  return values.filter((value) => value !== undefined);
}

/**
 * Returns whether what a limit stops can be planned again when the limit ends: where a ledger is kept, deferred runs are repeated.
 * Items of a sweep come back with its next slot; to repeat the sweep would mean to walk over all of its items.
 */
function isRepeatable({ ledger, trigger, mode, client }: RunInput): boolean {
  return ledger !== undefined && trigger.kind !== 'schedule' && mode === 'enforce' && client !== undefined;
}

/** Returns where what the proposals write is counted; undefined where there is nothing to write, or no ledger. */
function ledgerPlaceOf(proposals: readonly Proposal[], { ledger, facts }: RunInput): LedgerPlace | undefined {
  const hasWork = proposals.some(({ changes }) => changes.some(({ already }) => !already));
  // By the repository's identity, or by what else the subject has.
  const { kind, repository, organization } = facts.subject;
  return hasWork && ledger ? { ledger, place: repository?.id ?? `${kind} ${organization ?? ''}` } : undefined;
}

function candidatesOf(
  proposals: readonly Proposal[],
): readonly Pick<PlannedChange, 'change' | 'proposals'>[] {
  return proposals.flatMap((proposal) =>
    proposal.changes.map((change) => ({ change, proposals: [proposal] })),
  );
}

/** Refuses what this forge cannot make, and records the plan before anything is written. */
async function prepare(planned: Plan, { input, evaluated, startedMs }: Omit<RoundInput, 'from'>) {
  const supported = await refuseUnsupported(refuseMessages(planned, input.messages), input.capabilities);
  const plan = refuseUnfounded(refuseEarlyEnds(supported, evaluated.verdicts));
  const recorded = await recordRun({ input, plan, verdicts: evaluated.verdicts, startedMs });
  await evaluated.claimCommands();
  return { plan, recorded };
}

const nothingApplied: Applied = {
  outcomes: [],
  sent: new Map(),
  awaiting: new Set(),
  resisted: new Set(),
  paused: [],
  unmade: [],
};

async function applyChanges({ changes }: Plan, input: RunInput): Promise<Applied> {
  const { client, facts, secrets, messages } = input;
  if (client === undefined) return nothingApplied;
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
    noteUnmade: (unmade) => addDue(unprotectedBy([unmade], input), input),
  });
}

/** Returns what notes a change that causes events, with the rules of its chain. */
function createBeginCause({ id, consequences, cause, facts }: RunInput): ApplyOptions['beginCause'] {
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

/** Returns the rules that wait for something that comes without an event on some forges. */
function awaitingOf({ refused }: Plan, applied: Applied): readonly string[] {
  const held = refused
    .filter(({ planned }) => planned.change.waits?.polls)
    .flatMap(({ planned }) => planned.proposals.map(({ rule }) => rule.id));
  return [...held, ...applied.awaiting];
}

function idsOfApplied({ outcomes }: Applied): ReadonlySet<string> {
  return new Set(outcomes.filter(({ status }) => status === 'applied').map(({ change }) => change));
}

/**
 * Returns the plan without the changes that this forge cannot make: they are refused with the reason, since a member that
 * a forge ignores in silence would be written again for ever. The forge is asked only where a change needs it to be.
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
