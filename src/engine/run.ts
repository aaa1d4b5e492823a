import { type ActionMemory, createActionMemory } from '../actions/memory.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import type { NamedSecrets } from '../actions/secrets.ts';
import type { Capabilities } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import type { Event } from '../contract/events/events.ts';
import type { Subject } from '../contract/events/subject.ts';
import { messageOf, ReeveError } from '../errors.ts';
import type { Facts } from '../facts/fact.ts';
import { type Evaluation, evaluateRule, failRule, type ResolvedStep, skipRule } from '../rules/evaluate.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import type { Verdict } from '../rules/verdict.ts';
import { staleAnnouncement } from './announced.ts';
import { type Applied, applyPlan } from './apply.ts';
import { type Entry, type Ledger, type Past, targetKey } from './budget-ledger.ts';
import { type Budgets, budgets } from './budgets.ts';
import { type Deferral, deferBeyondHour } from './deferral.ts';
import { makePlan, type Plan, refuseUnfounded } from './plan.ts';
import { isEnforced, levelOf, type PlannedChange, type Wish } from './proposal.ts';
import { reasonOf } from './reason.ts';
import type { Outcome, Run, RunMode, Trigger } from './record.ts';
import { asSent, recordChange, recordChanges } from './record-changes.ts';
import { refuseRepeated } from './repeated.ts';
import { type Considered, selectRules } from './select-rules.ts';
import { refuseLacking } from './unsupported.ts';
import { refuseBeyond } from './write-scope.ts';

/** What a run is given. It has no clock, no disk and no server of its own. */
export type RunInput = {
  readonly id: string;
  readonly mode: RunMode;
  readonly trigger: Trigger;
  readonly rules: RuleSet;
  /** Absent where a clock or a person started the run. */
  readonly event?: Event;
  /** The item of `each`, by the name that conditions know it by (`{ notification: … }`). */
  readonly item?: Readonly<Record<string, unknown>>;
  readonly facts: Facts;
  /** Absent: no forge is there, the run ends with its plan. */
  readonly client?: Client | undefined;
  /** The account Reeve acts as; its own events trigger nothing. */
  readonly account?: { readonly id: number } | undefined;
  /** What actions know beyond the run; absent: it ends with the run. */
  readonly memory?: ActionMemory;
  /** Values that rules of the operator may name; absent in a what-if, which knows none. */
  readonly secrets?: NamedSecrets;
  /** Tells what the forge can do, asked when a change needs more than every forge has; absent: everything. */
  readonly capabilities?: () => Promise<Capabilities>;
  /** How much may be written; absent: as the engine has it. */
  readonly budgets?: Budgets | undefined;
  /** What was written of late; absent: this run stands alone. */
  readonly ledger?: Ledger;
  /**
   * Age beyond which a comment or review that the event announces as new triggers nothing; also whether it must still be
   * there. Absent where past events are planned: neither matters.
   */
  readonly maxAnnouncedAgeMs?: number | undefined;
  readonly now: Date;
  /** A clock that never goes back, for durations. */
  readonly nowMs: () => number;
  /** True where the record shall also name the rules that listen to other kinds. */
  readonly explainAll?: boolean | undefined;
};

/** A run and, where a later attempt may do what this one could not, why. */
export type Ran = {
  readonly run: Run;
  readonly retry?: ReeveError | undefined;
  /** Set where the repository is called otherwise now: under its new name the rest can be done at once. */
  readonly moved?: true | undefined;
  /** Set where an hourly budget stopped changes: the same trigger is to run again. */
  readonly deferral?: Deferral | undefined;
};

/** Holds an event against the rules and does what they ask: trigger → facts → verdicts → plan → outcomes. */
export async function runEvent(input: RunInput & { readonly event: Event }): Promise<Ran> {
  return run(input);
}

/**
 * Holds one item of a sweep against the rules given, all of which walk over it, and does what they ask. Its subject is
 * that of the facts; a rule whose `in` leaves it out is skipped.
 */
