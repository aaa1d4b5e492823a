import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Event, parseEvent } from '../../../contract/events/events.ts';
import { isRecord } from '../../../contract/events/payload-members.ts';
import type { Subject, SubjectKind } from '../../../contract/events/subject.ts';
import { makeEventRun, makeItemRun } from '../../../engine/make-run.ts';
import type { FactRequest, Facts } from '../../../facts/fact.ts';
import { createGivenFacts, FactNotGiven, type Gap, mergeGiven } from '../../../facts/given-facts.ts';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import { completeCase, ownAccount } from '../../../rules/case-values.ts';
import type { PackReader } from '../../../rules/files/packs.ts';
import type { Problem } from '../../../rules/problem.ts';
import { createRuleSet, type LoadedRule, runsForConcerned, visits } from '../../../rules/rule.ts';
import {
  type CaseRun,
  findMissing,
  loadRuleTests,
  type Missing,
  type RuleCase,
  runRuleTests,
  type TestedFile,
} from '../../../rules/rule-tests.ts';
import { type FolderFile, loadFolderFile, loadRuleFiles } from '../../../rules/sources/folder.ts';
import { count } from '../../output/terminal.ts';
import { readData } from '../read-data.ts';

/** Message for paths that contain rules but no tests. */
export const noRuleTest =
  'no rule test was found: write NAME.test.yml beside NAME.yml; docs/rule-tests.md has examples';

/** Result of the rule tests beside rule files. */
type RuleTestReport = Awaited<ReturnType<typeof runRuleTests>> & {
  /** Problems of rule files and test files. */
  readonly problems: readonly Problem[];
  readonly failed: Awaited<ReturnType<typeof runRuleTests>>['results'];
  /** One-line summary of cases and coverage. */
  readonly summary: string;
};

/**
 * Runs the rule tests beside the rule files at these paths, which may also be paths of test files. `offered`: the packs
 * that a repository's file may include by name. `beforeCase` is awaited before each case is loaded and run; its
 * rejection is passed on.
 */
export async function testRules(
  given: readonly string[],
  offered?: PackReader,
  options: { readonly beforeCase?: () => Promise<void>; readonly isOperators?: boolean } = {},
): Promise<RuleTestReport> {
  const { beforeCase, isOperators = false } = options;
  const paths = given.map((path) => path.replace(/\.test(\.ya?ml)$/, '$1'));
  const files = await loadRuleFiles(paths, { withPacks: true, offered, isOperators });
  const tested: TestedFile[] = [];
  const problems = files.flatMap((file) => file.problems);
  for (const file of files) {
    const path = file.path.replace(/(\.ya?ml)$/, '.test$1');
    const text = await readFile(path, 'utf8').catch(() => undefined); // No test file: its rules count as not reached.
    const loaded = text === undefined ? { cases: [], problems: [] } : loadRuleTests({ path, text });
    problems.push(...loaded.problems);
    const { files: withParameters, problems: misfits } = await testedWith(file, {
      path,
      cases: loaded.cases,
      offered,
      isOperators,
      beforeCase,
    });
    problems.push(...misfits);
    tested.push(...withParameters);
  }
  const { results, unreached } = await runRuleTests({ files: tested, run: runCase, beforeCase });
  const failed = results.filter(({ differences }) => differences.length > 0);
  const rules = [...new Map(tested.flatMap((file) => file.rules).map((rule) => [rule.id, rule])).values()];
  const steps = rules.flatMap((rule) => rule.steps).length;
  const summary = `${count(results.length - failed.length, 'case')} passed, ${failed.length} failed; reached ${rules.length - unreached.rules.length} of ${count(rules.length, 'rule')}, ${steps - unreached.steps.length} of ${count(steps, 'step')}`;
  return { results, unreached, problems, failed, summary };
}

/** Returns the cases with their rules. For a case with different parameters, the file is loaded again. */
async function testedWith(
  file: FolderFile,
  {
    path,
    cases,
    offered,
    isOperators,
    beforeCase,
  }: {
    readonly path: string;
    readonly cases: readonly RuleCase[];
    readonly offered: PackReader | undefined;
    readonly isOperators: boolean;
    readonly beforeCase: (() => Promise<void>) | undefined;
  },
): Promise<{ readonly files: readonly TestedFile[]; readonly problems: readonly Problem[] }> {
  const loaded = new Map<string, FolderFile>([['{}', file]]);
  const files: TestedFile[] = [{ path, cases: [], rules: file.rules }];
  for (const one of cases) {
    await beforeCase?.();
    const key = JSON.stringify(one.parameters);
    const fitting =
      loaded.get(key) ?? (await loadFolderFile(file, { offered, isOperators, parameters: one.parameters }));
    loaded.set(key, fitting);
    files.push({ path, cases: [one], rules: fitting.rules });
  }
  loaded.delete('{}');
  return { files, problems: [...loaded.values()].flatMap(({ problems }) => problems) };
}

