/**
 * Compares what imported rules decide with what the bot of the source decides (`oracles/`), on random pull requests and
 * issues: `atForge` makes a subject one that a forge can have, `caseOf` is that subject as the event or item and the
 * facts of a rule test, and `reeveDecision` runs the rules with Reeve's engine and says what they do in the words of the
 * oracles.
 */
import fc from 'fast-check';
import { parse } from 'yaml';
import { runCase } from '../../src/cli/commands/rules/rule-tests.ts';
import type { Entry, SourceFile } from '../../src/import/conversion.ts';
import { formats } from '../../src/import/formats.ts';
import { importFile } from '../../src/import/import-file.ts';
import { createNames, escapeGlob } from '../../src/import/names.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { eventTypeFor, type RuleCase } from '../../src/rules/rule-tests.ts';
import { oracles } from './oracles/oracles.ts';
import { mayWrite, refusalOf } from './oracles/standing.ts';
import { type CheckState, createDraw, makeSubject, type Subject, type Words } from './oracles/subject.ts';

/**
 * What the rules are asked about. `state`: whether a pull request is as the rules want it, whatever event starts them;
 * for bots that judge a pull request anew at each event. `event`: the event of the subject. `schedule`: one item of a
 * sweep.
 */
export type Occasion = 'state' | 'event' | 'schedule';

/** How a format is compared. */
export type Comparison = {
  /** Name of the importer's format, and of the oracle. */
  readonly format: string;
  readonly oracle: keyof typeof oracles;
  readonly occasion: Occasion;
  readonly kinds?: readonly Subject['kind'][];
  /** Events of the subjects. Default for `event`: all that the generator draws. */
  readonly actions?: readonly string[] | undefined;
};

/** Names as `reeve import` has them without a forge and without options. */
export const names = createNames();

/** Imports a configuration as `reeve import` does. */
export async function importText(format: string, source: SourceFile) {
  const found = formats.find(({ name }) => name === format);
  if (found === undefined) throw new Error(`there is no format ${format}`);
  const context = { target: 'operator', names, repository: undefined } as const;
  return importFile(source, { format: found, context, name: 'imported', run: runCase });
}

// Subjects.

/** States of checks that no status of a forge has, by the one that a forge writes instead. */
const stateAtForge: Readonly<Partial<Record<CheckState, CheckState>>> = {
  neutral: 'success',
  cancelled: 'failure',
  timed_out: 'failure',
  action_required: 'failure',
  stale: 'pending',
};

/**
 * Returns the subject as one that a forge can have, for both sides: a check has one status, in a state of the forge;
 * permissions are none, read, write and admin; no draft is merged; nobody approves the own pull request; the forge has computed whether
 * there is a conflict; everything that happens is an update; threads are no part of a protection.
 */
export function atForge(subject: Subject): Subject {
  const checks = new Map(
    subject.checks.map((check) => [
      check.name,
      { ...check, state: stateAtForge[check.state] ?? check.state },
    ]),
  );
  const permissions = Object.entries(subject.permissions).map(
    ([login, permission]) =>
      [login, permission === 'triage' ? 'read' : permission === 'maintain' ? 'write' : permission] as const,
  );
  const times = [subject.comments, subject.reviews].flatMap((list) => list.map(({ time }) => time));
  const pushes = subject.commits.map(({ pushed }) => pushed);
  const updated = Math.max(subject.updated, ...times, ...pushes, ...Object.values(subject.labelled));
  return {
    ...subject,
    checks: [...checks.values()],
    permissions: Object.fromEntries(permissions),
    mergeable: subject.mergeable !== false,
    reviews: subject.reviews.filter(
      ({ author, state }) => author !== subject.author || state === 'COMMENTED',
    ),
    updated,
    closed: subject.closed === null ? null : Math.min(subject.closed, updated),
    protection: subject.protection && { ...subject.protection, resolution: false },
    draft: subject.draft && !subject.merged,
    // A reviewer who is asked has given no opinion yet, or is asked for a new one: an author is asked by nobody.
    requestedUsers: subject.requestedUsers.filter((login) => login !== subject.author),
  };
}

