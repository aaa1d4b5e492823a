import type { Meter } from '../../patterns/meter.ts';
import { costs, limits } from './budget.ts';
import { alternatives, type Type } from './types.ts';

/**
 * A double whose value is a whole number. JSON has no such thing: a whole number is an int here, as everywhere in the
 * payloads, so that the double 3.0 needs a mark of its own. Every other double is a plain number.
 */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** What no operator and no function can take. */
export abstract class Unusable {}

/** Stands where a value is too large to judge: whatever an expression does with it fails and says so. */
export class TooLarge extends Unusable {
  readonly what: string;

  constructor(what: string) {
    super();
    this.what = what;
  }
}

/** The error of an expression, as a value: `&&`, `||`, all() and exists() may do without it. */
export class Failure extends Unusable {
  readonly message: string;

  constructor(message: string) {
    super();
    this.message = message;
  }
}

/**
 * What a value is while an expression runs. Values of the forge are used as they are, without a copy: an int is a number
 * that is a safe integer, or a bigint beyond; a map is any other object.
 */
export type ValueKind =
  | 'bool'
  | 'int'
  | 'double'
  | 'string'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'too large';

export function kindOf(value: unknown): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return Number.isSafeInteger(value) ? 'int' : 'double';
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'object':
      return kindOfObject(value);
    default:
      return 'null';
  }
}

function kindOfObject(value: object | null): ValueKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  // Objects of the forge and maps of expressions have one of these two; it saves looking at the classes below.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return 'map';
  if (value instanceof Date) return 'timestamp';
  if (value instanceof Duration) return 'duration';
  if (value instanceof Double) return 'double';
  return value instanceof TooLarge ? 'too large' : 'map';
}

const words: Readonly<Record<ValueKind, string>> = {
  bool: 'true or false',
  int: 'a whole number',
  double: 'a number with a fraction',
  string: 'text',
  null: 'null',
  timestamp: 'an instant',
  duration: 'a duration',
  list: 'a list',
  map: 'an object',
  'too large': 'a value that is too large',
};

/** Returns the words for what a value is, for messages. */
export function describeValue(value: unknown): string {
  return words[kindOf(value)];
}

/** Returns a double as expressions hold it. */
export function makeDouble(value: number): number | Double {
  return Number.isSafeInteger(value) ? new Double(value) : value;
}

/** What the type of a value of the forge asks for beyond taking it as it is. */
export type Adapter = { readonly listForNull: boolean; readonly duration: boolean };

/** Returns what to look for in values of a type. Forges write null for an empty list, and Reeve durations as text or milliseconds. */
export function adapterOf(type: Type): Adapter {
  const kinds = alternatives(type).map(({ kind }) => kind);
  return {
    listForNull: kinds.every((kind) => kind === 'list'),
    duration: kinds.every((kind) => kind === 'duration'),
  };
}

/** Returns a value of the forge as expressions see it; undefined stays undefined: there is no such value. */
export function adapt(value: unknown, adapter: Adapter): unknown {
  if (adapter.duration) return toDuration(value);
  if (typeof value === 'string') {
    return value.length > limits.text ? new TooLarge(`a text of ${value.length} characters`) : value;
  }
  if (typeof value !== 'object') return value;
  if (value === null) return adapter.listForNull ? [] : null;
  if (Array.isArray(value) && value.length > limits.items)
    return new TooLarge(`a list of ${value.length} items`);
  return value;
}

function toDuration(value: unknown): unknown {
  if (typeof value === 'number' && Number.isFinite(value)) return Duration.ofMilliseconds(value);
  if (typeof value === 'string') return parseDuration(value) ?? null;
  return value instanceof Duration || value === undefined ? value : null;
}

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

/** Nanoseconds of each unit that a written duration may have. */
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const second = 1_000_000_000n;
const millisecond = 1_000_000n;
/** The longest duration of CEL, about 10,000 years. */
const maxNanoseconds = 315_576_000_000n * second;
const maxLength = 64;

