import { BoundedMap } from '../../../platform/cache/bounded-map.ts';

const minuteMs = 60_000;
/** Maximum number of memoized instants. */
const maxInstants = 5_000;

/** Returns a function from an instant to what a wall clock of the timezone is ahead of UTC, in milliseconds. */
export function createOffset(timezone: string): (atMs: number) => number {
  if (timezone === 'UTC' || timezone === 'Etc/UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return memoizeByInstant((atMs: number) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const of = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const wallMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'));
    return wallMs - Math.floor(atMs / minuteMs) * minuteMs;
  });
}

/** Memoizes a function of an instant. */
export function memoizeByInstant<Result>(ask: (at: number) => Result): (at: number) => Result {
  const known = new BoundedMap<number, Result>(maxInstants);
  return (at) => {
    const before = known.get(at);
    if (before !== undefined) return before;
    const result = ask(at);
    known.set(at, result);
    return result;
  };
}
