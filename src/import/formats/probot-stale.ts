import { ConversionBuilder } from '../builder.ts';
import { always, and, Condition, not } from '../condition.ts';
import { type Format, SourceError } from '../conversion.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import {
  addStaleRules,
  allLabels,
  anyLabel,
  factOf,
  hasMilestone,
  isAssigned,
  type Kind,
  notLocked,
  type StaleModel,
} from './inactivity.ts';

// Source: probot/stale, lib/stale.js, lib/schema.js and index.js of commit 28b78d1d70fe.

const defaults: Readonly<Record<string, unknown>> = {
  daysUntilStale: 60,
  daysUntilClose: 7,
  onlyLabels: [],
  exemptLabels: ['pinned', 'security'],
  exemptProjects: false,
  exemptMilestones: false,
  exemptAssignees: false,
  staleLabel: 'wontfix',
  markComment:
    'Is this still relevant? If so, what is blocking it? Is there anything you can do to help move it forward?\n\nThis issue has been automatically marked as stale because it has not had recent activity. It will be closed if no further activity occurs.',
  unmarkComment: false,
  closeComment: false,
  limitPerRun: 30,
};

/** Which rules carry an option. */
const carriers: Readonly<Record<string, readonly ('mark' | 'close' | 'revive')[]>> = {
  daysUntilStale: ['mark'],
  daysUntilClose: ['close'],
  onlyLabels: ['mark'],
  exemptLabels: ['mark'],
  exemptProjects: ['mark'],
  exemptMilestones: ['mark'],
  exemptAssignees: ['mark'],
  staleLabel: ['mark', 'close', 'revive'],
  markComment: ['mark'],
  unmarkComment: ['revive'],
  closeComment: ['close'],
  limitPerRun: ['mark', 'close'],
};

const kindsBySection = { issues: 'issue', pulls: 'pull_request' } as const;

