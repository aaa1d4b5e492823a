import { count } from '../cli/output/terminal.ts';
import { formatProblem, type Problem } from '../rules/problem.ts';
import { type ActionRunner, inCode, inText, shortPath } from './runner.ts';

/** Result of a command of the action. */
export type Finished = {
  /** Number of findings; with `fail-on: error`, a single one fails the step. */
  readonly findings: number;
  /** Summary, as a single line. */
  readonly summary: string;
  /** Details below the summary, in Markdown. */
  readonly details: string;
  /** Whether the command did nothing. `summary` has the reason. */
  readonly isSkipped?: boolean;
};

/** Annotates each problem at its position, with the source line of the file below it. */
export function annotateProblems(runner: ActionRunner, problems: readonly Problem[]): readonly Problem[] {
  const short = problems.map((problem) => ({ ...problem, path: shortPath(runner.workspace, problem.path) }));
  for (const problem of short) {
    const { code, message, suggestion } = problem;
    const hint = suggestion === undefined ? '' : `, did you mean "${suggestion}"?`;
    runner.error(`${code}: ${message}${hint}`, problem);
    for (const line of formatProblem(problem).split('\n').slice(1)) runner.say(line);
  }
  return short;
}

/** Returns problems as a Markdown list. */
export function listProblems(problems: readonly Problem[]): string {
  const rows = problems.map(
    ({ path, line, column, message }) => `- \`${inCode(`${path}:${line}:${column}`)}\` ${inText(message)}`,
  );
  return rows.join('\n');
}

/** Returns the numbers of files, rules and problems as one line. */
export function formatCounts(files: number, rules: number, problems: number): string {
  return `${count(files, 'file')}, ${count(rules, 'rule')}, ${count(problems, 'problem')}`;
}
