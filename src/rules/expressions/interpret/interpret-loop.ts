import type { ASTNode } from '@marcbachmann/cel-js';
import { costs } from '../budget/costs.ts';
import { memberNamesOfValue } from '../values/member-names.ts';
import { anyType } from '../values/types.ts';
import { type Adapter, adapt, adapterOf, describeValue, Failure, kindOf } from '../values/values.ts';
import type { Builder } from './builder.ts';
import { isUnusable, notBool, toFailure } from './failures.ts';
import type { Evaluate, Frame } from './frame.ts';

/** The parts of a loop, ready to run. */
type Loop = {
  readonly items: (frame: Frame) => readonly unknown[] | Failure;
  readonly slot: number;
  readonly adapter: Adapter;
  readonly body: Evaluate;
  readonly bodyNode: ASTNode;
  /** The second form of map() takes the items of which this holds. */
  readonly filter?: { readonly holds: Evaluate; readonly node: ASTNode };
};

const runners: Readonly<Record<string, (loop: Loop) => Evaluate>> = {
  all: (loop) => quantifier(loop, false),
  exists: (loop) => quantifier(loop, true),
  exists_one: existsOne,
  filter,
  map,
};

/** Returns a loop, ready to run. Each item is charged before it is taken, so that loops inside of loops multiply. */
export function interpretLoop(builder: Builder, node: ASTNode & { readonly op: 'rcall' }): Evaluate {
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
    if (kindOf(value) !== 'map') return new Failure(`a loop cannot walk over ${describeValue(value)}`);
    // CEL walks over the names of a map.
    return memberNamesOfValue(Object(value), frame.meter).filter(
      (name) => Reflect.get(Object(value), name) !== undefined,
    );
  };
}

/** Puts the next item into its slot. */
function take(item: unknown, { slot, adapter }: Loop, frame: Frame): void {
  frame.meter.charge(costs.item);
  frame.slots[slot] = adapt(item, adapter);
}

/** `exists` and `all`: an item that decides does so whatever the others are; without one, an error is the answer. */
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
