import { ConversionBuilder } from '../builder.ts';
import { and, Condition, literal, not, situationOf } from '../condition.ts';
import {
  type ConversionContext,
  type Format,
  type PlainValue,
  SourceError,
  type StepDraft,
  Template,
} from '../conversion.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import { type ActionUse, readWorkflow, scheduledUse, usesAction, workflowPlaces } from '../workflow.ts';
import { allLabels, anyLabel, factOf, type Kind, notLocked, olderThan, wordsOf } from './inactivity.ts';

// Source: dessant/lock-threads, src/index.js, src/schema.js and action.yml of v6.0.2 (commit 09f5010c8811), action.yml of
// v2.1.2 for the older names; dessant/lock-threads-app, src/lock.js and src/schema.js of commit 06747a282791.

const actions = ['dessant/lock-threads'];

/** What is locked of one kind. */
type Model = {
  readonly kind: Kind;
  readonly days: number;
  readonly conditions: readonly Condition[];
  readonly addedLabels: readonly string[];
  readonly removedLabels: readonly string[];
  readonly text: string | undefined;
  readonly schedules: readonly PlainValue[];
  readonly limit: number;
};

const noApi =
  'At Forgejo, issues cannot be locked: its API has no operation for it. The rules are for Gitea.';

function addRule(model: Model, built: ConversionBuilder): string {
  const { kind, days, conditions, addedLabels, removedLabels, text, schedules, limit } = model;
  const item = factOf([kind]);
  built.todo(noApi);
  const steps: StepDraft[] = [];
  if (text !== undefined) steps.push({ uses: 'comment', with: { key: 'lock', text: new Template(text) } });
  if (addedLabels.length + removedLabels.length > 0)
    steps.push({
      uses: 'set-labels',
      with: {
        ...(addedLabels.length === 0 ? {} : { add: addedLabels }),
        ...(removedLabels.length === 0 ? {} : { remove: removedLabels }),
      },
    });
  steps.push({ uses: 'set-issue', with: { locked: true } });
  return built.rule({
    name: built.nameOf(wordsOf('lock', [kind])),
    on: schedules.map((schedule) => ({ schedule })),
    each: { [kind]: { state: 'closed' } },
    limits: { items: limit },
    if: and(notLocked(item), ...conditions, olderThan(`${item}.updated_at`, days)),
    steps,
  });
}

function withoutReason(reason: string): string {
  return `each issue that is locked: the bot gives the reason \`${reason}\`, the rule gives none`;
}

/** The action lock-threads, in a workflow. */
export const lockThreads: Format = {
  name: 'lock-threads',
  title: 'dessant/lock-threads',
  counts: 'options',
  places: workflowPlaces,
  isFormat: usesAction(actions),
  convert(file, context) {
    const built = new ConversionBuilder();
    for (const use of readWorkflow(file, actions)) convertUse(use, built, context);
    return built.done();
  },
};

/** Names of options of version 2, by those of today; `K` stands for `issue` or `pr`. */
const oldNames: Readonly<Record<string, string>> = {
  'K-lock-inactive-days': 'K-inactive-days',
  'K-exclude-created-before': 'exclude-K-created-before',
  'K-exclude-labels': 'exclude-any-K-labels',
  'K-lock-labels': 'add-K-labels',
  'K-lock-comment': 'K-comment',
};

const options = [
  'K-inactive-days',
  'exclude-K-created-before',
  'exclude-K-created-after',
  'exclude-K-created-between',
  'exclude-K-closed-before',
  'exclude-K-closed-after',
  'exclude-K-closed-between',
  'include-any-K-labels',
  'include-all-K-labels',
  'exclude-any-K-labels',
  'add-K-labels',
  'remove-K-labels',
  'K-comment',
];

