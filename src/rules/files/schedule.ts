import { validate } from 'node-cron';
import { isTimezone } from '../../expressions/resolve/literals.ts';
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
    context.reportValue([...path, 'timezone'], 'schedule', `there is no timezone "${timezone}"`);
    return undefined;
  }
  if (context.level !== 'operator' && !/^\d+$/.test(fields[0] ?? '')) {
    const message = `files of the ${context.level} run at most hourly: the first field must be one minute`;
    context.reportValue(at, 'level', message);
    return undefined;
  }
  return { cron, timezone };
}

function explainCron(cron: string, fields: readonly string[]): string | undefined {
  if (fields.length === 6) return 'six cron fields: seconds are not for rules, write five';
  if (fields.length !== 5) return `"${cron}" is no schedule: five cron fields, such as "17 3 * * *"`;
  return validate(cron) ? undefined : `"${cron}" is no schedule: one of its fields cannot be`;
}
