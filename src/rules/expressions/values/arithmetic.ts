import type { Meter } from '../../../patterns/meter.ts';
import { costs, limits } from '../budget/costs.ts';
import { Duration } from './duration.ts';
import { makeInstant } from './instant.ts';
import { Double, describeValue, Failure, kindOf, makeDouble } from './values.ts';

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
/** Two values to one, or a Failure where they do not go together. */
export type BinaryOperator = (left: unknown, right: unknown, meter: Meter) => unknown;

/** One operator, for ints that are numbers, for those that are not, and for doubles, where these have it. */
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

/** Returns the value with the other sign. */
export function negate(value: unknown): unknown {
  const kind = kindOf(value);
  if (kind === 'int') return typeof value === 'number' ? 0 - value : makeInt(-toBig(value));
  return kind === 'double'
    ? makeDouble(-toNumber(value))
    : new Failure(`"-" cannot have ${describeValue(value)}`);
}

/** Returns an int as expressions hold it, or a Failure where it has more than 64 bits. */
export function makeInt(value: bigint): number | bigint | Failure {
  if (value < minInt || value > maxInt) return new Failure('integer overflow');
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/** Returns the number of an int or double. */
export function toNumber(value: unknown): number {
  return value instanceof Double ? value.value : Number(value);
}

function toBig(value: unknown): bigint {
  return typeof value === 'bigint' ? value : BigInt(toNumber(value));
}

function isSmallInt(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Ints stay ints and are exact; an int beside a double counts as a double. */
function ofNumbers(sign: string, left: unknown, right: unknown, operation: NumberOperation): unknown {
  if (isSmallInt(left) && isSmallInt(right)) {
    const result = operation.int(left, right);
    // Ints have no -0; adding 0 makes it 0.
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

/** Returns the failure of an operator that cannot have these two. */
export function mismatch(sign: string, left: unknown, right: unknown): Failure {
  return new Failure(`"${sign}" cannot have ${describeValue(left)} and ${describeValue(right)}`);
}
