import type { ASTNode } from '@marcbachmann/cel-js';
import type { Re2Compiler } from '../../../patterns/re2.ts';
import type { ExpressionEnvironment } from '../environment.ts';
import type { ExpressionProblem } from '../expression-problem.ts';
import { parseExpression } from '../parse/parse.ts';
import type { Type } from '../values/types.ts';
import type { Resolution } from './resolution.ts';
import { Resolver } from './resolve.ts';
import { emptyScope } from './scope.ts';

/** What an expression is compiled with: the names it may use, and the compiler of its file's patterns. */
export type ExpressionContext = {
  readonly environment: ExpressionEnvironment;
  readonly patterns: Re2Compiler;
  /** Takes warnings, with offsets in the text. */
  readonly onWarning?: (warning: ExpressionProblem) => void;
};

/** An expression that was looked up in its environment. */
type ResolvedExpression = {
  readonly node: ASTNode;
  readonly type: Type;
  readonly resolution: Resolution;
};

/** Returns the expression parsed and looked up, or its problems with offsets in the text. Never throws. */
export function resolveExpression(
  source: string,
  { environment, patterns, onWarning }: ExpressionContext,
): ResolvedExpression | { readonly problems: readonly ExpressionProblem[] } {
  const node = parseExpression(source);
  if ('message' in node) return { problems: [node] };
  const resolution = new Resolver(environment, patterns);
  const type = resolution.resolve(node, emptyScope);
  for (const warning of resolution.warnings) onWarning?.(warning);
  return resolution.problems.length > 0 ? { problems: resolution.problems } : { node, type, resolution };
}
