import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, factKey } from '../../facts/fact.ts';
import type { Matcher } from '../../patterns/automaton.ts';
import { createUnlimitedMeter, type Meter } from '../../patterns/meter.ts';
import { costs } from './budget.ts';
import { type FunctionRow, kindsTaken, type RunFunction, takesCount } from './function-row.ts';
import { factOfCall, findFunctions, loops } from './functions.ts';
import type { NamedCondition } from './named-conditions.ts';
import { arithmetic, type BinaryOperator, comparisons, makeInt, negate } from './operators.ts';
import { chainOf, literalOf, namespacedName, textOf } from './parse.ts';
import type { Resolution } from './resolve.ts';
import { type RunOnFact, subjectFunctionOf } from './subject-functions.ts';
import { anyType, type Type } from './types.ts';
import {
  type Adapter,
  adapt,
  adapterOf,
  Double,
  describeValue,
  Failure,
  kindOf,
  makeDouble,
  memberNamesOfValue,
  TooLarge,
  Unusable,
  type ValueKind,
} from './values.ts';

/** State of one evaluation: the values in their slots, and the meter. */
type Frame = {
  /** Values of names and facts, followed by loop variables; undefined if there is no value. */
  readonly slots: unknown[];
  readonly meter: Meter;
  /** Values of the named conditions that were evaluated before. */
  readonly conditions: Map<NamedCondition, unknown>;
};

/** A compiled node: returns its value, or a Failure. */
export type Evaluate = (frame: Frame) => unknown;

const binaryOperators: Readonly<Record<string, BinaryOperator>> = { ...arithmetic, ...comparisons };
/** Operators that accept null. */
const takesNull: ReadonlySet<string> = new Set(['==', '!=', 'in']);

/**
 * Compiles an expression that was resolved without problems. Each node becomes a function that charges its own cost,
 * calls its operands and returns a value or a Failure. `roots` are the names and facts of the expression; the first
 * slots of the frame must contain their values, in the same order.
 */
export function interpret(node: ASTNode, roots: readonly FactRequest[], resolution: Resolution): Evaluate {
  return new Interpreter(roots, resolution).build(node);
}

class Interpreter {
  readonly resolution: Resolution;
  readonly #slots: ReadonlyMap<string, number>;
  #variables = new Map<string, number>();
  readonly #conditions = new Map<NamedCondition, Evaluate>();
  #next: number;

  constructor(roots: readonly FactRequest[], resolution: Resolution) {
    this.resolution = resolution;
    this.#slots = new Map(roots.map((root, slot) => [factKey(root), slot]));
    this.#next = roots.length;
  }

  slotOf(request: FactRequest): number {
    const variable = request.argument === undefined ? this.#variables.get(request.name) : undefined;
    const slot = variable ?? this.#slots.get(factKey(request));
    if (slot === undefined) throw new TypeError(`${factKey(request)} was not refused`);
    return slot;
  }

  withVariable<T>(name: string, build: (slot: number) => T): T {
    const slot = this.#next;
    this.#next += 1;
    this.#variables.set(name, slot);
    const built = build(slot);
    this.#variables.delete(name);
    return built;
  }

  build(node: ASTNode): Evaluate {
    const member = this.resolution.members.get(node);
    if (member) return buildSlot(this.slotOf(member), node);
    switch (node.op) {
      case 'value':
        return buildLiteral(node.args);
      case 'id':
        return this.#name(node, node.args);
      case '.':
        return interpretMember(this.build(node.args[0]), node.args[1], this.#access(node, node.args[0]));
      case '[]': {
        const [owner, index] = node.args;
        return interpretIndex(this.build(owner), this.build(index), index, this.#access(node, owner));
      }
      case 'call':
        return this.#call(node);
      case 'rcall':
        return this.#method(node);
      case 'list':
        return buildList(node.args.map((item) => this.build(item)));
      case 'map':
        return buildMap(node.args.map(([key, value]) => [this.build(key), this.build(value)]));
      case '?:':
        return this.#choice(node.args);
      case '&&':
      case '||':
        return this.#logic(node.op === '||', node.args);
      case '!_':
        return this.#not(node.args);
      case '-_':
        return this.#minus(node.args);
      case '.?':
      case '[?]':
        throw new TypeError(`"${node.op}" was not refused`);
      default:
        return this.#binary(node.op, node.args);
    }
  }

  #name(node: ASTNode, name: string): Evaluate {
    const condition = this.#variables.has(name) ? undefined : this.resolution.named.get(name);
    if (condition === undefined) return buildSlot(this.slotOf({ name }), node);
    const known = this.#conditions.get(condition);
    if (known) return known;
    // The loop variables around the use are not visible in the condition.
    const variables = this.#variables;
    this.#variables = new Map();
    const evaluate = interpretCondition(this.build(condition.node), condition);
    this.#variables = variables;
    this.#conditions.set(condition, evaluate);
    return evaluate;
  }

  #access(node: ASTNode, owner: ASTNode): { owner: ASTNode; text: string; adapter: Adapter } {
    return { owner, text: textOf(node), adapter: adapterOf(this.resolution.types.get(node) ?? anyType) };
  }

