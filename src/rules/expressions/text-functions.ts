import type { Meter } from '../../patterns/meter.ts';
import { costs, limits } from './budget.ts';
import type { FunctionRow } from './function-row.ts';
import { scalarToText, toNumber } from './operators.ts';
import { boolType, type Type } from './types.ts';
import { describeValue, Failure, kindOf, memberNamesOfValue } from './values.ts';

const number: Type = { kind: 'number' };
const string: Type = { kind: 'string' };
const text = ['string'] as const;
const numbers = ['number'] as const;

/** Functions that test, split and join text. */
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
    meaning:
      'Some part of the text matches this RE2 pattern (a literal). `^(?!X)Y` is possible as well, although RE2 has no look-ahead: X does not match at the start, and Y does; alternatives in Y stand in parentheses.',
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

/** Defines a function of two texts that returns a bool. */
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

/** Defines a function that converts a text, charged by its length. */
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
      // One letter may become several: `ß` in upper case is `SS`.
      return after.length > limits.text ? tooLong(after.length) : after;
    },
  };
}

function patternAlone(): Failure {
  return new Failure('the pattern is not a literal');
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

/** Replaces parts of a text. As in CEL, an empty part matches before every character and at the end. */
function replace(texts: readonly string[], times: number, meter: Meter): string | Failure {
  const [value = '', part = '', other = ''] = texts;
  if (part.length > limits.needle) {
    return new Failure(`too large to judge: the text searched for has more than ${limits.needle} characters`);
  }
  // Charged twice: for the search, and for recording the matches.
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

/** Returns the offset of each character, followed by the length of the text. */
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
  // If the separator is empty, each character becomes an item.
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

/** Default number of decimal places, as in CEL. */
const defaultPrecision = 6;
const maxPrecision = 20;
/** Maximum nesting depth of values that are formatted. */
const maxDepth = 8;

/** `format` of CEL's string extension: `%s`, `%d`, `%f`, `%e`, `%b`, `%o`, `%x`, `%X` and `%%`. */
export const formatFunction: FunctionRow = {
  name: 'format',
  of: ['string'],
  takes: [['list']],
  gives: { kind: 'string' },
  meaning:
    'The text with the values of the list in the places of `%s` (anything), `%d` (whole number), `%f` and `%e` (with fraction; `%.2f`), `%b`, `%o`, `%x`, `%X` (other bases); `%%` is a percent sign.',
  run: ([text, values], meter) => format(String(text), Array.isArray(values) ? values : [], meter),
};

function format(text: string, values: readonly unknown[], meter: Meter): string | Failure {
  meter.charge(text.length * costs.searchedCharacter + values.length * costs.call);
  let result = '';
  let from = 0;
  let used = 0;
  // The sticky flag reads each position only once, which keeps the scan linear.
  const place = /%(?:\.(\d{1,3}))?([sdfebxXo%])/y;
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', from)) {
    place.lastIndex = at;
    const [written, digits, verb = ''] = place.exec(text) ?? [];
    if (written === undefined)
      return new Failure('format(): "%" must be followed by one of s d f e b o x X %');
    result += text.slice(from, at);
    from = at + written.length;
    if (verb === '%') {
      result += '%';
      continue;
    }
    if (used >= values.length)
      return new Failure('format(): the text has more placeholders than there are values');
    const shown = writeValue(values[used], verb, digits, meter);
    if (shown instanceof Failure) return shown;
    used += 1;
    result += shown;
    if (result.length > limits.text)
      return new Failure(`too large to judge: a text of ${result.length} characters`);
    meter.charge(shown.length * costs.changedCharacter);
  }
  if (used < values.length)
    return new Failure('format(): there are more values than placeholders in the text');
  return result + text.slice(from);
}

function writeValue(
  value: unknown,
  verb: string,
  digits: string | undefined,
  meter: Meter,
): string | Failure {
  switch (verb) {
    case 's':
      return writeAny(value, meter, 0);
    case 'd':
      return isInt(value) ? `${value}` : cannotWrite(verb, value);
    case 'f':
    case 'e':
      return writeFraction(value, verb, digits === undefined ? defaultPrecision : Number(digits));
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return isInt(value) ? BigInt(value).toString(2) : cannotWrite(verb, value);
    case 'o':
      return isInt(value) ? BigInt(value).toString(8) : cannotWrite(verb, value);
    default:
      return writeHexadecimal(value, verb);
  }
}

function isInt(value: unknown): value is number | bigint {
  return kindOf(value) === 'int';
}

function cannotWrite(verb: string, value: unknown): Failure {
  return new Failure(`format(): %${verb} cannot have ${describeValue(value)}`);
}

function writeHexadecimal(value: unknown, verb: string): string | Failure {
  if (!isInt(value) && typeof value !== 'string') return cannotWrite(verb, value);
  const text = typeof value === 'string' ? Buffer.from(value).toString('hex') : BigInt(value).toString(16);
  return verb === 'X' ? text.toUpperCase() : text;
}

function writeFraction(value: unknown, verb: 'f' | 'e', precision: number): string | Failure {
  if (!['int', 'double'].includes(kindOf(value))) return cannotWrite(verb, value);
  if (precision > maxPrecision)
    return new Failure(`format(): at most ${maxPrecision} digits after the point`);
  const number = toNumber(value);
  if (!Number.isFinite(number)) return String(number);
  if (verb === 'e') {
    // In CEL, an exponent has at least two digits.
    return number.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
  }
  // From 1e21 on, JavaScript uses exponential notation; such a number has no fraction.
  if (Math.abs(number) < 1e21) return number.toFixed(precision);
  return `${BigInt(number)}${precision === 0 ? '' : `.${'0'.repeat(precision)}`}`;
}

function writeAny(value: unknown, meter: Meter, depth: number): string | Failure {
  if (value === null) return 'null';
  if (typeof value === 'string' && depth === 0) return value;
  if (typeof value === 'string') {
    meter.charge(value.length * costs.changedCharacter);
    return JSON.stringify(value);
  }
  const kind = kindOf(value);
  if (kind === 'list' || kind === 'map') return writeNested(value, meter, depth);
  return kind === 'too large' ? cannotWrite('s', value) : scalarToText(value);
}

function writeNested(value: unknown, meter: Meter, depth: number): string | Failure {
  if (depth >= maxDepth) return new Failure('format(): the value is nested too deep');
  const parts: string[] = [];
  let length = 0;
  const isList = Array.isArray(value);
  const names = isList ? [] : memberNamesOfValue(Object(value), meter).toSorted();
  const entries = isList
    ? value.map((item) => ['', item])
    : names.map((name) => [name, Reflect.get(Object(value), name)]);
  for (const [name, item] of entries) {
    meter.charge(costs.writtenMember);
    const text = writeAny(item ?? null, meter, depth + 1);
    if (text instanceof Failure) return text;
    parts.push(isList ? text : `${JSON.stringify(name)}: ${text}`);
    length += text.length + 2;
    if (length > limits.text) return new Failure(`too large to judge: a text of ${length} characters`);
  }
  return isList ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
}
