/**
 * Mergify. Read at github.com/Mergifyio/mergify 9d872fe8720844062a8ca9d19f41e59f9690bac6 (the last open source, July
 * 2022): `parse` (rules/parser.py), `BinaryFilter`, `Filter` (rules/filter.py), `RuleConditionSchema`, `merge_config`,
 * `GenericRulesEvaluator` (rules/__init__.py), `get_branch_protection_conditions` (rules/conditions.py), `teams`
 * (rules/live_resolvers.py), `_get_consolidated_data`, `consolidated_reviews`, `checks` (context.py), date.py, and
 * `run` and `get_conditions_requirements` of the actions. `merge` with `strict`, which that version no longer takes, is
 * read at github.com/Mergifyio/mergify-engine cea68b0b37273d11f17404d69391aacfa4e4439d. The condition `not` and
 * `label: toggle` are of the closed source and follow its documentation.
 *
 * What surprises: actions have conditions of their own (`update` an open and outdated pull request, `merge` what the
 * protection requires, `backport` a merged one); `label!=x` and `-label=x` are the same; a team that does not exist makes
 * the condition false even when negated; `merged-by`, `assignee` and `review-requested` know no members of teams; the day
 * of a schedule is that of UTC even if its time has a zone; reviews count of people who may write and of bots; a required
 * check without result is pending; conditions compare labels with case, the action without.
 */
import { parse } from 'yaml';
import { mayWrite, refusalOf } from './standing.ts';
import {
  type Decision,
  decision,
  type Effect,
  isMapping,
  listOf,
  type Mapping,
  mappingOf,
  type Subject,
  sameName,
} from './subject.ts';

export const decide = (configuration: string, subject: Subject, now: number): Decision => {
  const file = mappingOf(parse(configuration, { merge: true, version: '1.1' }));
  const defaults = mappingOf(mappingOf(file.defaults).actions);
  const rules = (Array.isArray(file.pull_request_rules) ? file.pull_request_rules : []).map(mappingOf);
  const queues = (Array.isArray(file.queue_rules) ? file.queue_rules : []).map(mappingOf);
  const run: Run = {
    subject,
    now,
    queues,
    labels: [...subject.labels],
    effects: [],
    because: [],
    once: new Set(),
  };
  for (const rule of rules) {
    if (isMapping(rule.disabled)) continue;
    const conditions = Array.isArray(rule.conditions) ? rule.conditions : [];
    const matched = conditions.every((condition) => holds(condition, subject, now));
    for (const [name, given] of Object.entries(mappingOf(rule.actions))) {
      const options = { ...mappingOf(defaults[name]), ...mappingOf(given) };
      if (name === 'post_check') {
        // The check of a rule for another head or author is not posted at all.
        if (matched || isPotential(conditions, subject, now)) {
          run.effects.push(`status Rule: ${rule.name} (post_check) ${matched ? 'success' : 'failure'}`);
        }
        continue;
      }
      if (name === 'label' && !matched) for (const label of listOf(options.toggle)) removeLabel(run, label);
      if (!matched) continue;
      const action = actions[name];
      if (action === undefined) throw new Error(`unknown action ${name}`);
      action(options, run);
    }
  }
  return decision(run.effects, ...run.because);
};

// Conditions.

/** Returns whether a condition of the file holds. Throws for a condition that Mergify refuses. */
export function holds(condition: unknown, subject: Subject, now: number): boolean {
  if (isMapping(condition)) {
    const [[operator, given] = ['', undefined], ...more] = Object.entries(condition);
    if (more.length > 0) throw new Error('a group of conditions has one operator');
    if (operator === 'not') return !holds(Array.isArray(given) ? { and: given } : given, subject, now);
    if (!Array.isArray(given) || (operator !== 'and' && operator !== 'or'))
      throw new Error(`unknown operator ${operator}`);
    const results = given.map((child) => holds(child, subject, now));
    return operator === 'and' ? results.every(Boolean) : results.some(Boolean);
  }
  return evaluateCondition(parseCondition(String(condition)), subject, now);
}

