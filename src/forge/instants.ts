import { ForgeProblem } from './errors.ts';
import type { Seconds } from './rows.ts';

/** What the forge writes for an instant that never was. */
export const yearOne = '0001-01-01T00:00:00Z';
/** What `archived_at` says of a repository that is not archived. */
export const epoch = '1970-01-01T00:00:00Z';

/** Returns the whole seconds since the epoch: the resolution of the API. */
export function secondsOf(date: Date): Seconds {
  return Math.floor(date.getTime() / 1000);
}

/** Returns RFC 3339 text in UTC without a fraction. */
export function toInstant(seconds: Seconds): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** Returns the text of an instant, or null where it is "never". */
export function toInstantOrNull(seconds: Seconds): string | null {
  return seconds === 0 ? null : toInstant(seconds);
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Reads RFC 3339 text; absent or empty text is undefined, other text ends the request with `status`. */
export function parseInstant(
  text: string | undefined,
  options: { status?: number } = {},
): Seconds | undefined {
  if (text === undefined || text === '') return undefined;
  const time = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new ForgeProblem(options.status ?? 422, `parsing time "${text}": not RFC 3339`);
  return Math.floor(time / 1000);
}

const secondsOfDay = 24 * 60 * 60;

/** Returns the last second of the day, in UTC, that an instant lies in; 0 stays "never". */
export function toEndOfDay(seconds: Seconds): Seconds {
  return seconds === 0 ? 0 : Math.floor(seconds / secondsOfDay) * secondsOfDay + secondsOfDay - 1;
}
