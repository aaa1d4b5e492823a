import type { Meter } from '../../../patterns/meter.ts';
import { costs } from '../budget/costs.ts';
import { type BinaryOperator, mismatch, toNumber } from './arithmetic.ts';
import { Duration } from './duration.ts';
import { memberNamesOfValue } from './member-names.ts';
import { Double, Failure, kindOf, TooLarge } from './values.ts';

/** Objects and lists of the forge nest no deeper; what does was made to end the stack. */
const maxDepth = 100;

export const comparisons: Readonly<Record<'==' | '!=' | '<' | '<=' | '>' | '>=' | 'in', BinaryOperator>> = {
  '==': (left, right, meter) => isEqual(left, right, meter),
  '!=': (left, right, meter) => {
    const equal = isEqual(left, right, meter);
    return typeof equal === 'boolean' ? !equal : equal;
  },
  '<': (left, right, meter) => isOrdered('<', left, right, meter, (a, b) => a < b),
  '<=': (left, right, meter) => isOrdered('<=', left, right, meter, (a, b) => a <= b),
  '>': (left, right, meter) => isOrdered('>', left, right, meter, (a, b) => a > b),
  '>=': (left, right, meter) => isOrdered('>=', left, right, meter, (a, b) => a >= b),
  in: isIn,
};

/** Returns whether two values are equal, whatever their kinds: an int equals the double of its value, nothing else crosses. */
export function isEqual(left: unknown, right: unknown, meter: Meter, depth = 0): boolean | Failure {
  if (typeof left === 'string' && typeof right === 'string') return equalTexts(left, right, meter);
  if (left === right) return !(left instanceof TooLarge) || tooLarge(left);
  if (typeof left !== 'object' && typeof right !== 'object') {
    // A bigint and a number may be the same number; texts and bools are never anything else.
    return areNumbers(left, right) && isSameNumber(toComparable(left), toComparable(right));
  }
  if (left instanceof TooLarge) return tooLarge(left);
  if (right instanceof TooLarge) return tooLarge(right);
  if (left instanceof Double || right instanceof Double) {
    const [one, two] = [kindOf(left), kindOf(right)];
    const isNumeric = (one === 'int' || one === 'double') && (two === 'int' || two === 'double');
    return isNumeric && isSameNumber(toComparable(left), toComparable(right));
  }
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') return false;
  meter.charge(costs.step);
  if (depth > maxDepth) return new Failure('too large to judge: values are nested too deep');
  return areEqualObjects(left, right, meter, depth);
}

function toComparable(value: unknown): number | bigint {
  return typeof value === 'bigint' ? value : toNumber(value);
}

/** Compares without rounding: a bigint and a number have an order, too. */
function isSameNumber(left: number | bigint, right: number | bigint): boolean {
  return left <= right && left >= right;
}

function areNumbers(left: unknown, right: unknown): boolean {
  return (
    (typeof left === 'number' && typeof right === 'bigint') ||
    (typeof left === 'bigint' && (typeof right === 'number' || typeof right === 'bigint'))
  );
}

function equalTexts(left: string, right: string, meter: Meter): boolean {
  if (left.length !== right.length) return false;
  meter.charge(left.length * costs.copiedCharacter);
  return left === right;
}

function areEqualObjects(left: object, right: object, meter: Meter, depth: number): boolean | Failure {
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return false;
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (left instanceof Duration && right instanceof Duration) return left.nanoseconds === right.nanoseconds;
  if (Array.isArray(left) && Array.isArray(right)) return areEqualLists(left, right, meter, depth);
  return areEqualMaps(left, right, meter, depth);
}

function areEqualLists(
  left: readonly unknown[],
  right: readonly unknown[],
  meter: Meter,
  depth: number,
): boolean | Failure {
  if (left.length !== right.length) return false;
  for (const [place, item] of left.entries()) {
    meter.charge(costs.member);
    const equal = isEqual(item, right[place], meter, depth + 1);
    if (equal !== true) return equal;
  }
  return true;
}

function areEqualMaps(left: object, right: object, meter: Meter, depth: number): boolean | Failure {
  const names = membersOf(left, meter);
  if (names.length !== membersOf(right, meter).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(right, name)) return false;
    const equal = isEqual(Reflect.get(left, name), Reflect.get(right, name), meter, depth + 1);
    if (equal !== true) return equal;
  }
  return true;
}

/** Returns the names of the members that are there: one that is undefined is not. */
function membersOf(value: object, meter: Meter): readonly string[] {
  return memberNamesOfValue(value, meter).filter((name) => Reflect.get(value, name) !== undefined);
}

function tooLarge({ what }: TooLarge): Failure {
  return new Failure(`too large to judge: ${what}`);
}

/** Kinds that have an order among themselves; ints and doubles have one together. */
const orders: Readonly<Record<string, string>> = {
  int: 'number',
  double: 'number',
  string: 'string',
  bool: 'bool',
  timestamp: 'timestamp',
  duration: 'duration',
};

/** Returns the order that a value belongs to (`number`, `string`, …), or undefined where its kind has none. */
export function orderNameOf(value: unknown): string | undefined {
  return orders[kindOf(value)];
}

export type Orderable = number | bigint | string | boolean;

function isOrdered(
  sign: string,
  left: unknown,
  right: unknown,
  meter: Meter,
  holds: (left: Orderable, right: Orderable) => boolean,
): boolean | Failure {
  if (typeof left === 'number' && typeof right === 'number') return holds(left, right);
  const order = orders[kindOf(left)];
  if (order === undefined || order !== orders[kindOf(right)]) return mismatch(sign, left, right);
  if (typeof left === 'string' && typeof right === 'string') {
    meter.charge(Math.min(left.length, right.length) * costs.copiedCharacter);
  }
  return holds(toOrderable(left), toOrderable(right));
}

/** Returns a value of a kind with an order as what JavaScript compares. */
export function toOrderable(value: unknown): Orderable {
  if (value instanceof Duration) return value.nanoseconds;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Double) return value.value;
  // What is left has an order of its own, or it would have been refused before.
  return value as Orderable;
}

function isIn(value: unknown, list: unknown, meter: Meter): boolean | Failure {
  if (Array.isArray(list)) {
    for (const item of list) {
      meter.charge(costs.member);
      const equal = isEqual(value, item, meter);
      if (equal !== false) return equal;
    }
    return false;
  }
  if (kindOf(list) !== 'map') return mismatch('in', value, list);
  return (
    typeof value === 'string' &&
    Object.hasOwn(Object(list), value) &&
    Reflect.get(Object(list), value) !== undefined
  );
}
