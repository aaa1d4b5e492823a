import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';
import { type ActionMemory, createActionMemory } from '../actions/memory.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import { eventFamilies } from '../contract/events/event-families.ts';
import type { Event } from '../contract/events/events.ts';
import { withAnswer } from '../facts/ask.ts';
import { command, notFound } from '../facts/command.ts';
import { comment } from '../facts/comments.ts';
import { type FactRequest, type Facts, requestOf } from '../facts/fact.ts';
import { review } from '../facts/reviews.ts';
import { LimitExceeded, type Meter } from '../patterns/meter.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import { type Evaluation, evaluateRule, failRule, type ResolvedStep, skipRule } from '../rules/evaluate.ts';
import { limits, RunBudget } from '../rules/expressions/budget.ts';
import { hasWideObject } from '../rules/expressions/values.ts';
import { isInScope, skipReason } from '../rules/match.ts';
import { requestsOfRule } from '../rules/needs.ts';
import type { RuleSet } from '../rules/rule.ts';
import { budgetSourceOf, type LoadedRule, runsForConcerned } from '../rules/rule.ts';
import type { SkipReason, Verdict } from '../rules/verdict.ts';
import { needsEvent } from '../rules/verdict.ts';
import type { EventCause } from './bounds/consequences.ts';
import { coversAction, isGrantedAt } from './bounds/grants.ts';
import { findBarToRename } from './bounds/renames.ts';
import type { Proposal } from './proposal.ts';
import { readHeadFirst } from './reconsider.ts';
import type { RunInput } from './run-context.ts';
import { type HeadPin, judgeJointly } from './same-commit.ts';

/** A rule that applies to the event or item, with the meter for its expressions and patterns. */
type Considered = { readonly rule: LoadedRule; readonly meter: Meter };
/** The rules to evaluate, and the verdicts of the other listening rules. */
type Selection = { readonly considered: readonly Considered[]; readonly decided: readonly Verdict[] };

/** Input of the rule selection. `RunInput` documents each field. */
type SelectionInput = {
  readonly rules: RuleSet;
  readonly event?: Event | undefined;
  readonly facts: Facts;
  readonly account?: { readonly id: number } | undefined;
  readonly explainAll?: boolean | undefined;
  readonly cause?: EventCause | undefined;
  readonly isOwn?: boolean | undefined;
};

/**
 * Returns the rules that a run evaluates. Filters and scopes are charged to the budget that the rest of the run uses as
 * well; a rule whose filter exceeds the budget fails.
 */
export function selectRules(input: SelectionInput): Selection {
  const { event, rules, facts, account, explainAll, cause } = input;
  if (event === undefined) {
    return select(rules.rules, (rule, meter) => {
      if (needsEvent(rule)) return 'not recoverable';
      if (!isInScope(rule, facts.subject, meter)) return 'scope';
      return isGrantedAt(rule, facts.subject) ? undefined : 'grant';
    });
  }
  const { family } = event;
  // If an event affects pull requests without being about them, rules for these pull requests run only with a pull
  // request as the subject.
  const isItem = family !== undefined && facts.subject.kind !== eventFamilies[family].subject;
  const listening =
    family === undefined
      ? []
      : rules.listeningTo(family).filter((rule) => runsForConcerned(rule, family) === isItem);
  const { isOwn: own = account !== undefined && event.sender?.id === account.id } = input;
  const selection = select(explainAll ? rules.rules : listening, (rule, meter) =>
    own && (cause === undefined || cause.rules.includes(rule.id))
      ? 'own'
      : (skipReason(rule, event, meter) ?? (isGrantedAt(rule, facts.subject) ? undefined : 'grant')),
  );
  if (selection.considered.length === 0 || !hasWideObject(event.payload)) return selection;
  const failed = selection.considered.map(({ rule }) => failRule(rule, tooWide));
  return { considered: [], decided: [...selection.decided, ...failed] };
}

const tooWide = `too large to judge: the event has an object with more than ${limits.members} members`;

