import { describe, expect, it } from 'vitest';
import { createCron } from '../../src/sweeps/cron.ts';

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
    ['weekdays', '0 8 * * 1-5', 'UTC', '2026-11-20T09:00:00Z', ['2026-11-23T08:00']],
  ])('knows %s', (_name, cron, timezone, from, expected) => {
    expect(times(cron, timezone, from, Math.max(expected.length, 1))).toEqual(expected);
  });

  it.each([
    // Set forward on 29 March 2026 from 02:00 to 03:00, which is 01:00 UTC.
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
    // Set back on 25 October 2026 from 03:00 to 02:00, which is 01:00 UTC.
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

  it('names the last of what was missed, and how many there were', () => {
    const schedule = createCron({ cron: '0 * * * *', timezone: 'UTC' });

    const missed = schedule.due(new Date('2026-05-01T10:00:00Z'), new Date('2026-05-01T15:59:59Z'));

    expect(missed).toEqual({ last: new Date('2026-05-01T15:00:00Z'), count: 5 });
  });

  it('looks through a year of absence in a moment', () => {
    const schedule = createCron({ cron: '17 3 1 * *', timezone: 'America/New_York' });
    const startedMs = performance.now();

    const missed = schedule.due(new Date('2020-01-01T00:00:00Z'), new Date('2026-05-01T15:00:00Z'));

    expect(missed.last).toEqual(new Date('2026-05-01T07:17:00Z'));
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
