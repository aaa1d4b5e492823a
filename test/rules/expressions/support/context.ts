import { Re2Compiler } from '../../../../src/patterns/re2.ts';
import type { ExpressionContext } from '../../../../src/rules/expressions/resolve.ts';
import type { ExpressionEnvironment } from '../../../../src/rules/expressions/types.ts';

/** Makes what an expression is compiled with, as if it stood alone in its file. */
export function contextOf(environment: ExpressionEnvironment): ExpressionContext {
  return { environment, patterns: new Re2Compiler() };
}
