/**
 * palantir/policy-bot. Read at github.com/palantir/policy-bot fc09d7a6bbe0e21327785496912e7eb39770ed93: `Policy.Parse`,
 * `OrRequirement`, `AndRequirement` (policy/approval/parse.go, evaluate.go), `Rule.Evaluate`, `isApprovedByActors`,
 * `FilteredCandidates`, `filterInvalidCandidates`, `filteredCommits`, `isUpdateMerge`, `sortCommits`
 * (policy/approval/approve.go), `Methods.Candidates` (policy/common/methods.go), `Actors.IsActor`
 * (policy/common/actor.go), `disapproval.Policy` (policy/disapproval/disapprove.go), all of policy/predicate, the
 * mapping of files, statuses, labels, reviews and comments (pull/github.go), `SelectReviewers`
 * (policy/reviewer/reviewer.go), the states (server/handler/eval_context.go).
 *
 * What surprises: comments match as a part of the text; `title` and `modified_lines` are satisfied by one of their
 * parts; the author is a contributor; an approval stays after the same person requests changes, until it is dismissed;
 * a rule that requires a count and names no actors is never approved; both paths of a renamed file count; labels are
 * compared in lower case; `or` of skipped children is skipped, and a skipped policy is the state `error`.
 */
import { parse } from 'yaml';
import { matchesGo } from './bulldozer.ts';
import {
  type Commit,
  type Decision,
  decision,
  type Effect,
  isMapping,
  listOf,
  type Mapping,
  mappingOf,
  nothing,
  type Permission,
  type Subject,
} from './subject.ts';

export type Status = 'skipped' | 'pending' | 'approved' | 'disapproved';
type Result = { readonly status: Status; readonly requests: readonly Mapping[] };

export const decide = (configuration: string, subject: Subject, _now = 0): Decision => {
  if (subject.state === 'closed') return nothing('closed');
  const name = `policy-bot: ${subject.base}`;
  let result: Result;
  try {
    result = evaluate(configuration, subject);
  } catch (error) {
    return decision([`status ${name} error`], error instanceof Error ? error.message : String(error));
  }
  const state = (
    { approved: 'success', disapproved: 'failure', pending: 'pending', skipped: 'error' } as const
  )[result.status];
  const requests =
    result.status === 'pending' && !subject.draft ? selectReviewers(result.requests, subject) : [];
  return decision([`status ${name} ${state}`, ...requests], result.status);
};

/** Evaluates a whole policy. Throws where policy-bot reports an invalid policy. */
export function evaluate(configuration: string, subject: Subject): Result {
  const file: unknown = parse(configuration, { merge: true, version: '1.1' });
  const policy = mappingOf(mappingOf(file).policy);
  const rules = new Map<string, Mapping>();
  for (const rule of Array.isArray(mappingOf(file).approval_rules)
    ? (mappingOf(file).approval_rules as unknown[])
    : []) {
    rules.set(String(mappingOf(rule).name ?? ''), mappingOf(rule));
  }
  const approval = Array.isArray(policy.approval) ? policy.approval : [];
  const approved: Result =
    approval.length === 0
      ? { status: 'approved', requests: [] }
      : evaluateNode({ and: approval }, rules, subject, 0);
  return isDisapproved(mappingOf(policy.disapproval), subject)
    ? { status: 'disapproved', requests: [] }
    : approved;
}

function evaluateNode(
  node: unknown,
  rules: ReadonlyMap<string, Mapping>,
  subject: Subject,
  depth: number,
): Result {
  if (depth > 10) throw new Error('the policy is deeper than ten levels');
  if (typeof node === 'string') {
    const rule = rules.get(node);
    if (rule === undefined) throw new Error(`undefined rule ${node}`);
    return evaluateRule(rule, subject);
  }
  if (!isMapping(node)) throw new Error('neither a text nor a mapping');
  const [[operator, children] = ['', []], ...more] = Object.entries(node);
  if (more.length > 0 || !Array.isArray(children) || children.length === 0)
    throw new Error('not one list of rules');
  if (operator !== 'and' && operator !== 'or') throw new Error(`unknown operator ${operator}`);
  // All children are read, so that an undefined rule is an error wherever it stands.
  const results = children.map((child) => evaluateNode(child, rules, subject, depth + 1));
  const some = (status: Status): boolean => results.some((result) => result.status === status);
  const status: Status =
    operator === 'or'
      ? some('approved')
        ? 'approved'
        : some('pending')
          ? 'pending'
          : 'skipped'
      : some('pending')
        ? 'pending'
        : some('approved')
          ? 'approved'
          : 'skipped';
  return { status, requests: status === 'pending' ? results.flatMap(({ requests }) => requests) : [] };
}

