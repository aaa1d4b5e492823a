import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, factKey, leftOutOf } from '../../facts/fact.ts';
import { LimitExceeded, type Meter } from '../../patterns/meter.ts';
import { ReeveError } from '../../platform/errors.ts';
import { costs } from './budget.ts';
import { factOfCall, loops } from './functions.ts';
import { type Evaluate, interpret } from './interpret.ts';
import type { NamedCondition, NamedConditions } from './named-conditions.ts';
import { chainOf, childrenOf, literalOf, textOf } from './parse.ts';
import type { Resolution } from './resolve.ts';
import { subjectFunctionOf } from './subject-functions.ts';
import { anyType, type ExpressionEnvironment, type Knowledge, type Known } from './types.ts';
import { type Adapter, adapt, adapterOf, Failure, toReading } from './values.ts';

/** A member chain as written in an expression, with the path of its value, which is formatted as evidence. */
export type Read = {
  readonly node: ASTNode;
  readonly text: string;
  readonly root: FactRequest;
  readonly path: readonly (string | number)[];
  /** Members of each item that a loop reads; empty if evidence shows items as a whole. */
  readonly shown: readonly string[];
  /** Set if the expression only tests the chain with has(). */
  readonly isAsked?: true;
};

/** What an expression reads: the names to fetch, and the member chains to record as evidence. */
type Reads = {
  readonly reads: readonly Read[];
  /** Facts and names that must be known before evaluation. */
  readonly needs: readonly FactRequest[];
  /** Names that the expression only tests with has(). */
  readonly asks: readonly FactRequest[];
};

/** Returns what an expression reads, each chain only once, in source order. */
function collectReads(node: ASTNode, resolution: Resolution): Reads {
  const collector = new Collector(resolution);
  collector.visit(node, new Set());
  return {
    reads: [...collector.reads.values()],
    needs: [...collector.needs.values()],
    asks: [...collector.asks.values()],
  };
}

class Collector {
  readonly reads = new Map<string, Read>();
  readonly needs = new Map<string, FactRequest>();
  readonly asks = new Map<string, FactRequest>();
  readonly #members: ReadonlyMap<ASTNode, FactRequest>;
  readonly #named: NamedConditions;
  readonly #visited = new Set<NamedCondition>();

  constructor({ members, named }: Resolution) {
    this.#members = members;
    this.#named = named;
  }

  visit(node: ASTNode, variables: ReadonlySet<string>): void {
    if (this.#chain(node, variables, [])) return;
    const about = subjectFunctionOf(node);
    if (about) {
      const root = { name: about.fact };
      const key = `${about.fact} ${about.shown.join()}`;
      this.reads.set(key, { node, text: about.fact, root, path: [], shown: about.shown });
      this.needs.set(about.fact, root);
      return;
    }
    if (node.op === 'call' && node.args[0] === 'has') {
      this.#has(node.args[1][0], variables);
      return;
    }
    if (node.op === 'rcall' && Object.hasOwn(loops, node.args[0])) {
      this.#loop(node.args[1], node.args[2], variables);
      return;
    }
    for (const child of childrenOf(node)) this.visit(child, variables);
  }

  /** Records a whole member chain, or what a named condition at its beginning reads; returns whether the node is a chain. */
  #chain(node: ASTNode, variables: ReadonlySet<string>, shown: readonly string[]): boolean {
    const path: (string | number)[] = [];
    let inner: ASTNode = node;
    while (!this.#members.has(inner) && (inner.op === '.' || inner.op === '[]')) {
      const key = inner.op === '.' ? inner.args[1] : literalOf(inner.args[1]);
      if (typeof key !== 'string' && typeof key !== 'bigint') return false;
      path.unshift(typeof key === 'bigint' ? Number(key) : key);
      inner = inner.args[0];
    }
    const condition = inner.op === 'id' && !variables.has(inner.args) && this.#named.get(inner.args);
    if (condition) {
      if (!this.#visited.has(condition)) {
        this.#visited.add(condition);
        this.visit(condition.node, new Set());
      }
      return true;
    }
    const root = this.#members.get(inner) ?? (inner.op === 'id' ? { name: inner.args } : factOfCall(inner));
    if (root === undefined) return false;
    if (root.argument === undefined && variables.has(root.name)) return true;
    const text = textOf(node);
    this.reads.set(text, { node, text, root, path, shown });
    this.needs.set(factKey(root), root);
    return true;
  }

  #has(argument: ASTNode | undefined, variables: ReadonlySet<string>): void {
    const [name, ...path] = (argument && chainOf(argument)) ?? [];
    if (argument === undefined || name === undefined || variables.has(name)) return;
    const text = textOf(argument);
    const member = this.#members.get(argument);
    const root = member ?? { name };
    const inside = member ? [] : path;
    const read: Read = { node: argument, text, root, path: inside, shown: [], isAsked: true };
    if (!this.reads.has(text)) this.reads.set(text, read);
    this.asks.set(root.name, root);
  }

  #loop(list: ASTNode, [variable, ...bodies]: readonly ASTNode[], variables: ReadonlySet<string>): void {
    const name = variable?.op === 'id' ? variable.args : '';
    const shown = new Set<string>();
    for (const body of bodies) membersOf(body, name, shown);
    if (!this.#chain(list, variables, [...shown])) this.visit(list, variables);
    const inner = new Set([...variables, name]);
    for (const body of bodies) this.visit(body, inner);
  }
}

