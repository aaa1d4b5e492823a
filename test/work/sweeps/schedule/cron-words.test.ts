import { expect, it } from 'vitest';
import { describeSchedule } from '../../../../src/work/sweeps/schedule/cron-words.ts';

const cases: Readonly<Record<string, string>> = {
  '0 3 * * *': 'at 03:00 every day, UTC',
  '7 3 * * 1': 'at 03:07 on Mondays, UTC',
  '0 8,17 * * MON-FRI': 'at 08:00 and 17:00 from Monday to Friday, UTC',
  '0 6 * * 6,0': 'at 06:00 on Sundays and Saturdays, UTC',
  '0 6 * * 7': 'at 06:00 on Sundays, UTC',
  '* * * * *': 'every minute, UTC',
  '*/15 * * * *': 'every 15 minutes, UTC',
  '*/15 9-17 * * 1-5': 'every 15 minutes from 09:00 to 17:45 from Monday to Friday, UTC',
  '30 9-17 * * *': 'every hour from 09:30 to 17:30, UTC',
  '0 * * * *': 'at minute 0 of every hour, UTC',
  '5,35 * * * *': 'at minutes 5 and 35 of every hour, UTC',
  '10 */2 * * *': 'every 2 hours from 00:10, UTC',
  '0 */6 * * *': 'at 00:00, 06:00, 12:00 and 18:00 every day, UTC',
  '0 4 1 * *': 'at 04:00 on the 1st of the month, UTC',
  '0 4 31 * *': 'at 04:00 on the 31st of the month, if the month has it, UTC',
  '0 4 1-7 * *': 'at 04:00 from the 1st to the 7th of the month, UTC',
  '0 4 2,3,11 JAN,JUL *': 'at 04:00 on the 2nd, 3rd and 11th of the month, in January and July, UTC',
  '0 4 * 3-10 *': 'at 04:00 every day from March to October, UTC',
  // In a crontab, two restrictions mean "either".
  '0 4 1 * MON': 'at 04:00 on the 1st of the month, and also on Mondays, UTC',
};

it.each(Object.entries(cases))('describes the schedule %s', (cron, words) => {
  expect(describeSchedule({ cron, timezone: 'UTC' })).toBe(words);
});

it.each([
  '*/7 9-17 * * *',
  '*/9 * * * *',
  '*/45 */5 * * *',
  '0 1-10/3,22 */3 * *',
  '0 4 */2 * MON',
  '0 4 1-31 * MON',
  '0 4 L * *',
  '0 22-2,4,7,9,11 * * *',
])('returns the expression %s, which has no short and exact words', (cron) => {
  expect(describeSchedule({ cron, timezone: 'Europe/Berlin' })).toBe(`${cron} Europe/Berlin`);
});