const isPotential = (conditions: readonly unknown[], subject: Subject, now: number): boolean =>
  conditions.every((condition) => {
    const replace = (node: unknown): unknown => {
      if (isMapping(node))
        return Object.fromEntries(
          Object.entries(node).map(([key, list]) => [key, listOfNodes(list).map(replace)]),
        );
      return ['head', 'author'].includes(parseCondition(String(node)).attribute) ? node : 'number>0';
    };
    return holds(replace(condition), subject, now);
  });

const listOfNodes = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

type Condition = {
  readonly negated: boolean;
  readonly counted: boolean;
  readonly attribute: string;
  readonly operator: string;
  readonly value: string;
};

const booleans = ['locked', 'merged', 'closed', 'conflict', 'draft', 'linear-history'];
const people = [
  'author',
  'merged-by',
  'assignee',
  'review-requested',
  ...['approved', 'dismissed', 'changes-requested', 'commented'].map((kind) => `${kind}-reviews-by`),
];
const texts = [
  'body',
  'body-raw',
  'label',
  'title',
  'files',
  'commits-behind',
  'commits',
  'commits-unverified',
  'repository-name',
  'repository-full-name',
];
const threads = ['review-threads-resolved', 'review-threads-unresolved'];
const checks = ['success', 'failure', 'neutral']
  .flatMap((state) => [`status-${state}`, `check-${state}`])
  .concat(['check-success-or-neutral', 'check-skipped', 'check-pending', 'check-stale']);
const relativeTimes = ['created-at', 'updated-at', 'closed-at', 'merged-at'];
const calendar = [
  'current-time',
  'current-day',
  'current-month',
  'current-year',
  'current-day-of-week',
  'current-timestamp',
  'schedule',
];
/** Longest first, so that `merged-at` is not read as `merged`. */
const attributes = [
  ...booleans,
  ...people,
  ...texts,
  ...threads,
  ...checks,
  ...relativeTimes,
  ...calendar,
  'number',
  'head',
  'base',
  'milestone',
].sort((a, b) => b.length - a.length);
const operators = ['==', '!=', '≠', '~=', '>=', '<=', '≥', '≤', '=', ':', '<', '>'];
const aliases: Readonly<Record<string, string>> = { ':': '=', '==': '=', '≠': '!=', '≥': '>=', '≤': '<=' };

function parseCondition(text: string): Condition {
  let rest = text.trimStart();
  const negated = /^[-¬]/.test(rest);
  if (/^[-¬+]/.test(rest)) rest = rest.slice(1).trimStart();
  const counted = rest.startsWith('#');
  if (counted) rest = rest.slice(1).trimStart();
  const attribute = attributes.find((name) => rest.startsWith(name));
  if (attribute === undefined) throw new Error(`invalid attribute in ${text}`);
  rest = rest.slice(attribute.length).trimStart();
  if (booleans.includes(attribute)) {
    if (rest.trim() !== '' || counted) throw new Error(`${attribute} takes no operator in ${text}`);
    return { negated, counted, attribute, operator: '=', value: 'true' };
  }
  const operator = operators.find((name) => rest.startsWith(name));
  if (operator === undefined) throw new Error(`invalid operator in ${text}`);
  const value = rest.slice(operator.length).trim();
  const condition = { negated, counted, attribute, operator: aliases[operator] ?? operator, value };
  const fault = faultOf(condition);
  if (fault !== undefined) throw new Error(`${fault} in ${text}`);
  return condition;
}