  #call(node: ASTNode & { readonly op: 'call' }): Evaluate {
    const [name, given] = node.args;
    const about = subjectFunctionOf(node);
    const run = this.resolution.subjectFunctions.get(node);
    if (about && run) return interpretOnFact(this.slotOf({ name: about.fact }), about.fact, run);
    const fact = factOfCall(node);
    if (fact) return buildSlot(this.slotOf(fact), node);
    if (name !== 'has') return interpretFunction(this, node, { name, nodes: given, isMethod: false });
    const [argument] = given;
    const [root = '', ...chain] = (argument && chainOf(argument)) ?? [];
    const type = argument && this.resolution.types.get(argument);
    const member = argument && this.resolution.members.get(argument);
    if (member) return interpretHas(this.slotOf(member), [], adapterOf(type ?? anyType));
    return interpretHas(this.slotOf({ name: root }), chain, adapterOf(type ?? anyType));
  }

  #method(node: ASTNode & { readonly op: 'rcall' }): Evaluate {
    const [name, receiver, given] = node.args;
    if (Object.hasOwn(loops, name)) return interpretLoop(this, node);
    const plain = namespacedName(node);
    return plain === undefined
      ? interpretFunction(this, node, { name, nodes: [receiver, ...given], isMethod: true })
      : interpretFunction(this, node, { name: plain, nodes: given, isMethod: false });
  }

  #binary(sign: string, [leftNode, rightNode]: readonly [ASTNode, ASTNode]): Evaluate {
    const operator = binaryOperators[sign];
    if (operator === undefined) throw new TypeError(`"${sign}" was not refused`);
    const left = this.build(leftNode);
    const right = this.build(rightNode);
    const nullable = takesNull.has(sign);
    return (frame) => {
      frame.meter.charge(costs.step);
      const one = left(frame);
      const two = right(frame);
      if (typeof one === 'object' && isUnusable(one, nullable)) return toFailure(one, leftNode, frame);
      if (typeof two === 'object' && isUnusable(two, nullable)) return toFailure(two, rightNode, frame);
      return operator(one, two, frame.meter);
    };
  }

  #choice([conditionNode, heldNode, missedNode]: readonly [ASTNode, ASTNode, ASTNode]): Evaluate {
    const condition = this.build(conditionNode);
    const held = this.build(heldNode);
    const missed = this.build(missedNode);
    return (frame) => {
      frame.meter.charge(costs.step);
      const answer = condition(frame);
      if (answer === true) return held(frame);
      return answer === false ? missed(frame) : notBool(answer, conditionNode, frame);
    };
  }

  /** Compiles `&&` or `||`. An error or a non-bool on one side is ignored if the other side decides the result. */
  #logic(decides: boolean, [leftNode, rightNode]: readonly [ASTNode, ASTNode]): Evaluate {
    const left = this.build(leftNode);
    const right = this.build(rightNode);
    return (frame) => {
      frame.meter.charge(costs.step);
      const one = left(frame);
      if (one === decides) return decides;
      const two = right(frame);
      if (two === decides) return decides;
      if (typeof one !== 'boolean') return notBool(one, leftNode, frame);
      return typeof two === 'boolean' ? two : notBool(two, rightNode, frame);
    };
  }

  #not(innerNode: ASTNode): Evaluate {
    const inner = this.build(innerNode);
    return (frame) => {
      frame.meter.charge(costs.step);
      const value = inner(frame);
      return typeof value === 'boolean' ? !value : notBool(value, innerNode, frame);
    };
  }

  #minus(innerNode: ASTNode): Evaluate {
    const inner = this.build(innerNode);
    return (frame) => {
      frame.meter.charge(costs.step);
      const value = inner(frame);
      return isUnusable(value, false) ? toFailure(value, innerNode, frame) : negate(value);
    };
  }
}

