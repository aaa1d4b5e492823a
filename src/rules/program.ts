import {
  type ASTNode,
  Environment as CelEnvironment,
  EvaluationError,
  ParseError,
} from '@marcbachmann/cel-js';
import { type FactRequest, keyOf } from '../facts/fact.ts';
import { Budget } from './budget.ts';
import { functions, loops } from './functions.ts';
import { literalOf } from './literals.ts';
import type { CompiledPattern } from './patterns.ts';
import type { Resolver } from './resolve.ts';
import { chainOf } from './scope.ts';
import { mayBe, type Type } from './types.ts';

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

const freeKinds: readonly Type['kind'][] = ['string', 'list', 'map', 'object'];
/** Parts of a loop's body that an `&&` or `||` counts for: each may fail for every item, and an error costs that much. */
const partsOfLogic = 8;

class Printer {
  readonly calls: FactRequest[] = [];
  readonly patterns: CompiledPattern[] = [];
  readonly #resolved: Resolver;
  readonly #variables: string[] = [];

  constructor(resolved: Resolver) {
    this.#resolved = resolved;
  }

  print(node: ASTNode): string {
    switch (node.op) {
      case 'value':
        return node.input.slice(node.start, node.end);
      case 'id':
        return node.args;
      case '.':
        return `${this.print(node.args[0])}.${node.args[1]}`;
      case '[]':
        return `${this.print(node.args[0])}[${this.print(node.args[1])}]`;
      case 'call':
        return this.#call(node.args[0], node.args[1]);
      case 'rcall':
        return this.#method(node, node.args[0], node.args[1], node.args[2]);
      case 'list':
        return `[${node.args.map((item) => this.print(item)).join(', ')}]`;
      case 'map':
        return `{${node.args.map(([key, value]) => `${this.print(key)}: ${this.print(value)}`).join(', ')}}`;
      case '?:': {
        const [condition, then, otherwise] = node.args.map((part) => this.print(part));
        return `(${condition} ? ${then} : ${otherwise})`;
      }
      case '!_':
        return `!${this.print(node.args)}`;
      case '-_':
        return `-${this.print(node.args)}`;
      case '&&':
      case '||':
        return `(${this.print(node.args[0])} ${node.op} ${this.print(node.args[1])})`;
      case '.?':
      case '[?]':
        throw new TypeError(`"${node.op}" was not refused`);
      default:
        return `(${this.#paid(node.args[0])} ${node.op} ${this.#paid(node.args[1])})`;
    }
  }

  #call(name: string, given: readonly ASTNode[]): string {
    const [first] = given;
    if (first === undefined) throw new TypeError(`${name}() was not refused`);
    if (name === 'has') return this.#has(first);
    const argument = literalOf(first);
    if (!functions.some((row) => row.name === name && row.of === undefined)) {
      return this.#fact({ name, argument: String(argument) });
    }
    const isLiteral = argument !== undefined;
    if (name === 'size') return `size(${this.#paid(first)})`;
    return `${name}(${isLiteral ? this.print(first) : `n_(${this.print(first)})`})`;
  }

  #fact(request: FactRequest): string {
    const place = this.calls.findIndex((call) => keyOf(call) === keyOf(request));
    if (place >= 0) return `f_(${place})`;
    this.calls.push(request);
    return `f_(${this.calls.length - 1})`;
  }

  #has(node: ASTNode): string {
    const [root = '', ...chain] = chainOf(node) ?? [];
    const names = JSON.stringify(chain);
    return this.#variables.includes(root) ? `h_(${root}, ${names})` : `k_("${root}", ${names})`;
  }

  #method(node: ASTNode, name: string, receiver: ASTNode, given: readonly ASTNode[]): string {
    if (Object.hasOwn(loops, name)) return this.#loop(name, receiver, given);
    const pattern = this.#resolved.patterns.get(node);
    if (pattern) {
      this.patterns.push(pattern);
      return `m_(${this.print(receiver)}, ${this.patterns.length - 1})`;
    }
    const printedArguments = given.map((argument) =>
      literalOf(argument) === undefined ? `n_(${this.print(argument)})` : this.print(argument),
    );
    return `${this.#paid(receiver)}.${name}(${printedArguments.join(', ')})`;
  }

  #loop(name: string, receiver: ASTNode, [variable, ...bodies]: readonly ASTNode[]): string {
    if (variable?.op !== 'id') throw new TypeError(`${name} without a name was not refused`);
    const parts = bodies.reduce((sum, body) => sum + countParts(body), 1);
    const list = this.print(receiver);
    this.#variables.push(variable.args);
    const inner = bodies.map((body) => this.print(body));
    this.#variables.pop();
    return `l_(${list}, ${parts}).${name}(${[variable.args, ...inner].join(', ')})`;
  }

  #paid(node: ASTNode): string {
    const text = this.print(node);
    if (node.op === 'value') return text;
    const type = this.#resolved.types.get(node);
    return type === undefined || mayBe(type, freeKinds) ? `p_(${text})` : text;
  }
}

/** Returns how many parts an expression has, by what they cost. */
export function countParts(node: ASTNode): number {
  const own = node.op === '&&' || node.op === '||' || node.op === '?:' ? partsOfLogic : 1;
  let sum = own;
  for (const child of childrenOf(node)) sum += countParts(child);
  return sum;
}

/** Returns the nodes directly inside of a node. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'list':
      return node.args;
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}
