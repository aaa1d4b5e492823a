import { parse } from 'node-cron';
import type { Schedule } from '../../../rules/rule.ts';

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
/** Maximum number of values that are listed one by one. */
const maxListed = 6;

/**
 * Returns a schedule in words: `at 03:00 on Mondays, UTC`. Returns the expression with its timezone if words would be
 * long or ambiguous. The values of the fields are those with which the schedule runs (`cron.ts`).
 */
export function describeSchedule({ cron, timezone }: Schedule): string {
  const time = wordsOfTime(cron);
  const days = wordsOfDays(cron);
  if (time === undefined || days === undefined) return `${cron} ${timezone}`;
  const isFrequent = time.includes('every');
  const every = days === '' && !isFrequent ? ' every day' : '';
  return `${time}${every}${days}, ${timezone}`;
}

function wordsOfTime(cron: string): string | undefined {
  const { minute, hour } = parse(cron);
  const minutes = sorted(minute);
  const hours = sorted(hour);
  const step = stepOf(minutes, 60);
  if (minutes.length * hours.length <= maxListed) {
    return `at ${listed(hours.flatMap((one) => minutes.map((other) => clock(one, other))))}`;
  }
  const [firstHour = 0] = hours;
  const lastHour = hours.at(-1) ?? 0;
  const [firstMinute = 0] = minutes;
  const isEveryHour = isWhole(hours, 0, 23);
  const isRange = isRun(hours) && hours.length > 2;
  if (step !== undefined && minutes.length > 1 && (isEveryHour || isRange)) {
    const every = step === 1 ? 'every minute' : `every ${step} minutes`;
    return isEveryHour
      ? every
      : `${every} from ${clock(firstHour, 0)} to ${clock(lastHour, minutes.at(-1) ?? 0)}`;
  }
  if (minutes.length > maxListed) return undefined;
  if (isEveryHour)
    return `at ${minutes.length === 1 ? 'minute' : 'minutes'} ${listed(minutes)} of every hour`;
  if (minutes.length > 1) return undefined;
  if (isRange) return `every hour from ${clock(firstHour, firstMinute)} to ${clock(lastHour, firstMinute)}`;
  const hourStep = stepOf(hours, 24);
  return hourStep === undefined ? undefined : `every ${hourStep} hours from ${clock(0, firstMinute)}`;
}

/** Returns the days and months with a leading space; empty if there is no restriction. */
function wordsOfDays(cron: string): string | undefined {
  const { dayOfMonth, dayOfWeek, month } = parse(cron);
  const [, , dayField = '*', , weekdayField = '*'] = cron.trim().split(/\s+/);
  const dates = sorted(dayOfMonth.filter((date) => typeof date === 'number'));
  // `L`, the last day of the month.
  if (dates.length < new Set(dayOfMonth).size) return undefined;
  const weekdaysOf = [...new Set(dayOfWeek.map((one) => Number(one) % 7))].toSorted((a, b) => a - b);
  const isEveryDate = isWhole(dates, 1, 31);
  const isEveryWeekday = isWhole(weekdaysOf, 0, 6);
  const parts: string[] = [];
  // Two restrictions mean "either", but a field with a star is combined with "both", for which words are ambiguous. A
  // field without a star that names every value is a restriction too.
  const isBoth = !isEveryDate && !isEveryWeekday;
  const hasStar = /^[*?]/.test(dayField) || /^[*?]/.test(weekdayField);
  if (isBoth && hasStar) return undefined;
  if (!isBoth && !hasStar) return undefined;
  if (!isEveryDate) {
    const words =
      isRun(dates) && dates.length > 2 ? `${ordinal(dates[0])} to the ${ordinal(dates.at(-1))}` : undefined;
    if (words === undefined && dates.length > maxListed) return undefined;
    const isMissing = dates.some((date) => date > 28) ? ', if the month has it' : '';
    parts.push(
      words
        ? `from the ${words} of the month`
        : `on the ${listed(dates.map(ordinal))} of the month${isMissing}`,
    );
  }
  if (!isEveryWeekday) {
    const isRange = isRun(weekdaysOf) && weekdaysOf.length > 2;
    const first = weekdays[weekdaysOf[0] ?? 0];
    const last = weekdays[weekdaysOf.at(-1) ?? 0];
    parts.push(
      isRange ? `from ${first} to ${last}` : `on ${listed(weekdaysOf.map((one) => `${weekdays[one]}s`))}`,
    );
  }
  const days = parts.length > 1 ? ` ${parts.join(', and also ')}` : parts.map((part) => ` ${part}`).join('');
  if (month.length === 12) return days;
  const named = sorted(month);
  const range =
    isRun(named) && named.length > 2 ? `from ${monthOf(named[0])} to ${monthOf(named.at(-1))}` : undefined;
  if (range === undefined && named.length > maxListed) return undefined;
  return `${days === '' ? ' every day' : days}${parts.length > 0 ? ',' : ''} ${range ?? `in ${listed(named.map(monthOf))}`}`;
}

function sorted(values: readonly number[]): readonly number[] {
  return [...new Set(values)].toSorted((a, b) => a - b);
}

function isRun(values: readonly number[]): boolean {
  return values.every((value, at) => at === 0 || value === (values[at - 1] ?? 0) + 1);
}

function isWhole(values: readonly number[], from: number, to: number): boolean {
  return new Set(values).size === to - from + 1;
}

/** Returns the step of values that begin at 0 and divide the cycle into equal parts; undefined for other values. */
function stepOf(values: readonly number[], cycle: number): number | undefined {
  const step = cycle / values.length;
  const isEven = Number.isInteger(step) && values.every((value, at) => value === at * step);
  return isEven ? step : undefined;
}

function clock(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}

function listed(values: readonly (string | number)[]): string {
  const last = values.at(-1) ?? '';
  return values.length < 2 ? `${last}` : `${values.slice(0, -1).join(', ')} and ${last}`;
}

function ordinal(date = 1): string {
  const ending = ['th', 'st', 'nd', 'rd'][date % 10] ?? 'th';
  return `${date}${date > 10 && date < 14 ? 'th' : ending}`;
}

function monthOf(month = 1): string {
  return months[month - 1] ?? '';
}
