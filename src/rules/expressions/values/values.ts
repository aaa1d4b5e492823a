import { limits } from '../budget/costs.ts';
import { Duration, parseDuration } from './duration.ts';
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