/** Returns why Mergify refuses a condition. */
function faultOf({ negated, counted, attribute, operator, value }: Condition): string | undefined {
  const isTime = calendar.includes(attribute) || relativeTimes.includes(attribute);
  if (negated && isTime) return 'a time is not negated';
  if (counted && (isTime || attribute === 'number')) return 'a number or time is not counted';
  if (!counted && attribute === 'commits-behind') return '`#` is required';
  const isEquality = operator === '=' || operator === '!=';
  if (attribute === 'schedule' && !isEquality) return 'a schedule has `=` and `!=`';
  const isInstant =
    relativeTimes.includes(attribute) || attribute === 'current-time' || attribute === 'current-timestamp';
  if (isInstant && (isEquality || operator === '~=')) return 'an instant has `<` and `>`';
  if (operator === '~=' && (counted || isTime || attribute === 'number')) return 'no regular expression here';
  if (counted) return /^[+-]?\d+$/.test(value) ? undefined : `${value} is not a number`;
  if (attribute === 'number') return /^\+?\d+$/.test(value) ? undefined : `${value} is not a positive number`;
  if (isTime) return undefined;
  if (operator === '~=') {
    if (people.includes(attribute) && value.startsWith('@')) return 'no regular expression of a team';
    pythonRegExp(value);
    return undefined;
  }
  if (attribute === 'head' || attribute === 'base')
    return /[~^: [\]\\]/.test(value) ? 'invalid branch' : undefined;
  if (attribute === 'milestone') return value.includes(' ') ? 'a milestone has no spaces' : undefined;
  if (people.includes(attribute))
    return /^[\w@/[\]-]*$/.test(value) && !value.includes('_') ? undefined : 'invalid login';
  const [first, last] = [value.at(0), value.at(-1)];
  const unbalanced = ["'", '"'].some((quote) => (first === quote) !== (last === quote));
  return unbalanced ? 'unbalanced quotes' : undefined;
}

type Value = string | number | boolean | null;

function evaluateCondition(
  { negated, counted, attribute, operator, value }: Condition,
  subject: Subject,
  now: number,
): boolean {
  const invert = (result: boolean): boolean => result !== negated;
  if (attribute === 'schedule') return (operator === '!=') !== isWithin(unquote(value), now);
  if (attribute === 'current-time') return compareTo(compareClock(value, now), operator, 0);
  if (attribute === 'current-day-of-week') return invert(compareTo(dayOfWeek(now), operator, readDay(value)));
  if (relativeTimes.includes(attribute)) {
    const time = {
      'created-at': subject.created,
      'updated-at': subject.updated,
      'closed-at': subject.closed,
      'merged-at': subject.merged ? subject.closed : null,
    }[attribute];
    return time !== null && time !== undefined && compareTo(time, operator, readTime(unquote(value), now));
  }
  if (calendar.includes(attribute)) {
    const date = new Date(now);
    const current = {
      'current-day': date.getUTCDate(),
      'current-month': date.getUTCMonth() + 1,
      'current-year': date.getUTCFullYear(),
    }[attribute];
    return current === undefined
      ? compareTo(now, operator, Date.parse(unquote(value)))
      : invert(compareTo(current, operator, Number(value)));
  }
  const found = valuesOf(attribute, subject);
  if (counted) {
    const count =
      typeof found === 'number' ? found : Array.isArray(found) ? found.length : String(found ?? '').length;
    return invert(compareTo(count, operator, Number(value)));
  }
  if (attribute === 'number') return invert(compareTo(subject.number, operator, Number(value)));
  if (booleans.includes(attribute)) return invert(found === true);
  const values = Array.isArray(found) ? found : [found];
  if (operator === '~=') {
    const pattern = pythonRegExp(value);
    return invert(values.some((one) => one !== null && pattern.test(String(one))));
  }
  let wanted: readonly string[] = [
    texts.includes(attribute) || checks.includes(attribute) ? unquote(value) : value,
  ];
  // `merged-by` is missing from the list of attributes whose teams are resolved: a misspelling of the source.
  if (
    people.includes(attribute) &&
    value.startsWith('@') &&
    !['merged-by', 'assignee', 'review-requested'].includes(attribute)
  ) {
    const members = membersOf(value, subject);
    if (members === undefined) return false;
    wanted = members;
  }
  const pairs = values.flatMap((one) =>
    wanted.map((other) => compareTexts(String(one ?? ''), operator, other)),
  );
  return invert(operator === '!=' ? pairs.every(Boolean) : pairs.some(Boolean));
}

