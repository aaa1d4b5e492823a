import type { ExpressionEnvironment } from '../../../src/expressions/environment.ts';
import type { ExpressionContext } from '../../../src/expressions/resolve/resolve-expression.ts';
import { Re2Compiler } from '../../../src/patterns/re2.ts';

/** Makes what an expression is compiled with, as if it stood alone in its file. */
export function contextOf(environment: ExpressionEnvironment): ExpressionContext {
  return { environment, patterns: new Re2Compiler() };
}
