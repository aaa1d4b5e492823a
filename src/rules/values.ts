import { Duration } from '@marcbachmann/cel-js/evaluator';
import type { z } from 'zod';
import { definitionOf } from './types.ts';

/** A list of more items is not judged. */
export const maxItems = 10_000;
/** A text of more UTF-16 units is not judged. */
export const maxText = 256 * 1024;
const maxDepth = 64;
const maxShown = 200;

/** Stands where a value is too large to judge: whatever an expression does with it fails and says so. */
export class TooLarge {
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

const converted = new WeakMap<object, unknown>();

/**
 * Returns a value as expressions see it: whole JSON numbers are ints, members that are undefined are missing, a list or
 * text that is too large is marked as such instead of cut. A member whose shape says `holds: 'duration'` becomes a
 * duration (written `15m`, or milliseconds). Each object is converted once, however many rules look at it.
 */
export function toCel(value: unknown, shape?: z.ZodType): unknown {
  if (typeof value !== 'object' || value === null) return convert(value, shape, 0);
  const before = converted.get(value);
  if (before !== undefined) return before;
  const result = convert(value, shape, 0);
  converted.set(value, result);
  return result;
}

function convert(value: unknown, shape: z.ZodType | undefined, depth: number): unknown {
  if (depth > maxDepth) return new TooLarge(`nested deeper than ${maxDepth}`);
  const inner = shape && unwrap(shape);
  if (inner?.meta()?.holds === 'duration') return toDuration(value);
  // Forges write null for an empty list.
  if (value === null && inner && definitionOf(inner).type === 'array') return [];
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'string':
      return value.length > maxText ? new TooLarge(`a text of ${value.length} characters`) : value;
    case 'object':
      return value === null ? null : convertObject(value, inner, depth);
    case 'boolean':
    case 'bigint':
      return value;
    default:
      return null;
  }
}

function convertObject(value: object, shape: z.ZodType | undefined, depth: number): unknown {
  if (value instanceof Date || value instanceof Duration) return value;
  if (Array.isArray(value)) {
    if (value.length > maxItems) return new TooLarge(`a list of ${value.length} items`);
    const element = shape && definitionOf(shape).element;
    return value.map((item) => convert(item, element, depth + 1));
  }
  const members = shape && definitionOf(shape).shape;
  // Without a prototype, a member named `constructor` is a member like any other.
  const result: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) result[name] = convert(member, members?.[name], depth + 1);
  }
  return result;
}

/** Returns the shape inside of `optional`, `nullable`, defaults and pipes, down to one that has a mark or is plain. */
function unwrap(shape: z.ZodType): z.ZodType {
  let current = shape;
  for (let step = 0; step < 8 && current.meta()?.holds === undefined; step += 1) {
    const { innerType, in: before } = definitionOf(current);
    const next = innerType ?? before;
    if (next === undefined) break;
    current = next;
  }
  return current;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function toDuration(value: unknown): unknown {
  if (value instanceof Duration || value === null || value === undefined) return value ?? null;
  if (typeof value === 'number' && Number.isFinite(value)) return Duration.fromMilliseconds(value);
  if (typeof value !== 'string' || !/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h)){1,4}$/.test(value)) return null;
  let milliseconds = 0;
  for (const [, amount, unit] of value.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    milliseconds += Number(amount) * (units[unit ?? ''] ?? 0);
  }
  return Duration.fromMilliseconds(milliseconds);
}

/** Returns a value as a finding keeps it: plain JSON, at most 200 characters of it, with `…` where it was longer. */
export function toReading(value: unknown): unknown {
  if (value instanceof TooLarge) return `(${value.what})`;
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (value === undefined) return null;
  const text = toText(value);
  if (text.length > maxShown) return cut(text);
  const plain: unknown = JSON.parse(text);
  return plain;
}

function cut(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown - 1)}…`;
}

/** Returns the start of a value's JSON, a little longer than what is shown: whole lists are never written out to be cut. */
function toText(value: unknown): string {
  let left = maxShown * 2;
  const write = (item: unknown): unknown => {
    if (left <= 0) return '…';
    if (typeof item === 'string') {
      left -= item.length + 2;
      return cut(item);
    }
    left -= 4;
    if (typeof item === 'bigint') return Number(item);
    if (item instanceof TooLarge) return `(${item.what})`;
    if (item instanceof Date) return item.toISOString();
    if (item instanceof Duration) return item.toString();
    if (Array.isArray(item)) return takeWhile(item, () => left > 0).map(write);
    if (typeof item === 'object' && item !== null) {
      const entries = takeWhile(Object.entries(item), () => left > 0);
      return Object.fromEntries(entries.map(([name, member]) => [name, write(member)]));
    }
    return item;
  };
  return JSON.stringify(write(value)) ?? 'null';
}

/** Returns at most as many items as could be shown; `may` ends it earlier. */
function takeWhile<T>(items: readonly T[], may: () => boolean): readonly T[] {
  return may() ? items.slice(0, maxShown) : [];
}
