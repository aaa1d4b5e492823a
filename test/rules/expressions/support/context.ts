import { Re2Compiler } from '../../../../src/patterns/re2.ts';
import type { ExpressionContext } from '../../../../src/rules/expressions/resolve.ts';
import type { ExpressionEnvironment } from '../../../../src/rules/expressions/types.ts';

/** Creates the context in which an expression is compiled, as if it were the only one in its file. */
export function contextOf(environment: ExpressionEnvironment): ExpressionContext {
  return { environment, patterns: new Re2Compiler() };
}