function evaluateRule(rule: Mapping, subject: Subject): Result {
  if (!predicatesOf(mappingOf(rule.if)).every((holds) => holds(subject)))
    return { status: 'skipped', requests: [] };
  const requires = mappingOf(rule.requires);
  const conditions = predicatesOf(mappingOf(requires.conditions));
  const approved =
    countApprovals(rule, subject) >= Number(requires.count ?? 0) &&
    conditions.every((holds) => holds(subject));
  if (approved) return { status: 'approved', requests: [] };
  return {
    status: 'pending',
    requests: mappingOf(mappingOf(rule.options).request_review).enabled === true ? [rule] : [],
  };
}

/** Returns how many approvals count, or infinitely many if the rule requires none. */
function countApprovals(rule: Mapping, subject: Subject): number {
  const requires = mappingOf(rule.requires);
  const options = mappingOf(rule.options);
  if (Number(requires.count ?? 0) <= 0) return Number.POSITIVE_INFINITY;
  const commits = relevantCommits(options, subject);
  let candidates = candidatesOf(mappingOf(options.methods), ['👍', ':+1:'], true, 'APPROVED', subject);
  if (options.ignore_edited_comments === true) candidates = candidates.filter(({ edited }) => !edited);
  if (options.invalidate_on_push === true) {
    const [newest] = commits;
    if (newest !== undefined) candidates = candidates.filter(({ time }) => time > newest.pushed);
  }
  const banned = new Set<string>();
  const allows = (name: string): boolean => options[name] === true;
  if (!allows('allow_author') && !allows('allow_contributor')) banned.add(subject.author);
  if (!allows('allow_contributor') && !allows('allow_non_author_contributor')) {
    for (const user of commits.flatMap(usersOf)) if (user !== subject.author) banned.add(user);
  }
  return candidates.filter(({ user }) => !banned.has(user) && isActor(requires, user, subject)).length;
}

const usersOf = ({ author, committer }: Commit): string[] =>
  [author, committer].filter((user) => user !== null);

/** Commits from the head along first parents, without those that the options ignore. */
function relevantCommits(options: Mapping, { commits, ...subject }: Subject): Commit[] {
  const bySha = new Map(commits.map((commit) => [commit.sha, commit]));
  const line: Commit[] = [];
  for (let next = commits.at(-1); next !== undefined; next = bySha.get(next.parents[0] ?? ''))
    line.push(next);
  const ignored = mappingOf(options.ignore_commits_by);
  return line.filter((commit) => {
    const [first = '', second = ''] = commit.parents;
    const isUpdate = commit.parents.length === 2 && commit.viaWeb && bySha.has(first) && !bySha.has(second);
    if (options.ignore_update_merges === true && isUpdate) return false;
    if (isNobody(ignored)) return true;
    const users = usersOf(commit);
    return users.length === 0 || !users.every((user) => isActor(ignored, user, { ...subject, commits }));
  });
}

type Candidate = { readonly user: string; readonly time: number; readonly edited: boolean };

/** The latest matching comment, description or review of each person. Dismissed reviews do not exist for policy-bot. */
function candidatesOf(
  methods: Mapping,
  defaultComments: readonly string[],
  defaultReview: boolean,
  state: 'APPROVED' | 'CHANGES_REQUESTED',
  subject: Subject,
): Candidate[] {
  const comments =
    methods.comments === undefined || methods.comments === null ? defaultComments : listOf(methods.comments);
  const patterns = listOf(methods.comment_patterns);
  const reviewPatterns = listOf(methods.github_review_comment_patterns);
  const byReview = typeof methods.github_review === 'boolean' ? methods.github_review : defaultReview;
  const found: Candidate[] = [];
  const reviewComments = subject.reviews.filter((review) => review.state === 'COMMENTED');
  const texts = [
    ...subject.comments.map(({ author, body, time, edited }) => ({ user: author, body, time, edited })),
    ...reviewComments.map(({ author, body, time }) => ({ user: author, body, time, edited: false })),
  ];
  for (const { body, ...candidate } of texts) {
    if (comments.some((part) => body.includes(part)) || patterns.some((pattern) => matchesGo(pattern, body)))
      found.push(candidate);
  }
  if (listOf(methods.body_patterns).some((pattern) => matchesGo(pattern, subject.body))) {
    found.push({ user: subject.author, time: subject.created, edited: false });
  }
  if (byReview || reviewPatterns.length > 0) {
    for (const review of subject.reviews) {
      if (review.state !== state) continue;
      if (reviewPatterns.length > 0 && !reviewPatterns.some((pattern) => matchesGo(pattern, review.body)))
        continue;
      found.push({ user: review.author, time: review.time, edited: false });
    }
  }
  const latest = new Map<string, Candidate>();
  for (const candidate of found) {
    const other = latest.get(candidate.user);
    if (other === undefined || other.time < candidate.time) latest.set(candidate.user, candidate);
  }
  return [...latest.values()].sort((a, b) => a.time - b.time);
}