/** The configuration of the app stale of Probot. */
export const probotStale: Format = {
  name: 'probot-stale',
  title: 'probot/stale',
  counts: 'options',
  places: ['.github/stale.{yml,yaml}'],
  convert(file, context) {
    const source = readYamlSource(file);
    if (source.value !== null && !isRecord(source.value))
      throw new SourceError('a map of options was expected');
    const config = source.value ?? {};
    const built = new ConversionBuilder();
    if (config.perform === false) {
      for (const key of Object.keys(config))
        built.withoutMeaning(source.lineOf([key]), key, 'with `perform: false`, the app does nothing');
      return built.done();
    }
    if (config._extends !== undefined) {
      built.leftOut(
        source.lineOf(['_extends']),
        `_extends: ${String(config._extends)}`,
        'the options of another repository are not read: import that file, or write them into this one',
      );
      for (const key of Object.keys(config).filter((one) => one !== '_extends'))
        built.leftOut(
          source.lineOf([key]),
          key,
          'without the file that `_extends` names, it may mean something else',
        );
      return built.done();
    }
    const { names } = context;
    const optionOf = (section: 'issues' | 'pulls', key: string): unknown => {
      const own = config[section];
      if (isRecord(own) && own[key] !== undefined) return own[key];
      return config[key] === undefined ? defaults[key] : config[key];
    };
    const modelOf = (kinds: readonly Kind[]): StaleModel => {
      const section = kinds[0] === 'pull_request' ? 'pulls' : 'issues';
      const value = (key: string): unknown => optionOf(section, key);
      const item = factOf(kinds);
      const only = texts(value('onlyLabels') ?? []) ?? [];
      const exempt = texts(value('exemptLabels') ?? []) ?? [];
      const filter = and(
        notLocked(item),
        ...(only.length > 0 ? [allLabels(only, names)] : []),
        ...(exempt.length > 0 ? [not(anyLabel(exempt, names))] : []),
        ...(value('exemptProjects') === true && kinds.includes('issue') ? [notInProject(kinds)] : []),
        ...(value('exemptMilestones') === true ? [not(hasMilestone(item))] : []),
        ...(value('exemptAssignees') === true ? [not(isAssigned(item))] : []),
      );
      return {
        kinds,
        label: String(value('staleLabel')),
        staleDays: daysOf(value('daysUntilStale')),
        since: 'updated_at',
        staleText: textOf(value('markComment')),
        removedWhenStale: [],
        filter,
        // Exemptions do not count for what is marked already.
        otherFilter: always,
        closeFilter: notLocked(item),
        closeDays: daysOf(value('daysUntilClose')),
        closeText: textOf(value('closeComment')),
        closeLabel: undefined,
        revives: true,
        reviveText: textOf(value('unmarkComment')),
        addedWhenRevived: [],
        removedWhenRevived: [],
        schedules: ['19 3 * * *'],
        limit: Math.min(30, Number(value('limitPerRun')) || 30),
      };
    };
    const sections = (['issues', 'pulls'] as const).filter(
      (section) => !['issues', 'pulls'].includes(String(config.only)) || config.only === section,
    );
    const isSame =
      sections.length === 2 &&
      Object.keys(defaults).every(
        (key) => JSON.stringify(optionOf('issues', key)) === JSON.stringify(optionOf('pulls', key)),
      );
    const models = isSame
      ? [modelOf(['issue', 'pull_request'])]
      : sections.map((section) => modelOf([kindsBySection[section]]));
    const rules = models.map((model) => ({ model, added: addStaleRules(model, built) }));
    const carriedBy = (key: string, kind: Kind | undefined): readonly string[] =>
      rules
        .filter(({ model }) => kind === undefined || model.kinds.includes(kind))
        .flatMap(({ added }) => (carriers[key] ?? []).map((what) => added[what]))
        .filter((name) => name !== undefined);
    const note = (key: string, value: unknown): string | undefined => {
      if (key === 'exemptProjects' && value === true)
        return 'a pull request in a project, or an issue in one at a forge whose API does not list projects: the app leaves it alone, the rule marks it';
      return key === 'limitPerRun'
        ? `a night in which ${String(value)} items and more are quiet: the app changes ${String(value)} of them each hour, the rules that many in a night`
        : undefined;
    };
    const option = (path: readonly string[], key: string, value: unknown, kind?: Kind): void => {
      const line = source.lineOf(path);
      const part = `${path.join('.')}: ${Array.isArray(value) ? value.join(', ') : String(value)}`;
      if (key in defaults) built.carried(line, part, carriedBy(key, kind), note(key, value));
      else built.withoutMeaning(line, part, 'the app has no such option');
    };
    for (const [key, value] of Object.entries(config)) {
      if (key === 'issues' || key === 'pulls') {
        for (const [inner, own] of Object.entries(isRecord(value) ? value : {})) {
          if (sections.includes(key)) option([key, inner], inner, own, kindsBySection[key]);
          else
            built.withoutMeaning(
              source.lineOf([key, inner]),
              `${key}.${inner}`,
              `the app is about ${String(config.only)} only`,
            );
        }
      } else if (key === 'only' || key === 'perform')
        built.carried(source.lineOf([key]), `${key}: ${String(value)}`, []);
      else option([key], key, value);
    }
    const labels = [...new Set(models.map(({ label }) => label))].join(' or ');
    built.carried(
      1,
      'the file',
      rules.flatMap(({ added }) => Object.values(added)),
      `an item with ${labels} that gets another label: the app removes ${labels}, the rules do not`,
      'an item that becomes quiet at noon: the app sees it within an hour, the rules in the next night',
    );
    return built.done();
  },
};

function notInProject(kinds: readonly Kind[]): Condition {
  const free = '!has(issue.projects) || issue.projects.size() == 0';
  return new Condition(kinds.length === 1 ? free : `has(pull_request) || ${free}`, 'or');
}

function daysOf(value: unknown): number | undefined {
  const days = typeof value === 'number' ? value : Number.parseFloat(String(value));
  return Number.isNaN(days) || days <= 0 ? undefined : days;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
