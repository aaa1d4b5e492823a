import type { Node } from 'yaml';
import type { Problem, ProblemCode } from '../problem.ts';

/** A place in the text, as offsets. */
export type Span = { readonly start: number; readonly end: number };

/** Makes a problem at a place of the text. */
export type MakeProblem = (code: ProblemCode, message: string, span: Span, suggestion?: string) => Problem;

/** Returns the line of the text around an offset, without its end. */
export function sourceLine(text: string, offset: number): string {
  const at = Math.max(0, Math.min(offset, text.length));
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return text.slice(start, endOfLine(text, at)).replace(/\r$/, '');
}

/** Returns the offset at which the line ends. */
export function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

/** Returns the place of a node, without what follows it. */
export function spanOf(node: Node): Span {
  const [start = 0, end = start] = node.range ?? [];
  return { start, end };
}
