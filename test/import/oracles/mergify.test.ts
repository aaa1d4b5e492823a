import { describe, expect, it } from 'vitest';
import { decide, holds } from './mergify.ts';
import { type Check, changed, DAY, plainPull, type Review, type Subject } from './subject.ts';

const now = Date.parse('2026-03-04T12:30:00Z'); // A Wednesday.
const review = (author: string, state: Review['state']): Review => ({
  author,
  state,
  commit: '',
  body: '',
  time: 0,
});
const check = (state: Check['state'], kind: Check['kind'] = 'run', name = 'ci: build'): Check => ({
  name,
  kind,
  state,
});
const pull = (more: Partial<Subject> = {}): Subject =>
  plainPull({
    teams: { core: ['bob'] },
    labels: ['bug', 'Ready'],
    permissions: { bob: 'write', cleo: 'read' },
    files: [changed('src/a.ts'), changed('README.md')],
    ...more,
  });

describe('conditions', () => {
  it.each([
    ['base=main', {}, true],
    ['base:main', {}, true],
    ['base==main', {}, true],
    [' base = main ', {}, true],
    ['base!=main', {}, false],
    ['base≠main', {}, false],
    ['-base=main', {}, false],
    ['¬base=main', {}, false],
    ['+base=main', {}, true],
    ['base~=^ma', {}, true],
    ['base~=ain$', {}, true],
    ['head~=^(feature|topic)$', {}, true],
    ['title~=(?i)^add', {}, true],
    ['title~=^add', {}, false],
    ['author=ada', {}, true],
    ['author=@core', { author: 'bob' }, true],
    ['author=@acme/core', { author: 'bob' }, true],
    ['author!=@core', { author: 'bob' }, false],
    ['author=@gone', {}, false],
    ['-author=@gone', {}, false],
    ['author!=@gone', {}, false],
    ['author=renovate[bot]', { author: 'renovate[bot]' }, true],
    ['label=bug', {}, true],
    ['label=ready', {}, false],
    ['label!=bug', {}, false],
    ['label!=other', {}, true],
    ['-label=other', {}, true],
    ['label~=^b', {}, true],
    ['-label~=^b', {}, false],
    ['label="do not merge"', { labels: ['do not merge'] }, true],
    ['#label>=2', {}, true],
    ['#label=0', {}, false],
    ['#label<2', {}, false],
    ['files=README.md', {}, true],
    ['files~=^docs/', {}, false],
    ['-files~=^src/', {}, false],
    ['#files≤2', {}, true],
    ['#title>3', {}, true],
    ['number=7', {}, true],
    ['number>100', {}, false],
    ['milestone=1.0', { milestone: '1.0' }, true],
    ['milestone=1.0', {}, false],
    ['milestone!=1.0', {}, true],
    ['-draft', {}, true],
    ['draft', { draft: true }, true],
    ['-merged', {}, true],
    ['merged', { merged: true, state: 'closed' }, true],
    ['-closed', { state: 'closed' }, false],
    ['conflict', { mergeable: false }, true],
    ['-conflict', { mergeable: null }, true],
    ['locked', { locked: true }, true],
    ['linear-history', {}, true],
    ['#commits-behind>0', { behind: 2 }, true],
    ['#commits=1', {}, true],
    ['body~=words', {}, true],
    ['body~=secret', { body: 'a <!-- secret --> b' }, false],
    ['body-raw~=secret', { body: 'a <!-- secret --> b' }, true],
    ['assignee=bob', { assignees: ['bob'] }, true],
    ['assignee=@core', { assignees: ['bob'] }, false],
    ['review-requested=@core', { requestedTeams: ['core'] }, true],
    ['review-requested=@acme/core', { requestedTeams: ['core'] }, true],
    ['review-requested=@core', { requestedUsers: ['bob'] }, false],
    ['merged-by=@core', { mergedBy: 'bob' }, false],
    ['approved-reviews-by=bob', { reviews: [review('bob', 'APPROVED')] }, true],
    ['approved-reviews-by=@core', { reviews: [review('bob', 'APPROVED')] }, true],
    ['#approved-reviews-by>=1', { reviews: [review('cleo', 'APPROVED')] }, false],
    ['#approved-reviews-by>=1', { reviews: [review('helper[bot]', 'APPROVED')] }, true],
    [
      '#approved-reviews-by=0',
      { reviews: [review('bob', 'APPROVED'), review('bob', 'CHANGES_REQUESTED')] },
      true,
    ],
    ['#approved-reviews-by=1', { reviews: [review('bob', 'APPROVED'), review('bob', 'COMMENTED')] }, true],
    ['#changes-requested-reviews-by=0', {}, true],
    ['#commented-reviews-by=1', { reviews: [review('bob', 'COMMENTED')] }, true],
    ['check-success=ci: build', { checks: [check('success')] }, true],
    ['status-success=ci: build', { checks: [check('success', 'status')] }, true],
    ['check-success=ci: build', { checks: [check('neutral')] }, false],
    ['check-success-or-neutral=ci: build', { checks: [check('neutral')] }, true],
    ['check-skipped=ci: build', { checks: [check('skipped')] }, true],
    ['check-failure=ci: build', { checks: [check('cancelled')] }, true],
    ['check-failure=ci: build', { checks: [check('error', 'status')] }, true],
    ['#check-failure=0', { checks: [check('timed_out')] }, false],
    ['check-pending=ci: build', { checks: [check('pending')] }, true],
    [
      'check-pending=needed',
      {
        protection: {
          approvals: 0,
          checks: ['needed'],
          strict: false,
          signatures: false,
          resolution: false,
          dismissStale: false,
        },
      },
      true,
    ],
    ['check-success~=^ci', { checks: [check('success')] }, true],
    ['check-success=ci: build', { checks: [check('success', 'run'), check('failure', 'status')] }, false],
    ['#review-threads-unresolved=0', { unresolvedThreads: 1 }, false],
    ['updated-at<2 days ago', { updated: now - 3 * DAY }, true],
    ['updated-at<2 days ago', { updated: now - DAY }, false],
    ['updated-at>=2 days 01:00 ago', { updated: now - 2 * DAY }, true],
    ['created-at<2026-02-01T00:00', { created: Date.parse('2026-01-01T00:00:00Z') }, true],
    ['closed-at<1 days ago', {}, false],
    ['current-time>=12:30', {}, true],
    ['current-time<=12:29', {}, false],
    ['current-time>=14:00[Asia/Tokyo]', {}, true],
    ['current-day-of-week=Wed', {}, true],
    ['current-day=4', {}, true],
    ['current-month>=4', {}, false],
    ['schedule=Mon-Fri', {}, true],
    ['schedule!=Mon-Fri', {}, false],
    ['schedule=Sat-Sun', {}, false],
    ['schedule=Mon-Fri 09:00-18:00', {}, true],
    ['schedule=Mon-Fri 09:00-12:00', {}, false],
    ['schedule=09:00-14:00[Europe/Paris]', {}, true],
    ['schedule=Mon-Fri 14:00-18:00[Europe/Paris]', {}, false],
  ] as const)('%s with %j is %s', (condition, more, expected) => {
    expect(holds(condition, pull(more as unknown as Partial<Subject>), now)).toBe(expected);
  });

  it.each([
    [{ and: ['base=main', '-draft'] }, true],
    [{ or: ['base=dev', '-draft'] }, true],
    [{ or: [{ and: ['base=dev', '-draft'] }, 'label=x'] }, false],
    [{ not: { or: ['base=dev', 'label=x'] } }, true],
  ])('%j is %s', (condition, expected) => {
    expect(holds(condition, pull(), now)).toBe(expected);
  });

  it.each(['nothing=1', 'base', 'draft=1', '#label=many', { xor: [] }, 'schedule=Foo-Bar'])(
    'refuses %j',
    (condition) => {
      expect(() => holds(condition, pull(), now)).toThrow();
    },
  );
});