function convertUse(use: ActionUse, built: ConversionBuilder, context: ConversionContext): void {
  const { line } = use;
  const part = `the step dessant/lock-threads@${use.version}`;
  // Version 3 renamed the options, and later versions ignore the old names. A commit names no version.
  const [, written] = /^v?(\d+)(\.|$)/.exec(use.version) ?? [];
  const isOld = (key: string): boolean =>
    oldNames[key.replace(/(^|-)(issue|pr)(-|$)/, '$1K$3')] !== undefined;
  const ignored = [...use.inputs].filter(
    ([key]) => isOld(key) && written !== undefined && Number(written) > 2,
  );
  for (const [, { name, value, line: at }] of ignored)
    built.withoutMeaning(at, `${name}: ${value}`, 'from version 3 on, the action has no such option');
  const inputs = new Map([...use.inputs].filter(([key]) => !ignored.some(([other]) => other === key)));
  const old = written === undefined ? [...inputs].find(([key]) => isOld(key))?.[1].name : undefined;
  const scheduled = scheduledUse(use, context.names, inputs);
  if ('problem' in scheduled) {
    built.leftOut(line, part, scheduled.problem);
    return;
  }
  const { schedules } = scheduled;
  const given = new Map<string, { readonly value: string; readonly line: number; readonly name: string }>();
  for (const [key, input] of inputs) {
    const kind = /(^|-)(issue|pr)(-|$)/.exec(key)?.[2] ?? '';
    const general = kind === '' ? key : key.replace(new RegExp(`(^|-)${kind}(-|$)`), '$1K$2');
    const today = oldNames[general] ?? general;
    given.set(kind === '' ? today : today.replace('K', kind), input);
  }
  const only = list(given.get('process-only')?.value).map((one) => one.replace(/s$/, ''));
  const shortOf = { issue: 'issue', pull_request: 'pr' } as const;
  const kinds = (['issue', 'pull_request'] as const).filter(
    (kind) => only.length === 0 || only.includes(shortOf[kind]),
  );
  const names = new Map<Kind, string>();
  for (const kind of kinds) {
    const own = (option: string): string => given.get(option.replace('K', shortOf[kind]))?.value ?? '';
    const days = Number(own('K-inactive-days') || '365');
    const dates = datesOf(own, factOf([kind]));
    if (Number.isNaN(days) || 'problem' in dates) {
      built.leftOut(line, `${part}: ${kind}`, 'problem' in dates ? dates.problem : 'the days are no number');
      continue;
    }
    const all = list(own('include-all-K-labels'));
    const any = list(own('include-any-K-labels'));
    const without = list(own('exclude-any-K-labels'));
    names.set(
      kind,
      addRule(
        {
          kind,
          days,
          conditions: [
            ...(all.length > 0
              ? [allLabels(all, context.names)]
              : any.length > 0
                ? [anyLabel(any, context.names)]
                : []),
            ...(without.length > 0 ? [not(anyLabel(without, context.names))] : []),
            ...dates.conditions,
          ],
          addedLabels: list(own('add-K-labels')),
          removedLabels: list(own('remove-K-labels')),
          text: own('K-comment') === '' ? undefined : own('K-comment'),
          schedules: schedules.length === 0 ? ['47 3 * * *'] : schedules,
          limit: 50,
        },
        built,
      ),
    );
  }
  for (const [key, { value, name, line: at }] of given) {
    const shown = `${name}: ${value}`;
    const kind = /(^|-)issue(-|$)/.test(key)
      ? 'issue'
      : /(^|-)pr(-|$)/.test(key)
        ? 'pull_request'
        : undefined;
    const general = key.replace(/(^|-)(issue|pr)(-|$)/, '$1K$3');
    if (/discussion/.test(key)) built.withoutMeaning(at, shown, 'a forge has no discussions');
    else if (kind !== undefined && options.includes(general)) {
      const rule = names.get(kind);
      if (rule === undefined && kinds.includes(kind))
        built.leftOut(at, shown, 'the rule of this kind is left out');
      else if (rule === undefined) built.withoutMeaning(at, shown, '`process-only` excludes this kind');
      else built.carried(at, shown, [rule]);
    } else if (general === 'K-lock-reason') {
      if (value === '') built.withoutMeaning(at, shown, 'it is empty');
      else {
        const locked = names.get(key.startsWith('issue') ? 'issue' : 'pull_request');
        if (locked === undefined) built.withoutMeaning(at, shown, '`process-only` excludes this kind');
        else built.carried(at, shown, [locked], withoutReason(value));
      }
    } else if (key === 'process-only') built.carried(at, shown, [...names.values()]);
    else if (key === 'github-token' || key === 'log-output')
      built.withoutMeaning(at, shown, 'it is about the workflow itself');
    else built.withoutMeaning(at, shown, 'the action has no such option, and ignores it');
  }
  if (names.size > 0)
    built.carried(
      line,
      part,
      [...names.values()],
      'a night in which 51 closed issues are quiet: both lock 50 of them, the action those that were updated last, a rule those whose turn it is',
      old === undefined
        ? undefined
        : `the commit is of version 3 or later: the action ignores \`${old}\` and the other names of version 2 and takes its defaults, such as 365 days, the rule takes the values`,
    );
}

