import { Environment as CelEnvironment } from '@marcbachmann/cel-js';
import { Duration as LibraryDuration } from '@marcbachmann/cel-js/evaluator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGlob } from '../../../src/patterns/glob.ts';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import { createPart, runPart, Values } from '../../../src/rules/expressions/part.ts';
import { resolveExpression } from '../../../src/rules/expressions/resolve.ts';
import { anyType, type ExpressionEnvironment } from '../../../src/rules/expressions/types.ts';
import { Double, Duration } from '../../../src/rules/expressions/values.ts';
import { propertyRuns } from '../../support/figure.ts';
import { expression, given } from './support/arbitrary-expression.ts';
import { contextOf } from './support/context.ts';

const numRuns = process.env.LONG ? 100_000 : propertyRuns(4_000);

/** All names have type any, so that both implementations find errors only at run time. */
const environment: ExpressionEnvironment = {
  names: new Map(Object.keys(given).map((name) => [name, { type: anyType, missingOn: [] }])),
  absent: new Map(),
};

const sync = { async: false };
const library = new CelEnvironment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 10_000, maxDepth: 250 },
})
  .registerFunction('string.lower(): string', (text: string) => text.toLowerCase(), sync)
  .registerFunction('string.glob(string): bool', (text: string, glob: string) => createGlob(glob)(text), sync)
  .registerFunction(
    'has_(dyn, list): bool',
    (value: unknown, chain: readonly string[]) => hasChain(value, chain),
    sync,
  )
  .registerFunction('minus_(int): int', (value: bigint) => inRange(-value), sync)
  .registerFunction('minus_(double): double', (value: number) => -value, sync)
  .registerFunction(
    'string(google.protobuf.Timestamp): string',
    (at: Date) => at.toISOString().replace('.000Z', 'Z'),
    sync,
  )
  .registerFunction(
    'string(google.protobuf.Duration): string',
    (span: LibraryDuration) => span.toString(),
    sync,
  )
  .registerOperator('int + double', (a: bigint, b: number) => Number(a) + b)
  .registerOperator('double + int', (a: number, b: bigint) => a + Number(b))
  .registerOperator('int - double', (a: bigint, b: number) => Number(a) - b)
  .registerOperator('double - int', (a: number, b: bigint) => a - Number(b))
  .registerOperator('int * double', (a: bigint, b: number) => Number(a) * b)
  .registerOperator('double * int', (a: number, b: bigint) => a * Number(b))
  .registerOperator('int / double', (a: bigint, b: number) => Number(a) / b)
  .registerOperator('double / int', (a: number, b: bigint) => a / Number(b));

function inRange(value: bigint): bigint {
  if (value < 2n ** 63n) return value;
  throw new RangeError('integer overflow');
}

/** Implements has() as this language defines it: a member counts as absent if it is null or its owner is absent. */
function hasChain(value: unknown, chain: readonly string[]): boolean {
  let inner = value;
  for (const name of chain) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return false;
    inner = Reflect.get(inner, name);
  }
  return inner !== undefined && inner !== null;
}

/** Converts whole numbers to bigints, because the library has no other integers. */
function forLibrary(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(forLibrary);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, forLibrary(member)]));
}

const forLibraryGiven = forLibrary(given) as Record<string, unknown>;

function answerOfLibrary(text: string): string {
  try {
    return normalForm(library.evaluate(text, forLibraryGiven));
  } catch {
    return 'error';
  }
}

/** Returns the result, or undefined if the expression is refused before it runs. */
function ourAnswer(text: string): string | undefined {
  const resolved = resolveExpression(text, contextOf(environment));
  if ('problems' in resolved) return undefined;
  const part = createPart(resolved.node, resolved.resolution);
  const knowledge = { find: ({ name }: { name: string }) => ({ value: Reflect.get(given, name) }) };
  const result = runPart(part, new Values(knowledge, environment, createUnlimitedMeter()));
  return 'error' in result ? 'error' : normalForm(result.value);
}

/** Returns a value as text in a spelling common to both implementations. */
function normalForm(value: unknown): string {
  if (typeof value === 'bigint') return `int ${value}`;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? `number ${value}` : `double ${value}`;
  if (value instanceof Double) return `number ${value.value}`;
  if (value instanceof Duration) return `duration ${Number(value.nanoseconds / 1_000_000n)}`;
  if (value instanceof LibraryDuration) return `duration ${Math.round(value.valueOf())}`;
  if (value instanceof Date) return `instant ${value.getTime()}`;
  if (Array.isArray(value)) return `[${value.map(normalForm).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${name}: ${normalForm(member)}`);
    return `{${members.sort().join(', ')}}`;
  }
  return JSON.stringify(value) ?? 'nothing';
}

/**
 * Writes ints in one form: they are numbers here and bigints in the library. Arithmetic on a value reveals whether the
 * value is an int or a double.
 */
function alike(form: string): string {
  return form.replaceAll(/\bint (-?\d+)/g, (_, digits) =>
    Number.isSafeInteger(Number(digits)) ? `number ${Number(digits)}` : `int ${digits}`,
  );
}

describe('an expression', () => {
  it('has the same value or error as in the CEL library', { timeout: 900_000 }, () => {
    const seen = { value: 0, error: 0, refused: 0 };
    fc.assert(
      fc.property(expression, ({ ours, library: theirs }) => {
        const answer = ourAnswer(ours);
        if (answer === undefined) {
          seen.refused += 1;
          return;
        }
        seen[answer === 'error' ? 'error' : 'value'] += 1;

        expect(alike(answer), ours).toBe(alike(answerOfLibrary(theirs)));
      }),
      { numRuns },
    );
    // The generator must produce both values and errors.
    expect(seen.value).toBeGreaterThan(numRuns / 10);
    expect(seen.error).toBeGreaterThan(numRuns / 10);
  });
});