/** Plans a case with the engine of the server, but without a forge and only from the given facts. */
export async function runCase(written: RuleCase, file: TestedFile): Promise<CaseRun> {
  const payload = written.file === undefined ? written.payload : await readRecorded(written.file, file);
  const one = completeCase({ ...written, ...(payload && { payload }) }, file.rules);
  const about = one.item ? aboutItem(one.item, one) : aboutEvent(one, file);
  const rules = file.rules.filter(about.isConcerned);
  if (rules.length === 0 && one.item)
    throw new Error(`no rule of the file has a schedule with each: ${one.item.kind}`);
  const { run, proposals = [] } = await about.run(rules);
  const unneeded = proposals.flatMap(({ rule, step, action, arguments: given, changes }) =>
    changes
      .filter(({ already }) => already)
      .map((change) => {
        const { written } = rule.steps.find(({ name }) => name === step)?.arguments ?? { written: given };
        const words = action.words?.(change, written);
        const reason = words === undefined ? change.reason : `${change.reason}: ${words}`;
        return { rule: rule.id, step, target: change.target, reason };
      }),
  );
  const failed = new Set(run.rules.filter(({ verdict }) => verdict === 'failed').map(({ rule }) => rule));
  const missing: Missing[] = [];
  for (const rule of rules.filter(({ id }) => failed.has(id))) {
    const gaps: Gap[] = [];
    const note = (gap: Gap): number => gaps.push(gap);
    await about.run([rule], note);
    // A placeholder decides nothing: what the steps read behind a condition is missing as well.
    if (gaps.length > 0) await about.run([withoutConditions(rule)], note);
    missing.push(...(await findMissing(rule, gaps, isGivenIn(about.facts))));
  }
  return { ...run, unneeded, missing };
}

function withoutConditions({ condition: _, permission: _permission, ...rule }: LoadedRule): LoadedRule {
  return { ...rule, steps: rule.steps.map(({ condition: _condition, ...step }) => step) };
}

function isGivenIn(facts: Facts): (request: FactRequest) => Promise<boolean> {
  return (request) =>
    facts.ask(request).then(
      () => true,
      (error: unknown) => !(error instanceof FactNotGiven),
    );
}

/** What a case is about: how rules run for it, and which of them do. */
type CaseSubject = {
  readonly isConcerned: (rule: LoadedRule) => boolean;
  readonly run: (rules: readonly LoadedRule[], onGap?: (gap: Gap) => void) => ReturnType<typeof makeItemRun>;
  readonly facts: Facts;
};

const request = { id: 'test', mode: 'plan', door: 'cli' } as const;

function aboutItem({ kind, value }: NonNullable<RuleCase['item']>, one: RuleCase): CaseSubject {
  const item = Object.hasOwn(one.facts, kind) ? mergeGiven(value, one.facts[kind]) : value;
  const given = { ...one.facts, [kind]: item };
  const subject = subjectOfItem(kind, value);
  const placeOf = (name: string): string => (Object.hasOwn(one.facts, name) ? 'facts' : 'item');
  const common = { given, placeOf, others: one.others, account: async () => ownAccount, clock: clockOf(one) };
  return {
    isConcerned: (rule) => rule.schedules.length > 0 && visits(rule, kind),
    run: (rules, onGap) =>
      makeItemRun(
        { subject, value: { [kind]: item } },
        { ...request, rules: createRuleSet(rules) },
        { ...common, onGap },
      ),
    facts: createGivenFacts({ subject, given }),
  };
}

function readRecorded(path: string, file: TestedFile) {
  return readData(join(dirname(file.path), path));
}

function aboutEvent(one: RuleCase, file: TestedFile): CaseSubject {
  const event = aboutPull(parseEvent(one.eventType, one.payload ?? {}), one, file);
  const given = one.facts;
  const placeOf = (_: string, isStandIn: boolean): string => (isStandIn ? 'event.payload' : 'facts');
  const common = { given, placeOf, others: one.others, clock: clockOf(one) };
  const subject = event.subject ?? { kind: 'repository' };
  return {
    isConcerned: () => true,
    run: (rules, onGap) =>
      makeEventRun(event, { ...request, rules: createRuleSet(rules) }, { ...common, onGap }),
    facts: createGivenFacts({ subject, given, payload: event.payload }),
  };
}

function clockOf({ now }: RuleCase): Clock {
  return { ...systemClock, now: () => now ?? new Date() };
}

/**
 * Returns the event of a case. If a rule runs for the pull requests that the event concerns, and the case gives a pull
 * request, the subject is that pull request.
 */
function aboutPull(event: Event, { facts }: RuleCase, { rules }: TestedFile): Event {
  const { family, repository } = event;
  const pull = facts.pull_request;
  if (family === undefined || !isRecord(pull)) return event;
  if (!rules.some((rule) => runsForConcerned(rule, family))) return event;
  const index = typeof pull.number === 'number' ? pull.number : 1;
  return { ...event, subject: { kind: 'pull_request', ...(repository ? { repository } : {}), index } };
}

/** Returns the subject of an item, as far as the fields of the item determine it. */
function subjectOfItem(kind: SubjectKind, value: Readonly<Record<string, unknown>>): Subject {
  const holder = kind === 'repository' ? value : value.repository;
  const { full_name, id = 1 } = (typeof holder === 'object' && holder !== null ? holder : {}) as {
    full_name?: unknown;
    id?: unknown;
  };
  const [owner, name] = typeof full_name === 'string' ? full_name.split('/') : [];
  const organization = kind === 'organization' ? value.name : value.owner;
  return {
    kind,
    ...(owner && name ? { repository: { id: Number(id), owner, name } } : {}),
    ...(typeof value.number === 'number' ? { index: value.number } : {}),
    ...(kind === 'branch' && typeof value.name === 'string' ? { ref: value.name } : {}),
    ...(kind === 'milestone' && typeof value.id === 'number' ? { milestone: value.id } : {}),
    ...(kind === 'notification' && typeof value.id === 'number' ? { thread: value.id } : {}),
    ...(typeof organization === 'string' && !organization.includes('/') ? { organization } : {}),
  };
}