/** Returns the context of the status that a check of GitHub has on the forge: see `createNames`. */
export function contextOf(check: string): string {
  return names
    .check(check)
    .name.replace(/^\* \//, 'CI /')
    .replace(/\\(.)/g, '$1');
}

const instant = (time: number): string => new Date(time).toISOString();
const account = (login: string) => ({ login });
const reviewStates = { APPROVED: 'APPROVED', CHANGES_REQUESTED: 'REQUEST_CHANGES', COMMENTED: 'COMMENT' };
const fileStates = { added: 'added', modified: 'changed', removed: 'deleted', renamed: 'renamed' };
/** The activities of the forge, by those of the subject. */
const activities: Readonly<Record<string, string>> = {
  synchronize: 'synchronized',
  labeled: 'label_updated',
  unlabeled: 'label_updated',
  ready_for_review: 'edited',
  commented: 'created',
};

/** Returns the subject as a case of a rule test. */
export function caseOf(subject: Subject, occasion: Occasion, now: number): RuleCase {
  const isPull = subject.kind === 'pull';
  const full_name = `${subject.owner}/${subject.repository}`;
  const repository = {
    id: 1,
    name: subject.repository,
    full_name,
    owner: account(subject.owner),
    default_branch: subject.defaultBranch,
    allow_merge_commits: subject.methods.includes('merge'),
    allow_squash_merge: subject.methods.includes('squash'),
    allow_rebase: subject.methods.includes('rebase'),
    allow_rebase_explicit: subject.methods.includes('rebase'),
    allow_fast_forward_only_merge: true,
    default_merge_style: subject.methods[0] ?? 'merge',
    private: false,
    archived: false,
    permissions: { admin: true, push: true, pull: true },
  };
  const common = {
    id: subject.number,
    number: subject.number,
    title: subject.title,
    body: subject.body,
    state: subject.state,
    user: account(subject.author),
    labels: subject.labels.map((name, place) => ({ id: place + 1, name })),
    milestone: subject.milestone === null ? null : { id: 1, title: subject.milestone, state: 'open' },
    assignees: subject.assignees.map(account),
    is_locked: subject.locked,
    comments: subject.comments.length,
    created_at: instant(subject.created),
    updated_at: instant(subject.updated),
    closed_at: subject.closed === null ? null : instant(subject.closed),
    html_url: `https://git.example/${full_name}/pulls/${subject.number}`,
    repository,
  };
  const head = subject.commits.at(-1)?.sha ?? 'a'.repeat(40);
  const sum = (of: 'additions' | 'deletions'): number =>
    subject.files.reduce((total, file) => total + file[of], 0);
  const pull = {
    ...common,
    draft: subject.draft,
    merged: subject.merged,
    merged_at: subject.merged && subject.closed !== null ? instant(subject.closed) : null,
    merged_by: subject.mergedBy === null ? null : account(subject.mergedBy),
    merge_commit_sha: subject.merged ? 'c'.repeat(40) : null,
    mergeable: subject.mergeable === true && !subject.draft && subject.state === 'open',
    behind: subject.behind,
    additions: sum('additions'),
    deletions: sum('deletions'),
    changed_files: subject.files.length,
    review_comments: 0,
    requested_reviewers: subject.requestedUsers.map(account),
    requested_reviewers_teams: subject.requestedTeams.map((name, place) => ({ id: place + 1, name })),
    base: { ref: subject.base, label: subject.base, sha: 'b'.repeat(40), repo_id: 1, repo: repository },
    head: {
      ref: subject.head,
      label: subject.head,
      sha: head,
      repo_id: subject.fork ? 2 : 1,
      repo: subject.fork
        ? {
            ...repository,
            id: 2,
            full_name: `${subject.headOwner}/${subject.repository}`,
            owner: account(subject.headOwner),
            fork: true,
          }
        : repository,
    },
    merge_base: 'b'.repeat(40),
  };
  const item = isPull ? pull : common;
  const facts = {
    ...factsOf(subject, head, now),
    repository,
    [isPull ? 'pull_request' : 'issue']: item,
  };
  const rest = {
    name: `${subject.kind} ${subject.number}`,
    line: 1,
    facts,
    others: [],
    now: new Date(now),
    parameters: {},
    expected: {},
  };
  if (occasion === 'schedule') {
    const kind = isPull ? 'pull_request' : 'issue';
    return { ...rest, eventType: 'schedule', item: { kind, value: item } };
  }
  const { event } = subject;
  const action = occasion === 'state' ? 'edited' : (activities[event.action] ?? event.action);
  const isComment = event.action === 'commented' && occasion === 'event';
  const family = isComment
    ? isPull
      ? 'pull_request_comment'
      : 'issue_comment'
    : isPull
      ? 'pull_request'
      : 'issues';
  const made = event.comment;
  return {
    ...rest,
    eventType: eventTypeFor(family, action),
    payload: {
      action,
      number: subject.number,
      [isPull && !isComment ? 'pull_request' : 'issue']: item,
      repository,
      sender: { id: idOf(event.sender), login: event.sender },
      ...(event.action === 'ready_for_review'
        ? { changes: { title: { from: `WIP: ${subject.title}` } } }
        : {}),
      ...(isComment
        ? {
            comment: {
              id: 900,
              body: made?.body ?? '',
              user: { id: idOf(made?.author ?? event.sender), login: made?.author ?? event.sender },
              created_at: instant(now),
              updated_at: instant(now),
            },
          }
        : {}),
    },
  };
}

/** Accounts of events have an id; it is the same for equal logins. */
function idOf(login: string): number {
  return [...login.toLowerCase()].reduce(
    (sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003,
    5_000,
  );
}

function factsOf(subject: Subject, head: string, now: number): Readonly<Record<string, unknown>> {
  const { protection } = subject;
  const official = (login: string): boolean => mayWrite(subject, login);
  const reviews = subject.reviews.map(({ author, state, commit, body, time }, place) => ({
    id: place + 1,
    user: account(author),
    state: state === 'DISMISSED' ? 'APPROVED' : reviewStates[state],
    body,
    commit_id: commit,
    stale: commit !== head,
    official: official(author),
    dismissed: state === 'DISMISSED',
    submitted_at: instant(time),
    updated_at: instant(time),
  }));
  // On the forge, a request for a review is a review.
  const requests = [
    ...subject.requestedUsers.map((login) => ({ user: account(login) })),
    ...subject.requestedTeams.map((name) => ({ user: null, team: { name } })),
  ].map((of, place) => ({
    id: reviews.length + place + 1,
    ...of,
    state: 'REQUEST_REVIEW',
    body: '',
    commit_id: '',
    stale: false,
    official: true,
    dismissed: false,
    submitted_at: instant(subject.updated),
    updated_at: instant(subject.updated),
  }));
  // The latest opinion of each person; a request for a review, which has no time in a subject, came after it.
  const opinions = new Map(
    reviews.filter(({ state }) => state !== 'COMMENT').map((review) => [review.user.login, review] as const),
  );
  const counting = [...opinions.values()].filter(
    ({ user, dismissed }) =>
      !dismissed &&
      user.login !== subject.author &&
      official(user.login) &&
      !subject.requestedUsers.includes(user.login),
  );
  const statuses = subject.checks.map(({ name, state }, place) => ({
    id: place + 1,
    context: contextOf(name),
    status: state,
    description: '',
    target_url: '',
    created_at: instant(now),
    updated_at: instant(now),
    creator: account('ci'),
  }));
  const stateOf = (check: string): string => {
    const found = subject.checks.find(({ name }) => name === check)?.state ?? 'pending';
    return ['success', 'skipped'].includes(found) ? 'success' : found === 'pending' ? 'pending' : 'failure';
  };
  const contexts = (protection?.checks ?? []).map((check) => escapeGlob(contextOf(check)));
  const commits = subject.commits
    .map(({ sha, parents, message, author, committer, verified, pushed }) => ({
      sha,
      created: instant(pushed),
      parents: parents.map((parent) => ({ sha: parent })),
      author: author === null ? null : account(author),
      committer: committer === null ? null : account(committer),
      verification: { verified },
      commit: {
        message,
        author: { name: author ?? 'x', email: `${author ?? 'x'}@example.org`, date: instant(pushed) },
        committer: { name: committer ?? 'x', email: 'x@example.org', date: instant(pushed) },
        verification: { verified, reason: '', signature: '', payload: '' },
      },
      trailers: [],
      files: [],
    }))
    .toReversed();
  const permissionOf = Object.fromEntries(
    Object.entries(subject.permissions).map(([login, permission]) => [
      login,
      { id: idOf(login), permission },
    ]),
  );
  return {
    files: subject.files.map(({ path, status, additions, deletions, previous }) => ({
      filename: path,
      status: fileStates[status],
      additions,
      deletions,
      changes: additions + deletions,
      ...(previous === null ? {} : { previous_filename: previous }),
    })),
    commits,
    reviews: [...reviews, ...requests],
    current_reviews: counting.filter(({ stale }) => !stale),
    approvals: counting.filter(({ state, stale }) => state === 'APPROVED' && !stale),
    rejections: counting.filter(({ state }) => state === 'REQUEST_CHANGES'),
    comments: subject.comments.map(({ author, body, time, edited }, place) => ({
      id: place + 1,
      user: account(author),
      body,
      created_at: instant(time),
      updated_at: instant(edited ? time + 1_000 : time),
    })),
    timeline: timelineOf(subject),
    statuses,
    required_checks: (protection?.checks ?? []).map((check) => ({
      context: escapeGlob(contextOf(check)),
      state: stateOf(check),
    })),
    base_branch: {
      name: subject.base,
      commit: { id: 'b'.repeat(40) },
      protected: protection !== null,
      required_approvals: protection?.approvals ?? 0,
      enable_status_check: contexts.length > 0,
      status_check_contexts: contexts,
      user_can_push: true,
      user_can_merge: true,
      effective_branch_protection_name: protection === null ? '' : subject.base,
    },
    branch_protections:
      protection === null
        ? []
        : [
            {
              rule_name: subject.base,
              branch_name: subject.base,
              required_approvals: protection.approvals,
              block_on_outdated_branch: protection.strict,
              require_signed_commits: protection.signatures,
              dismiss_stale_approvals: protection.dismissStale,
              enable_status_check: contexts.length > 0,
              status_check_contexts: contexts,
            },
          ],
    branches: subject.branches.map((name) => ({ name, protected: false, commit: { id: 'b'.repeat(40) } })),
    head_branch: subject.fork
      ? null
      : {
          name: subject.head,
          sha: head,
          protected: false,
          is_default: subject.head === subject.defaultBranch,
          closed_sha: subject.state === 'closed' ? head : null,
          used_by: subject.targeted.includes(subject.head) ? [99] : [],
        },
    head: { sha: head },
    team: Object.fromEntries(
      Object.entries(subject.teams).map(([team, members]) => [`${subject.owner}/${team}`, members]),
    ),
    team_members: Object.fromEntries(
      Object.entries(subject.teams).map(([team, members]) => [team, members.map(account)]),
    ),
    teams: Object.keys(subject.teams),
    organization_members: subject.members.map(account),
    permission_of: permissionOf,
    collaborator_permissions: Object.entries(subject.permissions)
      .filter(([, permission]) => permission !== 'none')
      .map(([login, permission]) => ({ login, permission })),
    collaborators: Object.entries(subject.permissions)
      .filter(([, permission]) => permission !== 'none')
      .map(([login]) => account(login)),
    assignable: Object.keys(subject.permissions),
    sender_permission: subject.permissions[subject.event.comment?.author ?? subject.event.sender] ?? 'none',
    contributions: subject.earlier.commits,
    first_issue: subject.earlier.issues === 0,
    first_pull_request: subject.earlier.pulls === 0,
    label_definitions: [],
    own_labels: [],
    own_issues: {},
    backports: [],
    reactions: [],
    review_requests: [],
    attachments: [],
    scheduled_merge: subject.autoMerge ? { style: 'merge' } : null,
    milestones: ['1.0', '2.0'].map((title, place) => ({ id: place + 1, title, state: 'open' })),
  };
}

function timelineOf(subject: Subject): readonly object[] {
  const entry = (type: string, time: number, login: string | null, more: object = {}) => ({
    time,
    type,
    created_at: instant(time),
    updated_at: instant(time),
    user: account(login ?? 'x'),
    ...more,
  });
  const entries = [
    ...subject.comments.map(({ time, author, body }) => entry('comment', time, author, { body })),
    ...subject.reviews.map(({ time, author, body }, place) =>
      entry('review', time, author, { body, review_id: place + 1 }),
    ),
    ...subject.commits.map(({ pushed, author, sha }) =>
      entry('pull_push', pushed, author, {
        body: JSON.stringify({ is_force_push: false, commit_ids: [sha] }),
      }),
    ),
    ...Object.entries(subject.labelled).map(([name, time]) =>
      entry('label', time, subject.author, { body: '1', label: { name } }),
    ),
    ...(subject.closed === null
      ? []
      : [entry(subject.merged ? 'merge_pull' : 'close', subject.closed, subject.closedBy)]),
  ];
  // An update without a trace in the subject: a change of the title.
  if (subject.updated > subject.created && !entries.some(({ time }) => time === subject.updated))
    entries.push(entry('change_title', subject.updated, subject.author));
  return entries
    .toSorted((a, b) => a.time - b.time)
    .map(({ time: _, ...rest }, place) => ({ id: place + 1, ...rest }));
}

// Decisions.

/** Rules that run for the state of a pull request, whatever starts them. */
function awake(rules: readonly LoadedRule[]): readonly LoadedRule[] {
  return rules.map((rule) => ({ ...rule, on: [{ family: 'pull_request' }] }));
}

/** Returns what the rules do, in the words of the oracles. Throws if a rule fails for another reason than a missing team. */
export async function reeveDecision(
  rules: readonly LoadedRule[],
  subject: Subject,
  { occasion, now }: { readonly occasion: Occasion; readonly now: number },
): Promise<readonly string[]> {
  const kind = subject.kind === 'pull' ? 'pull_request' : 'issue';
  if (occasion === 'schedule') {
    const visiting = rules.filter(
      ({ schedules, each }) =>
        schedules.length > 0 && each?.some((of) => of.kind === kind && isOf(of, subject)),
    );
    return runRules(visiting, subject, { occasion, now });
  }
  if (occasion === 'event') return runRules(rules, subject, { occasion, now });
  // An event of a rule test has no account of Reeve, and takes the reviews of others for its own: an item has one.
  const isReviewing = ({ steps }: LoadedRule): boolean =>
    steps.some(({ action }) => action.name === 'review');
  const reviewing = rules
    .filter((rule) => isReviewing(rule) && rule.each?.some((of) => of.kind === kind && isOf(of, subject)))
    .map((rule) => ({ ...rule, schedules: [{ cron: '0 0 * * *', timezone: 'UTC' }] }));
  const others = awake(rules.filter((rule) => !isReviewing(rule)));
  return [
    ...(await runRules(others, subject, { occasion, now })),
    ...(await runRules(reviewing, subject, { occasion: 'schedule', now })),
  ];
}

async function runRules(
  rules: readonly LoadedRule[],
  subject: Subject,
  { occasion, now }: { readonly occasion: Occasion; readonly now: number },
): Promise<readonly string[]> {
  if (rules.length === 0) return [];
  const one = caseOf(subject, occasion, now);
  const labels = new Set([...subject.labels, ...labelsOf(rules)]);
  const run = await runCase(
    {
      ...one,
      facts: { ...one.facts, label_definitions: [...labels].map((name, id) => ({ id: id + 1, name })) },
    },
    { path: 'imported.yml', cases: [], rules },
  );
  const failed = run.rules.filter(({ verdict }) => verdict === 'failed');
  for (const { rule, reason } of failed as readonly { readonly rule: string; readonly reason?: string }[]) {
    // A team that does not exist is an error on the forge as well: the rule decides nothing.
    if (/team\b|organization/.test(String(reason)) || failsForTeam(run, rule)) continue;
    // A method that the repository does not allow: both sides merge nothing.
    if (String(reason).includes('does not allow the merge method')) continue;
    throw new Error(
      `${rule} failed: ${reason}; ${JSON.stringify(run.missing?.map(({ gap }) => gap.path ?? gap.request))}`,
    );
  }
  const effects = run.changes.flatMap((change) => effectsOf(change, subject));
  // A branch that goes with a merge stays where the forge refuses the merge.
  const isMerged = subject.merged || effects.some((effect) => effect.startsWith('merge '));
  return effects.filter((effect) => effect !== 'delete-branch' || isMerged || subject.state === 'closed');
}

type CaseRun = Awaited<ReturnType<typeof runCase>>;

function failsForTeam({ missing = [] }: CaseRun, rule: string): boolean {
  const own = missing.filter((one) => one.rule === rule);
  return (
    own.length > 0 && own.every(({ gap }) => /^(team|team_members|permission_of)$/.test(gap.request.name))
  );
}

/** A sweep visits only items in the state of `each`; open ones by default. */
function isOf({ state = 'open' }: { readonly state?: 'open' | 'closed' | 'all' }, subject: Subject): boolean {
  return state === 'all' || state === subject.state;
}

/** All names of labels that the rules may set: texts of their steps. */
function labelsOf(rules: readonly LoadedRule[]): readonly string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') found.push(value);
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        found.push(name);
        visit(inner);
      }
  };
  for (const { steps } of rules)
    for (const { action, arguments: given } of steps)
      if (['set-labels', 'backport'].includes(action.name))
        visit((given as { readonly written?: unknown }).written);
  found.push(...rules.flatMap(({ condition }) => condition?.texts ?? []));
  return found.filter((name) => name.length <= 50);
}

