import { existsSync, readFileSync } from 'node:fs';
import { findCapabilities } from '../../../client/capabilities.ts';
import { type ClientOptions, createClient } from '../../../client/client.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { eventWords, silentWaysOf } from '../../../rules/automatic-events.ts';
import { ownChanges, wordsOfWay } from '../../../rules/files/event-warnings.ts';
import { formatExpanded } from '../../../rules/files/load.ts';
import { checkCapabilities } from '../../../rules/needs.ts';
import { formatProblem, type Problem, problemAtLine } from '../../../rules/problem.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import { type FolderFile, loadRuleFiles, readOfferedIn } from '../../../rules/sources/folder.ts';
import { repositoryPaths } from '../../../rules/sources/repository-file.ts';
import { pollingGaps } from '../../../rules/verdict.ts';
import type { NamedSecretSettings } from '../../../server/settings/config.ts';
import { secretUses, testSecrets } from '../../../work/alarms/secret-tests.ts';
import { nextTimes } from '../../../work/sweeps/schedule/cron.ts';
import { unmatchedOwners } from '../../connection/checks/codeowners-lines.ts';
import { count, type Terminal } from '../../output/terminal.ts';
import { blindSpots, missingContexts, renamedStatuses } from './check-forge.ts';

/** Paths of rule files. `isOperators`: they are those of `REEVE_RULES`. */
type ChosenPaths = { readonly paths: readonly string[]; readonly isOperators: boolean };

/**
 * Returns the paths to check: the given ones, otherwise the rules of this repository, otherwise the folder of the
 * operator.
 */
export function pathsOrDefault(given: readonly string[], rules: string | undefined): ChosenPaths {
  if (given.length > 0) return { paths: given, isOperators: false };
  const here = repositoryPaths.filter((path) => existsSync(path));
  if (here.length > 0) return { paths: here, isOperators: false };
  if (rules !== undefined) return { paths: [rules], isOperators: true };
  if (existsSync('rules')) return { paths: ['rules'], isOperators: false };
  throw new ReeveError(
    'usage',
    `no rule file here: name one, or create ${repositoryPaths[0]} or the folder rules/`,
  );
}

/**
 * Prints the problems and warnings of rule files; with named secrets, also secrets that cannot be used; with a forge,
 * also missing capabilities, what rules cannot see or do, and statuses that were renamed or that no recent commit has. Returns the exit status: 0 without problems, otherwise 1. Warnings do
 * not affect it.
 */
export async function check(
  given: readonly string[],
  options: {
    json?: boolean;
    rules?: string | undefined;
    forge?: Pick<ClientOptions, 'url' | 'credentials'> | undefined;
    /** Repositories whose labels are checked; default: the served ones. */
    repository?: readonly string[];
    /** Patterns of served repositories in the operator file. */
    listed?: readonly string[] | undefined;
    /** Named secrets; absent: they are unknown, and not tested. */
    named?: NamedSecretSettings | undefined;
    /** Whether the server of these settings polls the forge. */
    isPolled?: boolean;
    /** Prints the rules with parameter values and pack rules expanded. */
    expanded?: boolean;
    /** Folder of the packs that files of repositories may include by name. */
    packs?: string | undefined;
  },
  terminal: Terminal,
): Promise<number> {
  for (const name of options.repository ?? []) requireRepositoryName(name);
  const offered = await readOfferedIn(options.packs);
  const { paths, isOperators } = pathsOrDefault(given, options.rules);
  const files = await loadRuleFiles(paths, { withPacks: true, offered, isOperators });
  const loaded = files.flatMap(({ rules }) => rules);
  const textOf = (path: string): string => readFileSync(path, 'utf8');
  const client = options.forge && createClient(options.forge);
  const lacking = client && checkCapabilities(loaded, await findCapabilities(client), textOf);
  const checked = client && {
    client,
    repositories: options.repository ?? [],
    listed: options.listed ?? [],
    textOf,
  };
  // A problem in a pack is also reported in the files that include the pack.
  const problems = distinct([...files.flatMap((file) => file.problems), ...(lacking?.problems ?? [])]);
  const spots = checked ? await blindSpots(loaded, checked) : [];
  const secrets = options.named ? await unusableSecrets(loaded, options.named, textOf) : [];
  const renamed = checked ? await renamedStatuses(loaded, checked) : [];
  const missing = checked ? await missingContexts(loaded, checked) : [];
  const owners = checked ? await unmatchedOwners(loaded, checked) : [];
  const noted = [
    ...files.flatMap((file) => file.warnings ?? []),
    ...(isOperators ? ownChangesBetween(files, textOf) : []),
  ];
  const unsent = lacking?.warnings ?? [];
  const unfound = options.isPolled ? pollingWarnings(loaded, textOf) : [];
  const warnings = distinct([
    ...noted,
    ...unsent,
    ...unfound,
    ...spots,
    ...secrets,
    ...renamed,
    ...missing,
    ...owners,
  ]);
  if (options.expanded && problems.length === 0) {
    for (const file of files) terminal.out(formatExpanded(file));
    return 0;
  }
  if (options.json) {
    terminal.out(JSON.stringify({ files: files.length, rules: loaded.length, problems, warnings }));
    return problems.length === 0 ? 0 : 1;
  }
  for (const problem of problems) terminal.out(`${formatProblem(problem)}\n`);
  for (const warning of warnings) {
    const marked = { ...warning, message: `warning: ${warning.message}` };
    terminal.out(terminal.style('yellow', `${formatProblem(marked)}\n`));
  }
  printStarts(loaded, terminal);
  const rules = loaded.length;
  const also = warnings.length === 0 ? '' : `, ${count(warnings.length, 'warning')}`;
  const broken = new Set(problems.map(({ path }) => path)).size;
  if (files.length === 0) throw new ReeveError('usage', 'no rule file was found');
  terminal.out(
    problems.length === 0
      ? terminal.style('green', `${count(files.length, 'file')}, ${count(rules, 'rule')}: no problems${also}`)
      : terminal.style(
          'red',
          `${count(problems.length, 'problem')} in ${count(broken, 'file')} of ${files.length}${also}`,
        ),
  );
  return problems.length === 0 ? 0 : 1;
}

