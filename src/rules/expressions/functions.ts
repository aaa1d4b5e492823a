import type { ASTNode } from '@marcbachmann/cel-js';
import type { FactRequest } from '../../facts/fact.ts';
import type { Meter } from '../../patterns/meter.ts';
import { costs } from './budget.ts';
import type { FunctionRow, RunFunction } from './function-row.ts';
import { listFunctions } from './list-functions.ts';
import { makeInt, scalarToText, toNumber } from './operators.ts';
import { literalOf } from './parse.ts';
import { subjectFunctionOf, subjectFunctions } from './subject-functions.ts';
import { formatFunction, textFunctions } from './text-functions.ts';
import { boolType, type Type } from './types.ts';
import {
  Double,
  Duration,
  Failure,
  kindOf,
  makeDouble,
  makeInstant,
  memberNamesOfValue,
  parseDuration,
  parseInstant,
} from './values.ts';

const number: Type = { kind: 'number' };
const sized = ['string', 'list', 'map', 'object'] as const;
const howMany = 'How many characters, items or members.';

/** Functions for sizes, types and conversion. */
const generalFunctions: readonly FunctionRow[] = [
  { name: 'size', takes: [sized], gives: number, meaning: howMany, run: size },
  { name: 'size', of: sized, takes: [], gives: number, meaning: howMany, run: size },
  {
    name: 'string',
    takes: [['string', 'number', 'bool', 'timestamp', 'duration']],
    gives: { kind: 'string' },
    meaning: 'The value as text.',
    run: ([value], meter) => parsed(value, meter, scalarToText),
  },
  {
    name: 'int',
    takes: [['string', 'number']],
    gives: number,
    meaning: 'The value as a whole number.',
    run: ([value], meter) => parsed(value, meter, toInt),
  },
  {
    name: 'double',
    takes: [['string', 'number']],
    gives: number,
    meaning: 'The value as a number with a fraction.',
    run: ([value], meter) => parsed(value, meter, toDouble),
  },
  {
    name: 'bool',
    takes: [['string', 'bool']],
    gives: boolType,
    meaning: 'The text `true` or `false` as a bool.',
    run: ([value]) => toBool(value),
  },
  {
    name: 'timestamp',
    takes: [['string', 'number']],
    gives: { kind: 'timestamp' },
    meaning: 'The instant of an RFC 3339 text, or of seconds since 1970.',
    literal: 'moment',
    run: ([value], meter) => parsed(value, meter, castInstant),
  },
  {
    name: 'duration',
    takes: [['string']],
    gives: { kind: 'duration' },
    meaning: 'A span of time such as `15m`, `1h30m` or `72h`.',
    literal: 'moment',
    run: ([value], meter) => parsed(value, meter, toDuration),
  },
];

function parsed(value: unknown, meter: Meter, parse: (value: unknown) => unknown): unknown {
  meter.charge(costs.parse);
  return parse(value);
}

function size([value]: readonly unknown[], meter: Meter): number {
  if (typeof value === 'string') {
    meter.charge(value.length * costs.searchedCharacter);
    return countCodePoints(value);
  }
  if (Array.isArray(value)) return value.length;
  return memberNamesOfValue(Object(value), meter).filter(
    (name) => Reflect.get(Object(value), name) !== undefined,
  ).length;
}

/** Returns the number of code points: a surrogate pair counts as one, and so does an unpaired surrogate. */
function countCodePoints(text: string): number {
  let count = text.length;
  for (let place = 1; place < text.length; place += 1) {
    const isLow = (text.charCodeAt(place) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(place - 1) & 0xfc00) === 0xd800) count -= 1;
  }
  return count;
}

function toInt(value: unknown): unknown {
  if (typeof value === 'string') {
    const isInt = /^[+-]?\d{1,19}$/.test(value);
    return isInt ? makeInt(BigInt(value)) : new Failure('int() needs the text of a whole number');
  }
  if (kindOf(value) === 'int') return value;
  const plain = toNumber(value);
  return Number.isFinite(plain) ? makeInt(BigInt(Math.trunc(plain))) : new Failure('integer overflow');
}

const infinities: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  '+inf': Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  '+infinity': Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  '-infinity': Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
};

function toDouble(value: unknown): unknown {
  if (typeof value !== 'string') return value instanceof Double ? value : makeDouble(toNumber(value));
  if (value.length <= 64 && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i.test(value))
    return makeDouble(Number(value));
  const infinity = value.length <= 9 ? value.toLowerCase() : '';
  if (Object.hasOwn(infinities, infinity)) return infinities[infinity];
  return new Failure('double() needs the text of a number');
}

const bools: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  false: false,
  FALSE: false,
  False: false,
};

function toBool(value: unknown): unknown {
  if (typeof value === 'boolean') return value;
  const text = String(value);
  return Object.hasOwn(bools, text) ? bools[text] : new Failure('bool() needs the text true or false');
}

function toDuration(value: unknown): unknown {
  return parseDuration(String(value)) ?? new Failure('duration() needs a text such as 15m, 1h30m or 72h');
}

function castInstant(value: unknown): unknown {
  if (typeof value === 'string') return parseInstant(value);
  return kindOf(value) === 'int'
    ? makeInstant(toNumber(value) * 1_000)
    : new Failure('timestamp() needs whole seconds');
}

const dayMs = 86_400_000;

/** Reads a field from a date whose UTC fields contain the time in the requested timezone. */
type ReadField = (date: Date) => number;

