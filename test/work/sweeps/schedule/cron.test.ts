import fc from 'fast-check';
import { createTask } from 'node-cron';
import { describe, expect, it } from 'vitest';
import { createCron } from '../../../../src/work/sweeps/schedule/cron.ts';
import { propertyRuns, recordFigure } from '../../../support/figure.ts';

const times = (cron: string, timezone: string, from: string, count: number): readonly string[] => {
  const schedule = createCron({ cron, timezone });
  const found: string[] = [];
  let at: Date | undefined = new Date(from);
  while (found.length < count && at !== undefined) {
    at = schedule.next(at);
    if (at) found.push(at.toISOString().slice(0, 16));
  }
  return found;
};

/** Generates instants, many of them around the two clock changes of a year in most timezones. */
const anyInstant = fc
  .oneof(
    fc.constantFrom(
      '2026-03-28T20:00:00Z',
      '2026-03-08T00:00:00Z',
      '2026-10-24T20:00:00Z',
      '2026-11-01T00:00:00Z',
    ),
    fc.constantFrom('2024-02-28T00:00:00Z', '2025-12-31T12:00:00Z', '2026-04-04T10:00:00Z'),
  )
  .chain((from) => fc.integer({ min: 0, max: 600 }).map((minute) => Date.parse(from) + minute * 60_000));
const field = (min: number, max: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min, max }).map(String),
    fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  );
const anyCron = fc
  .tuple(
    field(0, 59),
    field(0, 23),
    fc.oneof(fc.constant('*'), field(1, 28), fc.constant('L')),
    field(1, 12),
    field(0, 6),
  )
  .map((fields) => fields.join(' '));