/** Compiles a named condition, which is evaluated once for all expressions of a rule. */
function interpretCondition(evaluate: Evaluate, condition: NamedCondition): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.step);
    if (frame.conditions.has(condition)) return frame.conditions.get(condition);
    const value = evaluate(frame);
    frame.conditions.set(condition, value);
    return value;
  };
}

function buildLiteral(written: unknown): Evaluate {
  const value = literalValue(written);
  return () => value;
}

/** Converts a literal. The library represents ints as bigints and doubles as numbers. */
function literalValue(written: unknown): unknown {
  if (typeof written === 'bigint') return makeInt(written);
  return typeof written === 'number' ? makeDouble(written) : written;
}

function buildSlot(slot: number, node: ASTNode): Evaluate {
  return (frame) => {
    const value = frame.slots[slot];
    return value === undefined ? toFailure(value, node, frame) : value;
  };
}

function buildList(items: readonly Evaluate[]): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.step + items.length * costs.member);
    const values: unknown[] = [];
    for (const item of items) {
      const value = item(frame);
      if (value instanceof Failure) return value;
      values.push(value);
    }
    return values;
  };
}

function buildMap(entries: readonly (readonly [Evaluate, Evaluate])[]): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.step + entries.length * costs.member);
    // An object without a prototype treats a member named `constructor` like any other member.
    const map: Record<string, unknown> = Object.create(null);
    for (const [buildKey, buildValue] of entries) {
      const [key, value] = [buildKey(frame), buildValue(frame)];
      if (key instanceof Failure) return key;
      if (value instanceof Failure) return value;
      if (typeof key !== 'string') return new Failure('the keys of a map must be texts');
      map[key] = value;
    }
    return map;
  };
}

/** A function call: its name and its nodes, the receiver first if there is one. */
type FunctionCall = { readonly name: string; readonly nodes: readonly ASTNode[]; readonly isMethod: boolean };

/** Compiles a function call. At run time, the kinds of the values select one of the rows with this name. */
function interpretFunction(builder: Interpreter, node: ASTNode, call: FunctionCall): Evaluate {
  const { name, nodes, isMethod } = call;
  const [first] = nodes;
  const matcher = builder.resolution.matchers.get(node);
  if (matcher && first) return interpretMatch(builder.build(first), first, matcher);
  const rows = findFunctions(name, isMethod).flatMap((row) => bindRow(row, call));
  const parts = nodes.map((part) => builder.build(part));
  const [only] = rows;
  if (only?.row.literal === 'moment' && parts.length === 1 && first && literalOf(first) !== undefined) {
    return interpretConstant(parts[0], only.run);
  }
  return (frame) => {
    frame.meter.charge(costs.call);
    const values: unknown[] = [];
    for (let place = 0; place < parts.length; place += 1) {
      const value = parts[place]?.(frame);
      if (isUnusable(value, false)) return toFailure(value, nodes[place] ?? node, frame);
      values.push(value);
    }
    for (const bound of rows) if (takes(bound, values)) return bound.run(values, frame.meter);
    return new Failure(`there is no ${name}() of ${values.map(describeValue).join(' and ')}`);
  };
}

/** Compiles a function about the subject, which reads its fact from a slot. */
function interpretOnFact(slot: number, fact: string, run: RunOnFact): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.call);
    const value = frame.slots[slot];
    if (Array.isArray(value)) return run(value, frame.meter);
    if (value instanceof Failure) return value;
    frame.meter.charge(costs.failure);
    if (value instanceof TooLarge) return new Failure(`too large to judge: ${fact} is ${value.what}`);
    return new Failure(`${fact} is ${value === undefined ? 'missing' : describeValue(value)}`);
  };
}

/** Compiles `matches` or `glob`, whose pattern was compiled when the file was loaded. */
function interpretMatch(text: Evaluate, node: ASTNode, matches: Matcher): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.match);
    const value = text(frame);
    if (typeof value === 'string') return matches(value, frame.meter);
    if (isUnusable(value, false)) return toFailure(value, node, frame);
    return new Failure(`a pattern cannot be applied to ${describeValue(value)}`);
  };
}

/** Computes a literal instant or duration only once. */
function interpretConstant(part: Evaluate | undefined, run: RunFunction): Evaluate {
  const meter = createUnlimitedMeter();
  const value = run([part?.({ slots: [], meter, conditions: new Map() })], meter);
  return () => value;
}

/** A function row prepared for one call: the accepted kinds of values, and the function to run. */
type BoundFunction = {
  readonly kinds: readonly ReadonlySet<ValueKind>[];
  readonly run: RunFunction;
  readonly row: FunctionRow;
};