function select(
  rules: readonly LoadedRule[],
  reasonAgainst: (rule: LoadedRule, meter: Meter) => SkipReason | undefined,
): Selection {
  const budget = new RunBudget(rules.map(budgetSourceOf));
  const considered: Considered[] = [];
  const decided: Verdict[] = [];
  for (const rule of rules) {
    const meter = budget.meterFor(budgetSourceOf(rule), rule.name);
    try {
      const reason = reasonAgainst(rule, meter);
      if (reason === undefined) considered.push({ rule, meter });
      else decided.push(skipRule(rule, reason));
    } catch (error) {
      if (!(error instanceof LimitExceeded)) throw error;
      decided.push(failRule(rule, error.message));
    }
  }
  return { considered, decided };
}

/** Result of the evaluation of a run's rules. */
export type Evaluated = {
  /** One verdict for each rule considered in the run, in rule order. */
  readonly verdicts: readonly Verdict[];
  /** Proposals of the steps of matched rules; empty if a later attempt has to evaluate them again. */
  readonly proposals: readonly Proposal[];
  /**
   * Set if the forge could not answer and a later attempt may succeed. In this case, nothing is written, because the
   * facts are incomplete.
   */
  readonly retry?: ReeveError | undefined;
  /** Rules that are blocked only by checks or `mergeable` in a step that waits for these. */
  readonly awaiting: readonly string[];
  /** Records that the rules have executed the commands of the event; called before the first write. */
  readonly claimCommands: () => Promise<void>;
};

/** Evaluates the selected rules concurrently. A failed rule does not stop the others. */
export async function evaluateRules({ considered, decided }: Selection, input: RunInput): Promise<Evaluated> {
  const memory = input.memory ?? createActionMemory();
  const pin = await readHeadFirst(
    considered.map(({ rule }) => rule),
    input.facts,
    input.pulls,
  ).catch(() => undefined); // A fact that cannot be read fails where it is used.
  const stale = considered.length === 0 ? undefined : await findStaleness(input);
  const evaluated = await Promise.all(
    considered.map(
      (one) => stale?.(one.rule) ?? evaluateOne(one, { ...input, pin }, contextFor(one, input, memory)),
    ),
  );
  const verdicts = [...decided, ...evaluated.map(({ verdict }) => verdict)];
  const retry = evaluated.find((one) => one.retry)?.retry;
  return {
    // Sorted into rule order without iterating over rules for other event types.
    verdicts: verdicts.toSorted((a, b) => input.rules.orderOf(a.rule) - input.rules.orderOf(b.rule)),
    proposals: retry ? [] : evaluated.flatMap((one) => one.proposals),
    retry,
    claimCommands: async () => {
      if (!retry) await Promise.all(evaluated.map(({ claim }) => claim?.()));
    },
    awaiting: evaluated.filter(({ awaitsChecks }) => awaitsChecks).map(({ verdict }) => verdict.rule),
  };
}

type EvaluatedRule = {
  readonly awaitsChecks?: true;
  readonly verdict: Verdict;
  readonly proposals: readonly Proposal[];
  readonly retry?: ReeveError | undefined;
  /** Names of the steps whose own `if` did not hold. */
  readonly unmatched?: readonly string[];
  /** Records that the commands of the event have been executed. */
  readonly claim?: () => Promise<void>;
};

/**
 * If the comment or review of the event was deleted, is too old, or cannot be read, returns a function that returns the
 * verdict for each rule; otherwise undefined.
 */
async function findStaleness(input: RunInput): Promise<((rule: LoadedRule) => EvaluatedRule) | undefined> {
  const { event, facts, now, maxAnnouncedAgeMs: maxAgeMs } = input;
  if (event === undefined || maxAgeMs === undefined) return undefined;
  try {
    const reason = await staleAnnouncement(event, facts, { now, maxAgeMs });
    return reason && ((rule) => ({ verdict: skipRule(rule, reason), proposals: [] }));
  } catch (error) {
    const reason = `the comment or review of the event cannot be read: ${messageOf(error)}`;
    const retry = error instanceof ReeveError && error.keepsWork ? error : undefined;
    return (rule) => ({ verdict: failRule(rule, reason), proposals: [], retry });
  }
}

