import { validate } from 'node-cron';
import type { z } from 'zod';
import { eventFamilies, type Family } from '../../contract/events/event-families.ts';
import { compileGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';
import type { Matcher } from '../../patterns/pattern.ts';
import { nearest } from '../expressions/parse/nearest.ts';
import { isTimezone } from '../expressions/resolve/literals.ts';
import type { Listening, Pattern, Schedule } from '../rule.ts';
import type { FileContext } from './context.ts';
import type { On } from './grammar.ts';
import type { YamlPath } from './yaml-source.ts';

type OnForm = z.output<typeof On>;

/** What `on` says, in one form whichever of its forms was written. */
export type ReadOn = { readonly on: readonly Listening[]; readonly schedules: readonly Schedule[] };

/** Returns what a rule listens to. Filters that cannot be, patterns that cannot match and clocks that cannot run are reported. */
export function readOn(written: OnForm, at: YamlPath, context: FileContext): ReadOn {
  const on: Listening[] = [];
  const schedules: Schedule[] = [];
  const entries = Array.isArray(written)
    ? written.map((entry, place) => ({ entry, path: [...at, place] }))
    : [{ entry: written, path: at }];
  for (const { entry, path } of entries) {
    if (typeof entry === 'string') {
      on.push(readWord(entry));
      continue;
    }
    for (const [key, form] of Object.entries(entry)) {
      const place = [...path, key];
      if (key === 'schedule') {
        const schedule = checkSchedule(form as string | { cron: string; timezone?: string }, place, context);
        if (schedule) schedules.push(schedule);
      } else if (form !== undefined) {
        // The grammar let only families and `schedule` through.
        on.push(readForm(key as Family, form, place, context));
      }
    }
  }
  return { on, schedules };
}

/**
 * Returns the families that an `on` with a mistake names all the same, so that the rest of its rule is checked too. The
 * mistake itself is reported by the grammar.
 */
export function readFamilies(written: unknown): ReadOn {
  const words = (Array.isArray(written) ? written : [written]).flatMap((entry: unknown) => {
    if (typeof entry === 'string') return [entry.split('.')[0] ?? ''];
    return typeof entry === 'object' && entry !== null ? Object.keys(entry) : [];
  });
  const families = words.filter((word): word is Family => Object.hasOwn(eventFamilies, word));
  return { on: [...new Set(families)].map((family) => ({ family })), schedules: [] };
}

function readWord(word: string): Listening {
  const [family = '', activity] = word.split('.');
  return { family: family as Family, ...(activity !== undefined && { activities: [activity] }) };
}

function readForm(family: Family, form: unknown, path: YamlPath, context: FileContext): Listening {
  if (form === null) return { family };
  if (typeof form === 'string') return { family, activities: [form] };
  if (Array.isArray(form)) return { family, activities: form };
  return readFilter(family, form as ListeningFilter, path, context);
}

type ListeningFilter = Readonly<Record<string, string | readonly string[] | undefined>>;

const filterNames = {
  branches: 'branches',
  'branches-ignore': 'branchesIgnore',
  tags: 'tags',
  'tags-ignore': 'tagsIgnore',
  paths: 'paths',
  'paths-ignore': 'pathsIgnore',
} as const;

/** Filters that make sense for a family: a pull request has no tag, an issue has neither branch nor files. */
function allowedFilters(family: Family): readonly string[] {
  if (family === 'push') return Object.keys(filterNames);
  if (family === 'create' || family === 'delete')
    return ['branches', 'branches-ignore', 'tags', 'tags-ignore'];
  if (eventFamilies[family].subject === 'pull_request') {
    return ['branches', 'branches-ignore', 'paths', 'paths-ignore'];
  }
  return [];
}

function readFilter(
  family: Family,
  filter: ListeningFilter,
  path: YamlPath,
  context: FileContext,
): Listening {
  const { types, ...patterns } = filter;
  const listening: Record<string, Pattern> = {};
  const allowed = allowedFilters(family);
  for (const [key, written] of Object.entries(patterns)) {
    if (written === undefined) continue;
    if (!allowed.includes(key)) {
      context.reportKey(
        [...path, key],
        'filter',
        `events of ${family} have no ${key.replace('-ignore', '')} to filter by`,
      );
      continue;
    }
    if (key.endsWith('-ignore') && patterns[key.replace('-ignore', '')] !== undefined) {
      context.reportKey(
        [...path, key],
        'filter',
        `${key} beside ${key.replace('-ignore', '')}: use ! in one list`,
      );
      continue;
    }
    const pattern = readPattern(written, [...path, key], context);
    if (pattern) listening[filterNames[key as keyof typeof filterNames]] = pattern;
  }
  const activities = types === undefined ? {} : { activities: typeof types === 'string' ? [types] : types };
  return { family, ...activities, ...listening };
}

/** Returns a pattern compiled, or reports why it cannot be. */
export function readPattern(
  written: string | readonly string[],
  path: YamlPath,
  context: FileContext,
  compile: (patterns: readonly string[]) => Matcher = compileGlob,
): Pattern | undefined {
  const list = typeof written === 'string' ? [written] : written;
  try {
    return { written: list, matches: compile(list) };
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const place = list.findIndex(
      (entry) => entry.replace(/^!/, '') === error.pattern || entry === error.pattern,
    );
    const at = typeof written === 'string' || place < 0 ? path : [...path, place];
    context.reportValue(at, 'pattern', error.message);
    return undefined;
  }
}

type ScheduleForm = string | { readonly cron: string; readonly timezone?: string | undefined };

/** Returns a schedule that can run, or reports why it cannot: five cron fields, a timezone that exists, at most hourly below the operator. */
function checkSchedule(written: ScheduleForm, path: YamlPath, context: FileContext): Schedule | undefined {
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
