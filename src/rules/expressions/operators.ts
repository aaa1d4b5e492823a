import type { Meter } from '../../patterns/meter.ts';
import { costs, limits } from './budget.ts';
import {
  Double,
  Duration,
  describeValue,
  Failure,
  kindOf,
  makeDouble,
  makeInstant,
  memberNamesOfValue,
  TooLarge,
} from './values.ts';

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
/** Combines two values, or returns a Failure if their kinds do not match. */
export type BinaryOperator = (left: unknown, right: unknown, meter: Meter) => unknown;

/**
 * Implementations of an arithmetic operation: for ints stored as numbers, for ints stored as bigints and, if supported,
 * for doubles.
 */
type NumberOperation = {
  readonly int: (left: number, right: number) => number;
  readonly big: (left: bigint, right: bigint) => bigint;
  readonly double?: (left: number, right: number) => number;
};

const addition: NumberOperation = { int: (a, b) => a + b, big: (a, b) => a + b, double: (a, b) => a + b };
const subtraction: NumberOperation = { int: (a, b) => a - b, big: (a, b) => a - b, double: (a, b) => a - b };
const multiplication: NumberOperation = {
  int: (a, b) => a * b,
  big: (a, b) => a * b,
  double: (a, b) => a * b,
};
const division: NumberOperation = {
  int: (a, b) => (a - (a % b)) / b,
  big: (a, b) => a / b,
  double: (a, b) => a / b,
};
const remainder: NumberOperation = { int: (a, b) => a % b, big: (a, b) => a % b };

export const arithmetic: Readonly<Record<'+' | '-' | '*' | '/' | '%', BinaryOperator>> = {
  '+': add,
  '-': subtract,
  '*': (left, right) => ofNumbers('*', left, right, multiplication),
  '/': (left, right) =>
    right === 0 && kindOf(left) === 'int'
      ? new Failure('division by zero')
      : ofNumbers('/', left, right, division),
  '%': (left, right) =>
    right === 0 && kindOf(left) === 'int'
      ? new Failure('modulo by zero')
      : ofNumbers('%', left, right, remainder),
};

/** Returns the negated value. */
export function negate(value: unknown): unknown {
  const kind = kindOf(value);
  if (kind === 'int') return typeof value === 'number' ? 0 - value : makeInt(-toBig(value));
  return kind === 'double'
    ? makeDouble(-toNumber(value))
    : new Failure(`"-" cannot have ${describeValue(value)}`);
}