/** Returns the context that a rule's actions receive besides the facts. */
function contextFor({ rule, meter }: Considered, input: RunInput, memory: ActionMemory): PlanContext {
  return {
    rule: rule.name,
    level: rule.level,
    acts: actsOf(rule),
    account: input.account,
    memory,
    trigger: triggerOf(input),
    secrets: input.secrets,
    queue: queueFor(rule, input),
    now: input.now,
    meter,
    isStatusOfOperator: input.isStatusOfOperator,
    covers: (action, branch) => coversAction(rule, { action, branch }, input.facts),
    barToRename: (name) => findBarToRename(rule, name, input),
    dryRun: input.mode !== 'enforce' || input.client === undefined || rule.mode !== 'enforce',
  };
}

/**
 * Returns the acts by people that the rule reads: texts that may be names of labels to set, and names of commands to
 * give.
 */
function actsOf(rule: LoadedRule): PlanContext['acts'] {
  if (!rule.steps.some(({ action }) => action.awaitsChecks)) return undefined;
  const texts = [
    ...(rule.condition?.texts ?? []),
    ...rule.steps.flatMap((step) => [...(step.condition?.texts ?? []), ...(step.arguments.texts ?? [])]),
  ];
  const commands = requestsOfRule(rule).flatMap(({ name, argument }) =>
    name === command.name && argument !== undefined ? [argument] : [],
  );
  return { texts, commands };
}

/** Returns a rule's access to the merge queue in this run. */
function queueFor(
  { id: rule }: LoadedRule,
  { queue: desk, facts, announcedBy, trigger }: RunInput,
): PlanContext['queue'] {
  const { repository } = facts.subject;
  if (desk === undefined || repository === undefined) return undefined;
  return { desk, rule, delivery: announcedBy ?? trigger.delivery, repository };
}

/**
 * Returns the identity of a trigger, which stays the same when a delivery is retried, a waiting rule is evaluated
 * again, or a sweep is resumed.
 */
function triggerOf({ id, announcedBy, trigger: { delivery }, facts }: RunInput): string {
  const { repository, index, ref } = facts.subject;
  // An event may affect many pull requests, and a job processes many items: each of these is a separate trigger.
  return `${announcedBy ?? delivery ?? id} ${repository?.id ?? ''}#${index ?? ref ?? ''}`;
}

/** Input of a run, with the head as it was before the first fact was read. */
type PinnedInput = RunInput & { readonly pin: HeadPin | undefined };

/** Evaluates a rule and plans its steps in order, from the same facts. A failed step ends the steps of the rule. */
async function evaluateOne(
  { rule, meter }: Considered,
  input: PinnedInput,
  context: PlanContext,
): Promise<EvaluatedRule> {
  const { facts, claim } = await useCommands(rule, input, context.memory);
  const evaluated = await planSteps({ rule, meter }, { ...input, facts }, context);
  const isExecuted = evaluated.verdict.verdict === 'matched' || evaluated.proposals.length > 0;
  const closed = await closeGates({ rule, evaluated }, { ...input, facts }, context);
  return isExecuted && !context.dryRun ? { ...closed, claim } : closed;
}

/**
 * If a rule failed, adds fallback proposals for its steps, as for a pull request that cannot be evaluated: an earlier
 * passing result, from another pull request or an earlier state, must not remain.
 */