/** Items of a list: separated by commas, in quotes or not. */
function list(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.replace(/^\s*["'](.+)["']\s*$/, '$1').trim())
    .filter((item) => item !== '');
}

function datesOf(
  own: (option: string) => string,
  item: string,
): { readonly conditions: readonly Condition[] } | { readonly problem: string } {
  const conditions: Condition[] = [];
  for (const what of ['created', 'closed'] as const) {
    const path = `${item}.${what}_at`;
    const [before, after, between] = ['before', 'after', 'between'].map((name) =>
      own(`exclude-K-${what}-${name}`).trim(),
    );
    const ends = (between ?? '')
      .split('/')
      .map((one) => one.trim())
      .filter((one) => one !== '');
    const dates = [before, after, ...ends].filter((one) => one !== undefined && one !== '');
    if (dates.some((one) => Number.isNaN(Date.parse(one ?? ''))))
      return { problem: `a date of \`exclude-…-${what}-…\` is invalid` };
    const at = (text: string): string =>
      `timestamp(${literal(new Date(text).toISOString().replace(/\.\d+Z$/, 'Z'))})`;
    const test = (text: string, date: string): Condition =>
      new Condition(text, 'relation', { yes: situationOf(path, date) });
    const [from, to] = ends;
    if (from !== undefined && to !== undefined)
      conditions.push(
        new Condition(`timestamp(${path}) < ${at(from)} || timestamp(${path}) > ${at(to)}`, 'or'),
      );
    else if (before && after) {
      conditions.push(
        test(`timestamp(${path}) >= ${at(before)}`, before),
        test(`timestamp(${path}) <= ${at(after)}`, before),
      );
    } else if (before) conditions.push(test(`timestamp(${path}) > ${at(before)}`, '2025-06-01T00:00:00Z'));
    else if (after) conditions.push(test(`timestamp(${path}) < ${at(after)}`, '2000-01-01T00:00:00Z'));
  }
  return { conditions };
}

const lockDefaults: Readonly<Record<string, unknown>> = {
  daysUntilLock: 365,
  skipCreatedBefore: false,
  exemptLabels: [],
  lockLabel: false,
  lockComment:
    'This thread has been automatically locked since there has not been any recent activity after it was closed. Please open a new issue for related bugs.',
  setLockReason: true,
};

/** The configuration of the app lock of Probot. */
export const probotLock: Format = {
  name: 'probot-lock',
  title: 'lock-threads (Probot app)',
  counts: 'options',
  places: ['.github/lock.{yml,yaml}'],
  convert(file, context) {
    const source = readYamlSource(file);
    if (source.value !== null && !isRecord(source.value))
      throw new SourceError('a map of options was expected');
    const config = source.value ?? {};
    const built = new ConversionBuilder();
    const off =
      config.perform === false
        ? 'with `perform: false`, the app does nothing'
        : config._extends !== undefined
          ? 'the file of another repository, which `_extends` names, is not read'
          : undefined;
    if (off !== undefined) {
      for (const key of Object.keys(config)) {
        if (config.perform === false) built.withoutMeaning(source.lineOf([key]), key, off);
        else built.leftOut(source.lineOf([key]), key, off);
      }
      return built.done();
    }
    const kindOf = { issues: 'issue', pulls: 'pull_request' } as const;
    const sections = (['issues', 'pulls'] as const).filter(
      (one) => config.only === undefined || config.only === one,
    );
    const names = new Map<'issues' | 'pulls', string>();
    for (const section of sections) {
      const own = config[section];
      const value = (key: string): unknown =>
        isRecord(own) && own[key] !== undefined
          ? own[key]
          : config[key] === undefined
            ? lockDefaults[key]
            : config[key];
      const kind = kindOf[section];
      const exempt = texts(value('exemptLabels') ?? []) ?? [];
      const since = value('skipCreatedBefore');
      const dates = datesOf(
        (option) => (option === 'exclude-K-created-before' && since ? String(since) : ''),
        factOf([kind]),
      );
      const days = Number(value('daysUntilLock'));
      if ('problem' in dates || Number.isNaN(days)) {
        built.leftOut(1, section, 'problem' in dates ? dates.problem : '`daysUntilLock` is no number');
        continue;
      }
      const label = value('lockLabel');
      const text = value('lockComment');
      names.set(
        section,
        addRule(
          {
            kind,
            days,
            conditions: [
              ...(exempt.length > 0 ? [not(anyLabel(exempt, context.names))] : []),
              ...dates.conditions,
            ],
            addedLabels: typeof label === 'string' && label.trim() !== '' ? [label.trim()] : [],
            removedLabels: [],
            text: typeof text === 'string' && text.trim() !== '' ? text : undefined,
            schedules: ['47 3 * * *'],
            limit: 30,
          },
          built,
        ),
      );
    }
    const option = (path: readonly string[], key: string, value: unknown, rules: readonly string[]): void => {
      const part = `${path.join('.')}: ${Array.isArray(value) ? value.join(', ') : String(value)}`;
      const line = source.lineOf(path);
      if (key === 'setLockReason')
        built.carried(line, part, rules, value === false ? undefined : withoutReason('resolved'));
      else if (key in lockDefaults || key === 'only' || key === 'perform') built.carried(line, part, rules);
      else built.leftOut(line, part, 'the app refuses a file with an unknown option');
    };
    const all = [...names.values()];
    for (const [key, value] of Object.entries(config)) {
      if (key !== 'issues' && key !== 'pulls') {
        option([key], key, value, all);
        continue;
      }
      const name = names.get(key);
      for (const [inner, own] of Object.entries(isRecord(value) ? value : {})) {
        if (name === undefined)
          built.withoutMeaning(source.lineOf([key, inner]), `${key}.${inner}`, '`only` excludes this kind');
        else option([key, inner], inner, own, [name]);
      }
    }
    built.carried(
      1,
      'the file',
      all,
      'a day on which 31 closed issues become quiet: the app locks 30 in each hour, a rule 30 in a night',
    );
    return built.done();
  },
};
