import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { plain, type Terminal } from '../cli/output/terminal.ts';
import type { Clock } from '../platform/clock.ts';
import { repositoryPaths } from '../rules/sources/repository-file.ts';

/** Environment variables of a CI runner. */
export type RunnerEnvironment = Readonly<Record<string, string | undefined>>;

/** Position in a file of the workspace. */
type Spot = { readonly path: string; readonly line: number; readonly column: number };

/**
 * The runner of an action: Gitea Actions, Forgejo Actions, act or GitHub. Text from the repository or the forge is
 * never printed at the start of a line, because runners parse commands there, and old runners executed all of them.
 * Paths in the workspace are shown relative to the repository, because the runner's checkout folder is irrelevant to a
 * reader.
 */
export interface ActionRunner {
  readonly environment: RunnerEnvironment;
  readonly clock: Clock;
  readonly workspace: string;
  /** Returns a trimmed input; empty if it was not given. */
  input(name: string): string;
  /** Prints a line of text. */
  say(text: string): void;
  /** Prints a text that the job's page shows next to its steps. */
  notice(text: string): void;
  /** Prints an error annotation, with its position if there is one. */
  error(text: string, spot?: Spot): void;
  /** Masks a value in the further output of the runner. */
  hide(secret: string): void;
  output(name: string, value: string): void;
  /** Adds to the summary of the step, in Markdown. */
  summary(markdown: string): void;
  /** A terminal for the output of commands. It prints lines like `say` does. */
  readonly terminal: Terminal;
}

export function createActionRunner(
  environment: RunnerEnvironment,
  print: (line: string) => void,
  clock: Clock,
): ActionRunner {
  // Gitea and Forgejo keep only the text of an annotation, so the text includes the position. GitHub shows the
  // annotation at its position.
  const isGitea = environment.GITEA_ACTIONS === 'true' || environment.FORGEJO_ACTIONS === 'true';
  const workspace = environment.GITHUB_WORKSPACE || process.cwd();
  const prefix = workspace.endsWith('/') ? workspace : `${workspace}/`;
  const shorten = (text: string): string => (prefix === '/' ? text : text.replaceAll(prefix, ''));
  const write = (path: string | undefined, text: string): void => {
    if (path) appendFileSync(path, shorten(text));
  };
  const say = (text: string): void => {
    for (const line of shorten(text).split('\n')) print(`| ${plain(line)}`);
  };
  const annotate = (kind: 'notice' | 'error', message: string): void => {
    // Gitea and Forgejo print an annotation as it is, with its escapes, so each line is one of its own.
    const lines = isGitea ? message.split('\n').map(plain) : [escapeMessage(message)];
    for (const line of lines) print(`::${kind}::${line}`);
  };
  return {
    environment,
    clock,
    workspace,
    input(name) {
      const variable = `INPUT_${name.toUpperCase()}`;
      // dash, the shell of many images, drops variables with a hyphen.
      return (environment[variable] || environment[variable.replaceAll('-', '_')] || '').trim();
    },
    say,
    notice(text) {
      annotate('notice', shorten(text));
    },
    error(text, spot) {
      const message = shorten(text);
      if (spot === undefined) annotate('error', message);
      else if (isGitea) annotate('error', `${spot.path}:${spot.line}:${spot.column}: ${message}`);
      else {
        const place = `file=${escapeProperty(spot.path)},line=${spot.line},col=${spot.column}`;
        print(`::error ${place}::${escapeMessage(message)}`);
      }
    },
    hide(secret) {
      if (secret !== '') print(`::add-mask::${escapeMessage(secret)}`);
    },
    output(name, value) {
      // An unguessable delimiter prevents a value from adding outputs of its own.
      const delimiter = `end_${randomUUID()}`;
      write(environment.GITHUB_OUTPUT, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
    },
    summary: (markdown) => write(environment.GITHUB_STEP_SUMMARY, markdown.slice(0, maxSummaryLength)),
    terminal: { out: say, error: say, style: (_style, text) => text },
  };
}

const maxSummaryLength = 300_000;

/**
 * Returns the paths of rule files: those of the input `config`, otherwise those of the usual paths that exist. Throws
 * if there is none.
 */
export function rulePaths(runner: ActionRunner): readonly string[] {
  const { workspace } = runner;
  const given = runner
    .input('config')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const known =
    given.length > 0
      ? given
      : [...repositoryPaths, 'rules'].filter((path) => existsSync(join(workspace, path)));
  if (known.length > 0) return known.map((path) => (isAbsolute(path) ? path : join(workspace, path)));
  throw new Error(
    `no rule file: there is neither ${repositoryPaths.join(', nor ')}, nor rules/; name one in "config"`,
  );
}

/** Returns a path relative to the workspace. */
export function shortPath(workspace: string, path: string): string {
  const short = relative(workspace, path);
  return short.startsWith('..') ? path : short;
}

/** Returns a text that is safe in Markdown code. */
export function inCode(text: string): string {
  return plain(text).replaceAll('`', "'");
}

/** Returns a text for Markdown with all markup escaped. */
export function inText(text: string): string {
  return plain(text).replace(/[\\`*_{}[\]<>#|!@]/g, '\\$&');
}

function escapeMessage(text: string): string {
  const lines = text.split('\n').map(plain);
  return lines.map((line) => line.replaceAll('%', '%25')).join('%0A');
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