async function closeGates(
  { rule, evaluated }: { readonly rule: LoadedRule; readonly evaluated: EvaluatedRule },
  { facts, pin }: PinnedInput,
  context: PlanContext,
): Promise<EvaluatedRule> {
  const { verdict, retry, proposals, unmatched = [] } = evaluated;
  if (verdict.verdict !== 'failed' || retry || facts.subject.kind !== 'pull_request') return evaluated;
  const closing: Proposal[] = [];
  for (const { name, action, arguments: given } of rule.steps) {
    if (!action.ofCommit || unmatched.includes(name) || proposals.some(({ step }) => step === name)) continue;
    const unjudged = action.ofCommit.unjudged(given.written);
    try {
      const planned = await action.plan(unjudged, facts, context);
      const changes = planned.filter(({ protects }) => protects === 'tightens');
      if (changes.length > 0)
        closing.push({ rule, step: name, action, arguments: unjudged, context, changes, pin });
    } catch (error) {
      if (error instanceof ReeveError && error.keepsWork) return { ...evaluated, retry: error };
      // The verdict already contains the failure of the rule. If the fallback cannot be planned, the commit has no
      // passing status, or the status cannot be read.
    }
  }
  return closing.length > 0 ? { ...evaluated, proposals: [...proposals, ...closing] } : evaluated;
}

async function planSteps(
  { rule, meter }: Considered,
  { event, item, facts, now, pulls, pin }: PinnedInput,
  context: PlanContext,
): Promise<EvaluatedRule> {
  const found = await evaluateRule(rule, { event, item, facts, now, meter });
  const unmatched = found.steps.flatMap(({ state, step }) => (state === 'unmatched' ? [step.name] : []));
  const evaluation = { ...found, unmatched };
  const proposals: Proposal[] = [];
  for (const resolved of evaluation.steps) {
    if (resolved.state === 'unmatched') continue;
    if (resolved.state === 'failed') return failStep(evaluation, proposals, resolved, resolved.reason);
    const { action, name } = resolved.step;
    meter.enter('the plan', `step ${name}`);
    try {
      await Promise.allSettled(action.facts(resolved.arguments).map((request) => facts.ask(request)));
      const planned = await action.plan(resolved.arguments, facts, context);
      const { written } = resolved.step.arguments;
      const changes: Change[] = [];
      for (const one of planned) {
        const own = { ...one, reason: reasonOf(action, one, written) };
        const joint = await judgeJointly(
          own,
          { rule, step: name, action, context },
          { facts, pulls, isAnew: false },
        );
        changes.push(joint.change);
      }
      proposals.push({ rule, step: name, action, arguments: resolved.arguments, context, changes, pin });
    } catch (error) {
      return failStep(evaluation, proposals, resolved, messageOf(error), error);
    }
  }
  return { ...evaluation, proposals };
}

function failStep(
  { verdict, retry: known, unmatched }: Evaluation & { readonly unmatched: readonly string[] },
  proposals: readonly Proposal[],
  { step }: ResolvedStep,
  reason: string,
  error?: unknown,
): EvaluatedRule {
  const retry = error instanceof ReeveError && error.keepsWork ? error : known;
  const code = error instanceof ReeveError ? { code: error.code } : {};
  const failed: Verdict = { ...verdict, verdict: 'failed', reason: `step ${step.name}: ${reason}`, ...code };
  return { verdict: failed, proposals, retry, unmatched };
}

/** The fields of a comment or review that are read. */
type Announced = {
  readonly created_at?: string | null | undefined;
  readonly submitted_at?: string | null | undefined;
  readonly issue_url?: string | null | undefined;
  readonly pull_request_url?: string | null | undefined;
};

/**
 * Event families about a comment or a review: the fact that reads this object, and whether an event announces a new
 * one.
 */
const announcing: Partial<
  Record<string, { readonly fact: FactRequest<Announced>; readonly isNew: (event: Event) => boolean }>
> = {
  issue_comment: { fact: requestOf(comment), isNew: ({ activity }) => activity === 'created' },
  pull_request_comment: { fact: requestOf(comment), isNew: ({ activity }) => activity === 'created' },
  pull_request_review: { fact: requestOf(review), isNew: () => true },
};

/**
 * Returns why an event about a comment or review must not trigger rules: the object was deleted (`gone`), or it is
 * announced as new although it is older than `maxAgeMs` (`too old`). A signature covers neither the time nor the id of
 * a delivery, so a recorded delivery can be replayed at any time; the age of the object reveals such a replay. Rejects
 * if the forge cannot answer.
 */
