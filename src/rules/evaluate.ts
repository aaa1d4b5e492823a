import type { Event } from '../contract/events/events.ts';
import { isRecord, readMember } from '../contract/events/payload-members.ts';
import type { Subject } from '../contract/events/subject.ts';
import { type FactRequest, type Facts, factKey } from '../facts/fact.ts';
import { findFact } from '../facts/facts.ts';
import { narrowPayload } from '../facts/where.ts';
import { LimitExceeded, type Meter } from '../patterns/meter.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import { eventWords } from './automatic-events.ts';
import { judgeCommenter } from './commenter.ts';
import { jointProspect } from './expressions/conditions.ts';
import type { Knowledge, Known } from './expressions/types.ts';
import { isFiltered, listeningsFor, passesBranch, passesPaths } from './match.ts';
import { isAboutBoth, type Listening, type LoadedRule, type LoadedStep, subjectKindFor } from './rule.ts';
import type { Finding, SkipReason, Verdict } from './verdict.ts';

/** Input for evaluating a rule. */
type RuleContext = {
  readonly facts: Facts;
  /** The event; absent for scheduled and manual runs. */
  readonly event?: Event | undefined;
  /** The item of `each`, under the name that conditions use (`{ notification: … }`, `{ runner: … }`). */
  readonly item?: Readonly<Record<string, unknown>> | undefined;
  readonly now: Date;
  /** Meter charged for the rule's expressions and patterns. */
  readonly meter: Meter;
  /**
   * Whether branch filters must also match the current state of the pull request, because a write follows immediately.
   */
  readonly isBeforeWrite?: boolean;
};

/** A step of a rule, with the result of evaluating its conditions. Only `ready` steps are planned. */
export type ResolvedStep =
  | { readonly step: LoadedStep; readonly state: 'ready'; readonly arguments: unknown }
  /** The `if` of the step does not hold, so the step changes nothing. */
  | { readonly step: LoadedStep; readonly state: 'unmatched' }
  /** An expression of the step failed, so this step and the later steps of the rule write nothing. */
  | { readonly step: LoadedStep; readonly state: 'failed'; readonly reason: string };

/** A rule's verdict and, if it matched, its steps in order. */
export type Evaluation = {
  readonly verdict: Verdict;
  readonly steps: readonly ResolvedStep[];
  /**
   * Set if an error of the forge prevented the evaluation and a later attempt may succeed; the delivery should be
   * retried.
   */
  readonly retry?: ReeveError;
  /** Set if a step that waits for checks is blocked only by checks or `mergeable`. */
  readonly awaitsChecks?: true;
};

/** Returns the verdict of a skipped rule. Makes no requests. */
export function skipRule(rule: LoadedRule, reason: SkipReason): Verdict {
  // A thousand skipped rules in a record do not need their events.
  const { automatic: _automatic, ...head } = headOf(rule);
  return { ...head, verdict: 'skipped', reason, findings: [] };
}

/** Returns the verdict of a rule that could not be evaluated, with the reason. */
export function failRule(rule: LoadedRule, reason: string): Verdict {
  return { ...headOf(rule), verdict: 'failed', reason, findings: [] };
}

/**
 * Evaluates a rule. Facts are fetched in stages: first for path filters, then for `if`, then for the steps. Each stage
 * is fetched in parallel, and only if the evaluation reaches it. If only some steps fail, the failed rule has steps
 * nevertheless, and the steps before the failed ones are planned. Never rejects.
 */
export async function evaluateRule(rule: LoadedRule, situation: RuleContext): Promise<Evaluation> {
  const { facts, meter } = situation;
  const sees = rule.level === 'operator' ? 'all' : 'repository';
  const absent = isAboutBoth(rule) && facts.subject.kind === 'pull_request' ? 'issue' : undefined;
  const knowledge = new Learning(facts, givenBy(situation), { sees, meter, absent });
  meter.enter('on');
  const filtered =
    (await filterPaths(rule, situation, knowledge)) ?? (await filterState(rule, situation, knowledge));
  if (filtered) return filtered;
  const findings: Finding[] = [];
  if (rule.condition) {
    meter.enter('if');
    await knowledge.learn(rule.condition.facts);
    const answer = rule.condition.evaluate(knowledge, meter);
    findings.push(...answer.findings);
    if (answer.result === 'error') return failed(rule, findings, [], answer.reason ?? '', answer.cause);
    if (answer.result === 'not') {
      const verdict: Verdict = { ...headOf(rule), verdict: 'unmatched', findings };
      return { verdict, steps: [], ...(await findAwaiting(rule, knowledge, meter)) };
    }
  }
  const commenter = rule.permission && (await judgeCommenter(rule, situation));
  if (commenter !== undefined) findings.push(commenter.finding);
  if (commenter?.result === 'error') return failed(rule, findings, [], commenter.reason, commenter.cause);
  if (commenter?.result === 'not')
    return { verdict: { ...headOf(rule), verdict: 'unmatched', findings }, steps: [] };
  return resolveSteps(rule, { knowledge, meter }, findings);
}

