import type { Meter } from '../../../patterns/meter.ts';
import { costs, limits } from '../budget/costs.ts';

/** Members up to which a JavaScript object is a record; one with more is a hash table, which takes longer to list. */
const maxRecord = 120;

/**
 * Returns the names of an object's members, paid for. Listing them takes as long as there are members, and how many there
 * are is known only afterwards: there must be enough left for the largest object that `hasWideObject` lets pass.
 */
export function memberNamesOfValue(value: object, meter: Meter): readonly string[] {
  meter.require(limits.members * costs.hashedMember);
  const names = Object.keys(value);
  meter.charge(names.length * (names.length > maxRecord ? costs.hashedMember : costs.member));
  return names;
}

/** Returns whether an object with more members than expressions may look at is somewhere in a value made of JSON. */
export function hasWideObject(value: unknown): boolean {
  const open: unknown[] = [value];
  for (let inner = open.pop(); inner !== undefined; inner = open.pop()) {
    if (typeof inner !== 'object' || inner === null) continue;
    if (!Array.isArray(inner) && Object.keys(inner).length > limits.members) return true;
    const members: readonly unknown[] = Array.isArray(inner) ? inner : Object.values(inner);
    for (const member of members) if (typeof member === 'object' && member !== null) open.push(member);
  }
  return false;
}
