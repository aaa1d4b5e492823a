/**
 * Configurations whose rules are compared with their bots, and the differences that the report of the importer names.
 * Each configuration is written as people write them, and together they reach the rows of a format that an oracle knows.
 */
import type { Comparison, Difference } from './meaning.ts';
import { mayWrite } from './oracles/standing.ts';
import type { Words } from './oracles/subject.ts';

/** A difference that the importer names: those that `is` describes, for a file whose report has `note`. */
export type Named = {
  readonly note: RegExp;
  readonly is: (difference: Difference) => boolean;
  /** Occurs a few times in 10,000: only a thorough run expects it. */
  readonly isRare?: true;
};

export type FormatRow = Comparison & {
  /** Other occasions on which the format is compared; `named` is for all. */
  readonly also?: readonly Partial<Comparison>[];
  /** Folder of the public files of the format. */
  readonly folder: string;
  /** Path of a configuration in its repository. */
  readonly path: string;
  readonly texts: readonly string[];
  readonly words?: Partial<Words>;
  /** How many times as many subjects, for differences that are rare. */
  readonly times?: number;
  /** Names of statuses of the source that have another name at the forge, which the report names. */
  readonly statuses?: readonly (readonly [source: RegExp, rules: string])[];
  readonly named: readonly Named[];
  /** What the oracle does not model, and why both sides agree there. */
  readonly beyond?: { readonly why: string; readonly is: Named['is'] };
};

const isClosed = ({ subject }: Difference): boolean => subject.state === 'closed';
const isFork = ({ subject }: Difference): boolean => subject.fork;
const effectIs =
  (pattern: RegExp) =>
  ({ effect }: Difference): boolean =>
    pattern.test(effect);
const all =
  (...tests: readonly Named['is'][]): Named['is'] =>
  (difference) =>
    tests.every((test) => test(difference));
const bySource: Named['is'] = ({ side }) => side === 'source';
const byRules: Named['is'] = ({ side }) => side === 'rules';
const merges = effectIs(/^(merge |update-branch|delete-branch)/);
/** An approval that GitHub counts and `approvals` of Reeve does not: of an older commit, or of who is asked again. */
const hasOtherApproval: Named['is'] = ({ subject }) => {
  const head = subject.commits.at(-1)?.sha;
  return subject.reviews.some(
    ({ author, state, commit }) =>
      state === 'APPROVED' && (commit !== head || subject.requestedUsers.includes(author)),
  );
};
const isReviewed: Named['is'] = ({ subject }) => subject.reviews.length > 0;
/** Something happened after the label of stale items was set. */
const isTouched: Named['is'] = ({ subject, source }) =>
  source.some((effect) => effect.startsWith('remove-label ')) && subject.labels.length > 0;

const workflow = (uses: string, inputs: string, on = 'schedule: [{ cron: "30 1 * * *" }]'): string =>
  `on:\n  ${on}\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: ${uses}\n        with:\n${inputs
    .trim()
    .split('\n')
    .map((line) => `          ${line.trim()}`)
    .join('\n')}\n`;

