import { ConversionBuilder } from '../builder.ts';
import {
  and,
  Condition,
  isOneOf,
  not,
  or,
  type RegexDialect,
  regularExpression,
  situationOf,
} from '../condition.ts';
import { type ConversionContext, type Format, SourceError } from '../conversion.ts';
import type { Names } from '../names.ts';
import { isRecord, readYamlSource, type Source, texts } from '../source.ts';

// Source: srvaroa/labeler, pkg/labeler.go, pkg/condition_*.go and cmd/action.go of v1.9.0 (commit ab4c55c22867).

const dialect: RegexDialect = 'go';

/** The configuration of the action labeler of srvaroa, of version 1 (a list of labels) and 0 (a map). */
export const srvaroaLabeler: Format = {
  name: 'srvaroa-labeler',
  title: 'srvaroa/labeler',
  counts: 'labels',
  places: ['.github/labeler.{yml,yaml}'],
  isFormat(file) {
    try {
      return entriesOf(readYamlSource(file)) !== undefined;
    } catch (error) {
      if (error instanceof SourceError) return false;
      throw error;
    }
  },
  convert(file, context) {
    const source = readYamlSource(file);
    const built = new ConversionBuilder();
    const found = entriesOf(source);
    if (found === undefined || !isRecord(source.value)) throw new SourceError('a list `labels` was expected');
    const appendOnly = found.isNew && source.value.appendOnly === true;
    const withIssues = found.isNew && source.value.issues === true;
    const each = withIssues ? ['issue', 'pull_request'] : 'pull_request';
    for (const [key, of] of [
      ['appendOnly', 'the rules only add labels'],
      ['issues', 'the rules are about issues, too'],
    ] as const)
      if (found.isNew && key in source.value) built.carried(source.lineOf([key]), `${key}: ${of}`, []);
    const groups = Map.groupBy(found.entries, ({ label }) => label);
    for (const [label, matchers] of groups) {
      const parts: Condition[] = [];
      const notes: string[] = [];
      const line = source.lineOf(matchers[0]?.path ?? []);
      const part = `label ${label}`;
      let problem: string | undefined;
      for (const { matcher } of matchers) {
        const one = conditionOf(matcher, { withIssues, context });
        if ('problem' in one) problem ??= one.problem;
        else {
          if (one.condition !== undefined) parts.push(one.condition);
          notes.push(...one.notes);
        }
      }
      if (problem !== undefined || parts.length === 0) {
        if (problem === undefined)
          built.withoutMeaning(line, part, 'no condition is set: the label is never changed');
        else built.leftOut(line, part, problem);
        continue;
      }
      const condition = or(...parts);
      const name = built.nameOf(`label ${label}`);
      const times = /\bnow\b/.test(condition.text);
      if (times)
        notes.push(
          'a pull request without events whose age comes to pass, and a workflow without `schedule`: the action does not look at it, the rule does, once a night',
        );
      built.rule({
        name,
        comment: source.commentOf(matchers[0]?.path ?? []),
        on: [
          { pull_request: ['opened', 'edited', 'reopened', 'synchronized'] },
          ...(withIssues ? [{ issues: ['opened', 'edited', 'reopened'] }] : []),
          ...(times ? [{ schedule: '27 3 * * *' }] : []),
        ],
        each,
        ...(appendOnly
          ? { if: condition, steps: [{ uses: 'set-labels', with: { add: [label] } }] }
          : { steps: [{ uses: 'set-labels', with: { sync: { [label]: condition } } }] }),
      });
      built.carried(line, part, [name], ...notes);
    }
    built.todo(
      'The rules listen to opened, edited, reopened and synchronize, as the documentation of the action proposes. Change `on` if your workflow listens to other events.',
    );
    return built.done();
  },
};

type Entry = {
  readonly label: string;
  readonly matcher: Readonly<Record<string, unknown>>;
  readonly path: readonly (string | number)[];
};

function entriesOf({
  value,
}: Source): { readonly entries: readonly Entry[]; readonly isNew: boolean } | undefined {
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value.labels) && Number(value.version) >= 1) {
    const entries = (value.labels as readonly unknown[]).flatMap((one, place) =>
      isRecord(one) && typeof one.label === 'string' && one.label !== '' && !('matcher' in one)
        ? [{ label: one.label, matcher: one, path: ['labels', place] }]
        : [],
    );
    return entries.length > 0 ? { entries, isNew: true } : undefined;
  }
  const old = Object.entries(value);
  const isOld =
    old.length > 0 &&
    old.every(([, one]) => isRecord(one) && Object.keys(one).every((key) => oldKeys.has(key)));
  if (!isOld) return undefined;
  return {
    entries: old.map(([label, one]) => ({ label, matcher: one as Record<string, unknown>, path: [label] })),
    isNew: false,
  };
}

