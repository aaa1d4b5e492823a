import type { ASTNode } from '@marcbachmann/cel-js';
import { type FactRequest, factKey } from '../../../facts/fact.ts';
import { costs } from '../budget/costs.ts';
import { loops } from '../functions/functions.ts';
import { chainOf, namespacedName, textOf } from '../parse/tree.ts';
import type { Resolution } from '../resolve/resolution.ts';
import { arithmetic, type BinaryOperator, makeInt, negate } from '../values/arithmetic.ts';
import { comparisons } from '../values/comparison.ts';
import { anyType } from '../values/types.ts';
import { type Adapter, adapterOf, Failure, makeDouble } from '../values/values.ts';
import type { Builder } from './builder.ts';
import { isUnusable, notBool, toFailure } from './failures.ts';
import type { Evaluate } from './frame.ts';
import { interpretFunction } from './interpret-function.ts';
import { interpretLoop } from './interpret-loop.ts';
import { interpretHas, interpretIndex, interpretMember } from './interpret-member.ts';
import { factOfCall } from './reads.ts';

const binaryOperators: Readonly<Record<string, BinaryOperator>> = { ...arithmetic, ...comparisons };
/** Operators that null may stand beside. */
const takesNull: ReadonlySet<string> = new Set(['==', '!=', 'in']);

/**
 * Returns an expression that was resolved without problems, ready to run. Each node becomes a function that charges its
 * own cost, calls those of its parts, and returns a value or a Failure. The values of `roots`, the names and facts that
 * the expression mentions, are wanted in the first slots of the frame, in their order.
 */
export function interpret(node: ASTNode, roots: readonly FactRequest[], resolution: Resolution): Evaluate {
  return new Interpreter(roots, resolution).build(node);
}

class Interpreter implements Builder {
  readonly resolution: Resolution;
  readonly #slots: ReadonlyMap<string, number>;
  readonly #variables = new Map<string, number>();
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
        return buildSlot(this.slotOf({ name: node.args }), node);
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

  #access(node: ASTNode, owner: ASTNode): { owner: ASTNode; text: string; adapter: Adapter } {
    return { owner, text: textOf(node), adapter: adapterOf(this.resolution.types.get(node) ?? anyType) };
  }

  #call(node: ASTNode & { readonly op: 'call' }): Evaluate {
    const [name, given] = node.args;
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

  /** An error, or what is no bool, on one side does not matter where the other side decides. */
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

function buildLiteral(written: unknown): Evaluate {
  const value = literalValue(written);
  return () => value;
}

/** The library writes ints as bigints and doubles as numbers. */
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
    // Without a prototype, a member named `constructor` is a member like any other.
    const map: Record<string, unknown> = Object.create(null);
    for (const [buildKey, buildValue] of entries) {
      const [key, value] = [buildKey(frame), buildValue(frame)];
      if (key instanceof Failure) return key;
      if (value instanceof Failure) return value;
      if (typeof key !== 'string') return new Failure('the names of a map are texts');
      map[key] = value;
    }
    return map;
  };
}
