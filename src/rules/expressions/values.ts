import type { Meter } from '../../patterns/meter.ts';
import { costs, limits } from './budget.ts';
import { alternatives, type Type } from './types.ts';

/**
 * A double whose value is a whole number. JSON does not distinguish ints from doubles, and a whole number is treated as
 * an int, as in all payloads, so a double such as 3.0 needs its own class. All other doubles are plain numbers.
 */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A value that no operator and no function accepts. */
export abstract class Unusable {}

/** Placeholder for a value beyond the limits. Any use of it fails. `what` describes the value. */
export class TooLarge extends Unusable {
  readonly what: string;

  constructor(what: string) {
    super();
    this.what = what;
  }
}

/** An error as a value. `&&`, `||`, all() and exists() may ignore it. */
export class Failure extends Unusable {
  readonly message: string;

  constructor(message: string) {
    super();
    this.message = message;
  }
}

/**
 * Kind of a value at run time. Values of the forge are used without copying: an int is a number that is a safe integer,
 * or a bigint beyond that range; a map is any other object.
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
  // Fast path: objects of the forge and maps of expressions have one of these two prototypes.
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

/** Returns the description of a value's kind, for messages. */
export function describeValue(value: unknown): string {
  return words[kindOf(value)];
}

/** Returns a double in its stored form. */
export function makeDouble(value: number): number | Double {
  return Number.isSafeInteger(value) ? new Double(value) : value;
}

/** How values of a type are converted when they come from the forge. */
export type Adapter = { readonly listForNull: boolean; readonly duration: boolean };

/**
 * Returns the conversion for values of a type. Forges write null for an empty list; Reeve writes durations as text or
 * as milliseconds.
 */
export function adapterOf(type: Type): Adapter {
  const kinds = alternatives(type).map(({ kind }) => kind);
  return {
    listForNull: kinds.every((kind) => kind === 'list'),
    duration: kinds.every((kind) => kind === 'duration'),
  };
}

/** Returns a value of the forge as expressions see it; undefined if there is no such value. */
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

/**
 * Maximum number of members of an object that the JavaScript engine stores as a record. Larger objects are stored as
 * hash tables, which take longer to list.
 */
const maxRecord = 120;

/**
 * Returns the names of an object's members, charged to the meter. The cost of listing is known only afterwards, so the
 * meter must have enough left for the largest object that `hasWideObject` accepts.
 */
export function memberNamesOfValue(value: object, meter: Meter): readonly string[] {
  meter.require(limits.members * costs.hashedMember);
  const names = Object.keys(value);
  meter.charge(names.length * (names.length > maxRecord ? costs.hashedMember : costs.member));
  return names;
}

/** Returns whether a JSON value contains an object with more members than expressions accept. */
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

/** Nanoseconds per unit of a duration. */
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
/** Maximum duration in CEL, about 10,000 years. */
const maxNanoseconds = 315_576_000_000n * second;
const maxLength = 64;

/** A CEL duration, with nanosecond precision; may be negative. */
export class Duration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }

  static ofMilliseconds(milliseconds: number): Duration {
    const whole = Math.trunc(milliseconds);
    // The whole milliseconds are converted separately, because the milliseconds of a date would otherwise lose their
    // last digits.
    return new Duration(BigInt(whole) * millisecond + BigInt(Math.round((milliseconds - whole) * 1_000_000)));
  }

  /** Whole milliseconds, rounded down. */
  get milliseconds(): number {
    const rest = this.nanoseconds % millisecond;
    return Number((this.nanoseconds - rest) / millisecond) - (rest < 0n ? 1 : 0);
  }

  /** Whether the duration is within CEL's range. */
  get isValid(): boolean {
    return this.nanoseconds <= maxNanoseconds && this.nanoseconds >= -maxNanoseconds;
  }

  /** Returns the whole duration in the given unit, rounded toward zero. */
  in(unit: 'h' | 'm' | 's' | 'ms'): number {
    return Number(this.nanoseconds / (units[unit] ?? 1n));
  }

  /** Returns the duration in CEL's text format: seconds, such as `5400s` or `1.5s`. */
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

/** Parses a duration such as `15m`, `1h30m`, `-1.5h` or `300ms`; returns undefined for any other text. */
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

/** CEL's range of instants: the years 1 to 9999. */
const earliest = -62_135_596_800_000;
const latest = 253_402_300_799_999;

/** RFC 3339; date, time and offset are all required. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** Returns an instant; a Failure outside CEL's range. */
export function makeInstant(milliseconds: number): Date | Failure {
  if (milliseconds >= earliest && milliseconds <= latest) return new Date(milliseconds);
  return new Failure('the instant is not between the years 1 and 9999');
}

/** Returns the instant in an RFC 3339 text; a Failure if the text is invalid. */
export function parseInstant(text: string): Date | Failure {
  const milliseconds = text.length <= 40 && rfc3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(milliseconds)
    ? new Failure('timestamp() needs an instant such as 2026-01-31T12:00:00Z')
    : makeInstant(milliseconds);
}

const maxShown = 200;

/** Returns a value as recorded in evidence: plain JSON of at most 200 characters, truncated with `…`. */
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

/**
 * Returns the beginning of a value's JSON, slightly longer than the limit, so that long lists are never serialized as a
 * whole.
 */
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

/** Returns the members of an item that a loop reads: for one member, its value; for several, an object. */
function narrowed(item: unknown, members: readonly string[]): unknown {
  if (members.length === 0 || typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const own = (name: string): unknown =>
    (Object.hasOwn(item, name) ? Reflect.get(item, name) : undefined) ?? null;
  const [only] = members;
  if (members.length === 1 && only !== undefined) return own(only);
  return Object.fromEntries(members.map((name) => [name, own(name)]));
}
