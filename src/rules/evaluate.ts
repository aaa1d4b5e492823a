import type { Event } from '../contract/events/events.ts';
import { readMember } from '../contract/events/payload-members.ts';
import type { FactRequest, Facts } from '../facts/fact.ts';
import { LimitExceeded, type Meter } from '../patterns/meter.ts';
import { ReeveError } from '../platform/errors.ts';
import { jointProspect } from './expressions/conditions.ts';
import { Learning } from './learning.ts';
import { isFiltered, listeningsFor, passesBranch, passesPaths } from './match.ts';
import type { Listening, LoadedRule, LoadedStep } from './rule.ts';
import type { Finding, SkipReason, Verdict } from './verdict.ts';

/** What a rule is held against. */
type RuleContext = {
  readonly facts: Facts;
  /** The event; absent where a clock or a person started the run. */
  readonly event?: Event | undefined;
  /** The item of `each`, by the name that conditions know it by (`{ notification: … }`, `{ runner: … }`). */
  readonly item?: Readonly<Record<string, unknown>> | undefined;
  readonly now: Date;
  /** What the rule's expressions and patterns are paid for by. */
  readonly meter: Meter;
  /** Whether filters on branches hold for the pull request as it is now as well: a write follows immediately. */
  readonly isBeforeWrite?: boolean;
};

/** A step once its rule matched. Only a `ready` one is planned. */
export type ResolvedStep =
  | { readonly step: LoadedStep; readonly state: 'ready'; readonly arguments: unknown }
  /** Its own `if` did not hold: nothing is touched. */
  | { readonly step: LoadedStep; readonly state: 'unmatched' }
  /** An expression of its own could not be known: it and the later steps of the rule write nothing. */
  | { readonly step: LoadedStep; readonly state: 'failed'; readonly reason: string };

/** A rule's verdict and, where it matched, its steps in order. */
export type Evaluation = {
  readonly verdict: Verdict;
  readonly steps: readonly ResolvedStep[];
  /** Set where something could not be known because of the forge and a later attempt may help: retry the delivery. */
  readonly retry?: ReeveError;
  /** Set where only checks or `mergeable` keep a step that awaits them from being taken. */
  readonly awaitsChecks?: true;
};

/** Returns the verdict on a rule that is not considered, without asking anything. */
export function skipRule(rule: LoadedRule, reason: SkipReason): Verdict {
  return { ...headOf(rule), verdict: 'skipped', reason, findings: [] };
}

/** Returns the verdict on a rule that could not be evaluated at all, for this reason. */
export function failRule(rule: LoadedRule, reason: string): Verdict {
  return { ...headOf(rule), verdict: 'failed', reason, findings: [] };
}

/**
 * Returns what a rule says in this situation. Facts are asked as far as the rule gets: those of its filters on paths,
 * then of its `if`, then of its steps; each time in parallel. A rule that fails has steps too where only some of them
 * failed: those before are planned. Never rejects.
 */
export async function evaluateRule(rule: LoadedRule, situation: RuleContext): Promise<Evaluation> {
  const { meter } = situation;
  const sees = rule.level === 'operator' ? 'all' : 'repository';
  const knowledge = new Learning(situation.facts, givenBy(situation), { sees, meter });
  meter.enter('on');
  const filtered = await filterPaths(rule, situation, knowledge);
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
  return resolveSteps(rule, { knowledge, meter }, findings);
}

function givenBy({ event, item, now }: RuleContext): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = { ...item, now };
  if (event) {
    given.event = event.payload;
    // An event found by catching up has no sender; conditions that need one fail and say so.
    given.sender = event.payload.sender ?? null;
  }
  return given;
}

const filesRequest: FactRequest = { name: 'files' };

/** Returns the end of a rule that a filter on paths leaves out, or undefined where it goes on. */
async function filterPaths(
  rule: LoadedRule,
  { event, meter, facts, isBeforeWrite = false }: RuleContext,
  knowledge: Learning,
): Promise<Evaluation | undefined> {
  if (event === undefined && (rule.schedules.length > 0 || rule.on.length === 0)) return undefined;
  const heard = event === undefined ? rule.on : listeningsFor(rule, event, meter);
  const isLive = event === undefined || isBeforeWrite;
  let listenings = heard;
  try {
    if (isLive) listenings = await passingNow(heard, { knowledge, meter, facts });
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

const pullRequest: FactRequest = { name: 'pull_request' };

/** Returns the entries of `on` whose filter on branches the pull request passes as it is now. */
async function passingNow(
  heard: readonly Listening[],
  { knowledge, meter, facts }: Pick<RuleContext, 'meter' | 'facts'> & { readonly knowledge: Learning },
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
    const { reason, cause } = failure ?? given ?? { reason: 'it could not be known' };
    steps.push({ step, state: 'failed', reason });
    failures.push({ reason: `step ${step.name}: ${reason}`, ...causeOf({ cause }) });
  }
  const worst = failures.find(({ cause }) => retryOf(cause)) ?? failures[0];
  if (worst) return failed(rule, findings, steps, failures[0]?.reason ?? worst.reason, worst.cause);
  const verdict: Verdict = { ...headOf(rule), verdict: 'matched', findings };
  return { verdict, steps, ...(await findAwaiting(rule, knowledge, meter)) };
}

/** Says whether a step that awaits checks would be taken if only those said otherwise. */
async function findAwaiting(
  rule: LoadedRule,
  knowledge: Learning,
  meter: Meter,
): Promise<Pick<Evaluation, 'awaitsChecks'>> {
  const steps = rule.steps.filter(({ action }) => action.awaitsChecks);
  if (steps.length === 0) return {};
  meter.enter('what it waits for');
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

function headOf({
  id,
  source,
  commit,
  line,
  level,
  revision,
}: LoadedRule): Pick<Verdict, 'rule' | 'source' | 'commit' | 'line' | 'level' | 'revision'> {
  return { rule: id, source, commit, line, level, revision };
}