/** Throws `usage` for what is no repository, often a path: the flag takes all words up to `--`. */
function requireRepositoryName(name: string): void {
  const isFile = /\.ya?ml$/.test(name) && existsSync(name);
  if (!/^[^/\s]+\/[^/\s]+$/.test(name) || isFile)
    throw new ReeveError('usage', `${name} is not OWNER/NAME; put -- before the paths`);
}

/** Returns a warning for each rule that does not run after what a rule of another file in force changes. */
function ownChangesBetween(
  files: readonly FolderFile[],
  textOf: (path: string) => string,
): readonly Problem[] {
  const inForce = files.filter(({ isPack, level }) => !isPack && level === 'operator');
  return ownChanges(inForce.flatMap(({ rules }) => rules))
    .filter(({ rule, by }) => by.some(({ source }) => source !== rule.source))
    .map(({ rule, message }) =>
      problemAtLine({ code: 'own-change', message, path: rule.source, line: rule.line }, textOf),
    );
}

/** Returns a warning for each rule that polling does not start for all of its events. */
function pollingWarnings(rules: readonly LoadedRule[], textOf: (path: string) => string): readonly Problem[] {
  return rules.flatMap((rule) =>
    pollingGaps([rule]).map((message) =>
      problemAtLine({ code: 'polling', message, path: rule.source, line: rule.line }, textOf),
    ),
  );
}

/** Returns a warning for each named secret that cannot be used, without any part of its value. */
async function unusableSecrets(
  rules: readonly LoadedRule[],
  { secrets, notifyHosts: hosts, uses, path, problems }: NamedSecretSettings,
  textOf: (path: string) => string,
): Promise<readonly Problem[]> {
  const general = (message: string): Problem => ({
    ...{ code: 'secret', message, path },
    ...{ line: 1, column: 1, source: '', width: 1 },
  });
  const faults = await testSecrets([...secretUses(rules), ...uses], secrets, { hosts });
  return [
    ...problems.map(general),
    ...faults.map(({ text, at }) =>
      at === undefined
        ? general(text)
        : problemAtLine({ code: 'secret', message: text, path: at.source, line: at.line }, textOf),
    ),
  ];
}

function distinct(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

/**
 * Prints the events of rules with `on: auto`, with what changes without an event, and the next runs of scheduled rules,
 * so that a wrong cron field is noticed immediately.
 */
function printStarts(rules: readonly LoadedRule[], terminal: Terminal): void {
  for (const rule of rules) {
    if (rule.automatic) {
      const silent = silentWaysOf(rule).map(({ way }) => wordsOfWay(way));
      const isSwept = silent.length === 0 || rule.schedules.length > 0;
      const gap = isSwept ? '' : `; no event: ${silent.join(', ')}`;
      const text = `${rule.name}: on: auto = ${eventWords(rule.automatic)}${gap}`;
      terminal.out(terminal.style('dim', text));
    }
    for (const schedule of rule.schedules) {
      const times = nextTimes(schedule, new Date(), 3).map((at) =>
        at.toISOString().slice(0, 16).replace('T', ' '),
      );
      const next = times.length === 0 ? 'never' : `${times.join(', ')} UTC`;
      terminal.out(
        terminal.style('dim', `${rule.name}: ${schedule.cron} ${schedule.timezone}, next ${next}`),
      );
    }
  }
}
