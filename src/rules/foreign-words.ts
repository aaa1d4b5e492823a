/**
 * Tables of words from other systems (GitHub and its workflows, Mergify, JavaScript, Python, templates) that people
 * write in rule files and expressions, with their equivalents in Reeve. Messages about unknown words consult these
 * tables before suggesting similar words.
 */

function words<T = string>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table));
}

/** Equivalents of a function of another system, for text and for lists. */
type ForeignFunction = { readonly text?: string; readonly list?: string };

const search = { text: 'contains', list: 'exists' } as const;
const pattern = { text: 'matches' } as const;
const count = { text: 'size', list: 'size' } as const;

/** Functions of JavaScript, Python, Jinja and Go templates, with their equivalents for text and for lists. */
export const foreignFunctions = words<ForeignFunction>({
  includes: search,
  contain: search,
  has: search,
  some: { list: 'exists' },
  any: { list: 'exists' },
  every: { list: 'all' },
  each: { list: 'all' },
  find: { list: 'filter' },
  where: { list: 'filter' },
  select: { list: 'filter' },
  forEach: { list: 'map' },
  flatMap: { list: 'flatten' },
  reduce: { list: 'sum' },
  unique: { list: 'distinct' },
  uniq: { list: 'distinct' },
  match: pattern,
  test: pattern,
  regex: pattern,
  regexMatch: pattern,
  search: pattern,
  fnmatch: { text: 'glob' },
  like: { text: 'glob' },
  toLowerCase: { text: 'lower' },
  lowercase: { text: 'lower' },
  upper: { text: 'upperAscii' },
  toUpperCase: { text: 'upperAscii' },
  strip: { text: 'trim' },
  substr: { text: 'substring' },
  slice: { text: 'substring' },
  replaceAll: { text: 'replace' },
  length: count,
  len: count,
  count,
  str: { text: 'string' },
  toString: { text: 'string' },
  parseInt: { text: 'int' },
  number: { text: 'int' },
  date: { text: 'timestamp' },
});

const statusFunctions =
  'a rule has no job before it: leave this out, or read the fact statuses for the state of checks';

/** Functions of workflow files that have no equivalent in Reeve. */
export const workflowFunctions = words({
  always: statusFunctions,
  success: statusFunctions,
  failure: statusFunctions,
  cancelled: statusFunctions,
  fromJSON: 'values are data already',
  toJSON: 'values are data already',
  now: 'now is a value: write now',
});

/** Names from other systems, with their equivalents. */
export const foreignNames = words({
  undefined: 'null',
  None: 'null',
  nil: 'null',
  True: 'true',
  False: 'false',
  pr: 'pull_request',
  mr: 'pull_request',
  merge_request: 'pull_request',
  repo: 'repository',
  github: 'event',
  gitea: 'event',
  forgejo: 'event',
  payload: 'event',
  context: 'event',
  actor: 'sender.login',
  user: 'sender.login',
  author: 'pull_request.user.login',
  permission: 'sender_permission',
  changed_paths: 'files',
  approved_reviews: 'approvals',
  changes_requested: 'rejections',
  checks: 'statuses',
});

/** Contexts of workflow files that have no equivalent in Reeve. */
export const workflowContexts = new Set([
  'env',
  'vars',
  'secrets',
  'inputs',
  'steps',
  'jobs',
  'needs',
  'matrix',
]);

/** Members of other APIs, with their equivalents. */
export const foreignMembers = words({
  author: 'user.login',
  sender: 'user.login',
  branch: 'head.ref',
  head_ref: 'head.ref',
  base_ref: 'base.ref',
  sha: 'head.sha',
  description: 'body',
  name: 'title',
  username: 'login',
  path: 'filename',
  isDraft: 'draft',
});

/** Operators of other languages. */
export const foreignOperators = words({
  and: '&&',
  or: '||',
  not: '!',
  is: '==',
  AND: '&&',
  OR: '||',
  NOT: '!',
});

