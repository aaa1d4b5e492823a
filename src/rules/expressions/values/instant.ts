import { Failure } from './values.ts';

/** The first and the last instant that CEL has: the years 1 to 9999. */
const earliest = -62_135_596_800_000;
const latest = 253_402_300_799_999;

/** RFC 3339: date, time and offset, none of them left out. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** Returns an instant, or a Failure where CEL has none such. */
export function makeInstant(milliseconds: number): Date | Failure {
  if (milliseconds >= earliest && milliseconds <= latest) return new Date(milliseconds);
  return new Failure('the instant is not between the years 1 and 9999');
}

/** Returns the instant of an RFC 3339 text, or a Failure. */
export function parseInstant(text: string): Date | Failure {
  const milliseconds = text.length <= 40 && rfc3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isNaN(milliseconds)
    ? new Failure('timestamp() needs an instant such as 2026-01-31T12:00:00Z')
    : makeInstant(milliseconds);
}
