import { validate } from 'node-cron';
import { nearest } from '../expressions/parse/nearest.ts';
import { isTimezone } from '../expressions/resolve/literals.ts';
import type { Schedule } from '../rule.ts';
import type { FileContext } from './context.ts';
import type { YamlPath } from './yaml-source.ts';

type ScheduleForm = string | { readonly cron: string; readonly timezone?: string | undefined };

/** Returns a schedule that can run, or reports why it cannot: five cron fields, a timezone that exists, at most hourly below the operator. */
export function checkSchedule(
  written: ScheduleForm,
  path: YamlPath,
  context: FileContext,
): Schedule | undefined {
  const cron = (typeof written === 'string' ? written : written.cron).trim();
  const timezone = typeof written === 'string' ? 'UTC' : (written.timezone ?? 'UTC');
  const at = typeof written === 'string' ? path : [...path, 'cron'];
  const fields = cron.split(/\s+/);
  const problem = explainCron(cron, fields);
  if (problem !== undefined) {
    context.reportValue(at, 'schedule', problem);
    return undefined;
  }
  if (!isTimezone(timezone)) {
    const message = `there is no timezone "${timezone}"; names are those of the IANA database, such as Europe/Berlin`;
    context.reportValue([...path, 'timezone'], 'schedule', message, nearestTimezone(timezone));
    return undefined;
  }
  if (context.level !== 'operator' && !/^\d+$/.test(fields[0] ?? '')) {
    const message = `files of the ${context.level} run at most hourly: the first field must be one minute`;
    context.reportValue(at, 'level', message);
    return undefined;
  }
  return { cron, timezone };
}

const words: Readonly<Record<string, string>> = {
  hourly: '17 * * * *',
  daily: '17 3 * * *',
  nightly: '17 3 * * *',
  midnight: '17 0 * * *',
  weekly: '17 3 * * 1',
  monthly: '17 3 1 * *',
  yearly: '17 3 1 1 *',
};

/** The five fields: what each is called, and the values that it may have. */
const cronFields = [
  { name: 'minute', values: '0 to 59' },
  { name: 'hour', values: '0 to 23' },
  { name: 'day of month', values: '1 to 31' },
  { name: 'month', values: '1 to 12, or jan to dec' },
  { name: 'day of week', values: '0 to 7, or sun to sat' },
] as const;

function explainCron(cron: string, fields: readonly string[]): string | undefined {
  const word = words[cron.replace(/^@|^every /, '')];
  if (word !== undefined) return `"${cron}" is not a schedule: write five cron fields, "${word}"`;
  if (fields.length === 6) return 'six cron fields: seconds are not for rules, write five';
  if (fields.length !== 5) {
    return `"${cron}" is not a schedule: write five cron fields (minute, hour, day of month, month, day of week), such as "17 3 * * *"`;
  }
  if (validate(cron)) return undefined;
  const place = fields.findIndex(
    (field, at) => !validate(['*', '*', '*', '*', '*'].with(at, field).join(' ')),
  );
  const wrong = cronFields[place];
  // Beside the weekday, a day that no month has is only a choice that never comes.
  const hasWeekday = !/^[*?]/.test(fields[2] ?? '') && !/^[*?]/.test(fields[4] ?? '');
  if (place < 0 && hasWeekday) return undefined;
  if (wrong === undefined) return `"${cron}" is not a schedule: no date has this day and month`;
  return `"${cron}" is not a schedule: field ${place + 1} (${wrong.name}) cannot be "${fields[place]}"; it takes ${wrong.values}, lists (1,15), ranges (1-5) and steps (*/2)`;
}

/** Returns the timezone that ends with this name of a city, or undefined. */
function nearestTimezone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = written.toLowerCase().replaceAll(' ', '_');
  return zones.find((zone) => zone.toLowerCase().split('/').at(-1) === city) ?? nearest(written, zones);
}
