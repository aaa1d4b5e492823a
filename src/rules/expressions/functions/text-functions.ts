import type { Meter } from '../../../patterns/meter.ts';
import { costs, limits } from '../budget/costs.ts';
import { boolType, type Type } from '../values/types.ts';
import { Failure } from '../values/values.ts';
import type { FunctionRow } from './function-row.ts';

const number: Type = { kind: 'number' };
const string: Type = { kind: 'string' };
const text = ['string'] as const;
const numbers = ['number'] as const;

/** Functions of text, and those that take text apart or put it together. */
export const textFunctions: readonly FunctionRow[] = [
  ofText('startsWith', 'The text starts with this.', (value, start, meter) => {
    meter.charge(start.length * costs.copiedCharacter);
    return value.startsWith(start);
  }),
  ofText('endsWith', 'The text ends with this.', (value, end, meter) => {
    meter.charge(end.length * costs.copiedCharacter);
    return value.endsWith(end);
  }),
  ofText('contains', 'The text contains this.', (value, part, meter) =>
    search(value, part, meter, () => value.includes(part)),
  ),
  {
    name: 'matches',
    of: text,
    takes: [text],
    gives: boolType,
    meaning: 'Some part of the text matches this RE2 pattern (a literal).',
    literal: 'pattern',
    run: patternAlone,
  },
  {
    name: 'glob',
    of: text,
    takes: [['string', 'list']],
    gives: boolType,
    meaning: 'The whole text matches this glob, or the list of globs (literals).',
    literal: 'glob',
    run: patternAlone,
  },
  changing('lower', 'The text in small letters.', (value) => value.toLowerCase()),
  changing('lowerAscii', 'The text in small letters.', (value) => value.toLowerCase()),
  changing('upperAscii', 'The text in capital letters.', (value) => value.toUpperCase()),
  changing('trim', 'The text without white space at its ends.', (value) => value.trim()),
  {
    ...ofText(
      'indexOf',
      'Where this first stands in the text, from 0; -1 where it does not.',
      (value, part, meter) => search(value, part, meter, () => value.indexOf(part)),
    ),
    gives: number,
  },
  {
    ...ofText(
      'lastIndexOf',
      'Where this last stands in the text; -1 where it does not.',
      (value, part, meter) => search(value, part, meter, () => value.lastIndexOf(part)),
    ),
    gives: number,
  },
  {
    name: 'substring',
    of: text,
    takes: [numbers],
    gives: string,
    meaning: 'The text from this place on.',
    run: ([value, start]) => substring(String(value), start, String(value).length),
  },
  {
    name: 'substring',
    of: text,
    takes: [numbers, numbers],
    gives: string,
    meaning: 'The text from the first place up to, without, the second.',
    run: ([value, start, end]) => substring(String(value), start, end),
  },
  {
    name: 'replace',
    of: text,
    takes: [text, text],
    gives: string,
    meaning: 'The text with the second in place of every first.',
    run: ([value, part, other], meter) => replace([value, part, other].map(String), -1, meter),
  },
  {
    name: 'replace',
    of: text,
    takes: [text, text, numbers],
    gives: string,
    meaning: 'The text with the second in place of the first, so many times; a negative number: every time.',
    run: ([value, part, other, times], meter) =>
      Number.isSafeInteger(times)
        ? replace([value, part, other].map(String), Number(times), meter)
        : new Failure('replace() needs a whole number of times'),
  },
  {
    name: 'split',
    of: text,
    takes: [text],
    gives: { kind: 'list', item: string },
    meaning: 'The parts of the text between this.',
    outsideLoops: true,
    run: ([value, separator], meter) => split(String(value), String(separator), meter),
  },
  {
    name: 'join',
    of: ['list'],
    takes: [],
    gives: string,
    meaning: 'The texts of the list, one after the other.',
    outsideLoops: true,
    run: ([list], meter) => join(list, '', meter),
  },
  {
    name: 'join',
    of: ['list'],
    takes: [text],
    gives: string,
    meaning: 'The texts of the list with this between them.',
    outsideLoops: true,
    run: ([list, separator], meter) => join(list, String(separator), meter),
  },
];