/** Syntax of other languages that is found near a parse error, with its equivalent. */
export const foreignSigns: readonly (readonly [RegExp, string])[] = [
  [
    /=>/,
    'there are no arrow functions: a loop names its variable first, as in files.exists(f, f.filename == "…")',
  ],
  [/\?\./, 'there is no ?. here: ask with has(…) first'],
  [/\?\?/, 'there is no ?? here: write has(x) ? x : "…"'],
  [/~/, 'a pattern is matched with text.matches("…"), a glob with text.glob("…")'],
  [/`/, 'text is written in double or single quotes'],
  [/(?:^|[(\s!])\/[^/\s]/, 'a pattern is text: write text.matches("…") with an RE2 pattern'],
  [/[^|]\|(?!\|)/, 'and is written &&, or is written ||; there are no filters: write x.lower()'],
  [/;/, 'an expression has no ";"'],
];

/** Names of events in other systems, with their equivalents. */
export const foreignEventWords = words({
  synchronize: 'synchronized',
  labeled: 'label_updated',
  unlabeled: 'label_updated',
  milestone: 'milestoned',
  ready_for_review: 'edited',
  converted_to_draft: 'edited',
  submitted: 'approved',
  CHANGES_REQUESTED: 'REQUEST_CHANGES',
  COMMENTED: 'COMMENT',
  DISMISSED: 'REQUEST_CHANGES',
  pull_request_target: 'pull_request',
  issue: 'issues',
  merge_request: 'pull_request',
  cron: 'schedule',
  comment: 'issue_comment',
  review: 'pull_request_review',
  check_run: 'status',
  check_suite: 'status',
  tag: 'create',
});

/** Names for schedules in other systems, with the equivalent cron expressions. */
export const foreignSchedules = words({
  hourly: '17 * * * *',
  daily: '17 3 * * *',
  nightly: '17 3 * * *',
  midnight: '17 0 * * *',
  weekly: '17 3 * * 1',
  monthly: '17 3 1 * *',
  yearly: '17 3 1 1 *',
});

/** Names of actions in other systems, with the names used in Reeve. */
export const actionsElsewhere = words({
  label: 'set-labels',
  labels: 'set-labels',
  'add-label': 'set-labels',
  'add-labels': 'set-labels',
  'remove-label': 'set-labels',
  'actions/labeler': 'set-labels',
  assign: 'set-issue',
  close: 'set-issue',
  'close-issue': 'set-issue',
  'actions/stale': 'set-issue',
  lock: 'set-issue',
  milestone: 'set-issue',
  milestones: 'sync-milestones',
  'rename-repository': 'sync-repository',
  archive: 'sync-repository',
  request_reviews: 'request-reviewers',
  'request-review': 'request-reviewers',
  assign_reviewers: 'request-reviewers',
  dismiss_reviews: 'dismiss-stale-reviews',
  status: 'set-status',
  post_check: 'set-status',
  queue: 'queue-merge',
  automerge: 'merge',
  update: 'update-branch',
  rebase: 'update-branch',
  delete_head_branch: 'delete-branch',
  copy: 'backport',
  'cherry-pick': 'backport',
  'create-pull-request': 'open-pull-request',
  'create-issue': 'report-issue',
  reaction: 'react',
  webhook: 'notify',
  slack: 'notify',
  'dispatch-workflow': 'run-workflow',
});

/** Parameter types in other systems, with the types used in Reeve. */
export const typesElsewhere = words({
  integer: 'int',
  number: 'int',
  text: 'string',
  str: 'string',
  boolean: 'bool',
  array: 'list',
  strings: 'list',
  choice: 'string',
});

const ruleInFile = 'rules have names: write "rules:", below it the name of the rule, and this below the name';
const ofWorkflow = 'this is a key of workflow files; a rule file has "version: 1" and "rules:"';
const inStep = 'this belongs to a step: write "steps:" and "- uses: …" with its "with:" below';
const underOn = 'write it below "on", as in on: { schedule: "17 3 * * *" }';
const repositoriesInScope = 'the repositories of a rule are listed under "in": ["acme/*"]';
const itemOfSweep = 'the item of a sweep is given as item: { pull_request: { number: 1, … } }';

/** Keys of other systems, and Reeve's own keys in the wrong place, with the remedy, also for a misspelt one. */
export const keysElsewhere = {
  file: words({
    on: ruleInFile,
    if: ruleInFile,
    each: ruleInFile,
    steps: ruleInFile,
    rule: 'the key is "rules", a map of names to rules',
    name: 'a file has no name; each rule has one, as its key below "rules"',
    jobs: ofWorkflow,
    env: ofWorkflow,
    permissions: ofWorkflow,
    pull_request_rules: 'the key is "rules", a map of names to rules with "on", "if" and "steps"',
    queue_rules: 'the key is "rules", a map of names to rules with "on", "if" and "steps"',
    repository: repositoriesInScope,
    repositories: repositoriesInScope,
    schedule: 'a schedule belongs to the "on" of a rule',
    grants: 'grants are settings of the operator file',
    cases: 'this is a rule test: its file ends in .test.yml',
  }),
  rule: words({
    name: 'the name of a rule is its key below "rules"',
    conditions: 'conditions are one expression under "if", joined with && and ||',
    condition: 'the condition is written under "if"',
    when: 'the condition is written under "if"; "when" is an argument of some actions',
    unless: 'write the opposite under "if", as in if: "!pull_request.draft"',
    actions: 'actions are a list under "steps": "- uses: set-labels" with its "with:" below',
    action: 'actions are a list under "steps": "- uses: set-labels" with its "with:" below',
    uses: inStep,
    with: inStep,
    run: 'a rule runs no commands; run-workflow starts a workflow that does',
    repository: repositoriesInScope,
    repositories: repositoriesInScope,
    schedule: underOn,
    cron: underOn,
    branches: 'filters belong to an event, as in on: { push: { branches: [main] } }',
    paths: 'filters belong to an event, as in on: { pull_request: { paths: ["src/**"] } }',
    types: 'activities belong to an event, as in on: { pull_request: [opened] }',
    enabled: 'to stop a rule from writing, say mode: observe',
    disabled: 'to stop a rule from writing, say mode: observe',
    dry_run: 'to stop a rule from writing, say mode: observe',
    'dry-run': 'to stop a rule from writing, say mode: observe',
    permissions:
      'access comes from the token of Reeve, grants are settings of the operator file; whose comments a rule obeys is its "permission"',
    'runs-on': ofWorkflow,
  }),
  step: words({
    run: 'a step runs no commands: it names an action under "uses"',
    when: 'the condition of a step is "if"; "when" is an argument of some actions and belongs below "with"',
    args: 'arguments are written under "with"',
    id: 'a step has a "name", and no outputs',
    env: 'arguments are written under "with"',
    each: '"each" belongs to the rule',
    on: '"on" belongs to the rule',
  }),
  case: words({
    each: itemOfSweep,
    on: 'the event is given as event: { kind: pull_request, activity: opened, payload: { … } }',
    given: 'values of facts are given under "facts"',
    changes: 'this belongs below "expect"',
    verdicts: 'this belongs below "expect"',
    payload: 'this belongs below "event"',
    pull_request: itemOfSweep,
    issue: itemOfSweep,
  }),
  event: words({
    each: `${itemOfSweep}, instead of an event`,
    action: 'the activity is given as "activity"',
    type: 'the family is given as "kind", as in kind: pull_request',
    types: 'the activity is given as "activity"',
    pull_request: 'the event is { kind: pull_request, activity: opened, payload: { … } }',
  }),
};