/** A CEL duration: a span of time, exact to the nanosecond, negative where it leads back. */
export class Duration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }

  static ofMilliseconds(milliseconds: number): Duration {
    const whole = Math.trunc(milliseconds);
    // Multiplied as a whole, a date's milliseconds would lose their last digits.
    return new Duration(BigInt(whole) * millisecond + BigInt(Math.round((milliseconds - whole) * 1_000_000)));
  }

  /** Whole milliseconds, rounded down. */
  get milliseconds(): number {
    const rest = this.nanoseconds % millisecond;
    return Number((this.nanoseconds - rest) / millisecond) - (rest < 0n ? 1 : 0);
  }

  /** Whether CEL has durations this long. */
  get isValid(): boolean {
    return this.nanoseconds <= maxNanoseconds && this.nanoseconds >= -maxNanoseconds;
  }

  /** Returns how many of a unit are in the whole duration, without the rest. */
  in(unit: 'h' | 'm' | 's' | 'ms'): number {
    return Number(this.nanoseconds / (units[unit] ?? 1n));
  }

  /** Returns the text as CEL has it: seconds, such as `5400s` or `1.5s`. */
  toString(): string {
    const size = this.nanoseconds < 0n ? -this.nanoseconds : this.nanoseconds;
    const fraction = (size % second).toString().padStart(9, '0').replace(/0+$/, '');
    const sign = this.nanoseconds < 0n ? '-' : '';
    return `${sign}${size / second}${fraction === '' ? '' : `.${fraction}`}s`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Returns the duration of a text such as `15m`, `1h30m`, `-1.5h` or `300ms`, or undefined where it is none. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > maxLength || !/^[+-]?((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(text))
    return undefined;
  let nanoseconds = 0n;
  for (const [, amount = '', unit = ''] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) {
    const [whole = '', fraction = ''] = amount.split('.');
    const scale = units[unit] ?? 0n;
    nanoseconds += BigInt(whole) * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  const duration = new Duration(text.startsWith('-') ? -nanoseconds : nanoseconds);
  return duration.isValid ? duration : undefined;
}

/** The first and the last instant that CEL has: the years 1 to 9999. */
const earliest = -62_135_596_800_000;
const latest = 253_402_300_799_999;

/** RFC 3339: date, time and offset, none of them left out. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** Returns an instant, or a Failure where CEL has none such. */
export function makeInstant(milliseconds: number): Date | Failure {
  if (milliseconds >= earliest && milliseconds <= latest) return new Date(milliseconds);
  return new Failure('the instant is not between the years 1 and 9999');
}

/** Returns the instant of an RFC 3339 text, or a Failure. */
export function parseInstant(text: string): Date | Failure {
  const milliseconds = text.length <= 40 && rfc3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(milliseconds)
    ? new Failure('timestamp() needs an instant such as 2026-01-31T12:00:00Z')
    : makeInstant(milliseconds);
}

const maxShown = 200;

/** Returns a value as a finding keeps it: plain JSON, at most 200 characters of it, with `…` where it was longer. */
export function toReading(value: unknown, members: readonly string[], meter: Meter): unknown {
  if (value instanceof TooLarge) return `(${value.what})`;
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (value === undefined) return null;
  const text = toShortenedJson(value, members, meter);
  if (text.length > maxShown) return cut(text);
  const plain: unknown = JSON.parse(text);
  return plain;
}

function cut(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown - 1)}…`;
}

/** Returns the start of a value's JSON, a little longer than what is shown: whole lists are never written out to be cut. */
function toShortenedJson(value: unknown, members: readonly string[], meter: Meter): string {
  let left = maxShown * 2;
  const write = (item: unknown): unknown => {
    if (left <= 0) return '…';
    if (typeof item === 'string') {
      left -= item.length + 2;
      return cut(item);
    }
    left -= 4;
    if (typeof item !== 'object' || item === null) return typeof item === 'bigint' ? Number(item) : item;
    return writeObject(item);
  };
  const writeObject = (item: object): unknown => {
    if (item instanceof TooLarge) return `(${item.what})`;
    if (item instanceof Double) return item.value;
    if (item instanceof Date) return item.toISOString();
    if (item instanceof Duration) return item.toString();
    const parts: unknown[] = [];
    if (Array.isArray(item)) {
      for (const part of item) {
        if (left <= 0 || parts.length >= maxShown) break;
        parts.push(write(item === value ? narrowed(part, members) : part));
      }
      return parts;
    }
    const entries: [string, unknown][] = [];
    for (const name of memberNamesOfValue(item, meter)) {
      if (left <= 0 || entries.length >= maxShown) break;
      const member: unknown = Reflect.get(item, name);
      if (member !== undefined) entries.push([name, write(member)]);
    }
    return Object.fromEntries(entries);
  };
  return JSON.stringify(write(value)) ?? 'null';
}

/** Returns what a loop looks at in an item: the one member itself, or the members by name. */
function narrowed(item: unknown, members: readonly string[]): unknown {
  if (members.length === 0 || typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const own = (name: string): unknown =>
    (Object.hasOwn(item, name) ? Reflect.get(item, name) : undefined) ?? null;
  const [only] = members;
  if (members.length === 1 && only !== undefined) return own(only);
  return Object.fromEntries(members.map((name) => [name, own(name)]));
}