function givenBy({
  event,
  item = {},
  now,
  facts,
  isBeforeWrite,
}: RuleContext): Readonly<Record<string, unknown>> {
  // Listed a while ago: before a write, what the forge can return again is requested.
  const isStale = (name: string): boolean =>
    isBeforeWrite === true && findFact(name)?.of.includes(facts.subject.kind) === true;
  const listed = Object.entries(item).filter(([name]) => !isStale(name));
  const given: Record<string, unknown> = { ...Object.fromEntries(listed), now };
  if (event) {
    given.event = event.payload;
    // An event found by catch-up has no sender; conditions that need the sender fail for that reason.
    given.sender = event.payload.sender ?? null;
  }
  return given;
}

const filesRequest: FactRequest = { name: 'files' };

/** Returns the evaluation of a rule that a filter excludes, or undefined if the evaluation continues. */
async function filterPaths(
  rule: LoadedRule,
  situation: RuleContext,
  knowledge: Learning,
): Promise<Evaluation | undefined> {
  const { event, meter, isBeforeWrite = false } = situation;
  if (event === undefined && (rule.schedules.length > 0 || rule.on.length === 0)) return undefined;
  const { kind } = situation.facts.subject;
  // Without an event, the entries about the subject count: others have no filters that it could pass.
  const heard =
    event === undefined
      ? rule.on.filter(({ family }) => subjectKindFor(rule, family) === kind)
      : listeningsFor(rule, event, meter);
  const isLive = event === undefined || isBeforeWrite;
  let listenings = heard;
  try {
    if (isLive) listenings = await passingNow(heard, situation, knowledge);
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    return { verdict: failRule(rule, `branches: ${error.message}`), steps: [] };
  }
  if (listenings.some(({ paths, pathsIgnore }) => !paths && !pathsIgnore)) return undefined;
  if (listenings.length === 0) return { verdict: skipRule(rule, 'filter'), steps: [] };
  await knowledge.learn([filesRequest]);
  const known = knowledge.find(filesRequest);
  if (known === undefined || 'error' in known) {
    return failed(rule, [], [], `paths: ${known?.error.message ?? 'files are not known'}`, known?.error);
  }
  try {
    if (listenings.some((listening) => passesPaths(listening, known.value, meter))) return undefined;
  } catch (error) {
    if (error instanceof LimitExceeded)
      return { verdict: failRule(rule, `paths: ${error.message}`), steps: [] };
    throw error;
  }
  return { verdict: skipRule(rule, 'filter'), steps: [] };
}

/** Returns the evaluation of a rule with `on: auto` whose `each` excludes the live state of the item. */
async function filterState(
  rule: LoadedRule,
  { facts }: RuleContext,
  knowledge: Learning,
): Promise<Evaluation | undefined> {
  const wanted = rule.each?.find(({ kind }) => kind === facts.subject.kind)?.state;
  if (rule.automatic === undefined || wanted === undefined || wanted === 'all') return undefined;
  const request: FactRequest = { name: facts.subject.kind };
  await knowledge.learn([request]);
  const known = knowledge.find(request);
  if (known === undefined || 'error' in known)
    return failed(rule, [], [], `each: ${known?.error.message ?? 'the state is not known'}`, known?.error);
  // Forges always send the state. A rule test or what-if may leave it out; the item then counts as open.
  const state =
    isRecord(known.value) && !Object.hasOwn(known.value, 'state') ? 'open' : readMember(known.value, 'state');
  return state === wanted ? undefined : { verdict: skipRule(rule, 'state'), steps: [] };
}