const run = (rules: unknown, more: Partial<Subject> = {}, file: object = {}): readonly string[] =>
  decide(JSON.stringify({ pull_request_rules: rules, ...file }), pull(more), now).effects;
const when = (actions: unknown, conditions: readonly unknown[] = ['base=main']) => [
  { name: 'r', conditions, actions },
];

describe('actions', () => {
  const protection = {
    approvals: 0,
    checks: ['build'],
    strict: false,
    signatures: false,
    resolution: false,
    dismissStale: false,
  };
  it.each([
    [
      'label',
      when({ label: { add: ['new', 'BUG'], remove: ['ready', 'gone'] } }),
      {},
      ['add-label new', 'remove-label Ready'],
    ],
    [
      'label remove_all',
      when({ label: { remove_all: true } }),
      {},
      ['remove-label bug', 'remove-label Ready'],
    ],
    ['label toggle on', when({ label: { toggle: ['new'] } }), {}, ['add-label new']],
    ['label toggle off', when({ label: { toggle: ['bug'] } }, ['base=dev']), {}, ['remove-label bug']],
    [
      'nothing for a rule that does not match',
      when({ label: { add: ['new'] } }, ['base=main', 'label=x']),
      {},
      [],
    ],
    [
      'everything for a rule without conditions',
      when({ label: { add: ['new'] } }, []),
      {},
      ['add-label new'],
    ],
    ['comment', when({ comment: { message: 'hi' } }), {}, ['comment']],
    ['close', when({ close: {} }), {}, ['close', 'comment']],
    ['no close of a closed one', when({ close: {} }), { state: 'closed' }, []],
    [
      'assign',
      when({ assign: { users: ['{{author}}'], add_users: ['bob'], remove_users: ['cleo'] } }),
      { assignees: ['bob', 'cleo'] },
      ['assign ada', 'unassign cleo'],
    ],
    [
      'request reviews',
      when({ request_reviews: { users: ['ada', 'bob', 'dan'], teams: ['@acme/core'] } }),
      { requestedUsers: ['dan'] },
      ['request-review bob', 'request-review @core'],
    ],
    [
      'request no review of a reviewer',
      when({ request_reviews: { users: ['bob'] } }),
      { reviews: [review('bob', 'COMMENTED')] },
      [],
    ],
    [
      'request some',
      when({ request_reviews: { users: { Bob: 2, dan: 1 }, random_count: 1 } }),
      {},
      ['request-some 1 bob,dan'],
    ],
    [
      'dismiss on a push',
      when({ dismiss_reviews: {} }),
      { reviews: [review('bob', 'APPROVED')], event: { action: 'synchronize', sender: 'ada' } },
      ['dismiss-review bob'],
    ],
    ['dismiss nothing else', when({ dismiss_reviews: {} }), { reviews: [review('bob', 'APPROVED')] }, []],
    [
      'dismiss no approvals',
      when({ dismiss_reviews: { approved: false } }),
      { reviews: [review('bob', 'APPROVED')], event: { action: 'synchronize', sender: 'ada' } },
      [],
    ],
    ['merge', when({ merge: { method: 'squash' } }), {}, ['merge squash']],
    ['merge no draft', when({ merge: {} }), { draft: true }, []],
    ['merge what the protection allows', when({ merge: {} }), { protection }, []],
    [
      'merge once',
      [...when({ merge: { method: 'squash' } }), ...when({ merge: { method: 'rebase' } })],
      {},
      ['merge squash'],
    ],
    ['merge no closed one', when({ merge: {} }), { state: 'closed' }, []],
    ['merge strictly', when({ merge: { strict: 'smart' } }), { behind: 1 }, ['update-branch']],
    ['queue', when({ queue: { name: 'q', method: 'squash' } }), {}, ['queue q', 'merge squash']],
    ['queue behind', when({ queue: { name: 'q' } }), { behind: 1 }, ['queue q', 'update-branch']],
    ['queue nothing that the protection blocks', when({ queue: { name: 'q' } }), { protection }, []],
    ['update', when({ update: {} }), { behind: 1 }, ['update-branch']],
    ['update nothing up to date', when({ update: {} }), {}, []],
    ['update nothing closed', when({ update: {} }), { behind: 1, state: 'closed' }, []],
    ['rebase', when({ rebase: {} }), { behind: 1 }, ['rebase-branch']],
    ['delete the branch', when({ delete_head_branch: {} }), { state: 'closed' }, ['delete-branch']],
    ['delete no open branch', when({ delete_head_branch: {} }), {}, []],
    ['delete no branch of a fork', when({ delete_head_branch: {} }), { state: 'closed', fork: true }, []],
    [
      'delete no base of another',
      when({ delete_head_branch: {} }),
      { state: 'closed', targeted: ['topic'] },
      [],
    ],
    [
      'delete by force',
      when({ delete_head_branch: { force: true } }),
      { state: 'closed', targeted: ['topic'] },
      ['delete-branch'],
    ],
    [
      'backport',
      when({ backport: { branches: ['v1', 'gone'], regexes: ['^v2', '2'] } }),
      { merged: true, state: 'closed', branches: ['v1', 'v2.0', 'dev2'] },
      ['backport v1', 'backport v2.0'],
    ],
    ['backport nothing open', when({ backport: { branches: ['v1'] } }), { branches: ['v1'] }, []],
    ['review', when({ review: { type: 'APPROVE' } }), {}, ['approve']],
    ['edit', when({ edit: { draft: true } }), {}, ['edit draft']],
    ['a check that passes', when({ post_check: {} }), {}, ['status Rule: r (post_check) success']],
    [
      'a check that fails',
      when({ post_check: {} }, ['label=x']),
      {},
      ['status Rule: r (post_check) failure'],
    ],
    ['no check for another author', when({ post_check: {} }, ['author=bob', 'label=x']), {}, []],
    ['nothing of a disabled rule', [{ ...when({ comment: {} })[0], disabled: { reason: 'x' } }], {}, []],
  ] as const)('%s', (_what, rules, more, expected) => {
    expect(run(rules, more as unknown as Partial<Subject>)).toEqual(expected);
  });

  it('sees labels of earlier rules in actions, but not in conditions', () => {
    const rules = [
      ...when({ label: { add: ['x'] } }),
      ...when({ label: { add: ['X'] } }),
      ...when({ comment: {} }, ['label=x']),
    ];

    expect(run(rules)).toEqual(['add-label x']);
  });

  it('takes defaults of actions, and conditions of a queue', () => {
    expect(run(when({ merge: {} }), {}, { defaults: { actions: { merge: { method: 'squash' } } } })).toEqual([
      'merge squash',
    ]);
    expect(
      run(when({ queue: { name: 'q' } }), {}, { queue_rules: [{ name: 'q', conditions: ['label=go'] }] }),
    ).toEqual(['queue q']);
  });

  it('refuses an unknown action', () => {
    expect(() => run(when({ explode: {} }))).toThrow('explode');
  });
});