export const rows: readonly FormatRow[] = [
  {
    format: 'labeler',
    oracle: 'labeler',
    occasion: 'state',
    folder: 'labeler',
    path: '.github/labeler.yml',
    texts: [
      `docs:
  - changed-files:
      - any-glob-to-any-file: ['docs/**', '*.md', '!docs/internal/**']
only docs:
  - all:
      - changed-files:
          - all-globs-to-all-files: ['docs/**', '!docs/*.png']
source:
  - any:
      - changed-files:
          - any-glob-to-all-files: ['src/**', 'lib/**']
      - head-branch: ['^feature/', 'fix']
  - base-branch: 'main'
tests:
  - changed-files:
      - all-globs-to-any-file: ['**/*.test.ts', '!old/**']
release:
  - base-branch: ['^release/', 'hotfix']
  - head-branch: ['^release', '-rc$']
both:
  - all:
      - changed-files:
          - any-glob-to-any-file: 'src/{a,b}/**'
          - any-glob-to-any-file: ['**/*.ts', '.github/**']
      - base-branch: ['main', '^m']
`,
      `api:
  - src/api/*
  - any: ['src/**', '!src/web/*']
    all: ['!docs/*']
web: src/web/**
config:
  - '*.json'
  - .github/**
  - '**/[a-c]*.yml'
`,
    ],
    words: {
      paths: [
        'docs/a.md',
        'docs/internal/b.md',
        'docs/x.png',
        'src/a/x.ts',
        'src/b/y.test.ts',
        'src/c.ts',
        'lib/z.js',
        'old/a.test.ts',
        'a.json',
        '.a.json',
        'b/.c.yml',
        'b/c.yml',
        'src/web/i.ts',
        'src/api/i.ts',
        'src/api/deep/i.ts',
        '.github/workflows/x.yml',
      ],
      bases: ['release/1', 'hotfix-1', 'x/release/1'],
      heads: ['feature/a', 'my-fix', 'release-rc', 'a-release'],
    },
    named: [],
  },
  {
    format: 'mergify',
    oracle: 'mergify',
    times: 2,
    occasion: 'state',
    folder: 'mergify',
    path: '.mergify.yml',
    texts: [
      `queue_rules:
  - name: default
    conditions:
      - check-success=build
      - '#changes-requested-reviews-by=0'
pull_request_rules:
  - name: merge updates of dependencies
    conditions:
      - author=dependabot[bot]
      - check-success=build
      - base=main
      - -draft
      - '#approved-reviews-by>=1'
      - label!=do-not-merge
    actions:
      merge:
        method: squash
  - name: queue what is ready
    conditions:
      - label=ready
      - base~=^(main|release/.*)$
    actions:
      queue:
        name: default
        method: merge
  - name: documents
    conditions:
      - files~=^docs/
    actions:
      label:
        add: [documentation]
        remove: [code]
  - name: features
    conditions:
      - or:
          - title~=^feat
          - label=feature
      - -closed
    actions:
      label:
        toggle: [new]
  - name: conflicts
    conditions:
      - conflict
    actions:
      comment:
        message: please resolve the conflict
      label:
        add: [conflict]
  - name: backports
    conditions:
      - merged
      - label=backport
    actions:
      backport:
        branches: [release/1.0]
  - name: branches
    conditions:
      - merged
    actions:
      delete_head_branch: {}
  - name: people
    conditions:
      - '#files<3'
      - base=main
      - -closed
      - author!=bob
    actions:
      assign:
        users: [ada]
      request_reviews:
        users: [bob]
  - name: no work in progress
    conditions:
      - title~=(?i)^wip
      - -closed
    actions:
      close:
        message: come back later
  - name: approve robots
    conditions:
      - author=renovate[bot]
      - check-success=build
      - -closed
    actions:
      review:
        type: APPROVE
  - name: keep up
    conditions:
      - label=keep-up
      - -closed
      - milestone=1.0
    actions:
      update: {}
`,
      `pull_request_rules:
  - name: ready
    conditions:
      - and:
          - approved-reviews-by=@acme/core
          - 'status-success=ci/other'
          - not:
              or:
                - label=hold
                - body~=(?m)^DO NOT MERGE
      - '#commits<4'
      - -conflict
    actions:
      merge:
        method: merge
  - name: size
    conditions:
      - '#files>=3'
      - head~=^fix
      - assignee=ada
      - locked
    actions:
      label:
        add: [large]
  - name: failures
    conditions:
      - check-failure=build
      - -check-pending=ci/other
      - check-skipped!=build
      - number>5
    actions:
      label:
        add: [failing]
  - name: time
    conditions:
      - updated-at<30 days ago
      - created-at>=150 days ago
      - repository-name=widgets
      - review-requested=bob
    actions:
      label:
        add: [quiet]
`,
    ],
    words: {
      labels: [
        'do-not-merge',
        'ready',
        'feature',
        'new',
        'code',
        'documentation',
        'conflict',
        'backport',
        'keep-up',
        'hold',
        'x',
      ],
      heads: ['fix-a', 'topic', 'a-fix'],
      checks: ['build', 'ci/other'],
      paths: ['docs/a.md', 'src/a.ts', 'src/docs/b.md'],
      titles: ['feat: a', 'WIP a', 'wip', 'a wip'],
      bodies: ['DO NOT MERGE', 'x\nDO NOT MERGE y', 'do not merge'],
      bases: ['main', 'release/1.0'],
      logins: ['ada', 'bob', 'dependabot[bot]', 'renovate[bot]', 'eve'],
      teams: ['core'],
      milestones: ['1.0', '2.0'],
    },
    named: [
      {
        note: /a required approval by an account `…\[bot\]` that may not write/,
        isRare: true,
        is: all(
          bySource,
          effectIs(/^update-branch$/),
          ({ subject }) => (subject.protection?.approvals ?? 0) > 0,
          ({ subject }) =>
            subject.reviews.some(
              ({ author, state }) =>
                state === 'APPROVED' && author.endsWith('[bot]') && !mayWrite(subject, author),
            ),
        ),
      },
      {
        note: /a reviewer who requested changes is asked for another review/,
        is: all(byRules, effectIs(/^(merge |update-branch)/), ({ subject }) =>
          subject.reviews.some(
            ({ author, state }) => state === 'CHANGES_REQUESTED' && subject.requestedUsers.includes(author),
          ),
        ),
      },
      {
        note: /an account `…\[bot\]` without write access approves/,
        is: all(bySource, effectIs(/^merge /), ({ subject }) =>
          subject.reviews.some(
            ({ author, state }) =>
              state === 'APPROVED' && /\[bot\]$/.test(author) && !mayWrite(subject, author),
          ),
        ),
      },
      {
        note: /a reviewer who approved is asked for another review/,
        is: all(bySource, effectIs(/^merge /), hasOtherApproval),
      },
      {
        note: /a check that ends as skipped/,
        is: ({ subject }) => subject.checks.some(({ state }) => state === 'skipped'),
      },
      {
        note: /for which the conditions of the queue do not hold yet/,
        is: all(
          bySource,
          effectIs(/^update-branch$/),
          ({ source, subject }) =>
            source.includes('queue default') &&
            (!subject.checks.some(({ name, state }) => name === 'build' && state === 'success') ||
              subject.reviews.some(({ state }) => state === 'CHANGES_REQUESTED')),
        ),
      },
      {
        note: /an account `…\[bot\]` without write access requests changes/,
        is: all(effectIs(/^(merge |update-branch)/), ({ subject }) =>
          subject.reviews.some(
            ({ author, state }) =>
              state === 'CHANGES_REQUESTED' && author.endsWith('[bot]') && !mayWrite(subject, author),
          ),
        ),
      },
      {
        note: /a draft that is behind: Mergify updates/,
        is: all(bySource, effectIs(/^(update|rebase)-branch$/), ({ subject }) => subject.draft),
      },
      {
        note: /one in a repository that does not allow the method/,
        is: all(bySource, effectIs(/^update-branch$/), ({ subject }) => subject.methods.length < 3),
      },
      {
        note: /a person without write access who has reviewed already/,
        is: all(
          bySource,
          ({ effect, subject }) =>
            effect.startsWith('request-review ') &&
            subject.reviews.some(({ author }) => effect === `request-review ${author}`),
        ),
      },
      { note: /the title of a closed pull request is edited/, is: all(isClosed, bySource) },
      {
        note: /the head of a fork|from a fork that is behind/,
        is: all(isFork, effectIs(/^(update|rebase)-branch$/)),
      },
      {
        note: /an approval of an older commit that the branch keeps/,
        is: all(hasOtherApproval, bySource, effectIs(/^(merge |update-branch)/)),
      },
      { note: /a draft in conflict/, is: ({ subject }) => subject.draft && subject.mergeable === false },
      {
        note: /a check that the base branch requires and of which there is no status yet/,
        is: all(
          effectIs(/failing$/),
          ({ subject }) => subject.protection?.checks.includes('ci/other') === true,
        ),
      },
    ],
  },
  {
    format: 'kodiak',
    oracle: 'kodiak',
    times: 3,
    occasion: 'state',
    folder: 'kodiak',
    path: '.kodiak.toml',
    texts: [
      `version = 1
[merge]
method = "squash"
automerge_label = ["merge", "ship it"]
blocking_labels = ["hold"]
blocking_title_regex = "^(WIP|Draft)"
delete_branch_on_merge = true
block_on_reviews_requested = true
notify_on_conflict = true
[update]
autoupdate_label = "keep up"
[approve]
auto_approve_usernames = ["ada"]
`,
      `version = 1
merge.method = "merge"
merge.require_automerge_label = false
merge.blocking_title_regex = ""
update.always = true
update.require_automerge_label = false
update.ignored_usernames = ["bob"]
`,
    ],
    words: {
      labels: ['merge', 'ship it', 'hold', 'keep up', 'kodiak:disabled', 'kodiak: merge.method = "rebase"'],
      checks: ['build', 'ci/other'],
      titles: ['WIP a', 'Draft', 'my WIP'],
      logins: ['ada', 'bob', 'eve'],
    },
    named: [
      {
        note: /behind while a required check is pending/,
        isRare: true,
        is: all(
          bySource,
          effectIs(/^update-branch$/),
          ({ subject }) =>
            !subject.fork &&
            subject.protection?.checks.some(
              (required) =>
                !subject.checks.some(({ name, state }) => name === required && state === 'success'),
            ) === true,
        ),
      },
      {
        note: /a draft in conflict/,
        is: all(({ subject }) => subject.draft, bySource, effectIs(/^(remove-label|comment)/)),
      },
      {
        note: /`block_on_outdated_branch` is off/,
        is: all(byRules, effectIs(/^update-branch$/), ({ subject }) => subject.protection?.strict === false),
      },
      {
        note: /behind a base branch that need not be up to date/,
        is: all(({ subject }) => subject.behind > 0 && subject.protection?.strict === false, merges),
      },
      {
        note: /a fork that is behind|the head of a fork/,
        is: all(isFork, bySource, effectIs(/^update-branch$/)),
      },
      {
        note: /an approval of an older commit that the branch keeps/,
        is: all(hasOtherApproval, bySource, effectIs(/^(merge |update-branch)/)),
      },
      {
        note: /a repository that does not allow the method/,
        is: all(byRules, ({ subject, source }) => source.length === 0 && subject.methods.length < 3),
      },
      {
        note: /the label `kodiak: merge.method/,
        is: ({ subject }) => subject.labels.includes('kodiak: merge.method = "rebase"'),
      },
    ],
  },
  {
    format: 'bulldozer',
    oracle: 'bulldozer',
    occasion: 'state',
    folder: 'bulldozer',
    path: '.bulldozer.yml',
    texts: [
      `version: 1
merge:
  trigger:
    labels: [merge when ready]
    comment_substrings: ["==MERGE=="]
    pr_body_substrings: ["merge me"]
  ignore:
    labels: [do not merge]
    branches: [frozen]
  method: squash
  required_statuses: [ci/other]
  delete_after_merge: true
update:
  trigger:
    labels: [update me]
  ignore:
    labels: [do not update]
`,
      `version: 1
merge:
  ignore:
    labels: [wip]
    branch_patterns: [release/.*]
  method: merge
  branch_method:
    develop: squash
  allow_merge_with_no_checks: true
update:
  ignore_drafts: true
  ignore:
    labels: [wip]
`,
    ],
    words: {
      labels: ['merge when ready', 'do not merge', 'update me', 'do not update', 'wip'],
      comments: ['==MERGE==', 'please ==MERGE== it', 'MERGE'],
      bodies: ['please merge me', 'no'],
      bases: ['main', 'frozen', 'develop', 'release/1.0'],
      checks: ['build', 'ci/other'],
    },
    named: [
      {
        note: /a draft that is behind: Bulldozer updates/,
        is: all(bySource, effectIs(/^update-branch$/), ({ subject }) => subject.draft),
      },
    ],
  },
  {
    format: 'policy-bot',
    oracle: 'policy-bot',
    occasion: 'state',
    folder: 'policy-bot',
    path: '.policy.yml',
    texts: [
      `policy:
  approval:
    - or:
        - and: [owners, size]
        - documents
        - robots
  disapproval:
    requires:
      teams: [acme/core]
approval_rules:
  - name: owners
    requires:
      count: 1
      teams: [acme/core]
      users: [ada]
  - name: size
    if:
      modified_lines:
        total: "> 20"
    requires:
      count: 0
  - name: documents
    if:
      only_changed_files:
        paths: ['^docs/', '\\.md$']
      has_author_in:
        users: [ada, bob]
    requires:
      count: 0
  - name: robots
    if:
      has_author_in:
        users: [renovate-bot]
      targets_branch:
        pattern: ^main$
      title:
        matches: ['^chore']
        not_matches: [major]
      has_labels: [automatic]
      has_successful_status: [ci/other]
    requires:
      count: 0
`,
    ],
    words: {
      teams: ['core'],
      owner: 'acme',
      logins: ['ada', 'bob', 'eve', 'renovate-bot'],
      labels: ['automatic', 'Automatic', 'x'],
      paths: ['docs/a.md', 'README.md', 'src/a.ts', 'src/docs/b.md'],
      titles: ['chore: a', 'chore: major', 'a chore', 'x'],
      checks: ['ci/other'],
      comments: [':+1:', ':-1:', ':+1: and :-1:'],
    },
    named: [
      {
        note: /all rules are skipped, or that a person disapproves/,
        is: ({ source, rules }) =>
          source.some((effect) => / (error|failure)$/.test(effect)) &&
          rules.some((effect) => effect.endsWith(' pending')),
      },
      {
        note: /a review that only comments, with/,
        is: ({ subject }) =>
          subject.reviews.some(({ state, body }) => state === 'COMMENTED' && /:[+-]1:/.test(body)),
      },
    ],
  },
  {
    format: 'stale',
    oracle: 'stale',
    occasion: 'schedule',
    kinds: ['pull', 'issue'],
    folder: 'stale',
    path: '.github/workflows/stale.yml',
    texts: [
      workflow(
        'actions/stale@v9',
        `stale-issue-message: quiet
         stale-pr-message: quiet
         close-issue-message: closed
         days-before-stale: 60
         days-before-close: 7
         days-before-pr-close: -1
         exempt-issue-labels: keep,Security
         exempt-pr-labels: keep
         exempt-all-milestones: true
         exempt-assignees: ada
         exempt-draft-pr: true
         any-of-issue-labels: bug,question
         close-issue-label: rotten`,
      ),
      workflow(
        'actions/stale@v9',
        `days-before-stale: 30
         days-before-close: 14
         stale-issue-label: old
         only-labels: waiting
         remove-stale-when-updated: false
         exempt-milestones: 1.0
         ignore-updates: true
         start-date: 2025-01-01T00:00:00Z`,
      ),
    ],
    words: {
      labels: ['Stale', 'old', 'keep', 'security', 'bug', 'question', 'waiting', 'rotten'],
      milestones: ['1.0', '2.0'],
      logins: ['ada', 'bob', 'eve'],
      oldestDays: 900,
    },
    named: [
      {
        note: /that a person reopens: the action removes the label/,
        is: all(bySource, effectIs(/^remove-label rotten$/)),
      },
      {
        note: /gets a comment: the action removes the label in its next run|gets another label/,
        is: isTouched,
      },
      {
        note: /without activity afterwards: the action never closes it/,
        is: all(byRules, effectIs(/^(close|comment)$/), ({ subject }) => subject.comments.length > 0),
      },
    ],
  },
  {
    format: 'probot-stale',
    oracle: 'probot-stale',
    occasion: 'schedule',
    kinds: ['pull', 'issue'],
    folder: 'probot-stale',
    path: '.github/stale.yml',
    texts: [
      `daysUntilStale: 60
daysUntilClose: 7
exemptLabels: [pinned, security]
onlyLabels: [bug]
staleLabel: wontfix
markComment: quiet
closeComment: closed
exemptMilestones: true
pulls:
  daysUntilStale: 30
  closeComment: false
  exemptAssignees: true
  onlyLabels: []
`,
    ],
    words: { labels: ['wontfix', 'pinned', 'bug', 'Security'], milestones: ['1.0'], oldestDays: 900 },
    named: [],
  },
  {
    format: 'probot-no-response',
    oracle: 'no-response',
    occasion: 'event',
    actions: ['commented'],
    kinds: ['issue', 'pull'],
    also: [{ occasion: 'schedule', kinds: ['issue'] }],
    folder: 'no-response',
    path: '.github/no-response.yml',
    texts: ['daysUntilClose: 14\nresponseRequiredLabel: more-information-needed\ncloseComment: no answer\n'],
    words: { labels: ['more-information-needed', 'bug'], logins: ['ada', 'bob'] },
    named: [],
  },
  {
    format: 'lock-threads',
    oracle: 'lock',
    occasion: 'schedule',
    kinds: ['pull', 'issue'],
    folder: 'lock',
    path: '.github/workflows/lock.yml',
    texts: [
      workflow(
        'dessant/lock-threads@v5',
        `issue-inactive-days: 10
         exclude-any-issue-labels: keep, discussion
         include-all-issue-labels: bug
         include-any-issue-labels: other
         add-issue-labels: locked
         remove-issue-labels: waiting
         issue-comment: locked now
         exclude-issue-created-before: 2025-06-01T00:00:00Z
         pr-inactive-days: 20
         exclude-pr-closed-between: 2026-08-01T00:00:00Z/2026-10-20T00:00:00Z`,
      ),
    ],
    words: { labels: ['keep', 'discussion', 'bug', 'other', 'waiting', 'locked'], oldestDays: 900 },
    named: [],
  },
  {
    format: 'semantic',
    oracle: 'semantic',
    occasion: 'state',
    folder: 'semantic',
    path: '.github/semantic.yml',
    texts: [
      'titleOnly: true\n',
      'titleAndCommits: true\nanyCommit: true\nallowMergeCommits: true\ntypes: [feat, fix, docs]\nscopes: [core, web]\n',
      'commitsOnly: true\nallowRevertCommits: true\n',
      'types: [feat, fix]\n',
    ],
    words: {
      titles: [
        'feat: a',
        'feat(core): a',
        'feat(core, web): a',
        'fix(other): b',
        'feat!: c',
        'x: y',
        'Revert "a"',
        'Merge b',
        'feat:no space',
      ],
    },
    statuses: [[/^status Semantic Pull Request/, 'status Semantic PR']],
    named: [
      {
        note: /two commits of which one is semantic, below a title that is not/,
        is: ({ subject }) => subject.commits.length > 0,
      },
      {
        note: /a title that starts with `Merge`: zeke/,
        is: ({ subject }) => subject.title.startsWith('Merge'),
      },
    ],
  },
  {
    format: 'semantic-title',
    oracle: 'semantic-title',
    occasion: 'state',
    folder: 'semantic-title',
    path: '.github/workflows/title.yml',
    texts: [
      workflow(
        'amannn/action-semantic-pull-request@v5',
        'requireScope: false',
        'pull_request_target: { types: [opened, edited] }',
      ),
    ],
    words: {
      titles: [
        'feat: a',
        'feat(core): a',
        'feat!: c',
        'x: y',
        'feat:no space',
        'feat: ',
        'feat(a, b): c',
        'Feat: a',
      ],
    },
    statuses: [[/^status semantic-title/, 'status reeve/pull-request-title']],
    named: [],
  },
  {
    format: 'auto-assign',
    oracle: 'auto-assign-app',
    occasion: 'event',
    actions: ['opened', 'ready_for_review'],
    folder: 'auto-assign',
    path: '.github/auto_assign.yml',
    texts: [
      'addReviewers: true\naddAssignees: author\nreviewers: [ada, bob, eve]\nnumberOfReviewers: 2\nskipKeywords: [wip, draft]\n',
      'addReviewers: true\naddAssignees: true\nreviewers: [ada, bob]\nassignees: [eve]\nnumberOfReviewers: 0\nnumberOfAssignees: 0\n',
    ],
    words: { logins: ['ada', 'bob', 'eve', 'mallory'], titles: ['WIP a', 'a draft', 'a'] },
    named: [
      {
        note: /the bot asks this person again/,
        is: all(
          isReviewed,
          ({ subject }) => subject.event.action === 'ready_for_review',
          effectIs(/^request-/),
        ),
      },
      {
        note: /never assigns the author, the rule may/,
        is: all(
          byRules,
          effectIs(/^assign /),
          ({ effect, subject }) => effect === `assign ${subject.author.toLowerCase()}`,
        ),
      },
    ],
  },
  {
    format: 'auto-request-review',
    oracle: 'auto-request-review',
    occasion: 'event',
    actions: ['opened'],
    folder: 'auto-request-review',
    path: '.github/auto_request_review.yml',
    texts: [
      `reviewers:
  defaults: [eve]
  groups:
    core: [ada, bob]
  per_author:
    ada: [mallory]
files:
  '**/*.ts': [core]
  'docs/**': [eve]
options:
  ignore_draft: true
  ignored_keywords: [DNR]
  enable_group_assignment: false
`,
    ],
    words: {
      logins: ['ada', 'bob', 'eve', 'mallory'],
      titles: ['DNR a', 'a'],
      paths: ['src/a.ts', 'docs/a.md', 'b.md', '.x/a.ts'],
    },
    named: [],
  },
  {
    format: 'release-drafter',
    oracle: 'release-drafter',
    occasion: 'event',
    actions: ['opened', 'edited', 'synchronize', 'reopened'],
    kinds: ['pull', 'issue'],
    folder: 'release-drafter',
    path: '.github/release-drafter.yml',
    texts: [
      `autolabeler:
  - label: docs
    files: ['*.md', 'docs/**', '/top']
  - label: public
    files: ['open/**', '!open/internal/*']
  - label: bug
    branch: ['/fix\\/.+/']
    title: ['/fix/i', 'hot[fix]']
  - label: feature
    title: ['/^feat/']
    body: ['/JIRA-[0-9]{1,4}/']
`,
    ],
    words: {
      paths: [
        'a.md',
        'x/b.md',
        'docs/a.txt',
        'open/internal/a.txt',
        'open/a',
        'src/docs/a.txt',
        'top',
        'x/top',
      ],
      heads: ['fix/a', 'prefix/', 'hotfix'],
      titles: ['Fix it', 'a hot[fix]', 'feat: a', 'no feat'],
      bodies: ['JIRA-12', 'JIRA-x'],
    },
    named: [{ note: /excludes what others include/, is: all(bySource, effectIs(/^add-label public$/)) }],
  },
  {
    format: 'boring-cyborg',
    oracle: 'boring-cyborg',
    occasion: 'event',
    kinds: ['pull', 'issue'],
    actions: ['opened', 'reopened', 'edited', 'synchronize', 'closed'],
    folder: 'boring-cyborg',
    path: '.github/boring-cyborg.yml',
    texts: [
      `labelPRBasedOnFilePath:
  docs: ['docs/**', '*.rst']
  public: ['open/**', '!open/internal']
  core: ['src/**/*.py', '/setup.py']
verifyTitles:
  titleRegexp: '^(feat|fix):'
  alwaysUsePrTitle: true
firstPRWelcomeComment: welcome
firstIssueWelcomeComment: hello
`,
    ],
    words: {
      paths: [
        'docs/a',
        'open/internal/a',
        'open/a',
        'x/a.rst',
        'src/a.py',
        'src/b/c.py',
        'setup.py',
        'x/setup.py',
      ],
      titles: ['feat: a', 'fix: b', 'x'],
    },
    named: [
      { note: /excludes what others include/, is: all(bySource, effectIs(/^add-label public$/)) },
      {
        note: /a collaborator, or an author with commits|an author with commits in the repository/,
        is: all(byRules, effectIs(/^comment$/)),
      },
    ],
  },
  {
    format: 'first-interaction',
    oracle: 'greetings',
    occasion: 'event',
    kinds: ['pull', 'issue'],
    actions: ['opened', 'edited'],
    folder: 'greetings',
    path: '.github/workflows/greetings.yml',
    texts: [
      workflow(
        'actions/first-interaction@v3',
        'issue_message: hello\npr_message: welcome',
        'issues: { types: [opened] }\n  pull_request_target: { types: [opened] }',
      ),
    ],
    named: [
      {
        note: /the first pull request of an author who has opened an issue/,
        is: all(byRules, ({ subject }) => subject.kind === 'pull' && subject.earlier.issues > 0),
      },
      {
        note: /the second issue of an author|the second pull request of an author/,
        is: all(bySource, effectIs(/^comment$/)),
      },
    ],
  },
  {
    format: 'backport-action',
    oracle: 'backport-action',
    occasion: 'state',
    folder: 'backport-action',
    path: '.github/workflows/backport.yml',
    texts: [
      workflow(
        'korthout/backport-action@v3',
        'github_token: x\nlabel_pattern: ^port to ([^ ]+)$',
        'pull_request_target: { types: [closed] }',
      ),
    ],
    words: {
      labels: ['port to develop', 'port to release/1.0', 'port to nowhere', 'a port to develop'],
      bases: ['main', 'develop', 'release/1.0'],
    },
    beyond: {
      why: 'a pull request with merge commits: the tool fails by default, and the rule asks a person',
      is: all(bySource, ({ subject }) => subject.commits.some(({ parents }) => parents.length > 1)),
    },
    named: [],
  },
  {
    format: 'backportrc',
    oracle: 'backportrc',
    occasion: 'state',
    folder: 'backportrc',
    path: '.backportrc.json',
    texts: [
      '{ "repoOwner": "acme", "repoName": "widgets", "branchLabelMapping": { "^v2.0$": "develop", "^v(\\\\d+).(\\\\d+)$": "release/$1.$2" } }\n',
    ],
    words: { labels: ['v2.0', 'v1.0', 'v3.0', 'v1x0', 'version'], bases: ['main', 'develop', 'release/1.0'] },
    beyond: {
      why: 'a pull request with merge commits: the tool fails by default, and the rule asks a person',
      is: all(bySource, ({ subject }) => subject.commits.some(({ parents }) => parents.length > 1)),
    },
    named: [
      { note: /need more than the part that they name/, is: all(bySource, effectIs(/^backport release/)) },
    ],
  },
];