export async function staleAnnouncement(
  event: Event,
  facts: Facts,
  { now, maxAgeMs }: { readonly now: Date; readonly maxAgeMs: number },
): Promise<SkipReason | undefined> {
  const row = announcing[event.family ?? ''];
  // A deletion event is about an object that no longer exists.
  if (row === undefined || event.activity === 'deleted') return undefined;
  let announced: Announced;
  try {
    announced = await facts.ask(row.fact);
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return 'gone';
    throw error;
  }
  if (isElsewhere(announced, facts.subject.index)) return 'gone';
  const bornMs = Date.parse(announced.created_at ?? announced.submitted_at ?? '');
  return row.isNew(event) && now.getTime() - bornMs > maxAgeMs ? 'too old' : undefined;
}

/**
 * Returns whether a comment belongs to another issue. The forge finds a comment only by its id, across the whole
 * repository.
 */
function isElsewhere({ issue_url, pull_request_url }: Announced, index: number | undefined): boolean {
  const url = issue_url || pull_request_url || '';
  const [, number] = /\/(?:issues|pulls)\/(\d+)$/.exec(url) ?? [];
  return number !== undefined && Number(number) !== index;
}

/** Maximum number of characters of a condition quoted in a reason. */
const maxWords = 300;

/**
 * Returns the reason of a change in the words of the rule: the condition as written in the file, if the action provides
 * it or the step has a `when`; otherwise the reason that the action gives.
 */
function reasonOf(action: Action, change: Change, written: unknown): string {
  if (change.already) return change.reason;
  const own = action.words?.(change, written);
  if (own !== undefined) return shortenValue(own);
  const when = typeof written === 'object' && written !== null ? Reflect.get(written, 'when') : undefined;
  return typeof when === 'string'
    ? shortenValue(`${change.reason}, decided by when: ${when}`)
    : change.reason;
}

function shortenValue(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= maxWords ? line : `${line.slice(0, maxWords - 1)}…`;
}

/** The delivery for which a rule has executed the commands of a comment, stored in the memory. */
type Execution = { readonly delivery: string; readonly at: string };

/** Prefix of the memory keys of executions. The stored values have an instant `at`. */
export const executionPrefix = 'command ';

/** How a rule uses commands in one run. */
type CommandUse = {
  /** The facts of the run. They exclude the commands if the rule has already executed them for another delivery. */
  readonly facts: Facts;
  /**
   * Records that the rule has executed the commands of the comment, if there are any. Called before the first write.
   */
  readonly claim: () => Promise<void>;
};

/**
 * Returns how a rule uses the commands of the comment that caused the run. Commands are executed once per comment and
 * rule: a retried delivery, or a delivery whose rule was waiting, continues; another delivery of the same comment,
 * redelivered or replayed, does not execute them again.
 */
async function useCommands(
  rule: LoadedRule,
  { facts, event, announcedBy, trigger, id, now }: RunInput,
  memory: ActionMemory,
): Promise<CommandUse> {
  const { repository, comment } = facts.subject;
  const requests =
    event === undefined ? [] : requestsOfRule(rule).filter(({ name }) => name === command.name);
  if (requests.length === 0 || repository === undefined || comment === undefined) {
    return { facts, claim: async () => {} };
  }
  const key = `${executionPrefix}${repository.id}/${comment} ${rule.id}`;
  const delivery = announcedBy ?? trigger.delivery ?? id;
  const known = (await memory.get(key)) as Execution | undefined;
  if (known !== undefined && known.delivery !== delivery) {
    const reason = `this rule executed the commands of the comment at ${known.at}`;
    return { facts: withAnswer(facts, command.name, notFound(reason)), claim: async () => {} };
  }
  return {
    facts,
    async claim() {
      if (!(await isAnyFound(requests, facts))) return;
      const execution: Execution = { delivery, at: now.toISOString() };
      await memory.set(key, execution);
    },
  };
}

async function isAnyFound(requests: readonly FactRequest[], facts: Facts): Promise<boolean> {
  for (const { argument } of requests) {
    const answer = await facts.ask(requestOf(command, argument)).catch(() => undefined);
    if (answer?.found) return true;
  }
  return false;
}