function valuesOf(attribute: string, subject: Subject): Value | readonly Value[] {
  const reviewers = (kind: string): string[] => consolidatedReviews(subject, kind);
  const checkNames = (...states: string[]): string[] =>
    [...checksOf(subject)].flatMap(([name, state]) => (states.includes(state) ? [name] : []));
  const values: Readonly<Record<string, () => Value | readonly Value[]>> = {
    author: () => subject.author,
    'merged-by': () => subject.mergedBy ?? '',
    assignee: () => subject.assignees,
    'review-requested': () => [
      ...subject.requestedUsers,
      ...subject.requestedTeams.flatMap((team) => [`@${team}`, `@${subject.owner}/${team}`]),
    ],
    'approved-reviews-by': () => reviewers('APPROVED'),
    'dismissed-reviews-by': () => reviewers('DISMISSED'),
    'changes-requested-reviews-by': () => reviewers('CHANGES_REQUESTED'),
    'commented-reviews-by': () => reviewers('COMMENTED'),
    label: () => subject.labels,
    title: () => subject.title,
    body: () => subject.body.replaceAll('\r\n', '\n').replaceAll(/<!--.*?-->/gs, ''),
    'body-raw': () => subject.body.replaceAll('\r\n', '\n'),
    files: () => subject.files.map(({ path }) => path),
    commits: () => subject.commits.map(({ message }) => message),
    'commits-behind': () => subject.behind,
    'commits-unverified': () =>
      subject.commits.filter(({ verified }) => !verified).map(({ message }) => message),
    'review-threads-resolved': () => [],
    'review-threads-unresolved': () =>
      Array.from({ length: subject.unresolvedThreads }, () => 'please look again'),
    'repository-name': () => subject.repository,
    'repository-full-name': () => `${subject.owner}/${subject.repository}`,
    base: () => subject.base,
    head: () => subject.head,
    milestone: () => subject.milestone ?? '',
    locked: () => subject.locked,
    merged: () => subject.merged,
    closed: () => subject.state === 'closed',
    conflict: () => subject.mergeable === false,
    draft: () => subject.draft,
    'linear-history': () => subject.commits.every(({ parents }) => parents.length === 1),
    'check-success-or-neutral': () => checkNames('success', 'neutral'),
    'check-skipped': () => checkNames('skipped'),
    'check-pending': () => checkNames('pending'),
    'check-stale': () => checkNames('stale'),
  };
  const read = values[attribute];
  if (read !== undefined) return read();
  const state = attribute.replace(/^(?:status|check)-/, '');
  return state === 'failure'
    ? checkNames('failure', 'action_required', 'cancelled', 'timed_out', 'error')
    : checkNames(state);
}

/** Required checks are pending until they have a result; a status hides a check run of the same name. */
function checksOf(subject: Subject): Map<string, string> {
  const states = new Map<string, string>((subject.protection?.checks ?? []).map((name) => [name, 'pending']));
  for (const kind of ['run', 'status'] as const) {
    for (const check of subject.checks) if (check.kind === kind) states.set(check.name, check.state);
  }
  return states;
}

function consolidatedReviews(subject: Subject, kind: string): string[] {
  const [comments, others] = [new Map<string, string>(), new Map<string, string>()];
  for (const { author, state } of subject.reviews) {
    if (!author.endsWith('[bot]') && !mayWrite(subject, author)) continue;
    (state === 'COMMENTED' ? comments : others).set(author, state);
  }
  return [...(kind === 'COMMENTED' ? comments : others)].flatMap(([author, state]) =>
    state === kind ? [author] : [],
  );
}

function membersOf(name: string, { owner, teams }: Subject): readonly string[] | undefined {
  const [organization, team] = name.slice(1).includes('/')
    ? name.slice(1).split('/')
    : [owner, name.slice(1)];
  return organization === owner && team !== undefined && Object.hasOwn(teams, team) ? teams[team] : undefined;
}

function compareTo(value: number, operator: string, other: number): boolean {
  if (operator === '=') return value === other;
  if (operator === '!=') return value !== other;
  if (operator === '<') return value < other;
  if (operator === '>') return value > other;
  return operator === '<=' ? value <= other : value >= other;
}

function compareTexts(value: string, operator: string, other: string): boolean {
  return compareTo(value === other ? 0 : value < other ? -1 : 1, operator, 0);
}

function unquote(value: string): string {
  return /^".*"$|^'.*'$/s.test(value) ? value.slice(1, -1) : value;
}

