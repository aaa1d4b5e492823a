import { createTask, parse } from 'node-cron';
import type { Schedule } from '../rules/rule.ts';

/** The instants at which a schedule is due. Time is an argument: nothing here looks at a clock. */
export interface Cron {
  /** Returns the first due instant after the given one, or undefined where none comes within five years. */
  next(after: Date): Date | undefined;
  /** Returns the last due instant after `after` and not after `until`, and how many there are, counted up to 1,000. */
  due(after: Date, until: Date): { readonly last: Date | undefined; readonly count: number };
}

const minuteMs = 60_000;
/** Every offset in use is a multiple of a quarter of an hour, so within one a wall clock runs evenly. */
const quarterMs = 15 * minuteMs;
const horizonMs = 5 * 366 * 86_400_000;
const maxCounted = 1_000;

/**
 * Returns the due instants of five cron fields in a timezone. node-cron says which wall times the fields name; which
 * instants those are is decided here. A schedule for certain hours is due once where a clock is set back, and at the end
 * of the gap where it is set forward over its hour; one for every hour follows the time that really passes.
 */
export function createCron({ cron, timezone }: Schedule): Cron {
  const fields = parse(cron);
  const everyHour = fields.hour.length === 24;
  // Asked about wall times written as if they were UTC. It is never started, and leaves the library's own list at once.
  const days = createTask(cron, () => {}, { timezone: 'UTC' });
  void days.destroy();
  const minute = fields.minute[0] ?? 0;
  const hour = fields.hour[0] ?? 0;
  const isDay = remembering((dayMs: number) => days.match(new Date(dayMs + (hour * 60 + minute) * minuteMs)));
  const offsetAt = createOffset(timezone);

  const isNamed = (wallMs: number): boolean => {
    const wall = new Date(wallMs);
    return (
      fields.hour.includes(wall.getUTCHours()) &&
      fields.minute.includes(wall.getUTCMinutes()) &&
      isDay(Math.floor(wallMs / 86_400_000) * 86_400_000)
    );
  };

  /** Yields the due instants from a quarter's first minute on. */
  function* inQuarter(startMs: number): Generator<number> {
    const offsetMs = offsetAt(startMs);
    const jumpMs = offsetMs - offsetAt(startMs - quarterMs);
    const skipped = !everyHour && jumpMs > 0 && namedBetween(startMs + offsetMs - jumpMs, startMs + offsetMs);
    for (let atMs = startMs; atMs < startMs + quarterMs; atMs += minuteMs) {
      const named = isNamed(atMs + offsetMs) && (everyHour || !isRepeated(atMs, offsetMs));
      if (named || (skipped && atMs === startMs)) yield atMs;
    }
  }

  const namedBetween = (fromMs: number, untilMs: number): boolean => {
    for (let wallMs = fromMs; wallMs < untilMs; wallMs += minuteMs) if (isNamed(wallMs)) return true;
    return false;
  };

  /** The same wall time was already there before a clock was set back, by three hours at most. */
  const isRepeated = (atMs: number, offsetMs: number): boolean => {
    for (let backMs = quarterMs; backMs <= 12 * quarterMs; backMs += quarterMs) {
      if (offsetAt(atMs - backMs) - offsetMs === backMs) return true;
    }
    return false;
  };

  /** Returns how far a day that is not named can be passed over: to its last hour but one, whatever clocks do in it. */
  const strideFrom = (startMs: number): number => {
    const wall = new Date(startMs + offsetAt(startMs));
    const dayMs = Math.floor(wall.getTime() / 86_400_000) * 86_400_000;
    const hours = 21 - wall.getUTCHours();
    return hours > 0 && !isDay(dayMs) && !isDay(dayMs - 86_400_000) ? hours * 4 * quarterMs : quarterMs;
  };

  function* from(after: Date, untilMs: number): Generator<number> {
    let startMs = Math.floor(after.getTime() / quarterMs) * quarterMs;
    while (startMs <= untilMs) {
      for (const atMs of inQuarter(startMs)) if (atMs > after.getTime() && atMs <= untilMs) yield atMs;
      startMs += strideFrom(startMs);
    }
  }

  return {
    next(after) {
      for (const atMs of from(after, after.getTime() + horizonMs)) return new Date(atMs);
      return undefined;
    },
    due(after, until) {
      let last: Date | undefined;
      let count = 0;
      // Of a long absence only the end matters: what is due at all is due at least once in a year, or nearly never.
      const begin = new Date(Math.max(after.getTime(), until.getTime() - 366 * 86_400_000));
      for (const atMs of from(begin, until.getTime())) {
        last = new Date(atMs);
        count = Math.min(count + 1, maxCounted);
      }
      return { last, count };
    },
  };
}

/** Returns the next due instants of a schedule, at most `count` of them. */
export function nextTimes(schedule: Schedule, after: Date, count: number): readonly Date[] {
  const cron = createCron(schedule);
  const times: Date[] = [];
  for (let at = cron.next(after); at && times.length < count; at = cron.next(at)) times.push(at);
  return times;
}

/** Returns a function from an instant to what a wall clock of the timezone is ahead of UTC, in milliseconds. */
function createOffset(timezone: string): (atMs: number) => number {
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
  return remembering((atMs: number) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const of = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const wallMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'));
    return wallMs - Math.floor(atMs / minuteMs) * minuteMs;
  });
}

function remembering<Result>(ask: (at: number) => Result): (at: number) => Result {
  const known = new Map<number, Result>();
  return (at) => {
    const before = known.get(at);
    if (before !== undefined) return before;
    if (known.size > 5_000) known.clear();
    const result = ask(at);
    known.set(at, result);
    return result;
  };
}
