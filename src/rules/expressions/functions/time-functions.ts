import { costs } from '../budget/costs.ts';
import { Duration } from '../values/duration.ts';
import type { Type } from '../values/types.ts';
import { Failure } from '../values/values.ts';
import type { FunctionRow, RunFunction } from './function-row.ts';

const number: Type = { kind: 'number' };
const dayMs = 86_400_000;

/** Reads one number of a date: an instant whose UTC fields are those of the timezone that was asked for. */
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

/** Functions of instants and durations. */
export const timeFunctions: readonly FunctionRow[] = Object.entries(fields).flatMap(
  ([name, { meaning, read }]): readonly FunctionRow[] => [
    {
      name,
      // A span of time has hours to milliseconds in all of it; the others only exist for instants.
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
      run: () => new Failure('the timezone is no literal'),
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

/** Making the format takes a hundred times as long as using it. */
function readInTimezone(timeZone: string, read: ReadField): RunFunction {
  // Swedish writes dates as ISO 8601 has them.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return ([value], meter) => {
    meter.charge(costs.timezone);
    return readDate(value instanceof Date ? inFormat(value, format) : undefined, read);
  };
}

/** Returns an instant whose UTC fields read as those that the format shows. */
function inFormat(value: Date, format: Intl.DateTimeFormat): Date | undefined {
  const local = Date.parse(`${format.format(value).replace(' ', 'T')}Z`);
  return Number.isNaN(local) ? undefined : new Date(local + value.getUTCMilliseconds());
}