/** Returns a regular expression of Python as one of JavaScript, for the syntax that both have. */
export function pythonRegExp(pattern: string): RegExp {
  const [, flags = ''] = /^\(\?([aimsux]+)\)/.exec(pattern) ?? [];
  const body = (flags === '' ? pattern : pattern.slice(flags.length + 3))
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replaceAll('\\A', '^')
    .replaceAll('\\Z', '$');
  return new RegExp(body, [...flags].filter((flag) => 'ims'.includes(flag)).join(''));
}

// Times.

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const longDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

function readDay(text: string): number {
  const lower = text.toLowerCase();
  const index = [days.indexOf(lower), longDays.indexOf(lower)].find((found) => found >= 0);
  if (index !== undefined) return index + 1;
  if (!/^[1-7]$/.test(text)) throw new Error(`${text} is not a day of the week`);
  return Number(text);
}

/** Monday is 1. Always of UTC. */
const dayOfWeek = (now: number): number => new Date(now).getUTCDay() || 7;

/** Returns how the time of the day now compares with a time such as `18:00[Europe/Paris]`. */
function compareClock(text: string, now: number, otherZone?: string): number {
  const [, hour, minute, zone] = /^(\d+):(\d+)(?:\[(.+)\])?$/.exec(text.trim()) ?? [];
  if (hour === undefined || minute === undefined) throw new Error(`${text} is not a time`);
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone ?? otherZone ?? 'UTC',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  }).format(now);
  const [hours = 0, minutes = 0, seconds = 0] = parts.split(':').map(Number);
  return (
    hours * 3_600_000 +
    minutes * 60_000 +
    seconds * 1_000 +
    (now % 1_000) -
    Number(hour) * 3_600_000 -
    Number(minute) * 60_000
  );
}

function isWithin(schedule: string, now: number): boolean {
  const [first = '', ...rest] = schedule.split(' ');
  const times = rest.join(' ');
  const range = (text: string): readonly [string, string] => {
    const cut = text.indexOf('-');
    if (cut < 0) throw new Error(`invalid schedule ${schedule}`);
    return [text.slice(0, cut), text.slice(cut + 1)];
  };
  const inTimes = (text: string): boolean => {
    const [from, to] = range(text);
    const zone = /\[(.+)\]$/.exec(to)?.[1];
    return compareClock(from, now, zone) >= 0 && compareClock(to, now) <= 0;
  };
  const [from, to] = range(first);
  if (from.includes(':')) return inTimes(first);
  const day = dayOfWeek(now);
  return day >= readDay(from) && day <= readDay(to) && (times === '' || inTimes(times));
}