/** Prepares a function row for one call; returns an empty list if the number of values does not fit. */
function bindRow(row: FunctionRow, { nodes, isMethod }: FunctionCall): readonly BoundFunction[] {
  const count = nodes.length - (isMethod ? 1 : 0);
  if (!takesCount(row, count)) return [];
  const last = nodes.at(-1);
  const literal = last && literalOf(last);
  const run = row.bind && typeof literal === 'string' ? row.bind(literal) : row.run;
  const taken = kindsTaken(row, count);
  const kinds = (row.of ? [row.of, ...taken] : taken).map(
    (types) => new Set(types.flatMap((type) => valueKinds[type] ?? [])),
  );
  return [{ kinds, run, row }];
}

/** Kinds of run-time values for each kind of type. */
const valueKinds: Readonly<Partial<Record<Type['kind'], readonly ValueKind[]>>> = {
  bool: ['bool'],
  number: ['int', 'double'],
  string: ['string'],
  timestamp: ['timestamp'],
  duration: ['duration'],
  list: ['list'],
  map: ['map'],
};

function takes({ kinds }: BoundFunction, values: readonly unknown[]): boolean {
  for (let place = 0; place < kinds.length; place += 1) {
    if (!kinds[place]?.has(kindOf(values[place]))) return false;
  }
  return true;
}

/** The compiled parts of a loop. */
type Loop = {
  readonly items: (frame: Frame) => readonly unknown[] | Failure;
  readonly slot: number;
  readonly adapter: Adapter;
  readonly body: Evaluate;
  readonly bodyNode: ASTNode;
  /** The filter of the three-argument form of map(). */
  readonly filter?: { readonly holds: Evaluate; readonly node: ASTNode };
};

const runners: Readonly<Record<string, (loop: Loop) => Evaluate>> = {
  all: (loop) => quantifier(loop, false),
  exists: (loop) => quantifier(loop, true),
  exists_one: existsOne,
  filter,
  map,
};

/** Compiles a loop. Each item is charged before it is read, so nested loops cost the product of their lengths. */
function interpretLoop(builder: Interpreter, node: ASTNode & { readonly op: 'rcall' }): Evaluate {
  const [name, receiver, [variable, ...bodies]] = node.args;
  const bodyNode = bodies.at(-1);
  const run = runners[name];
  if (variable?.op !== 'id' || bodyNode === undefined || run === undefined) {
    throw new TypeError(`${name} without a name was not refused`);
  }
  const items = loopItems(builder.build(receiver), receiver);
  const adapter = adapterOf(builder.resolution.items.get(node) ?? anyType);
  return builder.withVariable(variable.args, (slot) => {
    const [first] = bodies;
    const filter = bodies.length > 1 && first ? { holds: builder.build(first), node: first } : undefined;
    const body = builder.build(bodyNode);
    return run({ items, slot, adapter, body, bodyNode, ...(filter && { filter }) });
  });
}

function loopItems(list: Evaluate, node: ASTNode): Loop['items'] {
  return (frame) => {
    frame.meter.charge(costs.call);
    const value = list(frame);
    if (Array.isArray(value)) return value;
    if (isUnusable(value, false)) return toFailure(value, node, frame);
    if (kindOf(value) !== 'map') return new Failure(`a loop cannot iterate over ${describeValue(value)}`);
    // CEL iterates over the keys of a map.
    return memberNamesOfValue(Object(value), frame.meter).filter(
      (name) => Reflect.get(Object(value), name) !== undefined,
    );
  };
}

/** Stores the next item in the slot of the loop variable. */
function take(item: unknown, { slot, adapter }: Loop, frame: Frame): void {
  frame.meter.charge(costs.item);
  frame.slots[slot] = adapt(item, adapter);
}

/**
 * Compiles `exists` or `all`. An item that decides the result takes precedence over errors in other items; if no item
 * decides, an error becomes the result.
 */
function quantifier(loop: Loop, decides: boolean): Evaluate {
  return (frame) => {
    const items = loop.items(frame);
    if (items instanceof Failure) return items;
    let failure: Failure | undefined;
    for (const item of items) {
      take(item, loop, frame);
      const answer = loop.body(frame);
      if (answer === decides) return decides;
      if (answer !== !decides) failure ??= notBool(answer, loop.bodyNode, frame);
    }
    return failure ?? !decides;
  };
}

function existsOne(loop: Loop): Evaluate {
  return (frame) => {
    const items = loop.items(frame);
    if (items instanceof Failure) return items;
    let count = 0;
    for (const item of items) {
      take(item, loop, frame);
      const answer = loop.body(frame);
      if (typeof answer !== 'boolean') return notBool(answer, loop.bodyNode, frame);
      if (answer) count += 1;
    }
    return count === 1;
  };
}

