import {
  type ASTNode,
  Environment as CelEnvironment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js';
import type { FactRequest } from '../facts/fact.ts';
import { Budget } from './budget.ts';
import type { CompiledPattern } from './patterns.ts';
import { Printer } from './printer.ts';
import type { Resolver } from './resolve.ts';

/** Limits of the parser for text that people write. A printed program has more nodes, and none that they did not write. */
export const written = new CelEnvironment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 400, maxDepth: 24, maxListElements: 100, maxMapEntries: 20, maxCallArguments: 8 },
});

/** One evaluation: what it may still cost, and what the guard's functions answer from. */
type Evaluation = {
  readonly budget: Budget;
  readonly patterns: readonly CompiledPattern[];
  readonly facts: readonly unknown[];
  readonly names: Readonly<Record<string, unknown>>;
};

// Evaluation is one synchronous call, so that its state can stand here instead of in every value it touches.
let current: Evaluation = { budget: new Budget(), patterns: [], facts: [], names: {} };

// The library makes an error, with a drawing of the place, for every failing part of every item of a loop. All of them
// pass their constructor, which assigns `name`: the one place where they can be counted.
Object.defineProperty(Object.getPrototypeOf(EvaluationError.prototype), 'name', {
  configurable: true,
  get: () => 'CelError',
  set: () => current.budget.error(),
});

const sync = { async: false };
const printed = new CelEnvironment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 4_000, maxDepth: 250, maxListElements: 100, maxMapEntries: 20, maxCallArguments: 9 },
})
  .registerFunction('p_(dyn): dyn', (value: unknown) => current.budget.pay(value), sync)
  .registerFunction('n_(dyn): dyn', (value: unknown) => current.budget.needle(value), sync)
  .registerFunction(
    'l_(dyn, int): dyn',
    (list: unknown, parts: bigint) => current.budget.loop(list, Number(parts)),
    sync,
  )
  .registerFunction('f_(int): dyn', (place: bigint) => current.facts[Number(place)], sync)
  .registerFunction(
    'h_(dyn, list): bool',
    (value: unknown, chain: readonly string[]) => hasChain(value, chain),
    sync,
  )
  .registerFunction(
    'k_(string, list): bool',
    (name: string, chain: readonly string[]) => hasChain(current.names[name], chain),
    sync,
  )
  .registerFunction(
    'm_(string, int): bool',
    (text: string, place: bigint) => matches(text, Number(place)),
    sync,
  )
  .registerFunction('string.lower(): string', (text: string) => text.toLowerCase(), sync)
  .registerOperator('int + double', (a: bigint, b: number) => Number(a) + b)
  .registerOperator('double + int', (a: number, b: bigint) => a + Number(b))
  .registerOperator('int - double', (a: bigint, b: number) => Number(a) - b)
  .registerOperator('double - int', (a: number, b: bigint) => a - Number(b))
  .registerOperator('int * double', (a: bigint, b: number) => Number(a) * b)
  .registerOperator('double * int', (a: number, b: bigint) => a * Number(b))
  .registerOperator('int / double', (a: bigint, b: number) => Number(a) / b)
  .registerOperator('double / int', (a: number, b: bigint) => a / Number(b));

function matches(text: string, place: number): boolean {
  const pattern = current.patterns[place];
  if (pattern === undefined) return false;
  current.budget.read(text, pattern.weight);
  return pattern.test(text);
}

/** A member that is null is not there: forges write null for what a subject does not have. */
function hasChain(value: unknown, chain: readonly string[]): boolean {
  let inner = value;
  for (const name of chain) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return false;
    inner = (inner as Readonly<Record<string, unknown>>)[name];
  }
  return inner !== undefined && inner !== null;
}

/** Returns what is made of an expression, or undefined where its parts are nested so deep that it cannot be run. */
export function unlessTooDeep<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError || error instanceof ParseError) return undefined;
    throw error;
  }
}

/** An expression ready to run. Running throws what the expression throws. */
export type Program = {
  /** The facts with an argument that it names, in the order their values are wanted. */
  readonly calls: readonly FactRequest[];
  readonly run: (
    names: Readonly<Record<string, unknown>>,
    facts: readonly unknown[],
    budget: Budget,
  ) => unknown;
  /** Returns what the library's own check of types says, or undefined where it finds nothing wrong. */
  readonly check: () => { readonly message: string; readonly node: ASTNode } | undefined;
};

/**
 * Returns the program of an expression that was resolved without problems. It is printed again with the guard's calls
 * around what costs: texts and lists that are looked at as a whole, lists that loops walk over, patterns.
 */
export function createProgram(node: ASTNode, resolved: Resolver): Program {
  const printer = new Printer(resolved);
  const text = printer.print(node);
  const program = printed.parse(text);
  return {
    calls: printer.calls,
    run(names, facts, budget) {
      const before = current;
      const limit = Error.stackTraceLimit;
      current = { budget, patterns: printer.patterns, facts, names };
      // An expression's errors are told by message alone; a stack for each of thousands in a loop costs more than the loop.
      Error.stackTraceLimit = 0;
      try {
        const value: unknown = program(names);
        return value;
      } finally {
        current = before;
        Error.stackTraceLimit = limit;
      }
    },
    check() {
      const result = program.check();
      if (result.valid || result.error === undefined) return undefined;
      return { message: result.error.summary, node };
    },
  };
}
