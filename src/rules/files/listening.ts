import type { z } from 'zod';
import { eventFamilies, type Family } from '../../contract/events/event-families.ts';
import { compileGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';
import type { Matcher } from '../../patterns/pattern.ts';
import type { Listening, Pattern, Schedule } from '../rule.ts';
import type { FileContext } from './context.ts';
import type { On } from './grammar.ts';
import { checkSchedule } from './schedule.ts';
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