const pullRequest: FactRequest = { name: 'pull_request' };

/** Returns the entries of `on` whose branch filters match the current base branch of the pull request. */
async function passingNow(
  heard: readonly Listening[],
  { meter, facts }: RuleContext,
  knowledge: Learning,
): Promise<readonly Listening[]> {
  if (facts.subject.kind !== 'pull_request' || !heard.some(isFiltered)) return heard;
  await knowledge.learn([pullRequest]);
  const known = knowledge.find(pullRequest);
  const pull: unknown = known !== undefined && 'value' in known ? known.value : undefined;
  const base: unknown = readMember(readMember(pull, 'base'), 'ref');
  return heard.filter((listening) => typeof base === 'string' && passesBranch(listening, base, meter));
}

async function resolveSteps(
  rule: LoadedRule,
  { knowledge, meter }: { readonly knowledge: Learning; readonly meter: Meter },
  findings: Finding[],
): Promise<Evaluation> {
  await knowledge.learn(rule.steps.flatMap((step) => step.condition?.facts ?? []));
  const answers = rule.steps.map((step) => {
    meter.enter('if', `step ${step.name}`);
    return { step, answer: step.condition?.evaluate(knowledge, meter) };
  });
  const speaking = answers.filter(({ answer }) => answer === undefined || answer.result === 'held');
  await knowledge.learn(speaking.flatMap(({ step }) => step.arguments.facts));
  const steps: ResolvedStep[] = [];
  const failures: { readonly reason: string; readonly cause?: Error }[] = [];
  for (const { step, answer } of answers) {
    findings.push(...(answer?.findings ?? []));
    if (answer?.result === 'not') {
      steps.push({ step, state: 'unmatched' });
      continue;
    }
    const failure =
      answer?.result === 'error' ? { reason: answer.reason ?? '', ...causeOf(answer) } : undefined;
    const given = failure ? undefined : step.arguments.resolve(knowledge, meter, `step ${step.name}`);
    findings.push(...(given?.findings ?? []));
    if (given?.ok) {
      steps.push({ step, state: 'ready', arguments: given.value });
      continue;
    }
    const { reason, cause } = failure ?? given ?? { reason: 'it could not be evaluated' };
    steps.push({ step, state: 'failed', reason });
    failures.push({ reason: `step ${step.name}: ${reason}`, ...causeOf({ cause }) });
  }
  const worst = failures.find(({ cause }) => retryOf(cause)) ?? failures[0];
  if (worst) return failed(rule, findings, steps, failures[0]?.reason ?? worst.reason, worst.cause);
  const verdict: Verdict = { ...headOf(rule), verdict: 'matched', findings };
  return { verdict, steps, ...(await findAwaiting(rule, knowledge, meter)) };
}

/** Returns whether a step that waits for checks would run if only the checks or `mergeable` had a different result. */
async function findAwaiting(
  rule: LoadedRule,
  knowledge: Learning,
  meter: Meter,
): Promise<{ readonly awaitsChecks?: true }> {
  const steps = rule.steps.filter(({ action }) => action.awaitsChecks);
  if (steps.length === 0) return {};
  meter.enter('the checks that it waits for');
  await knowledge.learn(
    steps.flatMap(({ condition, arguments: given }) => [...(condition?.facts ?? []), ...given.facts]),
  );
  const isAwaiting = steps.some(({ condition, arguments: given }) => {
    const parts = [rule.condition, condition, given];
    return jointProspect(parts.map((part) => part?.prospect?.(knowledge, meter) ?? 'held')) === 'awaits';
  });
  return isAwaiting ? { awaitsChecks: true } : {};
}

function causeOf({ cause }: { readonly cause?: Error | undefined }): { readonly cause?: Error } {
  return cause === undefined ? {} : { cause };
}

function failed(
  rule: LoadedRule,
  findings: readonly Finding[],
  steps: readonly ResolvedStep[],
  reason: string,
  cause: Error | undefined,
): Evaluation {
  const retry = retryOf(cause);
  const code = cause instanceof ReeveError ? { code: cause.code } : {};
  return {
    verdict: { ...headOf(rule), verdict: 'failed', reason, ...code, findings },
    steps,
    ...(retry && { retry }),
  };
}

