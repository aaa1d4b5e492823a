import {
  always,
  and,
  Condition,
  equals,
  labelled,
  literal,
  mergeSituations,
  never,
  not,
  or,
  regularExpression,
  type Situation,
  samplePath,
  situationOf,
  type TextTest,
} from '../condition.ts';
import { convertMinimatch } from '../minimatch-glob.ts';
import { escapeGlob } from '../names.ts';
import {
  approvals,
  compares,
  countsIn,
  existsIn,
  isText,
  type ListFact,
  type NameNotes,
  passedChecks,
  type Sign,
} from '../pulls.ts';
import { isRecord } from '../source.ts';

/**
 * The conditions of Mergify. Sources: its documentation (Mergifyio/docs at 905e495703b02b4af629a161e51537df54bbc879,
 * `src/content/docs/configuration/conditions.mdx` and `public/mergify-configuration-schema.json`), and the last version
 * of its engine that is public (Mergifyio/mergify-engine at cea68b0b37273d11f17404d69391aacfa4e4439d,
 * `mergify_engine/rules/filter.py`, `rules/parser.py` and `context.py`).
 */

/** Why a part of a Mergify file cannot be carried over. */
export class NotConvertible extends Error {}

/** The pull request is merged. */
export const isMerged = new Condition('pull_request.merged', 'unary', {
  yes: { pull_request: { merged: true, state: 'closed' } },
  no: { pull_request: { merged: false } },
});

/**
 * Which pull requests a rule is about: `open` leaves closed ones out, so that `-closed` is no condition; `all` includes
 * them.
 */
export type Scope = 'open' | 'all';

export type ConditionContext = {
  readonly scope: Scope;
  readonly notes: NameNotes;
  /** Collects the differences of the rule: each names an input. */
  readonly differs: (note: string) => void;
};

/** A condition, and what conditions beside it can be joined with. */
type Part = {
  readonly condition: Condition;
  /** Globs of checks that have to pass. */
  readonly passed?: readonly string[];
  /** `labelled` with these names, or its negation. */
  readonly labels?: { readonly names: readonly string[]; readonly isNegated: boolean };
  /** `list.exists(…)`, or its negation. */
  readonly exists?: {
    readonly fact: ListFact;
    readonly tests: readonly TextTest[];
    readonly isNegated: boolean;
  };
};

type Leaf = {
  readonly isNegated: boolean;
  readonly isCount: boolean;
  readonly attribute: string;
  readonly operator: string | undefined;
  readonly value: string;
  readonly written: string;
};

/** Converts a list of conditions, all of which have to hold. Throws NotConvertible. */
export function convertConditions(written: unknown, context: ConditionContext): Condition {
  if (written === undefined || written === null || written === true) return always;
  const list = Array.isArray(written) ? written : [written];
  return conjunction(list.map((one) => partOf(one, context))).condition;
}

/** Returns the attributes of all conditions, with the operator and whether the condition stands alone at the top. */
export function leavesOf(written: unknown, isTop = true): readonly (Leaf & { readonly isTop: boolean })[] {
  if (Array.isArray(written)) return written.flatMap((one) => leavesOf(one, isTop));
  if (isRecord(written))
    return Object.entries(written).flatMap(([key, one]) => leavesOf(one, isTop && key === 'and'));
  const leaf = typeof written === 'string' ? parseLeaf(written) : undefined;
  return leaf ? [{ ...leaf, isTop }] : [];
}

function partOf(written: unknown, context: ConditionContext): Part {
  if (isRecord(written)) {
    const [[key, inner] = [], ...more] = Object.entries(written);
    if (key === undefined || more.length > 0)
      throw new NotConvertible('a map of conditions has more than one key');
    const list = Array.isArray(inner) ? inner : [inner];
    if (key === 'and') return conjunction(list.map((one) => partOf(one, context)));
    if (key === 'or') return disjunction(list.map((one) => partOf(one, context)));
    if (key === 'not') return negate(conjunction(list.map((one) => partOf(one, context))));
    throw new NotConvertible(`\`${key}\` is no operator of conditions`);
  }
  if (typeof written !== 'string')
    throw new NotConvertible('a condition is neither text nor a map (a `#` without quotes starts a comment)');
  const leaf = parseLeaf(written);
  if (leaf === undefined) throw new NotConvertible(`the condition \`${written}\` is not understood`);
  const part = partOfLeaf(leaf, context);
  return leaf.isNegated ? negate(part) : part;
}

const aliases: Readonly<Record<string, string>> = { '=': '==', ':': '==', '≠': '!=', '≥': '>=', '≤': '<=' };