export async function runItem(
  input: Omit<RunInput, 'event'> & { readonly item: Readonly<Record<string, unknown>> },
): Promise<Ran> {
  return run(input);
}

async function run(input: RunInput): Promise<Ran> {
  const startedMs = input.nowMs();
  const { considered, decided } = selectRules(input);
  const memory = input.memory ?? createActionMemory();
  const stale = considered.length === 0 ? undefined : await staleness(input);
  const evaluated = await Promise.all(
    considered.map((one) => stale?.(one.rule) ?? evaluate(one, input, contextFor(one, input, memory))),
  );
  const verdicts = inOrder(input, [...decided, ...evaluated.map(({ verdict }) => verdict)]);
  const unknown = evaluated.find(({ retry }) => retry)?.retry;

  // What could not be known for the forge's sake is asked again later; a half-known event writes nothing.
  const wishes = unknown ? [] : evaluated.flatMap((one) => one.wishes);
  const past = hasWork(wishes) ? await input.ledger?.of(placeOf(input.facts.subject)) : undefined;
  const wanted = makePlan(wishes, { budgets: input.budgets, past });
  const bounded = refuseBeyond(refuseRepeated(wanted, input.trigger), input.facts.subject);
  // Noted in the same moment as they were planned: a run beside this one must not spend the same budget.
  const { plan: made, deferral } = past ? deferRun(bounded, past, input) : { plan: bounded };
  const noted = made.changes.filter((planned) => maySend(planned, input));
  const takeBack = past?.note(noted.map((planned) => entryOf(planned, input.now)));
  const plan = refuseUnfounded(await refuseLacking(made, input.capabilities));
  const writes = plan.changes.filter((planned) => maySend(planned, input));
  const shown = await recordChanges(plan.changes, input.facts);
  const applied: Applied = input.client
    ? await applyPlan({
        changes: writes,
        facts: input.facts,
        client: input.client,
        secrets: input.secrets,
      })
    : { outcomes: [], sent: new Map() };

  const isApplied = ({ id }: PlannedChange): boolean =>
    applied.outcomes.some(({ change, status }) => change === id && status === 'applied');
  takeBack?.(noted.flatMap((planned, place) => (isApplied(planned) ? [] : [place])));

  const record: Run = {
    schema: 1,
    id: input.id,
    mode: input.mode,
    trigger: input.trigger,
    rules: verdicts,
    changes: shown.map((change) => asSent(change, applied.sent.get(change.id))),
    refused: plan.refused.map(({ planned, why, until }) => ({
      change: recordChange(planned, planned.change.input),
      why,
      ...(until === undefined ? {} : { until }),
    })),
    outcomes: plan.changes.map(({ id }): Outcome => {
      const outcome = applied.outcomes.find(({ change }) => change === id);
      return outcome ?? { change: id, status: 'planned' };
    }),
    requests: input.client?.requests ?? 0,
    ms: Math.round(input.nowMs() - startedMs),
  };
  return { run: record, retry: unknown ?? applied.retry, moved: applied.moved, deferral };
}

/** Takes out what the hourly budgets have no room for now. The trigger is what holds the place in the order. */
function deferRun(plan: Plan, past: Past, input: RunInput): ReturnType<typeof deferBeyondHour> {
  const { delivery = input.id, item = '' } = input.trigger;
  return deferBeyondHour(plan, {
    past,
    hour: (input.budgets ?? budgets).hour,
    owner: `${delivery} ${item}`,
    isSent: (planned) => maySend(planned, input),
    now: input.now,
  });
}

function hasWork(wishes: readonly Wish[]): boolean {
  return wishes.some(({ changes }) => changes.some(({ already }) => !already));
}

/** What the ledger counts by: the repository's identity, or what else the subject has. */
function placeOf({ kind, repository, organization }: Subject): number | string {
  return repository?.id ?? `${kind} ${organization ?? ''}`;
}

