import { createUnlimitedMeter, type Meter } from '../../../../src/patterns/meter.ts';
import { createPart, type Result, runPart, Values } from '../../../../src/rules/expressions/part.ts';
import { resolveExpression } from '../../../../src/rules/expressions/resolve.ts';
import { anyType, type ExpressionEnvironment } from '../../../../src/rules/expressions/types.ts';
import { contextOf } from './context.ts';

/** Evaluates an expression whose names have type any. Throws if the expression has a problem. */
export function evaluate(
  source: string,
  given: Readonly<Record<string, unknown>> = {},
  meter: Meter = createUnlimitedMeter(),
): Result {
  const environment: ExpressionEnvironment = {
    names: new Map(Object.keys(given).map((name) => [name, { type: anyType, missingOn: [] }])),
    absent: new Map(),
  };
  const resolved = resolveExpression(source, contextOf(environment));
  if ('problems' in resolved) throw new Error(resolved.problems.map(({ message }) => message).join('\n'));
  const find = ({ name }: { name: string }) => ({ value: given[name] });
  return runPart(createPart(resolved.node, resolved.resolution), new Values({ find }, environment, meter));
}
