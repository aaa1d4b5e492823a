import { boolType, type Type } from './types.ts';

/** What a literal argument is beyond text: it is compiled or checked when the file is loaded. */
export type LiteralUse = 'glob' | 'pattern' | 'timezone' | 'moment';

/**
 * One function that expressions may call. The list is closed: what the CEL library learns in a later version stays out
 * until it stands here.
 */
export type FunctionRow = {
  readonly name: string;
  /** Kinds of what stands before the dot; absent for `size(x)`. */
  readonly of?: readonly Type['kind'][];
  /** Kinds of each argument. */
  readonly takes: readonly (readonly Type['kind'][])[];
  readonly gives: Type;
  readonly meaning: string;
  /** The first argument must be a literal where this says `glob`, `pattern` or `timezone`. */
  readonly literal?: LiteralUse;
  /** Not inside of loops: its cost or its result grows with every item. */
  readonly outsideLoops?: true;
  /** Whether the argument is searched for in the text, so that its length multiplies the work. */
  readonly searches?: true;
};

const number: Type = { kind: 'number' };
const string: Type = { kind: 'string' };
const strings: Type = { kind: 'list', item: string };
const timestamp: Type = { kind: 'timestamp' };
const duration: Type = { kind: 'duration' };
const text = ['string'] as const;
const numbers = ['number'] as const;

const textFunctions: readonly FunctionRow[] = [
  {
    name: 'startsWith',
    of: text,
    takes: [text],
    gives: boolType,
    meaning: 'The text starts with this.',
    searches: true,
  },
  {
    name: 'endsWith',
    of: text,
    takes: [text],
    gives: boolType,
    meaning: 'The text ends with this.',
    searches: true,
  },
  {
    name: 'contains',
    of: text,
    takes: [text],
    gives: boolType,
    meaning: 'The text contains this.',
    searches: true,
  },
  {
    name: 'matches',
    of: text,
    takes: [text],
    gives: boolType,
    meaning: 'Some part of the text matches this RE2 pattern (a literal).',
    literal: 'pattern',
  },
  {
    name: 'glob',
    of: text,
    takes: [['string', 'list']],
    gives: boolType,
    meaning: 'The whole text matches this glob, or the list of globs (literals).',
    literal: 'glob',
  },
  { name: 'lower', of: text, takes: [], gives: string, meaning: 'The text in small letters.' },
  { name: 'lowerAscii', of: text, takes: [], gives: string, meaning: 'The text in small letters.' },
  { name: 'upperAscii', of: text, takes: [], gives: string, meaning: 'The text in capital letters.' },
  { name: 'trim', of: text, takes: [], gives: string, meaning: 'The text without white space at its ends.' },
  {
    name: 'indexOf',
    of: text,
    takes: [text],
    gives: number,
    meaning: 'Where this first stands in the text, from 0; -1 where it does not.',
    searches: true,
  },
  {
    name: 'lastIndexOf',
    of: text,
    takes: [text],
    gives: number,
    meaning: 'Where this last stands in the text; -1 where it does not.',
    searches: true,
  },
  { name: 'substring', of: text, takes: [numbers], gives: string, meaning: 'The text from this place on.' },
  {
    name: 'substring',
    of: text,
    takes: [numbers, numbers],
    gives: string,
    meaning: 'The text from the first place up to, without, the second.',
  },
  {
    name: 'split',
    of: text,
    takes: [text],
    gives: strings,
    meaning: 'The parts of the text between this.',
    outsideLoops: true,
    searches: true,
  },
  {
    name: 'join',
    of: ['list'],
    takes: [],
    gives: string,
    meaning: 'The texts of the list, one after the other.',
    outsideLoops: true,
  },
  {
    name: 'join',
    of: ['list'],
    takes: [text],
    gives: string,
    meaning: 'The texts of the list with this between them.',
    outsideLoops: true,
    searches: true,
  },
];

const sized = ['string', 'list', 'map', 'object'] as const;

const generalFunctions: readonly FunctionRow[] = [
  { name: 'size', takes: [sized], gives: number, meaning: 'How many characters, items or members.' },
  { name: 'size', of: sized, takes: [], gives: number, meaning: 'How many characters, items or members.' },
  { name: 'string', takes: [['string', 'number', 'bool']], gives: string, meaning: 'The value as text.' },
  { name: 'int', takes: [['string', 'number']], gives: number, meaning: 'The value as a whole number.' },
  {
    name: 'double',
    takes: [['string', 'number']],
    gives: number,
    meaning: 'The value as a number with a fraction.',
  },
  {
    name: 'bool',
    takes: [['string', 'bool']],
    gives: boolType,
    meaning: 'The text `true` or `false` as a bool.',
  },
  {
    name: 'timestamp',
    takes: [['string', 'number']],
    gives: timestamp,
    meaning: 'The instant of an RFC 3339 text, or of seconds since 1970.',
    literal: 'moment',
  },
  {
    name: 'duration',
    takes: [text],
    gives: duration,
    meaning: 'A span of time such as `15m`, `1h30m` or `72h`.',
    literal: 'moment',
  },
];

const calendar: Readonly<Record<string, string>> = {
  getFullYear: 'The year.',
  getMonth: 'The month, from 0 for January.',
  getDate: 'The day of the month, from 1.',
  getDayOfMonth: 'The day of the month, from 0.',
  getDayOfWeek: 'The day of the week, from 0 for Sunday.',
  getDayOfYear: 'The day of the year, from 0.',
  getHours: 'The hour.',
  getMinutes: 'The minute.',
  getSeconds: 'The second.',
  getMilliseconds: 'The millisecond.',
};

const timeFunctions: readonly FunctionRow[] = Object.entries(calendar).flatMap(([name, meaning]) => [
  // A span of time has hours to milliseconds in all of it; the others only exist for instants.
  {
    name,
    of: /Hours|Minutes|Seconds|Milliseconds/.test(name)
      ? (['timestamp', 'duration'] as const)
      : (['timestamp'] as const),
    takes: [],
    gives: number,
    meaning,
  },
  {
    name,
    of: ['timestamp'] as const,
    takes: [text],
    gives: number,
    meaning: `${meaning} In this timezone (a literal).`,
    literal: 'timezone' as const,
    // Each call formats a date, thousands of times the cost of anything else.
    outsideLoops: true as const,
  },
]);

/** Every function that expressions may call, `has` and the loops aside. */
export const functions: readonly FunctionRow[] = [...textFunctions, ...generalFunctions, ...timeFunctions];

/** The loops over a list, and the type each gives for the type of its body. */
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

/** Returns the rows with this name, with or without something before the dot. */
export function findFunctions(name: string, hasReceiver: boolean): readonly FunctionRow[] {
  return functions.filter((row) => row.name === name && (row.of !== undefined) === hasReceiver);
}

/** The names of all functions, for "did you mean". */
export const functionNames: readonly string[] = [
  ...new Set([...functions.map((row) => row.name), ...Object.keys(loops), 'has']),
];