/** Returns an int in its stored form; a Failure if it exceeds 64 bits. */
export function makeInt(value: bigint): number | bigint | Failure {
  if (value < minInt || value > maxInt) return new Failure('integer overflow');
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/** Returns an int or double as a number. */
export function toNumber(value: unknown): number {
  return value instanceof Double ? value.value : Number(value);
}

function toBig(value: unknown): bigint {
  return typeof value === 'bigint' ? value : BigInt(toNumber(value));
}

function isSmallInt(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * Applies an arithmetic operation. Int arithmetic is exact; if one operand is a double, the other operand is converted
 * to a double.
 */
function ofNumbers(sign: string, left: unknown, right: unknown, operation: NumberOperation): unknown {
  if (isSmallInt(left) && isSmallInt(right)) {
    const result = operation.int(left, right);
    // Ints have no -0; adding 0 turns -0 into 0.
    if (Number.isSafeInteger(result)) return result + 0;
  }
  const [one, two] = [kindOf(left), kindOf(right)];
  if (one === 'int' && two === 'int') return makeInt(operation.big(toBig(left), toBig(right)));
  const isNumeric = (one === 'int' || one === 'double') && (two === 'int' || two === 'double');
  if (!isNumeric || !operation.double) return mismatch(sign, left, right);
  return makeDouble(operation.double(toNumber(left), toNumber(right)));
}

function add(left: unknown, right: unknown, meter: Meter): unknown {
  if (typeof left === 'string' && typeof right === 'string') return joinTexts(left, right, meter);
  if (Array.isArray(left) && Array.isArray(right)) return joinLists(left, right, meter);
  if (left instanceof Duration) {
    if (right instanceof Duration) return valid(new Duration(left.nanoseconds + right.nanoseconds));
    if (right instanceof Date) return makeInstant(right.getTime() + left.milliseconds);
  }
  if (left instanceof Date && right instanceof Duration) {
    return makeInstant(left.getTime() + right.milliseconds);
  }
  return ofNumbers('+', left, right, addition);
}

function subtract(left: unknown, right: unknown): unknown {
  if (left instanceof Date) {
    if (right instanceof Date) return Duration.ofMilliseconds(left.getTime() - right.getTime());
    if (right instanceof Duration) return makeInstant(left.getTime() - right.milliseconds);
  }
  if (left instanceof Duration && right instanceof Duration) {
    return valid(new Duration(left.nanoseconds - right.nanoseconds));
  }
  return ofNumbers('-', left, right, subtraction);
}

function valid(duration: Duration): Duration | Failure {
  return duration.isValid ? duration : new Failure('the duration is too long');
}

function joinTexts(left: string, right: string, meter: Meter): string | Failure {
  const length = left.length + right.length;
  if (length > limits.text) return new Failure(`too large to judge: a text of ${length} characters`);
  meter.charge(length * costs.copiedCharacter);
  return left + right;
}

function joinLists(left: readonly unknown[], right: readonly unknown[], meter: Meter): unknown {
  const length = left.length + right.length;
  if (length > limits.items) return new Failure(`too large to judge: a list of ${length} items`);
  meter.charge(length * costs.member);
  return [...left, ...right];
}

/** Returns the failure of an operator that does not accept these operands. */
function mismatch(sign: string, left: unknown, right: unknown): Failure {
  return new Failure(`"${sign}" cannot have ${describeValue(left)} and ${describeValue(right)}`);
}

/**
 * Maximum nesting depth of compared values. Values of the forge are less deeply nested; deeper values would be an
 * attempt to overflow the stack.
 */
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

/**
 * Returns whether two values of any kind are equal: an int equals the double with the same value; otherwise values of
 * different kinds are never equal.
 */
function isEqual(left: unknown, right: unknown, meter: Meter, depth = 0): boolean | Failure {
  if (typeof left === 'string' && typeof right === 'string') return equalTexts(left, right, meter);
  if (left === right) return !(left instanceof TooLarge) || tooLarge(left);
  if (typeof left !== 'object' && typeof right !== 'object') {
    // A bigint and a number may be equal; a text or a bool equals only a value of the same kind.
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

/** Compares a bigint and a number without rounding. */
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

/** Returns the names of an object's members, without those that are undefined. */
function membersOf(value: object, meter: Meter): readonly string[] {
  return memberNamesOfValue(value, meter).filter((name) => Reflect.get(value, name) !== undefined);
}

function tooLarge({ what }: TooLarge): Failure {
  return new Failure(`too large to judge: ${what}`);
}

/** Kinds that can be ordered; ints and doubles are ordered together. */
const orders: Readonly<Record<string, string>> = {
  int: 'number',
  double: 'number',
  string: 'string',
  bool: 'bool',
  timestamp: 'timestamp',
  duration: 'duration',
};

/** Returns the name of a value's ordering (`number`, `string`, …); undefined if its kind cannot be ordered. */
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

/** Returns a value of an orderable kind in a form that JavaScript can compare. */
export function toOrderable(value: unknown): Orderable {
  if (value instanceof Duration) return value.nanoseconds;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Double) return value.value;
  // The cast is safe: values of other kinds were refused earlier.
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

/**
 * A set of values that uses the equality of `==`. Texts, numbers and times are looked up by key; lists and objects are
 * compared one by one.
 */
export class ValueSet {
  readonly #keys = new Set<unknown>();
  readonly #instants = new Set<number>();
  readonly #durations = new Set<bigint>();
  readonly #others: unknown[] = [];
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Returns whether an equal value is in the set, or a Failure if that cannot be decided. */
  has(value: unknown): boolean | Failure {
    this.#meter.charge(costs.member);
    if (value instanceof TooLarge) return new Failure(`too large to judge: ${value.what}`);
    if (value instanceof Date) return this.#instants.has(value.getTime());
    if (value instanceof Duration) return this.#durations.has(value.nanoseconds);
    if (!isObject(value)) return this.#keys.has(this.#keyOf(value));
    for (const other of this.#others) {
      const equal = isEqual(value, other, this.#meter);
      if (equal !== false) return equal;
    }
    return false;
  }

  add(value: unknown): void {
    this.#meter.charge(costs.member);
    if (value instanceof Date) this.#instants.add(value.getTime());
    else if (value instanceof Duration) this.#durations.add(value.nanoseconds);
    else if (isObject(value)) this.#others.push(value);
    else this.#keys.add(this.#keyOf(value));
  }

  /**
   * Returns the lookup key of a value. An int and the double of the same value have the same key. NaN is equal to
   * nothing, so each NaN gets a unique key.
   */
  #keyOf(value: unknown): unknown {
    if (typeof value === 'string') {
      this.#meter.charge(value.length * costs.copiedCharacter);
      return value;
    }
    if (value instanceof Double) return value.value;
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    if (Number.isNaN(value)) return Symbol('NaN');
    return Number.isInteger(value) ? BigInt(value) : value;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Double);
}

/** Returns a scalar value as text; not for lists and objects. */
export function scalarToText(value: unknown): string {
  switch (kindOf(value)) {
    case 'double': {
      const plain = toNumber(value);
      if (plain === Number.POSITIVE_INFINITY) return '+Inf';
      return plain === Number.NEGATIVE_INFINITY ? '-Inf' : `${plain}`;
    }
    case 'timestamp':
      // The format is RFC 3339, without a zero fraction.
      return value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : '';
    default:
      return `${value}`;
  }
}
