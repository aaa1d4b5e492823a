import type { ConversionBuilder } from '../builder.ts';
import {
  always,
  and,
  Condition,
  labelled,
  listLiteral,
  literal,
  mergeSituations,
  not,
  situationOf,
} from '../condition.ts';
import { type PlainValue, type StepDraft, Template } from '../conversion.ts';
import type { Names } from '../names.ts';

/** Kinds of items that a rule is about, and the fact with their members. */
export type Kind = 'issue' | 'pull_request';

export function factOf(kinds: readonly Kind[]): 'item' | Kind {
  const [first = 'issue'] = kinds;
  return kinds.length > 1 ? 'item' : first;
}

export function eachOf(kinds: readonly Kind[]): PlainValue {
  const [first = 'issue'] = kinds;
  return kinds.length > 1 ? [...kinds] : first;
}

const namesOfKinds: Readonly<Record<Kind, string>> = { issue: 'issues', pull_request: 'pull requests' };

/** Returns the words for names of rules: `stale issues`, `stale pull requests`, `stale`. */
export function wordsOf(words: string, kinds: readonly Kind[]): string {
  const [first = 'issue'] = kinds;
  return kinds.length > 1 ? words : `${words} ${namesOfKinds[first]}`;
}

/** Returns a number of days as a literal of a duration. */
export function daysLiteral(days: number): string {
  const minutes = Math.max(0, Math.round(days * 1_440));
  return literal(minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`);
}

/** The time at `path` is longer ago than so many days. */
export function olderThan(path: string, days: number): Condition {
  return new Condition(`timestamp(${path}) < now - duration(${daysLiteral(days)})`, 'relation', {
    yes: situationOf(path, '2015-01-01T00:00:00Z'),
    no: situationOf(path, '2026-06-01T08:00:00Z'),
  });
}

/**
 * One of the labels is set, whatever the case of its letters, as at GitHub. Where the labels of the forge are known,
 * these are named.
 */
export function anyLabel(written: readonly string[], names: Names): Condition {
  const known = names.forge.labels;
  const lower = written.map((name) => name.toLowerCase());
  if (known !== undefined) {
    const found = known.filter((name) => lower.includes(name.toLowerCase()));
    return labelled(found.length > 0 ? [...new Set(found)] : written);
  }
  const [only = ''] = lower;
  const test = lower.length === 1 ? `== ${literal(only)}` : `in ${listLiteral(lower)}`;
  return new Condition(`labels.exists(l, l.name.lower() ${test})`, 'unary', {
    yes: { labels: written.slice(0, 1) },
  });
}

export function allLabels(written: readonly string[], names: Names): Condition {
  return and(...written.map((name) => anyLabel([name], names)));
}

/**
 * Nothing happened in so many days, as the timeline tells. Unlike the time of the last update, this stays as it is while
 * a rule comments and labels before it closes: what is younger than ten minutes does not count.
 */
export function nothingHappened(days: number): Condition {
  const text = `!timeline.exists(e, timestamp(e.created_at) > now - duration(${daysLiteral(days)}) && timestamp(e.created_at) < now - duration("10m"))`;
  return new Condition(text, 'unary', { yes: { timeline: [] } });
}

/** A comment that the rule writes once a day at most, so that a repeated warning is a new comment. */
export function dailyComment(prefix: string, text: string, when?: Condition): StepDraft {
  const key = new Template(`${prefix}-`, { expression: 'now.getFullYear()' }, '-', {
    expression: 'now.getDayOfYear()',
  });
  return {
    uses: 'comment',
    with: { key, text: new Template(text), ...(when === undefined ? {} : { when }) },
  };
}

/** What a bot does with quiet items of some kinds. Days that are undefined: never. */
export type StaleModel = {
  readonly kinds: readonly Kind[];
  readonly label: string;
  readonly staleDays: number | undefined;
  /** Path of the time from which `staleDays` count. */
  readonly since: 'updated_at' | 'created_at';
  readonly staleText: string | undefined;
  readonly removedWhenStale: readonly string[];
  /** Which items the bot looks at, for marking. */
  readonly filter: Condition;
  /** The same for closing and reviving. */
  readonly otherFilter: Condition;
  /** The same for closing, if it is another one. */
  readonly closeFilter?: Condition;
  readonly closeDays: number | undefined;
  readonly closeText: string | undefined;
  readonly closeLabel: string | undefined;
  readonly revives: boolean;
  readonly reviveText: string | undefined;
  readonly addedWhenRevived: readonly string[];
  readonly removedWhenRevived: readonly string[];
  readonly schedules: readonly PlainValue[];
  readonly limit: number | undefined;
};

/** Adds the rules that mark, close and revive. Returns their names by what they do. */
export function addStaleRules(
  model: StaleModel,
  built: ConversionBuilder,
): { readonly mark?: string; readonly close?: string; readonly revive?: string } {
  const { kinds, label, filter, otherFilter, schedules } = model;
  const item = factOf(kinds);
  const each = eachOf(kinds);
  const isMarked = labelled([label]);
  const on = schedules.map((schedule) => ({ schedule }));
  const limits =
    model.limit === undefined ? {} : { limits: { items: Math.max(1, Math.min(10_000, model.limit)) } };
  const names: { mark?: string; close?: string; revive?: string } = {};
  if (model.staleDays !== undefined) {
    names.mark = built.rule({
      name: built.nameOf(wordsOf('mark stale', kinds)),
      on,
      each,
      ...limits,
      if: and(not(isMarked), filter, olderThan(`${item}.${model.since}`, model.staleDays)),
      steps: [
        ...(model.staleText === undefined ? [] : [dailyComment('stale', model.staleText)]),
        {
          uses: 'set-labels',
          with: {
            add: [label],
            ...(model.removedWhenStale.length === 0 ? {} : { remove: model.removedWhenStale }),
          },
        },
      ],
    });
  }
  if (model.closeDays !== undefined) {
    const { closeText, closeLabel, closeDays } = model;
    // What the rule itself writes before it closes moves the time of the last update.
    const isQuiet =
      closeText === undefined && closeLabel === undefined
        ? olderThan(`${item}.updated_at`, closeDays)
        : nothingHappened(closeDays);
    names.close = built.rule({
      name: built.nameOf(wordsOf('close stale', kinds)),
      on,
      each,
      ...limits,
      if: and(isMarked, model.closeFilter ?? otherFilter),
      steps: [
        ...(closeText === undefined ? [] : [dailyComment('closed', closeText, isQuiet)]),
        ...(closeLabel === undefined
          ? []
          : [{ uses: 'set-labels', with: { add: { [closeLabel]: isQuiet } } } satisfies StepDraft]),
        { uses: 'set-issue', with: { state: 'closed', when: isQuiet } },
      ],
    });
  }
  if (model.revives) {
    names.revive = built.rule({
      name: built.nameOf(wordsOf('revive', kinds)),
      on: [
        ...(kinds.includes('issue')
          ? [
              {
                issue_comment: 'created',
                issues: ['edited', 'reopened', 'assigned', 'unassigned', 'milestoned', 'demilestoned'],
              },
            ]
          : []),
        ...(kinds.includes('pull_request')
          ? [
              {
                pull_request_comment: 'created',
                pull_request_review: {},
                pull_request: [
                  'edited',
                  'reopened',
                  'synchronized',
                  'assigned',
                  'unassigned',
                  'milestoned',
                  'demilestoned',
                  'review_requested',
                ],
              },
            ]
          : []),
      ],
      each,
      if: and(stateIs(item, 'open'), isMarked, otherFilter),
      steps: [
        ...(model.reviveText === undefined ? [] : [dailyComment('revived', model.reviveText)]),
        {
          uses: 'set-labels',
          with: {
            ...(model.addedWhenRevived.length === 0 ? {} : { add: model.addedWhenRevived }),
            remove: [label, ...model.removedWhenRevived],
          },
        },
      ],
    });
  }
  return names;
}

export function stateIs(item: string, state: 'open' | 'closed'): Condition {
  return new Condition(`${item}.state == ${literal(state)}`, 'relation', {
    yes: situationOf(`${item}.state`, state),
    no: situationOf(`${item}.state`, state === 'open' ? 'closed' : 'open'),
  });
}

export function notLocked(item: string): Condition {
  return new Condition(`!${item}.is_locked`, 'unary', {
    yes: situationOf(`${item}.is_locked`, false),
    no: situationOf(`${item}.is_locked`, true),
  });
}

/** Whether the item has a milestone; with titles, one of these. */
export function hasMilestone(item: string, titles?: readonly string[]): Condition {
  if (titles === undefined) return new Condition(`has(${item}.milestone)`, 'unary');
  const lower = titles.map((title) => title.toLowerCase());
  const [only = ''] = lower;
  const test = lower.length === 1 ? `== ${literal(only)}` : `in ${listLiteral(lower)}`;
  return new Condition(`has(${item}.milestone) && ${item}.milestone.title.lower() ${test}`, 'and');
}

/** Whether the item is assigned; with logins, to one of these. */
export function isAssigned(item: string, logins?: readonly string[]): Condition {
  const isThere = `has(${item}.assignees)`;
  if (logins === undefined)
    return new Condition(`${isThere} && ${item}.assignees.size() > 0`, 'and', {
      yes: situationOf(`${item}.assignees`, [{ login: 'ada' }]),
      no: situationOf(`${item}.assignees`, []),
    });
  const lower = logins.map((login) => login.toLowerCase());
  const [only = ''] = lower;
  const test = lower.length === 1 ? `== ${literal(only)}` : `in ${listLiteral(lower)}`;
  return new Condition(`${isThere} && ${item}.assignees.exists(a, a.login.lower() ${test})`, 'and', {
    no: situationOf(`${item}.assignees`, []),
  });
}

/** A filter for pull requests in a rule about one or both kinds. */
export function forPulls(kinds: readonly Kind[], condition: Condition): Condition {
  if (!kinds.includes('pull_request')) return always;
  if (kinds.length === 1) return condition;
  const isIssue = new Condition('!has(pull_request)', 'unary');
  const text = condition.binds === 'or' ? `(${condition.text})` : condition.text;
  return new Condition(`${isIssue.text} || ${text}`, 'or', {
    yes: mergeSituations(condition.yes),
    no: condition.no,
  });
}