function filter(loop: Loop): Evaluate {
  return (frame) => {
    const items = loop.items(frame);
    if (items instanceof Failure) return items;
    const kept: unknown[] = [];
    for (const item of items) {
      take(item, loop, frame);
      const answer = loop.body(frame);
      if (typeof answer !== 'boolean') return notBool(answer, loop.bodyNode, frame);
      if (answer) kept.push(item);
    }
    return kept;
  };
}

function map(loop: Loop): Evaluate {
  return (frame) => {
    const items = loop.items(frame);
    if (items instanceof Failure) return items;
    const results: unknown[] = [];
    for (const item of items) {
      take(item, loop, frame);
      const taken = loop.filter?.holds(frame) ?? true;
      if (typeof taken !== 'boolean') return notBool(taken, loop.filter?.node ?? loop.bodyNode, frame);
      if (!taken) continue;
      const result = loop.body(frame);
      if (result instanceof Failure) return result;
      results.push(result);
    }
    return results;
  };
}

/** Text that describes a member or index access in messages, and the adapter for the accessed value. */
type MemberAccess = { readonly owner: ASTNode; readonly text: string; readonly adapter: Adapter };

/** Compiles `object.name`. */
function interpretMember(object: Evaluate, name: string, access: MemberAccess): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.step);
    const owner = object(frame);
    if (isUnusable(owner, false)) return toFailure(owner, access.owner, frame);
    const value = ownMember(owner, name);
    if (value !== undefined) return adapt(value, access.adapter);
    frame.meter.charge(costs.failure);
    return new Failure(`${access.text} is missing`);
  };
}

/** Compiles `list[index]` or `object[name]`. */
function interpretIndex(
  object: Evaluate,
  index: Evaluate,
  indexNode: ASTNode,
  access: MemberAccess,
): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.step);
    const owner = object(frame);
    if (isUnusable(owner, false)) return toFailure(owner, access.owner, frame);
    const key = index(frame);
    if (isUnusable(key, false)) return toFailure(key, indexNode, frame);
    const value = itemOf(owner, key);
    if (value !== undefined) return adapt(value, access.adapter);
    frame.meter.charge(costs.failure);
    return new Failure(`${access.text} is missing`);
  };
}

/**
 * Compiles has() of a member chain. A null member counts as absent, because forges write null for missing values. If
 * the last member is a list, null means an empty list.
 */
function interpretHas(slot: number, chain: readonly string[], adapter: Adapter): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.step * (1 + chain.length));
    let value = frame.slots[slot];
    for (const name of chain) {
      if (value === undefined || value === null) return false;
      value = ownMember(value, name);
    }
    return value !== undefined && adapt(value, adapter) !== null;
  };
}

function itemOf(owner: unknown, key: unknown): unknown {
  if (Array.isArray(owner)) {
    const place = key instanceof Double ? key.value : key;
    return typeof place === 'number' ? owner[place] : undefined;
  }
  return typeof key === 'string' ? ownMember(owner, key) : undefined;
}

/** Returns an own member of an object. Properties that every JavaScript object inherits do not count. */
function ownMember(owner: unknown, name: string): unknown {
  if (typeof owner !== 'object' || owner === null || kindOf(owner) !== 'map' || !Object.hasOwn(owner, name)) {
    return undefined;
  }
  // The cast is safe: the object is a map with string keys.
  return (owner as Readonly<Record<string, unknown>>)[name];
}

/** Returns whether a value cannot be used: it is missing, an error, too large, or null where null is not allowed. */
function isUnusable(value: unknown, nullHasMeaning: boolean): boolean {
  if (typeof value !== 'object') return value === undefined;
  return value === null ? !nullHasMeaning : value instanceof Unusable;
}

/** Returns the failure of a node whose value cannot be used. */
function toFailure(value: unknown, node: ASTNode, frame: Frame): Failure {
  if (value instanceof Failure) return value;
  frame.meter.charge(costs.failure);
  if (value instanceof TooLarge) return new Failure(`too large to judge: ${textOf(node)} is ${value.what}`);
  return new Failure(`${textOf(node)} is ${value === null ? 'null' : 'missing'}`);
}

/** Returns the failure of a node that is not a bool. */
function notBool(value: unknown, node: ASTNode, frame: Frame): Failure {
  if (isUnusable(value, false)) return toFailure(value, node, frame);
  frame.meter.charge(costs.failure);
  return new Failure(`${textOf(node)} is not true or false`);
}
