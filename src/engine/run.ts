import type { Subject } from '../contract/events/subject.ts';
import type { ReeveError } from '../errors.ts';
import { type Applied, type ApplyOptions, applyPlan } from './apply.ts';
import { readDefaultBranch } from './bounds/grants.ts';
import { refuseEarlyEnds } from './bounds/last.ts';
import { refuseMessages } from './bounds/messages.ts';
import { pauseDeferral, refusePaused } from './bounds/pauses.ts';
import type { Deferral } from './budget/deferral.ts';
import type { WriteHistory } from './budget/ledger.ts';
import { reserve } from './budget/reserve.ts';
import { type Evaluated, evaluateRules } from './evaluate-rules.ts';
import { makePlan, type Plan, refuseUnfounded } from './plan.ts';
import type { PlannedChange, Proposal } from './proposal.ts';
import { createReconsider } from './reconsider.ts';
import type { Run } from './record.ts';
import { recordRun } from './record-run.ts';
import { refuseRepeated } from './repeated.ts';
import { isSent, type RunInput } from './run-input.ts';
import { selectRules } from './select-rules.ts';
import { refuseUnsupported } from './unsupported.ts';
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
};

/**
 * Evaluates the rules against an event or an item of a sweep, and makes the changes that they ask for: select → evaluate →
 * plan → reserve → apply → record. The rules of an item all walk over items of its kind; a rule whose `in` leaves the item
 * out is skipped.
 */
export async function runRules(input: RunInput): Promise<Ran> {
  const startedMs = input.clock.monotonicMs();
  const evaluated = await evaluateRules(selectRules(input), input);
  const past = await readPast(evaluated.proposals, input);
  const defaultBranch = await readDefaultBranch(candidatesOf(evaluated.proposals), input.facts);
  const pauses = (await input.pauses?.()) ?? [];
  const wanted = makePlan(evaluated.proposals, { budgets: input.budgets, past });
  const permitted = refuseOutOfScope(
    refuseRepeated(wanted, input.trigger),
    input.facts.subject,
    defaultBranch,
  );
  // In the same turn of the event loop as the plan: a run beside this one must not spend the same budget.
  const unpaused = refusePaused(permitted, pauses, {
    subject: input.facts.subject,
    isSent: (planned) => isSent(planned, input),
  });
  const reserved = reserve(unpaused.plan, past, input);
  const { plan, recorded } = await prepare(reserved.plan, { input, evaluated, startedMs }).catch((error) => {
    // Nothing was sent: an attempt that is made again must not find its own changes in the budgets.
    reserved.release(new Set());
    throw error;
  });
  const applied = await applyChanges(plan, input);
  reserved.release(idsOfApplied(applied));
  return {
    run: recorded.complete(applied),
    retry: evaluated.retry ?? applied.retry,
    moved: applied.moved,
    deferral: oneDeferral(reserved.deferral, unpaused.deferral ?? pauseDeferral(applied.paused)),
    ...awaitingOf(evaluated.awaiting, plan, applied),
  };
}

/** A budget may have room before a pause ends, and the pause may end before. */
function oneDeferral(ofBudget: Deferral | undefined, ofPause: Deferral | undefined): Deferral | undefined {
  return ofBudget && ofPause ? { ...ofBudget, isPaused: true } : (ofBudget ?? ofPause);
}

/** Returns what was written where the proposals go; undefined where there is nothing to write, or no ledger. */
async function readPast(proposals: readonly Proposal[], input: RunInput): Promise<WriteHistory | undefined> {
  const hasWork = proposals.some(({ changes }) => changes.some(({ already }) => !already));
  return hasWork ? input.ledger?.of(ledgerKeyOf(input.facts.subject)) : undefined;
}

/** The ledger counts by the repository's identity, or by what else the subject has. */
function ledgerKeyOf({ kind, repository, organization }: Subject): number | string {
  return repository?.id ?? `${kind} ${organization ?? ''}`;
}

function candidatesOf(
  proposals: readonly Proposal[],
): readonly Pick<PlannedChange, 'change' | 'proposals'>[] {
  return proposals.flatMap((proposal) =>
    proposal.changes.map((change) => ({ change, proposals: [proposal] })),
  );
}

/** Refuses what this forge cannot make, and records the plan before anything is written. */
async function prepare(
  planned: Plan,
  { input, evaluated, startedMs }: { input: RunInput; evaluated: Evaluated; startedMs: number },
) {
  const supported = await refuseUnsupported(refuseMessages(planned, input.messages), input.capabilities);
  const plan = refuseUnfounded(refuseEarlyEnds(supported, evaluated.verdicts));
  const recorded = await recordRun({ input, plan, verdicts: evaluated.verdicts, startedMs });
  await evaluated.claimCommands();
  return { plan, recorded };
}

async function applyChanges({ changes }: Plan, input: RunInput): Promise<Applied> {
  const { client, facts, secrets, messages } = input;
  if (client === undefined) return { outcomes: [], sent: new Map(), awaiting: new Set(), paused: [] };
  return applyPlan({
    changes: changes.filter((planned) => isSent(planned, input)),
    facts,
    client,
    secrets,
    send: typeof messages === 'function' ? messages : undefined,
    reconsider: createReconsider(input),
    beginCause: createBeginCause(input),
    pauses: input.pauses,
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

function awaitingOf(
  evaluated: readonly string[],
  { refused }: Plan,
  applied: Applied,
): Pick<Ran, 'awaiting'> {
  const held = refused
    .filter(({ planned }) => planned.change.waits?.polls)
    .flatMap(({ planned }) => planned.proposals.map(({ rule }) => rule.id));
  const ids = new Set([...evaluated, ...held, ...applied.awaiting]);
  return ids.size === 0 ? {} : { awaiting: [...ids] };
}

function idsOfApplied({ outcomes }: Applied): ReadonlySet<string> {
  return new Set(outcomes.filter(({ status }) => status === 'applied').map(({ change }) => change));
}