function readTime(text: string, now: number): number {
  const relative = /^(?:(\d+) days? ?)?(?:(\d+):(\d\d))? ago$/.exec(text);
  if (relative !== null) {
    const [, dayCount = '0', hours = '0', minutes = '0'] = relative;
    return now - ((Number(dayCount) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000;
  }
  const time = Date.parse(/[Zz]$|[+-]\d\d:\d\d$/.test(text) || !text.includes('T') ? text : `${text}Z`);
  if (Number.isNaN(time)) throw new Error(`${text} is not a time`);
  return time;
}

// Actions.

type Run = {
  readonly subject: Subject;
  readonly now: number;
  readonly queues: readonly Mapping[];
  /** Labels as earlier rules of the same run have left them. */
  labels: string[];
  readonly effects: Effect[];
  readonly because: string[];
  /** Actions that run for one rule alone. */
  readonly once: Set<string>;
};

function addLabel(run: Run, label: string): void {
  if (run.labels.some((other) => sameName(other, label))) return;
  run.labels.push(label);
  run.effects.push(`add-label ${label}`);
}

function removeLabel(run: Run, label: string): void {
  const found = run.labels.find((other) => sameName(other, label));
  if (found === undefined) return;
  run.labels = run.labels.filter((other) => other !== found);
  run.effects.push(`remove-label ${found}`);
}

/** Returns whether this is the first rule that runs the action. */
function isFirst(run: Run, name: string): boolean {
  const first = !run.once.has(name);
  run.once.add(name);
  return first;
}

/** Conditions that the protection of the base adds to `merge`, and without the last one to `queue`. */
function refusesProtection({ subject }: Run, strict: boolean): string | undefined {
  const { protection } = subject;
  if (protection === null) return undefined;
  const states = checksOf(subject);
  for (const name of protection.checks) {
    if (!['success', 'neutral', 'skipped'].includes(states.get(name) ?? '')) return `required check ${name}`;
  }
  if (protection.approvals > 0) {
    if (consolidatedReviews(subject, 'APPROVED').length < protection.approvals) return 'required approvals';
    if (consolidatedReviews(subject, 'CHANGES_REQUESTED').length > 0) return 'changes requested';
  }
  if (protection.resolution && subject.unresolvedThreads > 0) return 'unresolved threads';
  // With required checks alone: the option of GitHub belongs to them.
  return strict && protection.strict && protection.checks.length > 0 && subject.behind > 0
    ? 'behind'
    : undefined;
}

function merge(options: Mapping, run: Run): void {
  const { subject } = run;
  if (!isFirst(run, 'merge')) return;
  const method = String(options.method ?? 'merge');
  if (subject.draft || subject.state === 'closed' || subject.mergeable !== true)
    return void run.because.push('not ready to merge');
  const strict = options.strict !== undefined && options.strict !== false;
  if (strict && subject.behind > 0) return void run.effects.push('update-branch');
  if (method === 'fast-forward' && subject.behind > 0) return void run.because.push('behind');
  const refusal = (strict ? undefined : refusesProtection(run, true)) ?? refusalOf(subject, method);
  if (refusal === undefined) run.effects.push(`merge ${method}`);
  else run.because.push(refusal);
}

function queue(options: Mapping, run: Run): void {
  const { subject } = run;
  if (!isFirst(run, 'queue')) return;
  if (subject.draft || subject.state === 'closed' || subject.mergeable !== true)
    return void run.because.push('not ready for a queue');
  const refusal = options.require_branch_protection === false ? undefined : refusesProtection(run, false);
  if (refusal !== undefined) return void run.because.push(refusal);
  const name = String(options.name ?? 'default');
  run.effects.push(`queue ${name}`);
  const rule = run.queues.find((one) => one.name === name) ?? {};
  const conditions = [rule.conditions, rule.merge_conditions].flatMap((given) =>
    Array.isArray(given) ? given : [],
  );
  const ready = conditions.every((condition) => holds(condition, subject, run.now));
  const method = String(options.method ?? rule.merge_method ?? 'merge');
  if (subject.behind > 0) run.effects.push('update-branch');
  else if (!ready) run.because.push('conditions of the queue');
  else if (refusalOf(subject, method) === undefined) run.effects.push(`merge ${method}`);
}

function copy(kind: 'backport' | 'copy', options: Mapping, { subject, effects }: Run): void {
  // A regular expression is matched from the start of the name, without an end.
  const patterns = listOf(options.regexes).map((pattern) => pythonRegExp(`^(?:${pattern})`));
  const matching = subject.branches.filter((branch) => patterns.some((pattern) => pattern.test(branch)));
  for (const branch of new Set([...listOf(options.branches), ...matching])) {
    if (subject.branches.includes(branch)) effects.push(`${kind} ${branch}`);
  }
}

const render = (template: string, { author }: Subject): string =>
  template.replaceAll(/\{\{\s*author\s*\}\}/g, author);

const actions: Readonly<Record<string, (options: Mapping, run: Run) => void>> = {
  label: (options, run) => {
    for (const label of [...listOf(options.add), ...listOf(options.toggle)]) addLabel(run, label);
    for (const label of options.remove_all === true ? [...run.labels] : listOf(options.remove))
      removeLabel(run, label);
  },
  comment: (_options, { effects }) => {
    effects.push('comment');
  },
  close: (_options, run) => {
    if (isFirst(run, 'close') && run.subject.state === 'open') run.effects.push('close', 'comment');
  },
  assign: (options, { subject, effects }) => {
    for (const user of new Set(
      [...listOf(options.users), ...listOf(options.add_users)].map((name) => render(name, subject)),
    )) {
      if (!subject.assignees.includes(user)) effects.push(`assign ${user}`);
    }
    for (const user of new Set(listOf(options.remove_users).map((name) => render(name, subject)))) {
      if (subject.assignees.includes(user)) effects.push(`unassign ${user}`);
    }
  },
  request_reviews: (options, { subject, effects }) => {
    const names = (value: unknown): string[] => (isMapping(value) ? Object.keys(value) : listOf(value));
    const teams = names(options.teams).map((team) => team.replace(/^@/, '').split('/').at(-1) ?? '');
    const fromTeams = names(options.users_from_teams).flatMap(
      (team) => membersOf(`@${team.replace(/^@/, '')}`, subject) ?? [],
    );
    const users = [...names(options.users), ...fromTeams];
    const existing = new Set([
      ...['APPROVED', 'DISMISSED', 'CHANGES_REQUESTED', 'COMMENTED'].flatMap((kind) =>
        consolidatedReviews(subject, kind),
      ),
      ...subject.requestedUsers,
      ...subject.requestedTeams.map((team) => `@${team}`),
    ]);
    const count = Number(options.random_count ?? 0);
    const wanted = [...new Set([...users, ...teams.map((team) => `@${team}`)])].filter(
      (name) => name !== subject.author,
    );
    if (count > 0 && count < wanted.length) {
      effects.push(
        `request-some ${count} ${wanted
          .map((name) => (name.startsWith('@') ? name : name.toLowerCase()))
          .sort()
          .join(',')}`,
      );
      return;
    }
    for (const name of wanted) if (!existing.has(name)) effects.push(`request-review ${name}`);
  },
  dismiss_reviews: (options, { subject, effects }) => {
    if ((options.when ?? 'synchronize') === 'synchronize' && subject.event.action !== 'synchronize') return;
    for (const [key, kind] of [
      ['approved', 'APPROVED'],
      ['changes_requested', 'CHANGES_REQUESTED'],
    ] as const) {
      const given = options[key] ?? true;
      for (const user of consolidatedReviews(subject, kind)) {
        const chosen =
          given === 'from_requested_reviewers'
            ? subject.requestedUsers.includes(user)
            : given === true || listOf(given).includes(user);
        if (given !== false && chosen) effects.push(`dismiss-review ${user}`);
      }
    }
  },
  merge,
  queue,
  update: (_options, { subject, effects }) => {
    if (subject.state === 'open' && subject.behind > 0) effects.push('update-branch');
  },
  rebase: (_options, { subject, effects }) => {
    const linear = subject.commits.every(({ parents }) => parents.length === 1);
    if (subject.state === 'open' && (subject.behind > 0 || !linear)) effects.push('rebase-branch');
  },
  delete_head_branch: (options, run) => {
    const { subject } = run;
    if (!isFirst(run, 'delete_head_branch') || subject.state !== 'closed' || subject.fork) return;
    if (options.force === true || !subject.targeted.includes(subject.head)) run.effects.push('delete-branch');
  },
  backport: (options, run) => {
    if (run.subject.merged) copy('backport', options, run);
  },
  copy: (options, run) => copy('copy', options, run),
  review: (options, { subject, effects }) => {
    const type = String(options.type ?? 'APPROVE');
    if (type === 'COMMENT') return void effects.push('comment');
    if (subject.merged) return;
    const own = subject.reviews.filter(({ author }) => author === 'mergify[bot]').at(-1)?.state;
    if (own !== (type === 'APPROVE' ? 'APPROVED' : 'CHANGES_REQUESTED'))
      effects.push(type === 'APPROVE' ? 'approve' : 'request-changes');
  },
  edit: (options, { subject, effects }) => {
    if (typeof options.draft === 'boolean' && options.draft !== subject.draft)
      effects.push(`edit ${options.draft ? 'draft' : 'ready'}`);
    if (typeof options.title === 'string') effects.push('edit title');
  },
  squash: (_options, { subject, effects }) => {
    if (subject.commits.length > 1) effects.push('edit squash');
  },
  github_actions: (options, { effects }) => {
    const workflows = mappingOf(options.workflow).dispatch;
    for (const entry of Array.isArray(workflows) ? workflows : [])
      effects.push(`edit run-workflow ${mappingOf(entry).workflow}`);
  },
};