describe('the due instants of a schedule', () => {
  it.each([
    [
      'every quarter',
      '*/15 * * * *',
      'UTC',
      '2026-03-01T10:07:00Z',
      ['2026-03-01T10:15', '2026-03-01T10:30'],
    ],
    ['a daily time', '17 3 * * *', 'UTC', '2026-03-01T03:17:00Z', ['2026-03-02T03:17', '2026-03-03T03:17']],
    [
      'a timezone',
      '0 9 * * *',
      'Europe/Berlin',
      '2026-01-01T00:00:00Z',
      ['2026-01-01T08:00', '2026-01-02T08:00'],
    ],
    ['half an hour of offset', '0 9 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', ['2026-01-01T03:30']],
    ['a leap day', '0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T00:00']],
    [
      'the last day of a month',
      '0 0 L * *',
      'UTC',
      '2026-02-01T00:00:00Z',
      ['2026-02-28T00:00', '2026-03-31T00:00'],
    ],
    [
      'days of the month or of the week where both are given',
      '0 9 1,15 * 5',
      'UTC',
      '2026-05-01T10:00:00Z',
      ['2026-05-08T09:00', '2026-05-15T09:00', '2026-05-22T09:00', '2026-05-29T09:00', '2026-06-01T09:00'],
    ],
    [
      'the last day of a month or a weekday',
      '0 0 L 4 1',
      'UTC',
      '2026-04-20T12:00:00Z',
      ['2026-04-27T00:00', '2026-04-30T00:00', '2027-04-05T00:00'],
    ],
    [
      'days of the month among the weekdays where one is a step of *',
      '0 9 */2 5 5',
      'UTC',
      '2026-05-01T10:00:00Z',
      ['2026-05-15T09:00', '2026-05-29T09:00', '2027-05-07T09:00'],
    ],
    [
      'weekdays beside a day that its month does not have',
      '0 9 31 2 5',
      'UTC',
      '2026-02-20T10:00:00Z',
      ['2026-02-27T09:00', '2027-02-05T09:00'],
    ],
    ['weekdays', '0 8 * * 1-5', 'UTC', '2026-11-20T09:00:00Z', ['2026-11-23T08:00']],
  ])('are correct for %s', (_name, cron, timezone, from, expected) => {
    expect(times(cron, timezone, from, Math.max(expected.length, 1))).toEqual(expected);
  });

  it.each([
    // The clock is set forward on 29 March 2026 from 02:00 to 03:00, which is 01:00 UTC.
    [
      'an hour that is skipped is due at the end of the gap',
      '30 2 * * *',
      '2026-03-28T12:00:00Z',
      ['2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'every hour goes on over the gap',
      '0 * * * *',
      '2026-03-29T00:30:00Z',
      ['2026-03-29T01:00', '2026-03-29T02:00'],
    ],
    // The clock is set back on 25 October 2026 from 03:00 to 02:00, which is 01:00 UTC.
    [
      'an hour that comes twice is due once',
      '30 2 * * *',
      '2026-10-24T12:00:00Z',
      ['2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'every half hour goes on in the hour that comes twice',
      '*/30 * * * *',
      '2026-10-25T00:10:00Z',
      ['2026-10-25T00:30', '2026-10-25T01:00', '2026-10-25T01:30', '2026-10-25T02:00'],
    ],
  ])('%s', (_name, cron, from, expected) => {
    expect(times(cron, 'Europe/Berlin', from, expected.length)).toEqual(expected);
  });

  it('include the last missed instant and the number of missed instants', () => {
    const schedule = createCron({ cron: '0 * * * *', timezone: 'UTC' });

    const missed = schedule.due(new Date('2026-05-01T10:00:00Z'), new Date('2026-05-01T15:59:59Z'));

    expect(missed).toEqual({ last: new Date('2026-05-01T15:00:00Z'), count: 5 });
  });

  it('are found with bounded effort after years without a run', (context) => {
    const until = new Date('2026-05-01T15:00:00Z');
    const before = process.cpuUsage();

    const ends = ['* * * * *', '17 3 * * *', '17 3 1 * *', '0 0 29 2 *'].map((cron) =>
      createCron({ cron, timezone: 'America/New_York' }).due(new Date('1996-01-01T00:00:00Z'), until),
    );

    expect(ends).toEqual([
      { last: new Date('2026-05-01T15:00:00Z'), count: 1_000 },
      { last: new Date('2026-05-01T07:17:00Z'), count: 1_000 },
      { last: new Date('2026-05-01T07:17:00Z'), count: 61 },
      { last: new Date('2024-02-29T05:00:00Z'), count: 1 },
    ]);
    // A minute-by-minute search took 15 s of CPU time, and takes longer with each year.
    const spentMs = process.cpuUsage(before).user / 1_000;
    expect(spentMs).toBeLessThan(3_000);
    recordFigure(context, `30 years of absence: one slot each, ${Math.ceil(spentMs)} ms`);
  });

  it('agree with the cron library for every minute in UTC; if both day fields are restricted, each is compared separately', (context) => {
    let compared = 0;
    fc.assert(
      fc.property(anyCron, anyInstant, fc.integer({ min: 1, max: 3_000 }), (cron, fromMs, minutes) => {
        const [minute, hour, day = '', month, weekday = ''] = cron.split(' ');
        const isEither = !day.startsWith('*') && !weekday.startsWith('*');
        const each = isEither
          ? [`${minute} ${hour} ${day} ${month} *`, `${minute} ${hour} * ${month} ${weekday}`]
          : [cron];
        const tasks = each.map((one) => createTask(one, () => {}, { timezone: 'UTC' }));
        for (const task of tasks) void task.destroy();
        const due: number[] = [];
        for (let at = 1; at <= minutes; at += 1) {
          if (tasks.some((task) => task.match(new Date(fromMs + at * 60_000))))
            due.push(fromMs + at * 60_000);
        }

        const ours = createCron({ cron, timezone: 'UTC' });

        const found = ours.due(new Date(fromMs), new Date(fromMs + minutes * 60_000));
        expect(found).toEqual({
          last: due.length === 0 ? undefined : new Date(due.at(-1) ?? 0),
          count: Math.min(due.length, 1_000),
        });
        if (due[0] !== undefined) expect(ours.next(new Date(fromMs))).toEqual(new Date(due[0]));
        compared += minutes;
      }),
      { numRuns: process.env.LONG ? 3_000 : propertyRuns(60) },
    );
    recordFigure(
      context,
      `${compared.toLocaleString('en')} minutes of random schedules: the slots of the library`,
    );
  });

  it('are counted as many as are listed, in every timezone', () => {
    const zones = [
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Pacific/Apia',
    ];
    fc.assert(
      fc.property(
        anyCron,
        fc.constantFrom(...zones),
        anyInstant,
        fc.integer({ min: 1, max: 60 }),
        (...given) => {
          const [cron, timezone, fromMs, hours] = given;
          const schedule = createCron({ cron, timezone });
          const until = new Date(fromMs + hours * 3_600_000);
          const named: Date[] = [];
          for (let at = schedule.next(new Date(fromMs)); at && at <= until; at = schedule.next(at))
            named.push(at);

          expect(schedule.due(new Date(fromMs), until)).toEqual({
            last: named.at(-1),
            count: Math.min(named.length, 1_000),
          });
        },
      ),
      { numRuns: process.env.LONG ? 3_000 : propertyRuns(100) },
    );
  });
});