function entryOf(planned: PlannedChange, now: Date): Entry {
  const { input, target, value, before } = planned.change;
  return {
    atMs: now.getTime(),
    level: levelOf(planned),
    target: targetKey(input.params, target),
    value: JSON.stringify(value) ?? '',
    before: JSON.stringify(before) ?? '',
  };
}

/** Returns what the actions of a rule are told. */
function contextFor({ rule, meter }: Considered, input: RunInput, memory: ActionMemory): PlanContext {
  return {
    rule: rule.name,
    level: rule.level,
    account: input.account,
    memory,
    secrets: input.secrets,
    now: input.now,
    meter,
    dryRun: input.mode !== 'enforce' || input.client === undefined || rule.mode !== 'enforce',
  };
}

/** A rule in `observe` plans and records; so does every rule of a run that is no enforcement. */
function maySend(planned: PlannedChange, input: RunInput): boolean {
  return input.mode === 'enforce' && input.client !== undefined && isEnforced(planned);
}

/** Returns what becomes of each rule where the comment or review of the event is gone, too old, or cannot be read. */
async function staleness(input: RunInput): Promise<((rule: LoadedRule) => Evaluated) | undefined> {
  const { event, facts, now, maxAnnouncedAgeMs: maxAgeMs } = input;
  if (event === undefined || maxAgeMs === undefined) return undefined;
  try {
    const reason = await staleAnnouncement(event, facts, { now, maxAgeMs });
    return reason && ((rule) => ({ verdict: skipRule(rule, reason), wishes: [] }));
  } catch (error) {
    const reason = `what the event announces cannot be read: ${messageOf(error)}`;
    const retry = error instanceof ReeveError && error.keepsWork ? error : undefined;
    return (rule) => ({ verdict: failRule(rule, reason), wishes: [], retry });
  }
}

/** The order of the rules, found without looking at those that do not listen. */
function inOrder({ rules }: RunInput, verdicts: readonly Verdict[]): readonly Verdict[] {
  return verdicts.toSorted((a, b) => rules.placeOf(a.rule) - rules.placeOf(b.rule));
}

type Evaluated = {
  readonly verdict: Verdict;
  readonly wishes: readonly Wish[];
  readonly retry?: ReeveError | undefined;
};

/** Evaluates a rule and plans its steps from the same facts, in order; a failed step ends the rule's steps. */
async function evaluate(
  { rule, meter }: Considered,
  input: RunInput,
  context: PlanContext,
): Promise<Evaluated> {
  const { event, item, facts, now } = input;
  const evaluation: Evaluation = await evaluateRule(rule, { event, item, facts, now, meter });
  const wishes: Wish[] = [];
  for (const resolved of evaluation.steps) {
    if (resolved.state === 'unmatched') continue;
    if (resolved.state === 'failed') return failed(evaluation, wishes, resolved, resolved.reason);
    const { action, name } = resolved.step;
    try {
      await Promise.allSettled(action.facts(resolved.arguments).map((request) => facts.ask(request)));
      const planned = await action.plan(resolved.arguments, facts, context);
      const { written } = resolved.step.arguments;
      const changes = planned.map((change) => ({ ...change, reason: reasonOf(action, change, written) }));
      wishes.push({ rule, step: name, action, arguments: resolved.arguments, context, changes });
    } catch (error) {
      return failed(evaluation, wishes, resolved, messageOf(error), error);
    }
  }
  return { ...evaluation, wishes };
}

function failed(
  { verdict, retry: known }: Evaluation,
  wishes: readonly Wish[],
  { step }: ResolvedStep,
  reason: string,
  error?: unknown,
): Evaluated {
  const retry = error instanceof ReeveError && error.keepsWork ? error : known;
  const code = error instanceof ReeveError ? { code: error.code } : {};
  const told: Verdict = { ...verdict, verdict: 'failed', reason: `step ${step.name}: ${reason}`, ...code };
  return { verdict: told, wishes, retry };
}