/** A function of a text and another that answers true or false. */
function ofText(
  name: string,
  meaning: string,
  run: (value: string, other: string, meter: Meter) => unknown,
): FunctionRow {
  return {
    name,
    of: text,
    takes: [text],
    gives: boolType,
    meaning,
    run: ([value, other], meter) => run(String(value), String(other), meter),
  };
}

/** A function that returns the text with other characters. */
function changing(name: string, meaning: string, change: (value: string) => string): FunctionRow {
  return {
    name,
    of: text,
    takes: [],
    gives: string,
    meaning,
    run([value], meter) {
      const before = String(value);
      meter.charge(before.length * costs.changedCharacter);
      const after = change(before);
      // One letter may become several: `ß` in capitals is `SS`.
      return after.length > limits.text ? tooLong(after.length) : after;
    },
  };
}

function patternAlone(): Failure {
  return new Failure('the pattern is no literal');
}

function search<T>(value: string, part: string, meter: Meter, find: () => T): T | Failure {
  if (part.length > limits.needle) {
    return new Failure(`too large to judge: the text searched for has more than ${limits.needle} characters`);
  }
  meter.charge((value.length + part.length) * costs.searchedCharacter);
  return find();
}

function substring(value: string, start: unknown, end: unknown): string | Failure {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) {
    return new Failure('substring() needs whole numbers');
  }
  const [from, to] = [Number(start), Number(end)];
  if (from < 0 || from > value.length) return new Failure('substring(): the start is not in the text');
  if (to < from || to > value.length) return new Failure('substring(): the end is not in the text');
  return value.substring(from, to);
}

/** Replaces parts of a text. An empty part stands before every character and at the end, as CEL has it. */
function replace(texts: readonly string[], times: number, meter: Meter): string | Failure {
  const [value = '', part = '', other = ''] = texts;
  if (part.length > limits.needle) {
    return new Failure(`too large to judge: the text searched for has more than ${limits.needle} characters`);
  }
  // Searched, and every place kept.
  meter.charge((value.length + part.length) * 2 * costs.searchedCharacter);
  const most = times < 0 ? Number.POSITIVE_INFINITY : times;
  const places = part === '' ? charactersOf(value) : placesOf(value, part, most);
  const count = Math.min(places.length, most);
  const length = value.length + count * (other.length - part.length);
  if (length > limits.text) return tooLong(length);
  meter.charge(length * costs.changedCharacter + count * costs.member);
  let result = '';
  let from = 0;
  for (const place of places.slice(0, count)) {
    result += value.slice(from, place) + other;
    from = place + part.length;
  }
  return result + value.slice(from);
}

function placesOf(value: string, part: string, most: number): readonly number[] {
  const places: number[] = [];
  for (
    let at = value.indexOf(part);
    at >= 0 && places.length < most;
    at = value.indexOf(part, at + part.length)
  )
    places.push(at);
  return places;
}

/** Returns where each character begins, and where the text ends. */
function charactersOf(value: string): readonly number[] {
  const places: number[] = [];
  let at = 0;
  for (const character of value) {
    places.push(at);
    at += character.length;
  }
  return [...places, at];
}

function split(value: string, separator: string, meter: Meter): readonly string[] | Failure {
  // Without a separator each character becomes an item.
  const most = separator === '' ? value.length : value.length / separator.length + 1;
  meter.charge(value.length * costs.searchedCharacter + Math.min(most, limits.items) * costs.member);
  const parts = value.split(separator, limits.items + 1);
  return parts.length > limits.items
    ? new Failure(`too large to judge: a list of more than ${limits.items} items`)
    : parts;
}

function join(list: unknown, separator: string, meter: Meter): string | Failure {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  meter.charge(items.length * costs.member);
  let length = 0;
  for (const item of items) {
    if (typeof item !== 'string') return new Failure('join() needs a list of texts');
    length += item.length + separator.length;
  }
  if (length > limits.text) return tooLong(length);
  meter.charge(length * costs.changedCharacter);
  return items.join(separator);
}

function tooLong(length: number): Failure {
  return new Failure(`too large to judge: a text of ${length} characters`);
}
