import type { Meter } from '../../../patterns/meter.ts';
import { costs } from '../budget/costs.ts';
import { makeInt, toNumber } from '../values/arithmetic.ts';
import { parseDuration } from '../values/duration.ts';
import { makeInstant, parseInstant } from '../values/instant.ts';
import { memberNamesOfValue } from '../values/member-names.ts';
import { boolType, type Type } from '../values/types.ts';
import { Double, Failure, kindOf, makeDouble } from '../values/values.ts';
import type { FunctionRow } from './function-row.ts';

const number: Type = { kind: 'number' };
const sized = ['string', 'list', 'map', 'object'] as const;
const howMany = 'How many characters, items or members.';

/** Functions that measure values and make one kind of another. */
export const generalFunctions: readonly FunctionRow[] = [
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

/** The second half of a surrogate pair is no character of its own; a half that stands alone is one. */
function countCodePoints(text: string): number {
  let count = text.length;
  for (let place = 1; place < text.length; place += 1) {
    const isLow = (text.charCodeAt(place) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(place - 1) & 0xfc00) === 0xd800) count -= 1;
  }
  return count;
}

/** Returns a value that is no list and no object as text. */
export function scalarToText(value: unknown): string {
  switch (kindOf(value)) {
    case 'double': {
      const plain = toNumber(value);
      if (plain === Number.POSITIVE_INFINITY) return '+Inf';
      return plain === Number.NEGATIVE_INFINITY ? '-Inf' : `${plain}`;
    }
    case 'timestamp':
      // RFC 3339 has no fraction where there is none.
      return value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : '';
    default:
      return `${value}`;
  }
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
