import { createTask, parse, validate } from 'node-cron';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import type { Schedule } from '../../../rules/rule.ts';

/** The due instants of a schedule. Time is passed as an argument; no clock is read here. */
export interface Cron {
  /** Returns the first due instant after the given one; undefined if there is none within five years. */
  next(after: Date): Date | undefined;
  /** Returns the last due instant after `after` and not after `until`, and the number of such instants, up to 1,000. */
  due(after: Date, until: Date): { readonly last: Date | undefined; readonly count: number };
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/**
 * Every UTC offset in use is a multiple of a quarter of an hour, so within a quarter the wall clock advances evenly.
 */
const quarterMs = 15 * minuteMs;
/** Maximum amount by which a wall clock is set back at a time change. */
const maxSetBackMs = 3 * hourMs;
/** Number of days searched in either direction: five years and a leap day. */
const horizonDays = 5 * 366;
const maxCounted = 1_000;

/**
 * Returns the due instants of five cron fields in a timezone. node-cron determines the wall times of the fields, and
 * this code maps them to instants. A schedule for certain hours is due once if a clock is set back, and at the end of
 * the gap if the clock is set forward over its hour. A schedule for every hour follows elapsed time. The work is
 * bounded regardless of the distance: each day costs a few comparisons, and each due instant one more.
 */
export function createCron({ cron, timezone }: Schedule): Cron {
  const ways = waysOfDays(cron);
  const fields = parse(ways[0] ?? cron);
  const minutesOfDay = fields.hour
    .flatMap((hour) => fields.minute.map((minute) => hour * 60 + minute))
    .toSorted((a, b) => a - b);
  const everyHour = fields.hour.length === 24;
  // Used to match wall times that are written as if they were UTC. A task is never started, and is removed from the
  // library's own list immediately.
  const days = ways.map((way) => createTask(way, () => {}, { timezone: 'UTC' }));
  for (const task of days) void task.destroy();
  const isDay = memoizeByInstant((atMs: number) =>
    days.some((task) => task.match(new Date(atMs + (minutesOfDay[0] ?? 0) * minuteMs))),
  );
  const offsetAt = createOffset(timezone);

  const isNamed = (wallMs: number): boolean => {
    const wall = new Date(wallMs);
    return (
      fields.hour.includes(wall.getUTCHours()) &&
      fields.minute.includes(wall.getUTCMinutes()) &&
      isDay(Math.floor(wallMs / dayMs) * dayMs)
    );
  };

  const inQuarter = createQuarters({ isNamed, offsetAt, everyHour });

  /** Returns the due instants of the UTC day that begins at `startMs`, in order. */
  const inDay = (startMs: number): readonly number[] => {
    const offsetMs = offsetAt(startMs);
    if (offsetAt(startMs - maxSetBackMs) !== offsetMs || offsetAt(startMs + dayMs) !== offsetMs) {
      return Array.from({ length: dayMs / quarterMs }, (_, at) => inQuarter(startMs + at * quarterMs)).flat();
    }
    const wallMs = startMs + offsetMs;
    const firstMs = Math.floor(wallMs / dayMs) * dayMs;
    const sinceMidnight = (wallMs - firstMs) / minuteMs;
    const onDay = (midnightMs: number, isPart: (minute: number) => boolean): readonly number[] =>
      isDay(midnightMs)
        ? minutesOfDay.filter(isPart).map((minute) => midnightMs + minute * minuteMs - offsetMs)
        : [];
    return [
      ...onDay(firstMs, (minute) => minute >= sinceMidnight),
      ...onDay(firstMs + dayMs, (minute) => minute < sinceMidnight),
    ];
  };

  return {
    next(after) {
      const afterMs = after.getTime();
      const firstMs = Math.floor(afterMs / dayMs) * dayMs;
      for (let day = 0; day <= horizonDays; day += 1) {
        const found = inDay(firstMs + day * dayMs).find((atMs) => atMs > afterMs);
        if (found !== undefined) return new Date(found);
      }
      return undefined;
    },
    due(after, until) {
      const [afterMs, untilMs] = [after.getTime(), until.getTime()];
      const lastMs = Math.floor(untilMs / dayMs) * dayMs;
      let last: Date | undefined;
      let count = 0;
      // Backwards, because after a long downtime only the last instant and an approximate count matter.
      for (let day = 0; day <= horizonDays && count < maxCounted; day += 1) {
        const startMs = lastMs - day * dayMs;
        if (startMs + dayMs <= afterMs) break;
        const found = inDay(startMs).filter((atMs) => atMs > afterMs && atMs <= untilMs);
        const newest = found.at(-1);
        if (newest !== undefined) last ??= new Date(newest);
        count = Math.min(count + found.length, maxCounted);
      }
      return { last, count };
    },
  };
}

/**
 * Returns the expressions of which at least one has to match. As in every crontab, if both the day of month and the
 * weekday are restricted (neither begins with `*`), a day matches by either. node-cron combines them with "and", so
 * each is evaluated separately.
 */
function waysOfDays(cron: string): readonly string[] {
  const [minute, hour, day = '*', month, weekday = '*'] = cron.trim().split(/\s+/);
  if (/^[*?]/.test(day) || /^[*?]/.test(weekday)) return [cron];
  const byWeekday = `${minute} ${hour} * ${month} ${weekday}`;
  const byDay = `${minute} ${hour} ${day} ${month} *`;
  // If the day does not exist in any month of the expression, such as 31 February, only the weekdays remain.
  return validate(byDay) ? [byDay, byWeekday] : [byWeekday];
}

/**
 * Returns a function that takes the first minute of a quarter and returns the due instants in that quarter, also around
 * changes of the wall clock.
 */
function createQuarters(options: {
  /** Returns whether the fields match a wall time that is written as if it were UTC. */
  readonly isNamed: (wallMs: number) => boolean;
  readonly offsetAt: (atMs: number) => number;
  /** Whether the schedule runs in every hour. */
  readonly everyHour: boolean;
}): (startMs: number) => readonly number[] {
  const { isNamed, offsetAt, everyHour } = options;

  const namedBetween = (fromMs: number, untilMs: number): boolean => {
    for (let wallMs = fromMs; wallMs < untilMs; wallMs += minuteMs) if (isNamed(wallMs)) return true;
    return false;
  };

  /** Returns whether the same wall time already occurred before the clock was set back. */
  const isRepeated = (atMs: number, offsetMs: number): boolean => {
    for (let backMs = quarterMs; backMs <= maxSetBackMs; backMs += quarterMs) {
      if (offsetAt(atMs - backMs) - offsetMs === backMs) return true;
    }
    return false;
  };

  return (startMs) => {
    const offsetMs = offsetAt(startMs);
    const jumpMs = offsetMs - offsetAt(startMs - quarterMs);
    const skipped = !everyHour && jumpMs > 0 && namedBetween(startMs + offsetMs - jumpMs, startMs + offsetMs);
    const found: number[] = [];
    for (let atMs = startMs; atMs < startMs + quarterMs; atMs += minuteMs) {
      const named = isNamed(atMs + offsetMs) && (everyHour || !isRepeated(atMs, offsetMs));
      if (named || (skipped && atMs === startMs)) found.push(atMs);
    }
    return found;
  };
}

/** Returns the next due instants of a schedule, at most `count` of them. */
export function nextTimes(schedule: Schedule, after: Date, count: number): readonly Date[] {
  const cron = createCron(schedule);
  const times: Date[] = [];
  for (let at = cron.next(after); at && times.length < count; at = cron.next(at)) times.push(at);
  return times;
}

/** Maximum number of memoized instants. */
const maxInstants = 5_000;

/** Returns a function that takes an instant and returns the UTC offset of the timezone, in milliseconds. */
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
  return memoizeByInstant((atMs: number) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const of = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const wallMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'));
    return wallMs - Math.floor(atMs / minuteMs) * minuteMs;
  });
}

/** Memoizes a function of an instant. */
function memoizeByInstant<Result>(ask: (at: number) => Result): (at: number) => Result {
  const known = new BoundedMap<number, Result>(maxInstants);
  return (at) => {
    const before = known.get(at);
    if (before !== undefined) return before;
    const result = ask(at);
    known.set(at, result);
    return result;
  };
}
