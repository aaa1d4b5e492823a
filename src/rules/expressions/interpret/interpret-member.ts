import type { ASTNode } from '@marcbachmann/cel-js';
import { costs } from '../budget/costs.ts';
import { type Adapter, adapt, Double, Failure, kindOf } from '../values/values.ts';
import { isUnusable, toFailure } from './failures.ts';
import type { Evaluate } from './frame.ts';

/** What a member or an item is called in messages, and how its value is read. */
type MemberAccess = { readonly owner: ASTNode; readonly text: string; readonly adapter: Adapter };

/** Returns `object.name`, ready to run. */
export function interpretMember(object: Evaluate, name: string, access: MemberAccess): Evaluate {
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

/** Returns `list[place]` or `object[name]`, ready to run. */
export function interpretIndex(
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
 * Returns has() of a chain, ready to run. A member that is null is not there: forges write null for what a subject does
 * not have. Only where the last member is a list they mean an empty one.
 */
export function interpretHas(slot: number, chain: readonly string[], adapter: Adapter): Evaluate {
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

/** Members are those of the object itself: what every JavaScript object has is no member. */
function ownMember(owner: unknown, name: string): unknown {
  if (typeof owner !== 'object' || owner === null || kindOf(owner) !== 'map' || !Object.hasOwn(owner, name)) {
    return undefined;
  }
  // The object is a map, which has nothing but values under names.
  return (owner as Readonly<Record<string, unknown>>)[name];
}
