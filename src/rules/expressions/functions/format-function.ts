import type { Meter } from '../../../patterns/meter.ts';
import { costs, limits } from '../budget/costs.ts';
import { toNumber } from '../values/arithmetic.ts';
import { memberNamesOfValue } from '../values/member-names.ts';
import { describeValue, Failure, kindOf } from '../values/values.ts';
import type { FunctionRow } from './function-row.ts';
import { scalarToText } from './general-functions.ts';

/** Digits after the point where the text says none, as CEL has it. */
const defaultPrecision = 6;
const maxPrecision = 20;
/** Lists of lists deeper than this are not written out. */
const maxDepth = 8;

/** `format` of CEL's library for texts: `%s`, `%d`, `%f`, `%e`, `%b`, `%o`, `%x`, `%X` and `%%`. */
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
  // A sticky pattern reads each place once, so that the whole is linear.
  const place = /%(?:\.(\d{1,3}))?([sdfebxXo%])/y;
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', from)) {
    place.lastIndex = at;
    const [written, digits, verb = ''] = place.exec(text) ?? [];
    if (written === undefined) return new Failure('format(): after "%" stands one of s d f e b o x X %');
    result += text.slice(from, at);
    from = at + written.length;
    if (verb === '%') {
      result += '%';
      continue;
    }
    if (used >= values.length) return new Failure('format(): the text has more places than there are values');
    const shown = write(values[used], verb, digits, meter);
    if (shown instanceof Failure) return shown;
    used += 1;
    result += shown;
    if (result.length > limits.text)
      return new Failure(`too large to judge: a text of ${result.length} characters`);
    meter.charge(shown.length * costs.changedCharacter);
  }
  if (used < values.length) return new Failure('format(): there are more values than places in the text');
  return result + text.slice(from);
}

function write(value: unknown, verb: string, digits: string | undefined, meter: Meter): string | Failure {
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
    // The exponent has two digits at least.
    return number.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
  }
  // Beyond this JavaScript writes an exponent; such a number has no fraction.
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