function retryOf(cause: Error | undefined): ReeveError | undefined {
  return cause instanceof ReeveError && cause.keepsWork ? cause : undefined;
}

function headOf({ id, source, commit, line, level, revision, isLastValid, automatic }: LoadedRule) {
  return {
    ...{ rule: id, source, commit, line, level, revision },
    ...(isLastValid ? { isLastValid } : {}),
    ...(automatic && { automatic: eventWords(automatic) }),
  };
}

/** The narrowed payload of each event, so that a payload is narrowed only once for all rules of a run. */
const narrowedPayloads = new WeakMap<Subject, { readonly of: object; readonly payload: object }>();

function narrowedOnce(payload: object, subject: Subject): object {
  const known = narrowedPayloads.get(subject);
  if (known?.of === payload) return known.payload;
  const narrowed = narrowPayload(payload, subject);
  narrowedPayloads.set(subject, { of: payload, payload: narrowed });
  return narrowed;
}

/**
 * The values known to one rule in one run: the given values, and the facts fetched so far. Facts are fetched in
 * parallel and only once. If a fact cannot be fetched, the error is cached, and only the conditions that depend on this
 * fact fail.
 */
export class Learning implements Knowledge {
  readonly #facts: Facts;
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #sees: 'all' | 'repository';
  readonly #absent: string | undefined;
  readonly #meter: Meter | undefined;
  readonly #known = new Map<string, Known>();

  /**
   * `sees`: `all` data, or only data that anyone with write access to the repository may read. `meter` is charged for
   * evaluation inside facts. `absent`: a fact that the rule does not see for this subject, although the subject has it.
   */
  constructor(
    facts: Facts,
    given: Readonly<Record<string, unknown>>,
    {
      sees = 'all',
      meter,
      absent,
    }: {
      readonly sees?: 'all' | 'repository';
      readonly meter?: Meter;
      readonly absent?: string | undefined;
    } = {},
  ) {
    this.#facts = facts;
    this.#sees = sees;
    this.#absent = absent;
    // Narrowed like a fact: the item of a sweep is a fact that was read as part of a list.
    this.#given = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, this.#narrowed(name, value)]),
    );
    this.#meter = meter;
  }

  /** Fetches those of the facts that are not known yet. */
  async learn(requests: readonly FactRequest[]): Promise<void> {
    const missing = requests.filter((request) => this.find(request) === undefined);
    if (missing.length === 0) return;
    // A fact that the response for another fact may contain is read after that fact, which may save a request.
    const held = missing.filter(({ name }) => findFact(name)?.within);
    const others = missing.filter((request) => !held.includes(request));
    await Promise.all([...others, ...held].map((request) => this.#ask(request)));
  }

  find(request: FactRequest): Known | undefined {
    if (request.name === this.#absent) {
      const message = `a ${this.#facts.subject.kind} has no ${request.name}`;
      return { error: new ReeveError('forge-not-found', message) };
    }
    if (request.argument === undefined && Object.hasOwn(this.#given, request.name)) {
      return { value: this.#given[request.name] };
    }
    return this.#known.get(factKey(request));
  }

  async #ask(request: FactRequest): Promise<void> {
    try {
      const value = await this.#facts.ask(request);
      // The fact is fetched once for all rules, but charged to each rule that reads it, so that the limits of a rule do
      // not depend on other rules.
      const cost = this.#facts.costOf(request);
      if (cost > 0) this.#meter?.enter(`the fact ${factKey(request)}`);
      this.#meter?.charge(cost);
      this.#known.set(factKey(request), { value: this.#narrowed(request.name, value) });
    } catch (error) {
      const reason = error instanceof Error ? error : new ReeveError('internal', messageOf(error));
      this.#known.set(factKey(request), { error: reason });
    }
  }

  #narrowed(name: string, value: unknown): unknown {
    // The operator's rules also get the narrowed payload, because the dashboard shows its values to everyone who may
    // read the subject.
    if (name === 'event' && typeof value === 'object' && value !== null)
      return narrowedOnce(value, this.#facts.subject);
    const { narrow, narrowsForAll } = findFact(name) ?? {};
    if (narrow === undefined || (this.#sees === 'all' && !narrowsForAll)) return value;
    return typeof value === 'object' && value !== null ? narrow(value, this.#facts.subject) : value;
  }
}