const oldKeys = new Set([
  'authors',
  'base-branch',
  'body',
  'branch',
  'draft',
  'files',
  'mergeable',
  'size-above',
  'size-below',
  'title',
  'negate',
]);

type Found = { readonly condition: Condition; readonly note?: string };
/** `item`: the fact that has the members of both kinds, or that of pull requests. */
type Asked = { readonly names: Names; readonly item: 'item' | 'pull_request' };
type Maker = (value: unknown, asked: Asked) => Found | { readonly problem: string };

const draft = new Condition('pull_request.draft', 'unary', {
  yes: situationOf('pull_request.draft', true),
  no: situationOf('pull_request.draft', false),
});

function matching(path: string): Maker {
  return (value, { item }) => {
    const test = regularExpression(String(value), { dialect });
    if ('problem' in test)
      return test.isInvalid
        ? { problem: `${test.problem}; the action never sets the label, and removes it` }
        : test;
    return { condition: test.on(path.replace(/^item\b/, item)) };
  };
}

function truth(value: unknown): boolean | undefined {
  const text = String(value);
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

/** Conditions by their key; `pull`: they are about pull requests alone, and skipped for issues. */
const makers: Readonly<Record<string, { readonly pull: boolean; readonly make: Maker }>> = {
  title: { pull: false, make: matching('item.title') },
  body: { pull: false, make: matching('item.body') },
  branch: { pull: true, make: matching('pull_request.head.ref') },
  'base-branch': { pull: true, make: matching('pull_request.base.ref') },
  authors: {
    pull: false,
    make: (value, { names, item }) => {
      const mapped = (texts(value) ?? []).map((login) => names.user(login));
      const notes = mapped.flatMap(({ note }) => note ?? []);
      const logins = mapped.map(({ name }) => name.toLowerCase());
      const same = isOneOf(`${item}.user.login`, logins);
      const text = same.text.replace(`${item}.user.login`, `${item}.user.login.lower()`);
      const condition = new Condition(text, 'relation', same);
      return notes.length === 0 ? { condition } : { condition, note: notes.join('; ') };
    },
  },
  'author-in-team': {
    pull: false,
    make: () => ({
      problem: 'the owner of the repository is not known here: write `item.user.login in team("OWNER/TEAM")`',
    }),
  },
  'author-can-merge': {
    pull: true,
    make: () => ({ problem: 'the permission of an author is not known without administrator access' }),
  },
  files: {
    pull: true,
    make: (value) => {
      const tests: string[] = [];
      let sample: string | undefined;
      for (const pattern of texts(value) ?? []) {
        const test = regularExpression(pattern, { dialect });
        // A pattern that Go cannot read matches no file.
        if ('problem' in test && test.isInvalid) continue;
        if ('problem' in test) return test;
        sample ??= test.sample;
        tests.push(
          test.on('f.filename').text,
          `has(f.previous_filename) && ${test.on('f.previous_filename').text}`,
        );
      }
      if (tests.length === 0)
        return {
          problem: 'Go can read none of its patterns: the action never sets the label, and removes it',
        };
      const situation = sample === undefined ? {} : { yes: { files: [sample] } };
      return { condition: new Condition(`files.exists(f, ${tests.join(' || ')})`, 'unary', situation) };
    },
  },
  draft: {
    pull: true,
    make: (value) => {
      const wanted = truth(value);
      return wanted === undefined
        ? { problem: 'it is neither true nor false' }
        : { condition: wanted ? draft : not(draft) };
    },
  },
  mergeable: {
    pull: true,
    make: (value) => {
      const wanted = truth(value);
      if (wanted === undefined) return { problem: 'it is neither true nor false' };
      const condition = new Condition('pull_request.mergeable', 'unary', {
        yes: situationOf('pull_request.mergeable', true),
        no: situationOf('pull_request.mergeable', false),
      });
      return {
        condition: wanted ? condition : not(condition),
        note: 'a pull request without conflicts whose checks fail: the action reads the state `clean` of GitHub, which is then not set; the rule asks for conflicts alone',
      };
    },
  },
  size: { pull: true, make: (value) => sizeOf(isRecord(value) ? value : {}) },
  type: {
    pull: false,
    make: (value) =>
      value === 'issue' || value === 'pull_request'
        ? {
            condition: new Condition(value === 'issue' ? '!has(pull_request)' : 'has(pull_request)', 'unary'),
          }
        : { problem: 'it is neither `issue` nor `pull_request`' },
  },
  age: { pull: false, make: (value, { item }) => ageOf(`${item}.created_at`, { 'at-least': value }) },
  'age-range': {
    pull: false,
    make: (value, { item }) => ageOf(`${item}.created_at`, isRecord(value) ? value : {}),
  },
  'last-modified': {
    pull: false,
    make: (value, { item }) => {
      const range = isRecord(value) ? value : {};
      // With both, only `at-most` counts.
      return ageOf(`${item}.updated_at`, 'at-most' in range ? { 'at-most': range['at-most'] } : range);
    },
  },
};

function sizeOf(size: Readonly<Record<string, unknown>>): ReturnType<Maker> {
  if (Array.isArray(size['exclude-files']) && size['exclude-files'].length > 0)
    return { problem: '`exclude-files` has no counterpart: lines are counted for the whole pull request' };
  const above = /^\d+$/.test(String(size.above ?? '')) ? Number(size.above) : 0;
  const below = /^\d+$/.test(String(size.below ?? '')) ? Number(size.below) : undefined;
  const lines = 'pull_request.additions + pull_request.deletions';
  const parts = [
    new Condition(`${lines} > ${above}`, 'relation', {
      yes: { pull_request: { additions: above + 1, deletions: 0 } },
      no: { pull_request: { additions: 0, deletions: 0 } },
    }),
    ...(below === undefined ? [] : [new Condition(`${lines} < ${below}`, 'relation')]),
  ];
  return { condition: and(...parts) };
}

function ageOf(path: string, range: Readonly<Record<string, unknown>>): ReturnType<Maker> {
  const parts: Condition[] = [];
  for (const [key, sign] of [
    ['at-least', '<='],
    ['at-most', '>='],
  ] as const) {
    if (range[key] === undefined || range[key] === '') continue;
    const [, count, unit = ''] = /^(\d+)(d|w|y|h|m|s)$/.exec(String(range[key])) ?? [];
    const hours = { d: 24, w: 168, y: 8_760, h: 1 }[unit];
    if (count === undefined || hours === undefined)
      return { problem: `the duration ${String(range[key])} is not understood` };
    parts.push(
      new Condition(`timestamp(${path}) ${sign} now - duration("${Number(count) * hours}h")`, 'relation'),
    );
  }
  return parts.length === 0 ? { problem: 'no age is set' } : { condition: and(...parts) };
}

/** Conditions that are set count together; those about pull requests are skipped for issues. */
function conditionOf(
  matcher: Readonly<Record<string, unknown>>,
  { withIssues, context }: { readonly withIssues: boolean; readonly context: ConversionContext },
):
  | { readonly condition: Condition | undefined; readonly notes: readonly string[] }
  | { readonly problem: string } {
  const both: Condition[] = [];
  const pulls: Condition[] = [];
  const notes: string[] = [];
  const { label: _label, negate, 'size-above': above, 'size-below': below, ...rest } = matcher;
  const isOldSize = rest.size === undefined && (above !== undefined || below !== undefined);
  const others = isOldSize ? { ...rest, size: { above, below } } : rest;
  for (const [key, value] of Object.entries(others)) {
    // A key without value is not set.
    if (value === '' || value === null || (Array.isArray(value) && value.length === 0)) continue;
    const row = makers[key];
    if (row === undefined) return { problem: `\`${key}\` is not known` };
    const found = row.make(value, { names: context.names, item: withIssues ? 'item' : 'pull_request' });
    if ('problem' in found) return { problem: `\`${key}\`: ${found.problem}` };
    (row.pull ? pulls : both).push(found.condition);
    if (found.note !== undefined) notes.push(found.note);
  }
  const isNot = negate === true;
  const negated = (condition: Condition): Condition => (isNot ? not(condition) : condition);
  if (both.length + pulls.length === 0)
    return isNot ? { problem: '`negate` without a condition' } : { condition: undefined, notes };
  if (pulls.length === 0 || !withIssues) return { condition: negated(and(...both, ...pulls)), notes };
  const isPull = new Condition('has(pull_request)', 'unary');
  // For an issue, a label with conditions about pull requests alone is not decided.
  if (both.length === 0) {
    if (isNot) return { problem: '`negate` with conditions about pull requests alone, and `issues: true`' };
    notes.push(
      'an issue that a person gave the label: the action leaves it there, the rule removes it, because its conditions are about pull requests alone',
    );
    return { condition: and(isPull, ...pulls), notes };
  }
  const inPulls = and(...pulls);
  return { condition: negated(and(...both, or(not(isPull), inPulls))), notes };
}
