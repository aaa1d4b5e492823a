import { ForgeProblem } from './errors.ts';
import type { Seconds } from './rows.ts';

/** The forge's value for an unset time. */
export const yearOne = '0001-01-01T00:00:00Z';
/** Value of `archived_at` for a repository that is not archived. */
export const epoch = '1970-01-01T00:00:00Z';

/** Returns whole seconds since the epoch: the resolution of the API. */
export function secondsOf(date: Date): Seconds {
  return Math.floor(date.getTime() / 1000);
}

/** Returns RFC 3339 text in UTC without a fraction; year one if the year does not fit into four digits. */
export function toInstant(seconds: Seconds): string {
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date.toISOString().replace('.000Z', 'Z') : yearOne;
}

/** Returns the text of a time, or null for "never". */
export function toInstantOrNull(seconds: Seconds): string | null {
  return seconds === 0 ? null : toInstant(seconds);
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/**
 * Parses RFC 3339 text. Absent or empty text is undefined; invalid text ends the request with `status`. A time at or
 * before the epoch is also undefined: Go clients write an unset time as year one, and neither the columns (0 is
 * "never") nor a commit's signature can hold a negative time.
 */
export function parseTimestamp(
  text: string | undefined,
  options: { status?: number } = {},
): Seconds | undefined {
  if (text === undefined || text === '') return undefined;
  const time = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new ForgeProblem(options.status ?? 422, `parsing time "${text}": not RFC 3339`);
  const seconds = Math.floor(time / 1000);
  return seconds > 0 ? seconds : undefined;
}

const secondsOfDay = 24 * 60 * 60;

/** Returns the last second of the UTC day of a time; 0 stays "never". */
export function toEndOfDay(seconds: Seconds): Seconds {
  return seconds === 0 ? 0 : Math.floor(seconds / secondsOfDay) * secondsOfDay + secondsOfDay - 1;
}

const seconds: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/** Returns the whole seconds of a Go duration: `8h`, `1h30m`, `1.5h`, `0`; undefined for invalid text. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > 100) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)];
  const sum = parts.reduce(
    (total, [, number, unit]) => total + Number(number) * (seconds[unit ?? ''] ?? 0),
    0,
  );
  const whole = Math.trunc(sum);
  // Go counts nanoseconds in 63 bits, which cover 292 years.
  if (whole > 9_223_372_036) return undefined;
  return sign === '-' && whole !== 0 ? -whole : whole;
}

/** Returns whole seconds as a Go duration: `8h0m0s`, `10m0s`, `0s`. */
export function formatGoDuration(whole: number): string {
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours > 0) return `${hours}h${minutes}m${whole % 60}s`;
  return minutes > 0 ? `${minutes}m${whole % 60}s` : `${whole}s`;
}
