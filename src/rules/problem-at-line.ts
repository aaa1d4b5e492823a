import type { Problem } from './problem.ts';

/** Returns a problem that covers a line of a file. `textOf` gives the file's text. */
export function problemAtLine(
  problem: Pick<Problem, 'code' | 'message' | 'path' | 'line'>,
  textOf: (path: string) => string,
): Problem {
  const source = textOf(problem.path).split(/\r?\n/)[problem.line - 1] ?? '';
  const column = source.search(/\S/) + 1 || 1;
  return { ...problem, column, source, width: Math.max(1, source.trim().length) };
}