const methods: Readonly<Record<string, string>> = {
  'fast-forward-only': 'fast-forward',
  'rebase-merge': 'rebase-merge',
};

function effectsOf(
  { action, target, value }: CaseRun['changes'][number],
  subject: Subject,
): readonly string[] {
  const rest = target.slice(target.indexOf(':') + 1);
  const merging = (method: string): readonly string[] => {
    const named = methods[method] ?? method;
    // The forge refuses what its protection does not allow.
    return refusalOf(subject, named === 'rebase-merge' ? 'rebase' : named) === undefined
      ? [`merge ${named}`]
      : [];
  };
  switch (action) {
    case 'set-labels':
      return [`${value === true ? 'add' : 'remove'}-label ${rest}`];
    case 'set-issue':
      if (target === 'issue.state') return [value === 'closed' ? 'close' : 'reopen'];
      if (target === 'issue.locked') return [value === true ? 'lock' : 'unlock'];
      if (target.startsWith('assignee:')) return [`${value === true ? 'assign' : 'unassign'} ${rest}`];
      return [`edit ${target.slice('issue.'.length)}`];
    case 'comment':
      return [value === null ? 'delete-comment' : 'comment'];
    case 'request-reviewers':
      return [`request-review ${target.startsWith('team-') ? '@' : ''}${rest}`];
    case 'set-status':
      return [`status ${rest} ${(value as { readonly state: string }).state}`];
    case 'merge':
      return target.startsWith('branch:')
        ? ['delete-branch']
        : merging((value as { readonly method: string }).method);
    case 'queue-merge': {
      const { wish } = value as { readonly wish: { readonly method: string; readonly forks: boolean } };
      // The queue takes out what conflicts.
      if (subject.mergeable === false) return [];
      if (subject.behind === 0) return merging(wish.method);
      return subject.fork && !wish.forks ? [] : ['update-branch'];
    }
    case 'delete-branch':
      return ['delete-branch'];
    case 'update-branch':
      return [(value as { readonly how: string }).how === 'rebase' ? 'rebase-branch' : 'update-branch'];
    case 'backport':
      return target.startsWith('backport:') ? [`backport ${target.slice(target.indexOf(' to ') + 4)}`] : [];
    case 'review':
      if (value === 'APPROVED') return ['approve'];
      if (value === 'REQUEST_CHANGES') return ['request-changes'];
      return [`dismiss-review ${reviewerOf(rest, subject)}`];
    case 'dismiss-stale-reviews':
      return [`dismiss-review ${reviewerOf(rest, subject)}`];
    case 'run-workflow':
      return [`edit run-workflow ${rest.split('@')[0]}`];
    default:
      return [`${action} ${target}`];
  }
}