const fields: Readonly<Record<string, { readonly meaning: string; readonly read: ReadField }>> = {
  getFullYear: { meaning: 'The year.', read: (date) => date.getUTCFullYear() },
  getMonth: { meaning: 'The month, from 0 for January.', read: (date) => date.getUTCMonth() },
  getDate: { meaning: 'The day of the month, from 1.', read: (date) => date.getUTCDate() },
  getDayOfMonth: { meaning: 'The day of the month, from 0.', read: (date) => date.getUTCDate() - 1 },
  getDayOfWeek: { meaning: 'The day of the week, from 0 for Sunday.', read: (date) => date.getUTCDay() },
  getDayOfYear: { meaning: 'The day of the year, from 0.', read: dayOfYear },
  getHours: { meaning: 'The hour.', read: (date) => date.getUTCHours() },
  getMinutes: { meaning: 'The minute.', read: (date) => date.getUTCMinutes() },
  getSeconds: { meaning: 'The second.', read: (date) => date.getUTCSeconds() },
  getMilliseconds: { meaning: 'The millisecond.', read: (date) => date.getUTCMilliseconds() },
};

const durationUnits: Readonly<Record<string, 'h' | 'm' | 's' | 'ms'>> = {
  getHours: 'h',
  getMinutes: 'm',
  getSeconds: 's',
  getMilliseconds: 'ms',
};

/** Functions for instants and durations. */
const timeFunctions: readonly FunctionRow[] = Object.entries(fields).flatMap(
  ([name, { meaning, read }]): readonly FunctionRow[] => [
    {
      name,
      // A duration has fields from hours to milliseconds; the other fields exist only for instants.
      of: Object.hasOwn(durationUnits, name) ? ['timestamp', 'duration'] : ['timestamp'],
      takes: [],
      gives: number,
      meaning,
      run: ([value]) =>
        value instanceof Duration ? value.in(durationUnits[name] ?? 's') : readDate(value, read),
    },
    {
      name,
      of: ['timestamp'],
      takes: [['string']],
      gives: number,
      meaning: `${meaning} In this timezone (a literal).`,
      literal: 'timezone',
      outsideLoops: true,
      run: () => new Failure('the timezone is not a literal'),
      bind: (timezone) => readInTimezone(timezone, read),
    },
  ],
);

function readDate(value: unknown, read: ReadField): number | Failure {
  return value instanceof Date ? read(value) : new Failure('the timezone has no such instant');
}

function dayOfYear(date: Date): number {
  const year = new Date(date);
  year.setUTCMonth(0, 1);
  return Math.floor((date.getTime() - year.getTime()) / dayMs);
}

/** The format is created only once, because creating it takes a hundred times as long as using it. */
function readInTimezone(timeZone: string, read: ReadField): RunFunction {
  // The Swedish locale formats dates in ISO 8601 order.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return ([value], meter) => {
    meter.charge(costs.timezone);
    return readDate(value instanceof Date ? inFormat(value, format) : undefined, read);
  };
}

/** Returns a date whose UTC fields equal the fields in the formatted text. */
function inFormat(value: Date, format: Intl.DateTimeFormat): Date | undefined {
  const local = Date.parse(`${format.format(value).replace(' ', 'T')}Z`);
  return Number.isNaN(local) ? undefined : new Date(local + value.getUTCMilliseconds());
}

/** Every function that expressions may call, except `has` and the loops. */
export const functions: readonly FunctionRow[] = [
  ...textFunctions,
  formatFunction,
  ...generalFunctions,
  ...listFunctions,
  ...timeFunctions,
];

/** Loop functions over a list. `gives` returns the result type, derived from the types of the item and the body. */
export const loops: Readonly<
  Record<string, { readonly meaning: string; readonly gives: (item: Type, body: Type) => Type }>
> = {
  all: { meaning: 'The condition holds for every item.', gives: () => boolType },
  exists: { meaning: 'The condition holds for some item.', gives: () => boolType },
  exists_one: { meaning: 'The condition holds for exactly one item.', gives: () => boolType },
  map: {
    meaning: 'The list of what the expression gives for each item.',
    gives: (_item, body) => ({ kind: 'list', item: body }),
  },
  filter: { meaning: 'The items for which the condition holds.', gives: (item) => ({ kind: 'list', item }) },
};

const byName = new Map<string, readonly FunctionRow[]>();
for (const row of functions) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);

/** Returns the rows with this name, with or without a receiver. */
export function findFunctions(name: string, hasReceiver: boolean): readonly FunctionRow[] {
  return (byName.get(name) ?? []).filter((row) => (row.of !== undefined) === hasReceiver);
}

/** Names of all functions, for suggestions. */
export const functionNames: readonly string[] = [
  ...byName.keys(),
  ...subjectFunctions.map(({ name }) => name),
  ...Object.keys(loops),
  'has',
];

/** Returns the fact that a call with a literal argument requests; undefined if the call is not a fact. */
export function factOfCall(node: ASTNode): FactRequest | undefined {
  if (node.op !== 'call') return undefined;
  const [name, given] = node.args;
  if (name === 'has' || given.length !== 1 || findFunctions(name, false).length > 0) return undefined;
  if (subjectFunctionOf(node)) return undefined;
  const literal = given[0] && literalOf(given[0]);
  return typeof literal === 'string' ? { name, argument: literal } : undefined;
}