function membersOf(node: ASTNode, variable: string, into: Set<string>): void {
  if (node.op === '.' && node.args[0].op === 'id' && node.args[0].args === variable) into.add(node.args[1]);
  for (const child of childrenOf(node)) membersOf(child, variable, into);
}

/** Part of an expression that is evaluated as a whole, with its reads. */
export type Part = {
  readonly text: string;
  readonly reads: Reads;
  readonly roots: readonly FactRequest[];
  readonly evaluate: Evaluate;
  /** Adapters of the reads, in the same order. */
  readonly adapters: readonly Adapter[];
};

/** Result of evaluating a part: its value, or an error. */
export type Result = { readonly value: unknown } | { readonly error: string; readonly cause?: Error };

/** Compiles the part of an expression that starts at this node. */
export function createPart(node: ASTNode, resolution: Resolution): Part {
  const reads = collectReads(node, resolution);
  const roots = [...new Map([...reads.needs, ...reads.asks].map((root) => [factKey(root), root])).values()];
  return {
    text: textOf(node),
    reads,
    roots,
    evaluate: interpret(node, roots, resolution),
    adapters: reads.reads.map((read) => {
      const about = subjectFunctionOf(read.node);
      const type = about
        ? resolution.environment.names.get(about.fact)?.type
        : resolution.types.get(read.node);
      return adapterOf(type ?? anyType);
    }),
  };
}

/** Values of named conditions, so that each is evaluated once for all expressions of a rule. */
const conditionValues = new WeakMap<Knowledge, Map<NamedCondition, unknown>>();

/** The values of one evaluation. Each name is looked up only once for all parts. */
export class Values {
  readonly meter: Meter;
  readonly #knowledge: Knowledge;
  readonly #environment: ExpressionEnvironment;
  readonly #known = new Map<string, Known | undefined>();
  readonly #readings = new Map<string, unknown>();
  /** Values of the named conditions that were evaluated with this knowledge. */
  readonly conditions: Map<NamedCondition, unknown>;

  constructor(knowledge: Knowledge, environment: ExpressionEnvironment, meter: Meter) {
    this.#knowledge = knowledge;
    this.#environment = environment;
    this.meter = meter;
    this.conditions = conditionValues.get(knowledge) ?? new Map();
    conditionValues.set(knowledge, this.conditions);
  }

  find(request: FactRequest): Known | undefined {
    const key = factKey(request);
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const known = this.#knowledge.find(request);
    const type = this.#environment.names.get(request.name)?.type ?? anyType;
    const adapted = known && 'value' in known ? { value: adapt(known.value, adapterOf(type)) } : known;
    this.#known.set(key, adapted);
    return adapted;
  }

  /** Returns the value of a read, formatted as evidence. */
  readingOf(read: Read, adapter: Adapter): unknown {
    const key = `${read.text}\n${read.shown.join()}`;
    if (!this.#readings.has(key)) this.#readings.set(key, this.#show(read, adapter));
    return this.#readings.get(key);
  }

  #show(read: Read, adapter: Adapter): unknown {
    const known = this.find(read.root);
    const root = known && 'value' in known ? known.value : undefined;
    const value = adapt(follow(root, read.path), adapter);
    this.meter.charge(typeof value === 'object' && value !== null ? costs.longReading : costs.reading);
    return toReading(value, read.shown, this.meter);
  }
}

/**
 * Evaluates one part. Never throws. If the part tests something with has(), what is absent fails only where it is read:
 * `has(pull_request) ? pull_request.draft : false`.
 */
export function runPart(part: Part, values: Values): Result {
  try {
    values.meter.charge(costs.part);
    const slots: unknown[] = [];
    const isTesting = part.reads.asks.length > 0;
    for (const root of part.roots) {
      const known = values.find(root);
      if (known === undefined && !isTesting) return { error: `there is no ${factKey(root)} here` };
      if (known && 'error' in known && !(isTesting && isAbsence(known.error))) {
        return { error: known.error.message, cause: known.error };
      }
      slots.push(known && 'value' in known ? known.value : undefined);
    }
    const value = part.evaluate({ slots, meter: values.meter, conditions: values.conditions });
    return value instanceof Failure ? { error: value.message } : { value };
  } catch (error) {
    if (error instanceof LimitExceeded) return { error: error.message };
    throw error;
  }
}

/**
 * Returns whether an error means that something does not exist on the forge, which is a result for has() and not a
 * failure.
 */
function isAbsence(error: Error): boolean {
  return error instanceof ReeveError && error.code === 'forge-not-found';
}

/** Returns the values that a part has read, truncated: key = member chain or fact as written. */
export function valuesRead(part: Part, values: Values): Record<string, unknown> {
  const readings: Record<string, unknown> = {};
  try {
    for (const [place, read] of part.reads.reads.entries()) {
      const known = values.find(read.root);
      const adapter = part.adapters[place];
      if (!known || !('value' in known) || !adapter) continue;
      readings[read.text] = values.readingOf(read, adapter);
      const missing = leftOutOf(known.value);
      if (missing === undefined) continue;
      values.meter.charge(costs.longReading);
      readings[`${factKey(read.root)}, not counted`] = missing;
    }
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    // The result remains valid; only its evidence is incomplete.
    readings['…'] = 'not shown: the evaluation budget is used up';
  }
  return readings;
}

/** Returns the value at the end of a chain, or null if the chain ends early. */
function follow(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = Reflect.get(value, key);
  }
  return value;
}