function parseLeaf(written: string): Leaf | undefined {
  const [, sign = '', count = '', attribute = '', operator, value = ''] =
    /^\s*([-¬+])?\s*(#)?\s*([a-z][a-z-]*(?:\[[^\]]*\]\.[a-z_]+)?)\s*(?:(==|!=|≠|~=|\*=|>=|≥|<=|≤|=|<|>|:)(.*))?$/su.exec(
      written,
    ) ?? [];
  if (attribute === '') return undefined;
  const trimmed = value.trim();
  // Quotation marks around a pattern are a part of it: it then never matches what was meant.
  const isPattern = operator === '~=' || operator === '*=';
  const [, , inner] = (isPattern ? undefined : /^(["'])(.*)\1$/s.exec(trimmed)) ?? [];
  return {
    isNegated: sign === '-' || sign === '¬',
    isCount: count !== '',
    attribute: attribute.replace(/^status-/, 'check-'),
    operator: operator === undefined ? undefined : (aliases[operator] ?? operator),
    value: inner ?? trimmed,
    written,
  };
}

// Joining

function conjunction(parts: readonly Part[]): Part {
  const [only] = parts;
  if (parts.length === 1 && only) return only;
  const passed = parts.flatMap((part) => part.passed ?? []);
  const excluded = parts.flatMap(({ labels }) => (labels?.isNegated ? labels.names : []));
  const joined = joinLists(parts, true);
  const done = { passed: false, labels: false };
  const conditions = joined.flatMap((part) => {
    if (part.passed) {
      if (done.passed) return [];
      done.passed = true;
      return [passedChecks([...new Set(passed)])];
    }
    if (part.labels?.isNegated) {
      if (done.labels) return [];
      done.labels = true;
      return [not(labelled([...new Set(excluded)]))];
    }
    return [part.condition];
  });
  return { condition: and(...conditions) };
}

function disjunction(parts: readonly Part[]): Part {
  const [only] = parts;
  if (parts.length === 1 && only) return only;
  const names = parts.flatMap(({ labels }) => (labels && !labels.isNegated ? labels.names : []));
  const labels = { names: [...new Set(names)], isNegated: false };
  const joined = joinLists(parts, false);
  let isDone = false;
  const conditions = joined.flatMap((part) => {
    if (part.labels && !part.labels.isNegated) {
      if (isDone) return [];
      isDone = true;
      return [labelled(labels.names)];
    }
    return [part.condition];
  });
  if (joined.every((part) => part.labels && !part.labels.isNegated) && labels.names.length > 0)
    return { condition: labelled(labels.names), labels };
  return { condition: or(...conditions) };
}

/** Makes one loop of several tests on the items of one list, where that means the same. */
function joinLists(parts: readonly Part[], isNegated: boolean): readonly Part[] {
  const groups = new Map<string, TextTest[]>();
  for (const { exists } of parts) {
    if (exists === undefined || exists.isNegated !== isNegated) continue;
    groups.set(exists.fact.list, [...(groups.get(exists.fact.list) ?? []), ...exists.tests]);
  }
  const done = new Set<string>();
  return parts.flatMap((part) => {
    const { exists } = part;
    const tests = exists && exists.isNegated === isNegated ? groups.get(exists.fact.list) : undefined;
    if (exists === undefined || tests === undefined) return [part];
    if (done.has(exists.fact.list)) return [];
    done.add(exists.fact.list);
    return [existsPart(exists.fact, tests, isNegated)];
  });
}

function existsPart(fact: ListFact, tests: readonly TextTest[], isNegated = false): Part {
  const [first] = tests;
  const test: TextTest = {
    on: (value) => or(...tests.map((one) => one.on(value))),
    sample: first?.sample,
  };
  const found = existsIn(fact, test);
  return { condition: isNegated ? not(found) : found, exists: { fact, tests, isNegated } };
}

function negate(part: Part): Part {
  if (part.labels) {
    const labels = { ...part.labels, isNegated: !part.labels.isNegated };
    const condition = labelled(labels.names);
    return { condition: labels.isNegated ? not(condition) : condition, labels };
  }
  if (part.exists) return existsPart(part.exists.fact, part.exists.tests, !part.exists.isNegated);
  return { condition: not(part.condition) };
}

// Attributes

/** Texts, by their attribute. */
const textFacts: Readonly<Record<string, string>> = {
  base: 'pull_request.base.ref',
  head: 'pull_request.head.ref',
  title: 'pull_request.title',
  body: 'pull_request.body',
  'body-raw': 'pull_request.body',
  'repository-name': 'repository.name',
  'repository-full-name': 'repository.full_name',
};

const login = (name: string): unknown => ({ login: name });

/** Lists of accounts. */
const accountLists: Readonly<Record<string, ListFact>> = {
  assignee: { list: 'pull_request.assignees', variable: 'a', member: 'login', item: login },
  'approved-reviews-by': approvals,
  'changes-requested-reviews-by': { ...approvals, list: 'rejections', variable: 'r' },
};

/** Lists of files by their status, with what is said about renamed files. */
const fileLists: Readonly<Record<string, string>> = {
  'added-files': 'files.filter(f, f.status in ["added", "renamed", "copied"])',
  'modified-files': 'files.filter(f, f.status in ["changed", "modified"])',
  'removed-files': 'files.filter(f, f.status in ["deleted", "removed"])',
};

const times: Readonly<Record<string, string>> = {
  'updated-at': 'pull_request.updated_at',
  'created-at': 'pull_request.created_at',
  'closed-at': 'pull_request.closed_at',
  'merged-at': 'pull_request.merged_at',
};

/** Attributes about which the forge or Reeve knows nothing. */
const unknown: Readonly<Record<string, string>> = {
  'queue-position': 'the position in a queue is no fact of Reeve',
  'queue-name': 'the queue of a pull request is no fact of Reeve',
  'queue-dequeue-reason': 'why a pull request left a queue is no fact of Reeve',
  'queued-at': 'the time of entering a queue is no fact of Reeve',
  'queue-merge-started-at': 'the time of a turn in a queue is no fact of Reeve',
  'review-threads-resolved': 'Reeve has no fact about resolved conversations',
  'review-threads-unresolved': 'Reeve has no fact about resolved conversations',
  'deployment-success': 'forges have no deployments',
  'deployment-failure': 'forges have no deployments',
  'check-stale': 'forges have no stale checks',
  'depends-on': 'Reeve reads no `Depends-On:` lines',
  'co-authors': 'Reeve does not compare co-authors',
  scope: 'scopes of a merge queue have no counterpart',
  updates: 'Reeve does not tell what an update was about',
  sender: 'a rule about the state of a pull request has no sender',
  'sender-permission': 'a rule about the state of a pull request has no sender',
  'merge-commit-sha': 'the commit of a merge is not compared',
  'mergify-configuration-changed': 'the files of Mergify are not read',
};

/** Attributes that can be compared with `{{ author }}`. */
const takesAuthor = new Set([
  'author',
  'merged-by',
  'head',
  'base',
  'title',
  'body',
  ...Object.keys(accountLists),
]);

function partOfLeaf(leaf: Leaf, context: ConditionContext): Part {
  const { attribute, operator, isCount, value, written } = leaf;
  const { notes, differs } = context;
  const why = unknown[attribute];
  if (why !== undefined) throw new NotConvertible(`\`${written}\`: ${why}`);
  if (operator === undefined) return { condition: flag(attribute, context, written) };
  if (value.includes('{{') && !/^\{\{\s*author\s*\}\}$/.test(value))
    throw new NotConvertible(`\`${written}\`: only the template \`{{ author }}\` can be compared`);
  if (author(value) && !takesAuthor.has(attribute))
    throw new NotConvertible(`\`${written}\`: the author is compared with accounts only`);
  if (attribute.startsWith('commits[')) return commitPart(leaf, context);
  if (attribute.startsWith('check')) return checkPart(leaf, context);
  if (attribute in times) return { condition: timePart(leaf, times[attribute] ?? '') };
  if (attribute === 'schedule') return { condition: schedulePart(leaf) };
  if (attribute.startsWith('current-')) return { condition: currentPart(leaf) };
  if (isCount) return { condition: countPart(leaf, context) };
  const path = textFacts[attribute];
  if (path !== undefined) {
    if (attribute === 'body')
      notes.note(
        'attribute body',
        'a description whose only match stands in an HTML comment (`<!-- … -->`): Mergify does not see it, Reeve does',
      );
    return { condition: textPart(leaf, path, context) };
  }
  switch (attribute) {
    case 'number':
      return { condition: numberPart(leaf, 'pull_request.number') };
    case 'author':
      return { condition: accountPart(leaf, 'pull_request.user.login', context) };
    case 'merged-by':
      return {
        condition: and(
          new Condition('has(pull_request.merged_by)', 'unary'),
          accountPart(leaf, 'pull_request.merged_by.login', context),
        ),
      };
    case 'head-repo-full-name':
      return {
        condition: and(
          new Condition('has(pull_request.head.repo)', 'unary'),
          textPart(leaf, 'pull_request.head.repo.full_name', context),
        ),
      };
    case 'milestone':
      return milestonePart(leaf, context);
    case 'label': {
      if (leaf.operator === '==' || leaf.operator === '!=') {
        const labels = { names: [value], isNegated: leaf.operator === '!=' };
        const condition = labelled([value]);
        return { condition: labels.isNegated ? not(condition) : condition, labels };
      }
      const fact: ListFact = { list: 'labels', variable: 'l', member: 'name', item: (name) => name };
      return existsPart(fact, [patternOf(leaf, context)]);
    }
    case 'files':
      return filesPart(leaf, context);
    case 'added-files':
    case 'modified-files':
    case 'removed-files': {
      differs(
        `a renamed file: Mergify counts it as removed and added, Reeve as ${attribute === 'added-files' ? 'added' : 'neither removed nor modified'}`,
      );
      const list = fileLists[attribute] ?? '';
      const { test, isNegated } = listTest(leaf, context);
      const condition = new Condition(`${list}.exists(f, ${test.on('f.filename').text})`, 'unary', {
        yes: {},
      });
      return { condition: isNegated ? not(condition) : condition };
    }
    case 'review-requested':
      return requestedPart(leaf, context);
    case 'commented-reviews-by':
    case 'dismissed-reviews-by':
      return { condition: reviewsPart(leaf, context) };
    case 'branch-protection-review-decision':
    case 'github-review-decision':
      return { condition: decisionPart(leaf, context) };
    case 'dependabot-dependency-name':
    case 'dependabot-dependency-type':
    case 'dependabot-update-type':
      return { condition: dependabotPart(leaf, context) };
    default: {
      const list = accountLists[attribute];
      if (list) return accountListPart(leaf, list, context);
      throw new NotConvertible(`\`${written}\`: the attribute \`${attribute}\` is not known`);
    }
  }
}

function flag(attribute: string, { scope, notes }: ConditionContext, written: string): Condition {
  const isOpen = equals('pull_request.state', 'open');
  switch (attribute) {
    case 'draft':
      return member('pull_request.draft');
    case 'locked':
      return member('pull_request.is_locked');
    case 'merged':
      return scope === 'open' ? never : isMerged;
    case 'closed':
      return scope === 'open' ? never : equals('pull_request.state', 'closed');
    case 'open':
      return scope === 'open' ? always : isOpen;
    case 'from-fork':
      return new Condition(
        '(!has(pull_request.head.repo) || pull_request.head.repo.full_name != repository.full_name)',
        'unary',
      );
    case 'linear-history':
      return new Condition('commits.all(c, c.parents.size() == 1)', 'unary', {
        yes: { commits: [] },
        no: { commits: [{ sha: 'a', parents: [{ sha: 'b' }, { sha: 'c' }] }] },
      });
    case 'conflict': {
      notes.note(
        'attribute conflict',
        'a draft in conflict with its base: Mergify sees the conflict, Reeve sees none until it is ready for review, because forges check no drafts',
      );
      const conflict = and(not(member('pull_request.draft')), not(member('pull_request.mergeable')));
      return scope === 'open' ? conflict : and(isOpen, conflict);
    }
    default:
      throw new NotConvertible(`\`${written}\` is not understood`);
  }
}

function member(path: string): Condition {
  return new Condition(path, 'unary', { yes: situationOf(path, true), no: situationOf(path, false) });
}

/** Returns a glob of `*=` as one glob of the language. */
function globOf(value: string, written: string): string {
  const converted = convertMinimatch(value);
  const [[only] = [], ...more] = 'lists' in converted ? converted.lists : [];
  const isOne = 'lists' in converted && !converted.isNegated && more.length === 0;
  if (!isOne || only === undefined || converted.lists[0]?.length !== 1)
    throw new NotConvertible(
      `\`${written}\`: the glob has no counterpart${'problem' in converted ? `: ${converted.problem}` : ''}`,
    );
  return only;
}

/** Returns the test of `~=` or `*=` on a text. */
function patternOf({ operator, value, written }: Leaf, { differs }: ConditionContext): TextTest {
  if (operator === '*=') {
    const one = globOf(value, written);
    return {
      on: (of) => new Condition(`${of}.glob(${literal(one)})`, 'unary'),
      sample: undefined,
    };
  }
  if (operator !== '~=') throw new NotConvertible(`\`${written}\`: \`${operator}\` compares no texts here`);
  const test = regularExpression(value, { dialect: 'python' });
  if ('problem' in test) throw new NotConvertible(`\`${written}\`: ${test.problem}`);
  const [sign] = /\\[wWdDsSbB]|\(\?i/.exec(value) ?? [];
  if (sign !== undefined && !isMatchOfAsciiOnly(value))
    differs(
      sign === '(?i'
        ? `\`${value}\` with the letter \`İ\` or \`ſ\`: Mergify and Reeve may compare it in different ways without regard to case`
        : `\`${value}\` on a text with \`é\` or \`٣\` at that place: \`${sign}\` of Mergify takes all scripts, that of Reeve ASCII alone`,
    );
  return test;
}

/** A pattern without classes whose meaning depends on the script. */
function isMatchOfAsciiOnly(value: string): boolean {
  return !/\\[wWdDsSbB]/.test(value) && /^\(\?i\)[\x20-\x7e]*$/.test(value) && !/[ikIKsS]/.test(value);
}

function author(value: string): boolean {
  return /^\{\{\s*author\s*\}\}$/.test(value);
}

/** Compares one text. */
function textPart(leaf: Leaf, path: string, context: ConditionContext): Condition {
  const { operator, value } = leaf;
  if (author(value)) {
    const same = new Condition(`${path} == pull_request.user.login`, 'relation');
    if (operator === '==') return same;
    if (operator === '!=') return not(same);
  }
  if (operator === '==') return equals(path, value);
  if (operator === '!=') return not2(path, value);
  return patternOf(leaf, context).on(path);
}

function not2(path: string, value: string): Condition {
  const { yes, no } = equals(path, value);
  return new Condition(`${path} != ${literal(value)}`, 'relation', { yes: no, no: yes });
}

/** Compares the login of one account, which may be a member of a team. */
function accountPart(leaf: Leaf, path: string, context: ConditionContext): Condition {
  const { operator, value } = leaf;
  if (operator === '==' || operator === '!=') {
    if (!value.startsWith('@') && !author(value)) {
      const user = context.notes.user(value);
      return operator === '==' ? equals(path, user) : not2(path, user);
    }
    if (value.startsWith('@')) {
      const condition = ofTeam(leaf, context).on(path);
      return operator === '==' ? condition : not(condition);
    }
  }
  if (operator === '~=' && /dependabot|renovate|mergify|\[?bot/i.test(value))
    context.differs(
      `\`${leaf.written}\`: an account of this name, such as \`dependabot[bot]\`, has another name on the forge, and the rule does not match it`,
    );
  return textPart(leaf, path, context);
}

function ofTeam({ value }: Leaf, { notes }: ConditionContext): TextTest {
  const name = notes.team(value.slice(1));
  return {
    on: (path) =>
      new Condition(`${path} in team(${literal(name)})`, 'relation', {
        yes: mergeSituations(
          { team: { [name]: ['ada'] } },
          /^pull_request/.test(path) ? situationOf(path, 'ada') : {},
        ),
        no: { team: { [name]: [] } },
      }),
    sample: 'ada',
  };
}

/** Returns the test that some item has to pass; `!=` is that none is equal. */
function listTest(
  leaf: Leaf,
  context: ConditionContext,
): { readonly test: TextTest; readonly isNegated: boolean } {
  const { operator, value } = leaf;
  if (operator === '==' || operator === '!=') return { test: isText(value), isNegated: operator === '!=' };
  return { test: patternOf(leaf, context), isNegated: false };
}

function accountListPart(leaf: Leaf, fact: ListFact, context: ConditionContext): Part {
  const { operator, value, attribute } = leaf;
  noteReviews(attribute, context);
  if (operator !== '==' && operator !== '!=') return existsPart(fact, [patternOf(leaf, context)]);
  const test = value.startsWith('@')
    ? ofTeam(leaf, context)
    : author(value)
      ? {
          on: (path: string) => new Condition(`${path} == pull_request.user.login`, 'relation'),
          sample: undefined,
        }
      : isText(context.notes.user(value));
  const part = existsPart(fact, [test]);
  const withTeam = value.startsWith('@')
    ? {
        ...part,
        condition: new Condition(part.condition.text, 'unary', {
          yes: mergeSituations(part.condition.yes, test.on('pull_request.user.login').yes, {}),
          no: part.condition.no,
        }),
      }
    : part;
  return operator === '!=' ? negate(part) : withTeam;
}

function noteReviews(attribute: string, { notes }: ConditionContext): void {
  if (attribute === 'approved-reviews-by')
    notes.note(
      'attribute approved-reviews-by',
      'a reviewer approves, and then a commit is pushed: Mergify counts the approval until it is dismissed, Reeve counts it only if it is about the changes as they are now; a reviewer who approved is asked for another review: Mergify counts the approval, Reeve waits for the new one; an account `…[bot]` without write access approves: Mergify counts it, Reeve does not',
    );
  if (attribute === 'changes-requested-reviews-by')
    notes.note(
      'attribute changes-requested-reviews-by',
      'a reviewer who requested changes is asked for another review: Mergify counts the old review until there is a new one, Reeve does not count it any more; an account `…[bot]` without write access requests changes: Mergify counts it, Reeve does not',
    );
}

function milestonePart(leaf: Leaf, context: ConditionContext): Part {
  const { operator } = leaf;
  const has = new Condition('has(pull_request.milestone)', 'unary', {
    yes: { pull_request: { milestone: { id: 1, title: 'next' } } },
    no: { pull_request: { milestone: null } },
  });
  const positive = operator === '!=' ? { ...leaf, operator: '==' } : leaf;
  const condition = and(has, textPart(positive, 'pull_request.milestone.title', context));
  return { condition: operator === '!=' ? not(condition) : condition };
}

/** Mergify reads the new path of a renamed file alone, which is why these are no `touches`. */
function filesPart(leaf: Leaf, context: ConditionContext): Part {
  const { operator, value, written } = leaf;
  const list: ListFact = { list: 'files', variable: 'f', member: 'filename', item: (name) => name };
  if (operator === '==' || operator === '!=') {
    const { condition } = existsPart(list, [isText(value)]);
    return { condition: operator === '==' ? condition : not(condition) };
  }
  if (operator === '*=') return existsPart(list, [globTest(globOf(value, written))]);
  const test = patternOf(leaf, context);
  const glob = globOfPattern(value);
  return existsPart(list, [glob === undefined ? test : globTest(glob)]);
}

function globTest(glob: string): TextTest {
  return {
    on: (path) => new Condition(`${path}.glob(${literal(glob)})`, 'unary'),
    sample: samplePath(glob),
  };
}

/** A path as a glob of `touches`: a leading `!` would exclude. */
function glob(path: string): string {
  return escapeGlob(path).replace(/^!/, '\\!');
}

/** Returns the glob that matches the same paths as a simple regular expression; undefined if there is none. */
function globOfPattern(pattern: string): string | undefined {
  const plain = (text: string): string | undefined =>
    /[\^$*+?()[\]{}|\\]/.test(text.replace(/\\\./g, '').replace(/\./g, '*')) || /(^|[^\\])\./.test(text)
      ? undefined
      : glob(text.replace(/\\\./g, '.'));
  const [, folder] = /^\^(.*\/)(?:\.\*\$?)?$/.exec(pattern) ?? [];
  if (folder !== undefined) {
    const written = plain(folder);
    return written === undefined || folder.startsWith('/') ? undefined : `${written}**`;
  }
  const [, ending] = /^(?:\.\*)?(\\\.[A-Za-z0-9_-]+)\$$/.exec(pattern) ?? [];
  if (ending !== undefined) return `**/*${plain(ending) ?? ''}`;
  const [, whole] = /^\^(.*)\$$/.exec(pattern) ?? [];
  return whole === undefined || whole === '' ? undefined : plain(whole);
}

function requestedPart(leaf: Leaf, context: ConditionContext): Part {
  const { operator, value } = leaf;
  if (operator !== '==' && operator !== '!=')
    throw new NotConvertible(`\`${leaf.written}\`: requests for reviews are compared with = and != only`);
  const part = value.startsWith('@')
    ? existsPart(
        {
          list: 'pull_request.requested_reviewers_teams',
          variable: 't',
          member: 'name',
          item: (name) => ({ id: 1, name }),
        },
        [isText(context.notes.team(value.slice(1)).split('/').at(-1) ?? '')],
      )
    : existsPart({ list: 'pull_request.requested_reviewers', variable: 'r', member: 'login', item: login }, [
        isText(context.notes.user(value)),
      ]);
  return operator === '!=' ? negate(part) : part;
}

/** The reviews that only comment, or that are dismissed. */
function reviewsOf(attribute: string, { differs }: ConditionContext): string {
  if (attribute === 'dismissed-reviews-by') {
    differs(
      'a person whose dismissed review was followed by a new one: Mergify counts only the newest review of a person, Reeve each dismissed review',
    );
    return 'r.dismissed';
  }
  differs(
    'a review that only comments, by a person without write access: Mergify does not count it, Reeve does',
  );
  return 'r.state == "COMMENT"';
}

function reviewsPart(leaf: Leaf, context: ConditionContext): Condition {
  const which = reviewsOf(leaf.attribute, context);
  const { test, isNegated } = leaf.value.startsWith('@')
    ? { test: ofTeam(leaf, context), isNegated: leaf.operator === '!=' }
    : listTest(leaf, context);
  const condition = new Condition(`reviews.exists(r, ${which} && ${test.on('r.user.login').text})`, 'unary', {
    no: { reviews: [] },
  });
  return isNegated ? not(condition) : condition;
}

function decisionPart({ operator, value, written }: Leaf, { differs }: ConditionContext): Condition {
  if (operator !== '==' && operator !== '!=')
    throw new NotConvertible(`\`${written}\`: the decision is compared with = and != only`);
  const enough = new Condition('approvals.size() >= base_branch.required_approvals', 'relation', {
    yes: { approvals: [{ user: { login: 'ada' } }], base_branch: { required_approvals: 1 } },
    no: { approvals: [], base_branch: { required_approvals: 1 } },
  });
  const rejected = countsIn('rejections', '>', 0, (name) => ({ user: { login: name } }));
  const decisions: Readonly<Record<string, Condition>> = {
    APPROVED: and(enough, not(rejected)),
    CHANGES_REQUESTED: rejected,
    REVIEW_REQUIRED: and(not(enough), not(rejected)),
  };
  const condition = decisions[value];
  if (condition === undefined) throw new NotConvertible(`\`${written}\`: the decision is not known`);
  differs(
    'a branch that requires an approval of owners of the code: for GitHub the decision is REVIEW_REQUIRED without one, Reeve counts approvals alone',
  );
  return operator === '==' ? condition : not(condition);
}

function dependabotPart(leaf: Leaf, context: ConditionContext): Condition {
  const { attribute, operator, value } = leaf;
  if (operator !== '==' && operator !== '!=')
    throw new NotConvertible(`\`${leaf.written}\`: what Dependabot writes is compared with = and != only`);
  const name = attribute.replace('dependabot-', '');
  context.differs(
    `an update by Renovate, or by another program than Dependabot: its commits have no line \`${name}: …\`, and the condition does not hold`,
  );
  const condition = and(
    equals('pull_request.user.login', context.notes.user('dependabot[bot]')),
    new Condition(
      `commits.exists(c, c.commit.message.contains(${literal(`${name}: ${value}\n`)}))`,
      'unary',
      {
        yes: { commits: [{ sha: 'a', commit: { message: `${name}: ${value}\n` } }] },
        no: { commits: [] },
      },
    ),
  );
  return operator === '==' ? condition : not(condition);
}

const commitMembers: Readonly<Record<string, string>> = {
  author: 'commit.author.name',
  committer: 'commit.committer.name',
  commit_message: 'commit.message',
  email_author: 'commit.author.email',
  email_committer: 'commit.committer.email',
};

function commitPart(leaf: Leaf, context: ConditionContext): Part {
  const [, index = '', name = ''] = /^commits\[([^\]]*)\]\.([a-z_]+)$/.exec(leaf.attribute) ?? [];
  const path = commitMembers[name];
  if (index.trim() !== '*' || path === undefined || author(leaf.value))
    throw new NotConvertible(
      `\`${leaf.written}\`: only \`commits[*]\` with a name, an address or the message has a counterpart`,
    );
  const fact: ListFact = {
    list: 'commits',
    variable: 'c',
    member: path,
    item: (text) => ({ sha: 'a', ...situationOf(path, text) }),
  };
  const { test, isNegated } = listTest(leaf, context);
  const part = existsPart(fact, [test]);
  return isNegated ? negate(part) : part;
}

// Checks

/** States of a status that the attribute means; undefined: any. */
const checkStates: Readonly<Record<string, readonly string[] | undefined>> = {
  check: undefined,
  'check-success': ['success'],
  'check-failure': ['failure', 'error'],
  'check-cancelled': ['failure', 'error'],
  'check-timed-out': ['failure', 'error'],
  'check-neutral': ['skipped', 'warning'],
  'check-skipped': ['skipped'],
  'check-pending': ['pending'],
  'check-success-or-neutral': ['success', 'skipped', 'warning'],
  'check-success-or-neutral-or-pending': ['success', 'skipped', 'warning', 'pending'],
};

function stateTest(states: readonly string[] | undefined): Condition {
  if (states === undefined) return always;
  return isText(...states).on('s.status');
}

function checkPart(leaf: Leaf, context: ConditionContext): Part {
  const { attribute, operator, value, written, isCount } = leaf;
  const { notes } = context;
  if (!Object.hasOwn(checkStates, attribute))
    throw new NotConvertible(`\`${written}\`: the attribute \`${attribute}\` is not known`);
  const states = checkStates[attribute];
  if (attribute === 'check-success')
    notes.note(
      'attribute check-success',
      'a check that ends as skipped: Mergify lists it under check-skipped, so that check-success does not hold; for Reeve and for the protection of the forge it has passed',
    );
  if (attribute === 'check-pending')
    notes.note(
      'attribute check-pending',
      'a check that the base branch requires and of which there is no status yet: Mergify lists it as pending, Reeve knows none',
    );
  if (attribute === 'check-neutral' || attribute.includes('neutral'))
    context.differs(
      `\`${written}\`: a check that GitHub calls neutral is reported to the forge as success, skipped or warning; Reeve takes skipped and warning for neutral`,
    );
  if (attribute === 'check-cancelled' || attribute === 'check-timed-out')
    context.differs(
      `\`${written}\`: a check that fails: forges report cancelled and late checks as failures, so the condition holds for each failure`,
    );
  if (isCount) {
    const number = wholeNumber(leaf);
    notes.note(
      `attribute #${attribute}`,
      'the statuses that Reeve itself writes, such as reeve/queue, count as checks; those of Mergify do not',
    );
    const sign = signOf(leaf);
    const some = new Condition(`statuses.exists(s, ${stateTest(states).text})`, 'unary', {
      yes: { statuses: [{ context: 'ci', status: states?.[0] ?? 'success' }] },
      no: { statuses: [] },
    });
    if (number === 0 && sign === '==') return { condition: not(some) };
    if (number === 0 && (sign === '>' || sign === '!=')) return { condition: some };
    const list = states === undefined ? 'statuses' : `statuses.filter(s, ${stateTest(states).text})`;
    return {
      condition: new Condition(`${list}.size() ${sign} ${number}`, 'relation', {
        yes: {
          statuses: Array.from({ length: sign.startsWith('>') ? number + 1 : number }, (_, place) => ({
            context: `ci/${place}`,
            status: states?.[0] ?? 'success',
          })),
        },
        no: { statuses: [] },
      }),
    };
  }
  if (operator === '==' || operator === '!=') {
    const [, app, name = value] = /^@([^/]+)\/(.*)$/.exec(value) ?? [];
    if (app !== undefined)
      context.differs(
        `\`${written}\`: a check of the same name by another program than \`${app}\`: Mergify leaves it out, Reeve counts it`,
      );
    if (/^(Queue|Rule|Summary|Mergify)\b/.test(name))
      context.differs(
        `\`${written}\`: a pull request with this check of Mergify itself: Reeve does not write it, and the condition does not hold`,
      );
    const context_ = notes.check(name);
    if (attribute === 'check-success' && operator === '==')
      return { condition: passedChecks([context_]), passed: [context_] };
    if (attribute === 'check-success') return { condition: not(passedChecks([context_])) };
    const sample = {
      context: context_.replace(/\*/g, 'x').replace(/\\(.)/g, '$1'),
      status: states?.[0] ?? 'pending',
    };
    const condition = new Condition(
      `statuses.exists(s, ${and(contextTest(context_), stateTest(states)).text})`,
      'unary',
      { yes: { statuses: [sample] }, no: { statuses: [] } },
    );
    const failed = states?.join() === 'failure,error';
    const found = failed
      ? new Condition(`failed(${literal(context_)})`, 'unary', {
          yes: { statuses: [sample] },
          no: { statuses: [] },
        })
      : condition;
    return { condition: operator === '!=' ? not(found) : found };
  }
  const test = patternOf(leaf, context);
  context.differs(
    `\`${written}\`: a job \`build\` of a workflow is named \`WORKFLOW / build (pull_request)\` on the forge, and the pattern is searched for in that text`,
  );
  return {
    condition: new Condition(
      `statuses.exists(s, ${and(test.on('s.context'), stateTest(states)).text})`,
      'unary',
      {
        yes: { statuses: [{ context: test.sample ?? 'ci', status: states?.[0] ?? 'success' }] },
        no: { statuses: [] },
      },
    ),
  };
}

/** Globs of contexts cross `/`, as those of `passed` do; `glob` stops at it. */
function contextTest(context: string): Condition {
  const [, job] = /^\* \/ (.*)$/.exec(context) ?? [];
  if (job !== undefined) return new Condition(`s.context.glob(${literal(`* / ${job}`)})`, 'unary');
  return equals('s.context', context.replace(/\\(.)/g, '$1'));
}

// Numbers

function signOf({ operator, written }: Leaf): Sign {
  if (operator === undefined || operator === '~=' || operator === '*=')
    throw new NotConvertible(`\`${written}\` compares no numbers`);
  return operator as Sign;
}

function wholeNumber({ value, written }: Leaf): number {
  if (!/^\d{1,9}$/.test(value)) throw new NotConvertible(`\`${written}\`: \`${value}\` is no number`);
  return Number(value);
}

function numberPart(leaf: Leaf, path: string): Condition {
  return compares(path, signOf(leaf), {
    number: wholeNumber(leaf),
    values: (number) => situationOf(path, number),
  });
}

function countPart(leaf: Leaf, context: ConditionContext): Condition {
  const { attribute, written } = leaf;
  const sign = signOf(leaf);
  const number = wholeNumber(leaf);
  const sum = (path: string, values: (number: number) => Situation): Condition =>
    compares(path, sign, { number, values });
  const text = textFacts[attribute];
  if (text !== undefined)
    return sum(`${text}.size()`, (size) => situationOf(text, 'x'.repeat(Math.min(size, 500))));
  noteReviews(attribute, context);
  switch (attribute) {
    case 'label':
      return countsIn('labels', sign, number, (name) => name);
    case 'files':
      return countsIn('files', sign, number, (name) => name);
    case 'assignee':
      return countsIn('pull_request.assignees', sign, number, login);
    case 'approved-reviews-by':
      return countsIn('approvals', sign, number, approvals.item);
    case 'changes-requested-reviews-by':
      return countsIn('rejections', sign, number, approvals.item);
    case 'commented-reviews-by':
    case 'dismissed-reviews-by': {
      const which = reviewsOf(attribute, context);
      if (sign === '==' && number === 0)
        return not(new Condition(`reviews.exists(r, ${which})`, 'unary', { no: { reviews: [] } }));
      return new Condition(
        `reviews.filter(r, ${which}).map(r, r.user.login).distinct().size() ${sign} ${number}`,
        'relation',
      );
    }
    case 'review-requested':
      return new Condition(
        `pull_request.requested_reviewers.size() + pull_request.requested_reviewers_teams.size() ${sign} ${number}`,
        'relation',
        {
          yes: {
            pull_request: {
              requested_reviewers: Array.from(
                {
                  length: Math.min(
                    20,
                    { '==': number, '!=': number + 1, '>': number + 1 }[sign as string] ?? number,
                  ),
                },
                (_, place) => ({ login: `user-${place}` }),
              ),
              requested_reviewers_teams: [],
            },
          },
        },
      );
    case 'commits':
      return countsIn('commits', sign, number, (name) => ({ sha: name }));
    case 'commits-behind':
      return sum('pull_request.behind', (behind) => ({ pull_request: { behind } }));
    case 'commits-unverified':
      return new Condition(
        `commits.filter(c, !c.verification.verified).size() ${sign} ${number}`,
        'relation',
      );
    case 'added-lines':
      return sum('pull_request.additions', (additions) => ({ pull_request: { additions } }));
    case 'deleted-lines':
      return sum('pull_request.deletions', (deletions) => ({ pull_request: { deletions } }));
    case 'modified-lines':
      return sum('pull_request.additions + pull_request.deletions', (additions) => ({
        pull_request: { additions, deletions: 0 },
      }));
    case 'added-files':
    case 'modified-files':
    case 'removed-files':
      context.differs(
        `a renamed file: Mergify counts it as removed and added, Reeve as ${attribute === 'added-files' ? 'added' : 'neither removed nor modified'}`,
      );
      return new Condition(`${fileLists[attribute]}.size() ${sign} ${number}`, 'relation');
    case 'milestone': {
      const has = new Condition('has(pull_request.milestone)', 'unary', {
        yes: { pull_request: { milestone: { id: 1, title: 'next' } } },
        no: { pull_request: { milestone: null } },
      });
      if (number === 0 && sign === '==') return not(has);
      if (number === 0 && (sign === '>' || sign === '!=')) return has;
      if (number === 1 && sign === '>=') return has;
      throw new NotConvertible(`\`${written}\`: the length of a milestone is compared with 0 only`);
    }
    default:
      throw new NotConvertible(`\`${written}\`: the number of \`${attribute}\` has no counterpart`);
  }
}

// Times

const ages =
  /^(?:(\d+)\s*days?)?\s*(?:(\d+)\s*hours?)?\s*(?:(\d+)\s*minutes?)?\s*(?:(\d{1,2}):(\d{2}))?\s*ago$/;

/** Returns the expression of an instant; throws NotConvertible. */
function instant(value: string, written: string): string {
  const age = ages.exec(value);
  if (age && value !== 'ago') {
    const [days = 0, hours = 0, minutes = 0, clockHours = 0, clockMinutes = 0] = age
      .slice(1)
      .map((one) => Number(one ?? 0));
    const total = (days * 24 + hours + clockHours) * 60 + minutes + clockMinutes;
    return `now - duration(${literal(total % 60 === 0 ? `${total / 60}h` : `${total}m`)})`;
  }
  const [, date, time = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2}|\[UTC\])?)?$/.exec(
      value,
    ) ?? [];
  if (date === undefined)
    throw new NotConvertible(
      `\`${written}\`: the time \`${value}\` is not understood, or in a zone with summer time`,
    );
  const seconds = /^\d{2}:\d{2}$/.test(time) ? `${time}:00` : time;
  const text = `${date}T${seconds}${zone === '[UTC]' ? 'Z' : zone}`;
  if (Number.isNaN(Date.parse(text))) throw new NotConvertible(`\`${written}\`: \`${value}\` is no time`);
  return `timestamp(${literal(text)})`;
}

function timePart(leaf: Leaf, path: string): Condition {
  const { value, written, isNegated } = leaf;
  const sign = signOf(leaf);
  if (isNegated || sign === '==' || sign === '!=')
    throw new NotConvertible(`\`${written}\`: times are compared with <, <=, > and >= only`);
  const isOld = sign.startsWith('<');
  const compared = new Condition(`timestamp(${path}) ${sign} ${instant(value, written)}`, 'relation', {
    yes: situationOf(path, isOld ? '2000-01-01T00:00:00Z' : '2026-05-31T23:00:00Z'),
    no: situationOf(path, isOld ? '2026-06-01T08:59:59Z' : '2000-01-01T00:00:00Z'),
  });
  return /closed_at|merged_at/.test(path) ? and(new Condition(`has(${path})`, 'unary'), compared) : compared;
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function dayNumber(text: string, written: string): number {
  const place = weekdays.indexOf(text.trim().toLowerCase().slice(0, 3));
  if (place < 0 || text.trim().length < 3) throw new NotConvertible(`\`${written}\`: \`${text}\` is no day`);
  return place;
}

function schedulePart({ operator, value, written, isNegated }: Leaf): Condition {
  const [, days, from, to, zone] =
    /^\s*([A-Za-z]+(?:\s*-\s*[A-Za-z]+)?)?\s*(?:(\d{1,2}:\d{2})\s*-\s*(\d{1,2}:\d{2}))?\s*(?:\[([A-Za-z0-9_+\-/]+)\])?\s*$/.exec(
      value,
    ) ?? [];
  if ((days === undefined && from === undefined) || (operator !== '==' && operator !== '!=') || isNegated)
    throw new NotConvertible(`\`${written}\`: the schedule is not understood`);
  const parts: Condition[] = [];
  if (days !== undefined) {
    const [first = '', last = first] = days.split('-');
    const [start, end] = [dayNumber(first, written), dayNumber(last, written)];
    const list = [...Array(7).keys()].filter((day) =>
      start <= end ? day >= start && day <= end : day >= start || day <= end,
    );
    parts.push(new Condition(`now.getDayOfWeek(${zoneText(zone)}) in [${list.join(', ')}]`, 'relation'));
  }
  if (from !== undefined && to !== undefined) parts.push(clock(from, to, zone));
  const condition = and(...parts);
  return operator === '==' ? condition : not(condition);
}

function zoneText(zone: string | undefined): string {
  return zone === undefined || zone === 'UTC' ? '' : literal(zone);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function clock(from: string, to: string, zone: string | undefined): Condition {
  const at = `now.getHours(${zoneText(zone)}) * 60 + now.getMinutes(${zoneText(zone)})`;
  const [start, end] = [minutesOf(from), minutesOf(to)];
  const after = new Condition(`${at} >= ${start}`, 'relation');
  const before = new Condition(`${at} < ${end}`, 'relation');
  return start <= end ? and(after, before) : or(after, before);
}

function currentPart(leaf: Leaf): Condition {
  const { attribute, value, written, operator, isNegated } = leaf;
  const [, time, zone] = /^(\d{1,2}:\d{2})(?:\[([^\]]+)\])?$/.exec(value) ?? [];
  if (attribute === 'current-time' && time !== undefined)
    return new Condition(
      `now.getHours(${zoneText(zone)}) * 60 + now.getMinutes(${zoneText(zone)}) ${signOf(leaf)} ${minutesOf(time)}`,
      'relation',
    );
  if (attribute === 'current-day-of-week') {
    const day = /^[1-7]$/.test(value) ? Number(value) % 7 : dayNumber(value, written);
    if (operator === '==' || operator === '!=')
      return new Condition(`now.getDayOfWeek() ${operator} ${day}`, 'relation');
  }
  if (attribute === 'current-datetime' || attribute === 'current-timestamp') {
    const [from, to] = value.split('/');
    if (to === undefined && operator !== '==' && operator !== '!=')
      return new Condition(`now ${signOf(leaf)} ${instant(value, written)}`, 'relation');
    if (from !== undefined && to !== undefined && (operator === '==' || operator === '!=') && !isNegated) {
      const inside = and(
        new Condition(`now >= ${instant(from, written)}`, 'relation'),
        new Condition(`now <= ${instant(to, written)}`, 'relation'),
      );
      return operator === '==' ? inside : not(inside);
    }
  }
  throw new NotConvertible(`\`${written}\`: this comparison of the time has no counterpart`);
}