function reviewerOf(id: string, { reviews }: Subject): string {
  return reviews[Number(id) - 1]?.author ?? id;
}

// Comparison.

/** One effect that only one side has. */
export type Difference = {
  readonly side: 'source' | 'rules';
  readonly effect: string;
  readonly subject: Subject;
  readonly source: readonly string[];
  readonly rules: readonly string[];
};

/**
 * Effects in one form: logins in lower case, each once. A place in a queue is no effect: updates and merges are. What
 * cannot be done is left out: an update in conflict, to reopen what is merged, a backport to its own base.
 */
export function normal(effects: readonly string[], subject: Subject): readonly string[] {
  const all = effects.flatMap((effect) => {
    if (/^(assign|unassign|request-review|dismiss-review|request-some|assign-some) /.test(effect))
      return effect.toLowerCase();
    const isUpdate = effect === 'update-branch' || effect === 'rebase-branch';
    const isImpossible =
      (isUpdate && subject.mergeable === false) ||
      (effect === 'reopen' && subject.merged) ||
      effect === `backport ${subject.base}`;
    return effect.startsWith('queue ') || isImpossible ? [] : [effect];
  });
  return [...new Set(all)];
}

/** Returns the effects that only one side has. So many of a list by chance are equal to as many of the list. */
export function differencesOf(
  source: readonly string[],
  rules: readonly string[],
  subject: Subject,
): readonly Difference[] {
  let [left, right] = [normal(source, subject), normal(rules, subject)];
  for (const some of left.filter((effect) => /^(request|assign)-some /.test(effect))) {
    const [kind = '', count = '0', list = ''] = some.split(' ');
    const verb = kind === 'request-some' ? 'request-review ' : 'assign ';
    const candidates = list.split(',');
    const fitting = right.filter(
      (effect) => effect.startsWith(verb) && candidates.includes(effect.slice(verb.length)),
    );
    const taken =
      kind === 'request-some'
        ? [...subject.requestedUsers, ...subject.requestedTeams.map((team) => `@${team}`)]
        : subject.assignees;
    const open = candidates.filter((one) => !taken.some((other) => other.toLowerCase() === one));
    if (
      fitting.length <= Number(count) &&
      fitting.length >= Math.min(Number(count), open.length) - taken.length
    ) {
      left = left.filter((effect) => effect !== some);
      right = right.filter((effect) => !fitting.includes(effect));
    }
  }
  const both = { subject, source, rules };
  return [
    ...left
      .filter((effect) => !right.includes(effect))
      .map((effect) => ({ side: 'source' as const, effect, ...both })),
    ...right
      .filter((effect) => !left.includes(effect))
      .map((effect) => ({ side: 'rules' as const, effect, ...both })),
  ];
}

