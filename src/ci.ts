import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { count, plain } from './commands/terminal.ts';
import { messageOf } from './errors.ts';
import { formatProblem, type Problem } from './rules/problem.ts';
import { loadRuleFiles } from './sources/folder.ts';
import { repositoryPaths } from './sources/paths.ts';

/** What a CI runner gives an action. */
export type RunnerEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Runs Reeve as an action of Gitea Actions, Forgejo Actions, act or GitHub. Returns the exit status. Whatever comes from
 * the repository is never printed at the start of a line: runners read commands there, and old ones obeyed all of them.
 */
export async function runAction(
  environment: RunnerEnvironment,
  print: (line: string) => void,
): Promise<number> {
  const input = (name: string): string => (environment[`INPUT_${name.toUpperCase()}`] ?? '').trim();
  try {
    const command = input('command') || 'check';
    if (command !== 'check') throw new Error(`there is no command "${command}"; known is check`);
    const failOn = input('fail-on') || 'error';
    if (failOn !== 'error' && failOn !== 'never')
      throw new Error(`fail-on must be error or never, not "${failOn}"`);
    const workspace = environment.GITHUB_WORKSPACE ?? process.cwd();
    const paths = pathsIn(workspace, input('config'));
    const files = await loadRuleFiles(paths);
    const problems = files
      .flatMap((file) => file.problems)
      .map((problem) => ({ ...problem, path: shortPath(workspace, problem.path) }));
    const rules = files.flatMap((file) => file.rules).length;
    report(
      environment,
      print,
      problems,
      `${count(files.length, 'file')}, ${count(rules, 'rule')}, ${count(problems.length, 'problem')}`,
    );
    return problems.length > 0 && failOn === 'error' ? 1 : 0;
  } catch (error) {
    print(`::error::${escapeMessage(messageOf(error))}`);
    write(environment.GITHUB_OUTPUT, output('result', 'failed'));
    return 2;
  }
}

function pathsIn(workspace: string, config: string): readonly string[] {
  const given = config
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const known =
    given.length > 0
      ? given
      : [...repositoryPaths, 'rules'].filter((path) => existsSync(join(workspace, path)));
  if (known.length === 0)
    throw new Error(
      `no rule file: there is neither ${repositoryPaths.join(', nor ')}, nor rules/; name one in "config"`,
    );
  return known.map((path) => (isAbsolute(path) ? path : join(workspace, path)));
}

function shortPath(workspace: string, path: string): string {
  const short = relative(workspace, path);
  return short.startsWith('..') ? path : short;
}

function report(
  environment: RunnerEnvironment,
  print: (line: string) => void,
  problems: readonly Problem[],
  summary: string,
): void {
  for (const problem of problems) {
    print(annotation(environment, problem));
    for (const line of formatProblem(problem).split('\n').slice(1)) print(`| ${plain(line)}`);
  }
  print(`| ${summary}`);
  write(
    environment.GITHUB_OUTPUT,
    output('result', problems.length === 0 ? 'ok' : 'findings') + output('findings', String(problems.length)),
  );
  write(environment.GITHUB_STEP_SUMMARY, markdown(problems, summary));
}

/** GitHub shows file and line at the place; Gitea and Forgejo keep the text alone, so the place stands in it there. */
function annotation(environment: RunnerEnvironment, problem: Problem): string {
  const text = `${problem.code}: ${problem.message}${problem.suggestion ? `, did you mean "${problem.suggestion}"?` : ''}`;
  const isGitea = environment.GITEA_ACTIONS === 'true' || environment.FORGEJO_ACTIONS === 'true';
  if (isGitea)
    return `::error::${escapeMessage(`${problem.path}:${problem.line}:${problem.column}: ${text}`)}`;
  return `::error file=${escapeProperty(problem.path)},line=${problem.line},col=${problem.column}::${escapeMessage(text)}`;
}

function escapeMessage(text: string): string {
  const lines = text.split('\n').map(plain);
  return lines.map((line) => line.replaceAll('%', '%25')).join('%0A');
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** A delimiter that nobody can guess keeps a value from adding outputs of its own. */
function output(name: string, value: string): string {
  const delimiter = `end_${randomUUID()}`;
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}

const maxSummaryBytes = 900_000;

function markdown(problems: readonly Problem[], summary: string): string {
  const rows = problems.map(
    (problem) =>
      `- \`${inCode(`${problem.path}:${problem.line}:${problem.column}`)}\` ${inText(problem.message)}`,
  );
  return `### Reeve: ${summary}\n\n${rows.join('\n')}\n`.slice(0, maxSummaryBytes);
}

function inCode(text: string): string {
  return plain(text).replaceAll('`', "'");
}

function inText(text: string): string {
  return plain(text).replace(/[\\`*_{}[\]<>#|!]/g, '\\$&');
}

function write(path: string | undefined, text: string): void {
  if (path) appendFileSync(path, text);
}
