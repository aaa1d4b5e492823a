import {
  formerContextOf,
  isOfContext,
  levelOfContext,
  statusContextOf,
} from '../../../actions/status-context.ts';
import type { Client } from '../../../client/client.ts';
import { isRecord } from '../../../contract/events/payload-members.ts';
import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import { requiredChecks } from '../../../facts/statuses.ts';
import { compileForgeGlob, createGlob } from '../../../patterns/glob.ts';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import { Re2Compiler } from '../../../patterns/re2.ts';
import { ReeveError } from '../../../platform/errors.ts';
import {
  type Comparison,
  comparisonsIn,
  conditionTreesOf,
  ruleTreesOf,
  statusContextsOf,
} from '../../../rules/files/warnings.ts';
import { isInScope } from '../../../rules/match.ts';
import { requestsOfRule } from '../../../rules/needs.ts';
import { nearest, type Problem, problemAtLine } from '../../../rules/problem.ts';
import type { LoadedRule, LoadedStep } from '../../../rules/rule.ts';
import { findBlindSpots } from '../../../work/alarms/blind-spots.ts';
import { type CheckedForge, readExamined, readServed } from '../../../work/served.ts';
import { toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';
import { count } from '../../output/terminal.ts';

/** Maximum number of commits of the default branch, and of pull request heads, examined per repository. */
const commitsOfEachKind = 10;
/** Maximum number of statuses examined per commit, newest first. Every 50 statuses cost one request. */
const statusesOfCommit = 200;
/** Maximum number of commits examined in all repositories together; further repositories are skipped. */
const maxCommits = 300;

/** The name of a status, or a pattern of names. */
type Wanted = {
  readonly text: string;
  readonly isName: boolean;
  readonly matches: (context: string) => boolean;
};

/** Where a status is required: a line of a rule, or a branch of a repository. */
type Waiting = {
  readonly wanted: Wanted;
  readonly by: { readonly rule: LoadedRule; readonly line: number } | { readonly branch: string };
};

/** Result of reading a repository: the number of commits, and the names of their statuses. */
type Seen = { readonly commits: number; readonly names: ReadonlySet<string> };

/**
 * Returns a warning for each status that a rule, or the protection of a rule's merge target, requires although no
 * recent commit of a repository has it. Recent commits are the newest of the default branch and the heads of the most
 * recently changed pull requests. Statuses written by rules count as known. Repositories that have no commits or cannot
 * be read are skipped.
 */
export async function missingContexts(
  rules: readonly LoadedRule[],
  checked: CheckedForge,
): Promise<readonly Problem[]> {
  const { client, repositories, textOf } = checked;
  const judged = rules.filter(({ level }) => level === 'operator' || repositories.length > 0);
  const named = judged.flatMap(waitingIn);
  const merging = judged.filter(waitsForRequired);
  if (named.length === 0 && merging.length === 0) return [];
  const isOurs = createOwn(rules);
  const warnings = new Map<string, { readonly problem: Problem; readonly others: string[] }>();
  let left = maxCommits;
  for (const repository of (await orNothing(examinedRefs(checked))) ?? []) {
    const name = `${repository.owner}/${repository.name}`;
    const subject: Subject = { kind: 'repository', repository };
    const covers = (rule: LoadedRule): boolean => isInScope(rule, subject, createUnlimitedMeter());
    const required = merging.some(covers) ? await requiredIn(client, repository) : [];
    const waiting = [
      ...named.filter(({ by }) => covers(by.rule)),
      ...required.flatMap(([branch, contexts]) =>
        contexts.flatMap(requiredName).map((wanted) => ({ wanted, by: { branch } })),
      ),
    ].filter(({ wanted }) => !isOurs(wanted));
    if (waiting.length === 0) continue;
    if (left <= 0) break;
    const wanted = waiting.map((one) => one.wanted);
    const seen = await recentContexts(client, repository, { wanted, atMost: left });
    left -= seen.commits;
    if (seen.commits === 0) continue;
    for (const one of waiting.filter(({ wanted: { matches } }) => ![...seen.names].some(matches))) {
      const problem = problemOf(one, name, seen, textOf);
      const key = JSON.stringify([problem.path, problem.line, 'branch' in one.by, one.wanted.text]);
      const before = warnings.get(key);
      if (before) before.others.push(name);
      else warnings.set(key, { problem, others: [] });
    }
  }
  return [...warnings.values()].map(({ problem, others }) =>
    others.length === 0
      ? problem
      : { ...problem, message: `${problem.message}; the same in ${listed(others)}` },
  );
}

/** Returns whether a rule acts only after the checks that the base branch requires have passed. */
function waitsForRequired(rule: LoadedRule): boolean {
  const asks = requestsOfRule(rule).some(({ name }) => name === requiredChecks.name);
  return asks || rule.steps.some(({ action }) => action.name === 'merge' || action.name === 'queue-merge');
}

/**
 * Returns a predicate for statuses that rules write or may write. If no rules of a level are given, every status of
 * that level counts as written.
 */
function createOwn(rules: readonly LoadedRule[]): (wanted: Wanted) => boolean {
  const written = rules.flatMap(statusContextsOf);
  return ({ text, isName, matches }) => {
    if (written.some((context) => isOfContext(text, context) || (!isName && matches(context)))) return true;
    const level = levelOfContext(text);
    return level !== undefined && !rules.some((rule) => rule.level === level);
  };
}

function waitingIn(rule: LoadedRule): readonly (Waiting & { readonly by: { readonly rule: LoadedRule } })[] {
  const at = (line: number) => (wanted: Wanted) => ({ wanted, by: { rule, line } });
  return [
    ...ruleTreesOf(rule).flatMap(comparedContexts).map(at(rule.line)),
    ...rule.steps.flatMap((step) =>
      [...conditionTreesOf(step).flatMap(comparedContexts), ...protectedContexts(step)].map(at(step.line)),
    ),
  ];
}

/** Returns the contexts that the protections of a step require. */
function protectedContexts({ action, arguments: { written } }: LoadedStep): readonly Wanted[] {
  if (action.name !== 'sync-branch-protections' || !isRecord(written)) return [];
  const protections: readonly unknown[] = Array.isArray(written.protections) ? written.protections : [];
  return protections.flatMap((one) => {
    if (!isRecord(one) || one.enable_status_check === false) return [];
    const contexts: unknown = one.status_check_contexts;
    return Array.isArray(contexts)
      ? contexts.filter((text) => typeof text === 'string').flatMap(requiredName)
      : [];
  });
}

/** Returns the pattern of a required context, which is a glob. Forges ignore globs that they cannot parse. */
function requiredName(text: string): readonly Wanted[] {
  const matches = compileForgeGlob(text, '');
  if (matches === undefined) return [];
  const meter = createUnlimitedMeter();
  return [{ text, isName: !/[*?[{\\]/.test(text), matches: (context) => matches(context, meter) }];
}

function comparedContexts(tree: Parameters<typeof comparisonsIn>[0]): readonly Wanted[] {
  return comparisonsIn(tree, {
    member: 'context',
    lists: ['statuses', 'required_checks'],
    objects: ['event'],
    valueLists: ['status_check_contexts'],
  }).flatMap(wantedBy);
}

/**
 * Functions that create a pattern of statuses, by the name of the condition function that compares statuses with texts.
 */
const patterns: Readonly<Record<string, (texts: readonly string[]) => (context: string) => boolean>> = {
  startsWith: (texts) => (context) => texts.some((text) => context.startsWith(text)),
  endsWith: (texts) => (context) => texts.some((text) => context.endsWith(text)),
  contains: (texts) => (context) => texts.some((text) => context.includes(text)),
  glob: (texts) => createGlob(texts),
  matches: (texts) => {
    const meter = createUnlimitedMeter();
    const compiled = texts.map((text) => new Re2Compiler().compile(text));
    return (context) => compiled.some((one) => 'matches' in one && one.matches(context, meter));
  },
};

function wantedBy({ by, texts, of }: Comparison): readonly Wanted[] {
  // Other lists contain required contexts of the branch, which are themselves patterns.
  const isPattern = of !== 'statuses' && of !== 'event';
  const pattern = patterns[by];
  if (pattern) return isPattern ? [] : [{ text: texts.join('", "'), isName: false, matches: pattern(texts) }];
  return texts.flatMap((text) =>
    isPattern ? requiredName(text) : [{ text, isName: true, matches: (context: string) => context === text }],
  );
}

/**
 * Returns the names of the statuses of recent commits, and stops once every wanted status is found. The heads of closed
 * pull requests are included; otherwise, the checks of pull requests would seem to be missing while no pull request is
 * open.
 */
export async function recentContexts(
  client: Client,
  { owner, name: repo }: RepositoryRef,
  { wanted = [], atMost }: { readonly wanted?: readonly Wanted[]; readonly atMost: number },
): Promise<Seen> {
  const params = { owner, repo };
  const page = { page: 1, limit: commitsOfEachKind };
  const parts = { stat: false, verification: false, files: false };
  const pulls = await orNothing(
    client.call(operations.listPulls, { params, query: { ...page, state: 'all', sort: 'recentupdate' } }),
  );
  const newest = await orNothing(
    client.call(operations.listCommits, { params, query: { ...page, ...parts } }),
  );
  const heads = (pulls ?? []).slice(0, commitsOfEachKind).map(({ head }) => head?.sha);
  const commits = [...heads, ...(newest ?? []).slice(0, commitsOfEachKind).map(({ sha }) => sha)];
  const names = new Set<string>();
  let looked = 0;
  for (const sha of new Set(commits)) {
    if (
      !sha ||
      looked >= atMost ||
      (wanted.length > 0 && wanted.every(({ matches }) => [...names].some(matches)))
    )
      continue;
    const found = await orNothing(contextsOf(client, { ...params, sha }));
    if (found === undefined) continue;
    looked += 1;
    for (const context of found) names.add(context);
  }
  return { commits: looked, names };
}

async function contextsOf(
  client: Client,
  params: { readonly owner: string; readonly repo: string; readonly sha: string },
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let read = 0;
  for await (const { context } of client.items(operations.listStatuses, { params })) {
    if (context) names.add(context);
    read += 1;
    if (read >= statusesOfCommit) break;
  }
  return names;
}

function problemOf(
  { wanted, by }: Waiting,
  repository: string,
  seen: Seen,
  textOf: (path: string) => string,
): Problem {
  const status = wanted.isName ? `the status "${wanted.text}"` : `a status that matches "${wanted.text}"`;
  const none = `no recent commit of ${repository} has ${status} (${count(seen.commits, 'commit')} examined)`;
  const remedy = remedyOf(wanted, [...seen.names]);
  if ('branch' in by) {
    const message = `branch ${by.branch} requires a check before anything is merged into it: ${none}: ${remedy}`;
    return { code: 'missing-context', message, path: repository, line: 1, column: 1, source: '', width: 1 };
  }
  const problem = {
    code: 'missing-context',
    message: `${none}: ${remedy}`,
    path: by.rule.source,
    line: by.line,
  } as const;
  return problemAtLine(problem, textOf);
}

function remedyOf({ text }: Wanted, names: readonly string[]): string {
  const others = names.filter((name) => levelOfContext(name) === undefined).toSorted();
  if (others.length === 0) return 'there are no statuses yet; compare the name once there are';
  const close = closestTo(text, others);
  const form = 'checks of Actions are called WORKFLOW / JOB (EVENT)';
  return close.length > 0
    ? `the closest is ${listed(close, '"')}: write that name, or a glob of it; ${form}`
    : `there is ${listed(others, '"')}; ${form}`;
}

/**
 * Returns at most three similar names: the names whose job is a part of the text, or else the names with the most
 * similar spelling.
 */
function closestTo(text: string, names: readonly string[]): readonly string[] {
  const wanted = partsOf(text);
  const sameJob = names.filter((name) => wanted.includes(partsOf(name)[0] ?? ''));
  if (sameJob.length > 0) return sameJob.slice(0, 3);
  const byJob = new Map(names.map((name) => [partsOf(name)[0] ?? '', name]));
  const near = [nearest(text, names), byJob.get(nearest(wanted[0] ?? '', byJob.keys()) ?? '')];
  return [...new Set(near)].filter((name) => name !== undefined);
}

/**
 * Returns the parts of a check's name: the job without an apparent event suffix, the job unchanged, and the preceding
 * parts, last first.
 */
function partsOf(name: string): readonly string[] {
  const parts = name
    .toLowerCase()
    .split('/')
    .map((part) => part.replaceAll('*', '').trim());
  const job = parts.pop() ?? '';
  return [job.replace(/\s*\([a-z_]*\)$/, ''), job, ...parts.toReversed()].filter((part) => part !== '');
}

function listed(names: readonly string[], quote = ''): string {
  const shown = names.slice(0, 5).map((name) => `${quote}${name}${quote}`);
  return names.length > shown.length
    ? `${shown.join(', ')} and ${names.length - shown.length} more`
    : shown.join(', ');
}

async function examinedRefs(
  checked: Pick<CheckedForge, 'client' | 'repositories' | 'listed'>,
): Promise<readonly RepositoryRef[]> {
  return (await readExamined(checked)).map(toRepositoryRef);
}

/**
 * Returns a warning for each blind spot of the rules in the repositories given by name, otherwise in the served ones.
 * The repository of a repository-level file is unknown here, so such a file is examined only in repositories given by
 * name.
 */
export async function blindSpots(
  rules: readonly LoadedRule[],
  { client, repositories: names, listed, textOf }: CheckedForge,
): Promise<readonly Problem[]> {
  const judged = rules.filter(({ level }) => level === 'operator' || names.length > 0);
  const [rule] = judged;
  if (rule === undefined) return [];
  const login = async (): Promise<string> => (await client.call(operations.getSelf, {})).login;
  const general = (message: string): Problem =>
    problemAtLine({ code: 'served', message, path: rule.source, line: rule.line }, textOf);
  const only = names.length > 0 ? names : undefined;
  const read = await readServed(client, listed, { only }).catch((error: unknown) => {
    if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
    return error;
  });
  if (read instanceof ReeveError)
    return [general(`the served repositories cannot be listed, and are not examined: ${read.message}`)];
  const { repositories, isWhole, hidden } = read;
  const [failure] = hidden;
  if (failure && only)
    throw new ReeveError('usage', `${failure.item} cannot be seen: ${failure.error.message}`);
  const at = ({ source, line }: { readonly source: string; readonly line: number }) => ({
    path: source,
    line,
  });
  const nothing = 'no repository is served: star one as the account, or list it in the operator file';
  const unseen = hidden.map(({ item }) => `${item} in the operator file does not exist or is hidden`);
  const served = names.length > 0 ? undefined : { login, listed };
  const spots = await findBlindSpots(judged, { client, repositories, isWhole, served });
  return [
    ...[...(repositories.length === 0 ? [nothing] : []), ...unseen].map(general),
    ...spots.map(({ rule: { name, source }, line, code, text }) => {
      const message = code === 'unknown-label' ? text : `rule ${name}: ${text}`;
      return problemAtLine({ code, message, ...at({ source, line }) }, textOf);
    }),
  ];
}

/** A required status that has the name of a rule: `reeve/RULE`. */
const ofRule = /^reeve\/(?!queue$|rules$)([^*?[\]{}]+)$/;

/**
 * Returns a warning for each required status `reeve/RULE` that no operator rule writes, because earlier versions used
 * these names for rules of organizations and repositories. Makes no requests for rules without a status. Reads the
 * protections of the repositories, or the part about the default branch that accounts without administrator access can
 * see.
 */
export async function renamedStatuses(
  rules: readonly LoadedRule[],
  checked: CheckedForge,
): Promise<readonly Problem[]> {
  const { client } = checked;
  if (!rules.some((rule) => statusContextsOf(rule).length > 0)) return [];
  const written = new Set(rules.filter(({ level }) => level === 'operator').flatMap(statusContextsOf));
  const own = new Set(rules.flatMap((rule) => formerContextOf({ rule: rule.name, level: rule.level }) ?? []));
  const found: Problem[] = [];
  for (const repository of (await orNothing(examinedRefs(checked))) ?? []) {
    const name = `${repository.owner}/${repository.name}`;
    for (const [branch, contexts] of await requiredIn(client, repository)) {
      for (const context of contexts) {
        const [, rule] = ofRule.exec(context) ?? [];
        if (rule === undefined || written.has(context)) continue;
        const names = (['organization', 'repository'] as const)
          .filter((level) => level === 'repository' || !own.has(context))
          .map((level) => statusContextOf(undefined, { rule, level }));
        const message = `branch ${branch} requires the status ${context}, which no rule of the operator writes: require ${names.join(' or ')}, which rules below the operator's now write`;
        found.push({
          code: 'required-context',
          message,
          path: name,
          line: 1,
          column: 1,
          source: '',
          width: 1,
        });
      }
    }
  }
  return found;
}

/** The required contexts, each with its branch or branch pattern. */
type Required = readonly (readonly [branch: string, contexts: readonly string[]])[];

async function requiredIn(client: Client, { owner, name: repo }: RepositoryRef): Promise<Required> {
  const params = { owner, repo };
  const protections = await orNothing(client.call(operations.listBranchProtections, { params }));
  if (protections)
    return protections
      .filter(({ enable_status_check }) => enable_status_check)
      .map(({ rule_name, status_check_contexts }) => [rule_name ?? '', status_check_contexts ?? []]);
  const repository = await orNothing(client.call(operations.getRepository, { params }));
  const branch = repository?.default_branch ?? '';
  const seen = await orNothing(client.call(operations.getBranch, { params: { ...params, branch } }));
  return seen?.enable_status_check ? [[branch, seen.status_check_contexts ?? []]] : [];
}

/**
 * Returns undefined if the forge refuses a request, because these checks only produce warnings and no other check
 * depends on them. Failures of the forge itself are thrown.
 */
export async function orNothing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
    return undefined;
  }
}