export const now = Date.parse('2026-11-28T12:00:00Z');

/** A configuration with its rules, ready to be compared. */
export type Compared = {
  readonly comparison: Comparison;
  readonly text: string;
  readonly words: Words;
  readonly rules: readonly LoadedRule[];
  readonly entries: readonly Entry[];
};

/** Compares on subjects with the seeds from `first`, and calls `note` with each difference. */
export async function compare(
  { comparison, text, words, rules }: Compared,
  { first = 1, count }: { readonly first?: number; readonly count: number },
  note: (difference: Difference) => void,
): Promise<{ readonly effects: number }> {
  const { occasion, kinds = ['pull'], actions, oracle } = comparison;
  const decide = oracles[oracle];
  let effects = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    const subject = subjectOf(seed, words, { occasion, kinds, actions });
    const source = decide(text, subject, now).effects;
    const mine = await reeveDecision(rules, subject, { occasion, now });
    effects += source.length;
    for (const difference of differencesOf(source, mine, subject)) note(difference);
  }
  return { effects };
}

/** Makes the subject of a seed. */
export function subjectOf(
  seed: number,
  words: Words,
  { occasion, kinds = ['pull'], actions }: Pick<Comparison, 'occasion' | 'kinds' | 'actions'>,
): Subject {
  const draw = createDraw(seed ^ 0x5eed);
  const kind = draw.one(kinds);
  const made = makeSubject(seed, words, now, kind);
  const action =
    occasion === 'schedule' ? 'schedule' : actions === undefined ? made.event.action : draw.one(actions);
  // What was opened just now is open, and nobody has seen it.
  const fresh =
    action === 'opened' || action === 'ready_for_review'
      ? { state: 'open', merged: false, mergedBy: null, closed: null, closedBy: null }
      : action === 'closed'
        ? { state: 'closed', closed: made.updated, closedBy: made.closedBy ?? made.event.sender }
        : {};
  const unseen = action === 'opened' ? { reviews: [], comments: [] } : {};
  const comment = made.event.comment ?? {
    author: draw.one([made.author, made.event.sender]),
    bot: false,
    body: 'Here it is.',
    time: made.updated,
    edited: false,
  };
  return atForge({
    ...made,
    ...(fresh as Partial<Subject>),
    ...unseen,
    draft: made.draft && action !== 'ready_for_review',
    event: { ...made.event, action, ...(action === 'commented' ? { comment, sender: comment.author } : {}) },
  });
}

