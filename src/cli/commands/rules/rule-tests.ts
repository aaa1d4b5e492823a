import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Event, parseEvent } from '../../../contract/events/events.ts';
import { isRecord } from '../../../contract/events/payload-members.ts';
import type { Subject, SubjectKind } from '../../../contract/events/subject.ts';
import { makeEventRun, makeItemRun } from '../../../engine/make-run.ts';
import type { FactRequest, Facts } from '../../../facts/fact.ts';
import { createGivenFacts, FactNotGiven, mergeGiven } from '../../../facts/given-facts.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { PackReader } from '../../../rules/files/packs.ts';
import type { Problem } from '../../../rules/problem.ts';
import { createRuleSet, runsForConcerned, visits } from '../../../rules/rule.ts';
import {
  type CaseRun,
  findMissingFacts,
  loadRuleTests,
  type MissingFact,
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
async function runCase(one: RuleCase, file: TestedFile): Promise<CaseRun> {
  const clock = { ...systemClock, now: () => one.now ?? new Date() };
  const asked: FactRequest[] = [];
  const onMissing = (request: FactRequest): number => asked.push(request);
  const common = { id: 'test', mode: 'plan', door: 'cli' } as const;
  if (one.item) {
    const { kind, value } = one.item;
    const rules = file.rules.filter((rule) => rule.schedules.length > 0 && visits(rule, kind));
    if (rules.length === 0) throw new Error(`no rule of the file has a schedule with each: ${kind}`);
    const item = Object.hasOwn(one.facts, kind) ? mergeGiven(value, one.facts[kind]) : value;
    const given = { ...one.facts, [kind]: item };
    const subject = subjectOfItem(kind, value);
    const placeOf = (name: string): string => (Object.hasOwn(one.facts, name) ? 'facts' : 'item');
    const { run } = await makeItemRun(
      { subject, value: { [kind]: item } },
      { ...common, rules: createRuleSet(rules) },
      { given, placeOf, onMissing, others: one.others, account: async () => ({ id: 1 }), clock },
    );
    return { ...run, missing: await missingOf(run, file, asked, createGivenFacts({ subject, given })) };
  }
  const payload = one.payload ?? (await readData(join(dirname(file.path), one.file ?? '')));
  const event = aboutItem(parseEvent(one.eventType, payload), one, file);
  const given = one.facts;
  const placeOf = (_: string, isStandIn: boolean): string => (isStandIn ? 'event.payload' : 'facts');
  const { run } = await makeEventRun(
    event,
    { ...common, rules: createRuleSet(file.rules) },
    { given, placeOf, onMissing, others: one.others, clock },
  );
  const subject = event.subject ?? { kind: 'repository' };
  const facts = createGivenFacts({ subject, given, payload: event.payload });
  return { ...run, missing: await missingOf(run, file, asked, facts) };
}

/** Returns the facts that failed rules read but the case does not provide. */
async function missingOf(
  run: CaseRun,
  { rules }: TestedFile,
  asked: readonly FactRequest[],
  facts: Facts,
): Promise<readonly MissingFact[]> {
  if (asked.length === 0) return [];
  const isGiven = (request: FactRequest): Promise<boolean> =>
    facts.ask(request).then(
      () => true,
      (error: unknown) => !(error instanceof FactNotGiven),
    );
  const failed = run.rules.filter(({ verdict }) => verdict === 'failed').map(({ rule }) => rule);
  return findMissingFacts(
    rules.filter(({ id }) => failed.includes(id)),
    asked,
    isGiven,
  );
}

/**
 * Returns the event of a case. If a rule runs for the pull requests that the event concerns, and the case gives a pull
 * request, the subject is that pull request.
 */
function aboutItem(event: Event, { facts }: RuleCase, { rules }: TestedFile): Event {
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