function isDisapproved(policy: Mapping, subject: Subject): boolean {
  if (predicatesOf(mappingOf(policy.if)).some((holds) => holds(subject))) return true;
  const requires = mappingOf(policy.requires);
  if (isNobody(requires)) return false;
  const methods = mappingOf(mappingOf(policy.options).methods);
  const last = (
    given: unknown,
    comments: readonly string[],
    state: 'APPROVED' | 'CHANGES_REQUESTED',
  ): Candidate | undefined => {
    // Given methods have no defaults here, unlike those of approval.
    const candidates = isMapping(given)
      ? candidatesOf(given, [], false, state, subject)
      : candidatesOf({}, comments, true, state, subject);
    return candidates.filter(({ user }) => isActor(requires, user, subject)).at(-1);
  };
  const disapproval = last(methods.disapprove, [':-1:', '👎'], 'CHANGES_REQUESTED');
  const revocation = last(methods.revoke, [':+1:', '👍'], 'APPROVED');
  return disapproval !== undefined && (revocation === undefined || disapproval.time > revocation.time);
}

const permissionOrder: readonly Permission[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

function permissionsOf(actors: Mapping): Permission[] {
  const given = listOf(actors.permissions).map((name) => name.toLowerCase() as Permission);
  if (actors.admins === true) given.push('admin');
  if (actors.write_collaborators === true) given.push('write');
  return given;
}

function isNobody(actors: Mapping): boolean {
  return (
    [actors.users, actors.teams, actors.organizations].every((value) => listOf(value).length === 0) &&
    permissionsOf(actors).length === 0
  );
}

function isActor(actors: Mapping, user: string, subject: Subject): boolean {
  if (listOf(actors.users).includes(user)) return true;
  if (listOf(actors.teams).some((name) => membersOf(name, subject).includes(user))) return true;
  if (listOf(actors.organizations).some((name) => name === subject.owner && subject.members.includes(user)))
    return true;
  const own = permissionOrder.indexOf(subject.permissions[user] ?? 'none');
  return own > 0 && permissionsOf(actors).some((permission) => own >= permissionOrder.indexOf(permission));
}

function membersOf(team: string, { owner, teams }: Subject): readonly string[] {
  return team.startsWith(`${owner}/`) ? (teams[team.slice(owner.length + 1)] ?? []) : [];
}

type Predicate = (subject: Subject) => boolean;
const anyMatches = (patterns: unknown, text: string): boolean =>
  listOf(patterns).some((pattern) => matchesGo(pattern, text));

/** Paths as policy-bot has them: a renamed file is a removed and an added one. */
const pathsOf = ({ files }: Subject): string[] =>
  files.flatMap(({ path, status, previous }) =>
    status === 'renamed' && previous !== null ? [previous, path] : [path],
  );

const contributorsOf = ({ author, commits }: Subject): string[] => [
  ...new Set([author, ...commits.flatMap(usersOf)]),
];

function anyPathChanged(given: Mapping, subject: Subject): boolean {
  return pathsOf(subject).some((path) => !anyMatches(given.ignore, path) && anyMatches(given.paths, path));
}

function matchesOne(given: Mapping, text: string): boolean {
  if (listOf(given.matches).length > 0 && anyMatches(given.matches, text)) return true;
  return listOf(given.not_matches).length > 0 && !anyMatches(given.not_matches, text);
}

function compare(expression: unknown, count: number): boolean {
  const [, operator, value] = /^\s*([<>=])[ \t]*([+-]?\d+)\s*$/.exec(String(expression ?? '')) ?? [];
  if (operator === undefined) {
    if (String(expression ?? '').trim() === '') return false;
    throw new Error(`wrong comparison ${expression}`);
  }
  if (operator === '<') return count < Number(value);
  return operator === '>' ? count > Number(value) : count === Number(value);
}

function hasStatuses(names: readonly string[], conclusions: readonly string[], subject: Subject): boolean {
  const latest = new Map<string, string>();
  // A check run hides a status of the same name; an unfinished run has an empty conclusion.
  for (const kind of ['status', 'run'] as const) {
    for (const check of subject.checks) {
      if (check.kind === kind)
        latest.set(check.name, kind === 'run' && check.state === 'pending' ? '' : check.state);
    }
  }
  const allowed = conclusions.length > 0 ? conclusions : ['success'];
  return names.every((name) => allowed.includes(latest.get(name) ?? 'missing'));
}

/** One row for each predicate: what it requires, by its value in the file. */
const predicates: Readonly<Record<string, (value: unknown, subject: Subject) => boolean>> = {
  changed_files: (value, subject) => anyPathChanged(mappingOf(value), subject),
  no_changed_files: (value, subject) => !anyPathChanged(mappingOf(value), subject),
  only_changed_files: (value, subject) => {
    const paths = pathsOf(subject);
    return paths.length > 0 && paths.every((path) => anyMatches(mappingOf(value).paths, path));
  },
  has_author_in: (value, subject) => isActor(mappingOf(value), subject.author, subject),
  has_contributor_in: (value, subject) =>
    contributorsOf(subject).some((user) => isActor(mappingOf(value), user, subject)),
  only_has_contributors_in: (value, subject) =>
    contributorsOf(subject).every((user) => isActor(mappingOf(value), user, subject)),
  author_is_only_contributor: (value, { author, commits }) =>
    commits.every((commit) => commit.author === author && (commit.viaWeb || commit.committer === author)) ===
    (value === true),
  targets_branch: (value, { base }) => anyMatches(mappingOf(value).pattern, base),
  from_branch: (value, { head, headOwner, fork }) =>
    anyMatches(mappingOf(value).pattern, fork ? `${headOwner}:${head}` : head),
  modified_lines: (value, { files }) => {
    const additions = files.reduce((sum, file) => sum + file.additions, 0);
    const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
    const given = mappingOf(value);
    return (
      compare(given.additions, additions) ||
      compare(given.deletions, deletions) ||
      compare(given.total, additions + deletions)
    );
  },
  has_status: (value, subject) =>
    hasStatuses(listOf(mappingOf(value).statuses), listOf(mappingOf(value).conclusions), subject),
  has_successful_status: (value, subject) => hasStatuses(listOf(value), [], subject),
  // A run of a workflow is a check of which the name is the path of the workflow here.
  has_workflow_result: (value, subject) =>
    hasStatuses(listOf(mappingOf(value).workflows), listOf(mappingOf(value).conclusions), subject),
  has_labels: (value, { labels }) => {
    const lower = labels.map((label) => label.toLowerCase());
    return listOf(value).every((label) => lower.includes(label.toLowerCase()));
  },
  repository: (value, { owner, repository }) => matchesOne(mappingOf(value), `${owner}/${repository}`),
  title: (value, { title }) => matchesOne(mappingOf(value), title),
  has_valid_signatures: (value, { commits }) =>
    commits.every(({ verified }) => verified) === (value === true),
  // A signature is of the committer, or of the author if the commit has none; keys are not modelled.
  has_valid_signatures_by: (value, subject) =>
    subject.commits.every(
      ({ verified, committer, author }) =>
        verified && isActor(mappingOf(value), committer ?? author ?? '', subject),
    ),
};

function predicatesOf(section: Mapping): Predicate[] {
  return Object.entries(section).flatMap(([name, value]): Predicate[] => {
    if (value === null || value === undefined) return [];
    const holds = predicates[name];
    if (holds === undefined) throw new Error(`unknown predicate ${name}`);
    return [(subject) => holds(value, subject)];
  });
}

/** Review requests of pending rules. Candidates need a permission of the repository; the author is never asked. */
function selectReviewers(rules: readonly Mapping[], subject: Subject): Effect[] {
  const effects: Effect[] = [];
  for (const rule of rules) {
    const requires = mappingOf(rule.requires);
    const request = mappingOf(mappingOf(rule.options).request_review);
    const mode = String(request.mode ?? 'random-users');
    if (mode === 'teams') {
      for (const name of listOf(requires.teams)) {
        const team = name.startsWith(`${subject.owner}/`) ? name.slice(subject.owner.length + 1) : undefined;
        if (team !== undefined && team in subject.teams && !subject.requestedTeams.includes(team))
          effects.push(`request-review @${team}`);
      }
      continue;
    }
    const wanted = new Set([
      ...listOf(requires.users),
      ...listOf(requires.teams).flatMap((team) => membersOf(team, subject)),
      ...(listOf(requires.organizations).includes(subject.owner) ? subject.members : []),
      ...Object.entries(subject.permissions).flatMap(([user, permission]) =>
        permissionsOf(requires).includes(permission) ? [user] : [],
      ),
    ]);
    const possible = [...wanted]
      .filter((user) => user !== subject.author && (subject.permissions[user] ?? 'none') !== 'none')
      .sort();
    const count = Number(request.count ?? 0) || Number(requires.count ?? 0);
    if (mode === 'all-users' || count >= possible.length) {
      for (const user of possible)
        if (!subject.requestedUsers.includes(user)) effects.push(`request-review ${user}`);
    } else if (count > 0) effects.push(`request-some ${count} ${possible.join(',')}`);
  }
  return [...new Set(effects)];
}