// Words.

/** Returns words of a configuration: its texts as names, sample paths of its globs, and texts that its patterns match. */
export function wordsOf(text: string, more: Partial<Words> = {}, rules: readonly LoadedRule[] = []): Words {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        found.add(name);
        visit(inner);
      }
    else if (value !== null && value !== undefined)
      for (const line of String(value).split('\n')) {
        found.add(line.trim());
        for (const part of line.split(/[,\s]+/)) found.add(part);
      }
  };
  try {
    visit(parse(text, { merge: true }));
  } catch {
    for (const [, quoted = ''] of text.matchAll(/["']([^"']+)["']/g)) found.add(quoted);
  }
  // Without YAML that can be read as such: the quoted texts, as in TOML.
  for (const [, quoted = ''] of text.matchAll(/["']([^"'\n]+)["']/g)) found.add(quoted);
  const conditions = [...found].flatMap((one) => {
    const [, attribute = '', value = ''] =
      /^[-+¬]?#?([a-z-]+)(?:!=|~=|>=|<=|=|:|<|>)\s*(.*)$/.exec(one) ?? [];
    return attribute === ''
      ? []
      : [{ attribute, value: value.replace(/^["']|["']$/g, ''), isPattern: /~=/.test(one) }];
  });
  const valuesOf = (...attributes: readonly string[]): string[] =>
    conditions
      .filter(({ attribute }) => attributes.some((name) => attribute.startsWith(name)))
      .flatMap(({ value, isPattern }) => (isPattern ? samplesOf(value) : [value]));
  const plain = [...found].filter((one) => one !== '' && one.length <= 60 && !/[\n\r]/.test(one));
  const isPath = (one: string): boolean => /[/*.]|^[A-Z][A-Za-z]+$/.test(one) && !/\s|:|^@|\$\{\{/.test(one);
  const paths = plain.filter(isPath).flatMap(samplePaths);
  const isPattern = (one: string): boolean => /[\\^$*+?|[(]/.test(one);
  const samples = plain.filter((one) => isPattern(one) || /^\/.+\/[a-z]*$/.test(one)).flatMap(samplesOf);
  const isLogin = (one: string): boolean =>
    /^@?[A-Za-z0-9][A-Za-z0-9-]*(\[bot\])?$/.test(one) && one.length < 30;
  const teams = plain.filter((one) => /^@?[\w-]+\/[\w-]+$/.test(one)).map((one) => one.replace('@', ''));
  const limited = <Item>(items: readonly Item[], most: number): Item[] => [...new Set(items)].slice(0, most);
  // Names of labels differ in more than case, as at GitHub; those of the rules come first.
  const differing = (items: readonly string[]): string[] =>
    [...new Map(items.toReversed().map((one) => [one.toLowerCase(), one])).values()].toReversed();
  const own = labelsOf(rules);
  return {
    labels: limited(
      differing([
        ...own,
        ...valuesOf('label'),
        ...(more.labels ?? []),
        ...plain.filter((one) => one.length <= 50),
        ...samples.filter((one) => one.length <= 50),
      ]),
      60,
    ),
    paths: limited(
      [
        ...valuesOf('files'),
        ...(more.paths ?? []),
        ...paths,
        ...samples.filter((one) => /^[\w./-]+$/.test(one)),
        'README.md',
        '.github/workflows/ci.yml',
        'src/a b.ts',
        'deep/er/file.txt',
      ].filter(isPathOfGit),
      80,
    ),
    bases: limited(
      ['main', ...valuesOf('base'), ...(more.bases ?? []), 'master', 'develop', 'release/1.0'],
      12,
    ),
    heads: limited(
      [
        'topic',
        ...valuesOf('head'),
        ...(more.heads ?? []),
        ...samples.filter((one) => /^[\w/.-]+$/.test(one)),
        'feature/x',
        'fix-a',
      ],
      20,
    ),
    logins: limited(
      [
        'ada',
        'bob',
        'eve',
        ...(more.logins ?? []),
        ...valuesOf('author', 'approved', 'review-requested').filter(isLogin),
        ...plain.filter((one) => isLogin(one) && /\[bot\]|[A-Z0-9-]/.test(one)).slice(0, 6),
        'mallory',
      ],
      14,
    ).map((one) => one.replace('@', '')),
    checks: limited([...valuesOf('status-', 'check-'), ...(more.checks ?? []), 'build', 'ci/other'], 14),
    teams: limited([...(more.teams ?? []), ...teams.map((team) => team.split('/')[1] ?? '')], 6),
    titles: limited(
      [...valuesOf('title'), ...(more.titles ?? []), ...samples, 'fix(core): a thing', 'docs: x', 'no type'],
      40,
    ),
    bodies: limited([...valuesOf('body'), ...(more.bodies ?? []), ...samples, ...plain], 40),
    comments: limited([...(more.comments ?? []), ...samples, ...plain], 30),
    milestones: limited([...valuesOf('milestone'), ...(more.milestones ?? [])], 6),
    owner:
      more.owner ?? (teams.length > 0 && text.includes('/') ? (teams[0]?.split('/')[0] ?? 'acme') : 'acme'),
    ...(more.oldestDays === undefined ? {} : { oldestDays: more.oldestDays }),
  };
}

function isPathOfGit(path: string): boolean {
  return path.length < 100 && path.split('/').every((part) => !['', '.', '..'].includes(part));
}

/** Returns paths that a glob matches, and some that it nearly does. */
function samplePaths(glob: string): string[] {
  const plain = glob.replace(/^!+/, '').replace(/^\//, '');
  const fill = (stars: string, star: string): string =>
    plain
      .replace(/\{([^{},]*)[^{}]*\}/g, '$1')
      .replace(/[@?+*!]\(([^()|]*)[^()]*\)/g, '$1')
      .replace(/\*\*\//g, stars === '' ? '' : `${stars}/`)
      .replace(/\*\*/g, `${stars === '' ? '' : `${stars}/`}x.md`)
      .replace(/\*/g, star)
      .replace(/\?/g, 'q')
      .replace(/\[!?([^\]])[^\]]*\]/g, '$1')
      .replace(/\\(.)/g, '$1')
      .replace(/\/$/, '/x');
  const one = fill('', 'x');
  return [
    one,
    fill('a/b', 'y'),
    fill('.hidden', '.z'),
    `${one}/inner`,
    `other/${one}`,
    one.toUpperCase(),
  ].filter((path) => path !== '' && path.length < 100 && !path.endsWith('/') && !path.includes('//'));
}

/** Returns texts that a regular expression matches; none if it is no expression of JavaScript. */
function samplesOf(pattern: string): string[] {
  const [, body = pattern, flags = ''] = /^\/(.+)\/([gimsuy]*)$/.exec(pattern) ?? [];
  try {
    const regex = new RegExp(body.replace(/^\(\?i\)/, ''), flags.replace(/[gy]/g, ''));
    return fc
      .sample(fc.stringMatching(regex), { seed: 7, numRuns: 3 })
      .filter((one) => one.length <= 80 && /^[\x20-\x7e]*$/.test(one));
  } catch {
    return [];
  }
}
