import type { Meter } from '../../../patterns/meter.ts';
import { Duration } from './duration.ts';
import { memberNamesOfValue } from './member-names.ts';
import { Double, TooLarge } from './values.ts';

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
