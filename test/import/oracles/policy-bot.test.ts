import { describe, expect, it } from 'vitest';
import { decide, evaluate } from './policy-bot.ts';
import { type Comment, type Commit, changed, plainPull, type Review, type Subject } from './subject.ts';

const review = (author: string, state: Review['state'] = 'APPROVED', time = 10, body = ''): Review => ({
  author,
  state,
  commit: '',
  body,
  time,
});
const say = (author: string, body: string, time = 10, edited = false): Comment => ({
  author,
  bot: false,
  body,
  time,
  edited,
});
const commit = (sha: string, author: string | null, more: Partial<Commit> = {}): Commit => ({
  sha,
  parents: ['base'],
  message: '',
  author,
  committer: author,
  viaWeb: false,
  verified: true,
  pushed: 5,
  ...more,
});
const pull = (more: Partial<Subject> = {}): Subject =>
  plainPull({
    commits: [commit('c1', 'ada')],
    teams: { core: ['bob'] },
    members: ['cleo'],
    permissions: { dan: 'write', bob: 'read' },
    ...more,
  });
const status = (rule: unknown, more: Partial<Subject> = {}): string =>
  evaluate(
    JSON.stringify({ policy: { approval: ['r'] }, approval_rules: [{ name: 'r', ...(rule as object) }] }),
    pull(more),
  ).status;

describe('approval by people', () => {
  const bob = { count: 1, users: ['bob'] };
  it.each([
    ['no requirement', {}, {}, 'approved'],
    ['a review', { requires: bob }, { reviews: [review('bob')] }, 'approved'],
    ['no review', { requires: bob }, {}, 'pending'],
    ['somebody else', { requires: bob }, { reviews: [review('eve')] }, 'pending'],
    ['nobody named', { requires: { count: 1 } }, { reviews: [review('bob')] }, 'pending'],
    ['a team', { requires: { count: 1, teams: ['acme/core'] } }, { reviews: [review('bob')] }, 'approved'],
    [
      'a team of another organization',
      { requires: { count: 1, teams: ['other/core'] } },
      { reviews: [review('bob')] },
      'pending',
    ],
    [
      'an organization',
      { requires: { count: 1, organizations: ['acme'] } },
      { reviews: [review('cleo')] },
      'approved',
    ],
    [
      'a permission and above',
      { requires: { count: 1, permissions: ['triage'] } },
      { reviews: [review('dan')] },
      'approved',
    ],
    [
      'a permission below',
      { requires: { count: 1, permissions: ['write'] } },
      { reviews: [review('bob')] },
      'pending',
    ],
    [
      'the old name of write',
      { requires: { count: 1, write_collaborators: true } },
      { reviews: [review('dan')] },
      'approved',
    ],
    [
      'two of one person',
      { requires: { count: 2, users: ['bob'] } },
      { reviews: [review('bob'), review('bob')] },
      'pending',
    ],
    ['a comment with the thumb', { requires: bob }, { comments: [say('bob', 'well :+1: done')] }, 'approved'],
    [
      'a text of a commenting review',
      { requires: bob },
      { reviews: [review('bob', 'COMMENTED', 10, '👍')] },
      'approved',
    ],
    [
      'a changes request after the approval',
      { requires: bob },
      { reviews: [review('bob'), review('bob', 'CHANGES_REQUESTED', 20)] },
      'approved',
    ],
    ['a dismissed approval', { requires: bob }, { reviews: [review('bob', 'DISMISSED')] }, 'pending'],
    ['the author', { requires: { count: 1, users: ['ada'] } }, { comments: [say('ada', ':+1:')] }, 'pending'],
    [
      'the author if allowed',
      { requires: { count: 1, users: ['ada'] }, options: { allow_author: true } },
      { comments: [say('ada', ':+1:')] },
      'approved',
    ],
    [
      'a contributor',
      { requires: bob },
      { reviews: [review('bob')], commits: [commit('c1', 'bob')] },
      'pending',
    ],
    [
      'a contributor if allowed',
      { requires: bob, options: { allow_contributor: true } },
      { reviews: [review('bob')], commits: [commit('c1', 'bob')] },
      'approved',
    ],
    [
      'a contributor who is not the author',
      { requires: bob, options: { allow_non_author_contributor: true } },
      { reviews: [review('bob')], commits: [commit('c1', 'bob')] },
      'approved',
    ],
    [
      'a committer',
      { requires: bob },
      { reviews: [review('bob')], commits: [commit('c1', 'ada', { committer: 'bob' })] },
      'pending',
    ],
    [
      'a commit that is not reached from the head',
      { requires: bob },
      { reviews: [review('bob')], commits: [commit('c0', 'bob', { parents: ['x'] }), commit('c1', 'ada')] },
      'approved',
    ],
    ['a stale approval', { requires: bob }, { reviews: [review('bob', 'APPROVED', 1)] }, 'approved'],
    [
      'a stale approval if pushes invalidate',
      { requires: bob, options: { invalidate_on_push: true } },
      { reviews: [review('bob', 'APPROVED', 5)] },
      'pending',
    ],
    [
      'a fresh approval if pushes invalidate',
      { requires: bob, options: { invalidate_on_push: true } },
      { reviews: [review('bob', 'APPROVED', 6)] },
      'approved',
    ],
    [
      'an edited comment',
      { requires: bob, options: { ignore_edited_comments: true } },
      { comments: [say('bob', '👍', 10, true)] },
      'pending',
    ],
    [
      'own comments instead',
      { requires: bob, options: { methods: { comments: ['yes'] } } },
      { comments: [say('bob', '👍')] },
      'pending',
    ],
    [
      'an empty list of comments',
      { requires: bob, options: { methods: { comments: [] } } },
      { comments: [say('bob', '👍')] },
      'pending',
    ],
    [
      'no reviews if told',
      { requires: bob, options: { methods: { github_review: false } } },
      { reviews: [review('bob')] },
      'pending',
    ],
    [
      'a pattern of a comment',
      { requires: bob, options: { methods: { comment_patterns: ['^yes$'] } } },
      { comments: [say('bob', 'yes')] },
      'approved',
    ],
    [
      'a pattern of a review',
      { requires: bob, options: { methods: { github_review_comment_patterns: ['yes'] } } },
      { reviews: [review('bob')] },
      'pending',
    ],
    ['conditions', { requires: { conditions: { has_labels: ['ok'] } } }, { labels: ['OK'] }, 'approved'],
    ['conditions that fail', { requires: { count: 0, conditions: { has_labels: ['ok'] } } }, {}, 'pending'],
  ] as const)('%s', (_what, rule, more, expected) => {
    expect(status(rule, more as unknown as Partial<Subject>)).toBe(expected);
  });

  it('ignores merges of the base through the web, and commits of listed people', () => {
    const merge = commit('c2', 'bob', { parents: ['c1', 'elsewhere'], viaWeb: true, pushed: 50 });
    const more = { commits: [commit('c1', 'ada'), merge], reviews: [review('bob', 'APPROVED', 10)] };

    expect(status({ requires: bob, options: { invalidate_on_push: true } }, more)).toBe('pending');
    expect(
      status({ requires: bob, options: { invalidate_on_push: true, ignore_update_merges: true } }, more),
    ).toBe('approved');
    expect(
      status(
        { requires: bob, options: { invalidate_on_push: true, ignore_commits_by: { users: ['bob'] } } },
        more,
      ),
    ).toBe('approved');
  });
});

describe('predicates', () => {
  const check = (state: 'success' | 'skipped' | 'pending') =>
    [{ name: 'build', kind: 'run', state }] as const;
  it.each([
    ['a changed file', { changed_files: { paths: ['^docs/'] } }, { files: [changed('docs/a')] }, true],
    [
      'an ignored file',
      { changed_files: { paths: ['^docs/'], ignore: ['a$'] } },
      { files: [changed('docs/a')] },
      false,
    ],
    [
      'the old path of a renamed file',
      { changed_files: { paths: ['^docs/'] } },
      { files: [changed('b', { status: 'renamed', previous: 'docs/a' })] },
      true,
    ],
    ['no file of these', { no_changed_files: { paths: ['^docs/'] } }, { files: [changed('docs/a')] }, false],
    [
      'only files of these',
      { only_changed_files: { paths: ['^docs/'] } },
      { files: [changed('docs/a'), changed('b')] },
      false,
    ],
    ['no file at all', { only_changed_files: { paths: ['.*'] } }, { files: [] }, false],
    ['a part of the path', { changed_files: { paths: ['oc'] } }, { files: [changed('docs/a')] }, true],
    ['the author', { has_author_in: { users: ['ada'] } }, {}, true],
    ['the author as a contributor', { has_contributor_in: { users: ['ada'] } }, { commits: [] }, true],
    [
      'only contributors',
      { only_has_contributors_in: { users: ['ada'] } },
      { commits: [commit('c1', 'bob')] },
      false,
    ],
    ['the only contributor', { author_is_only_contributor: true }, {}, true],
    [
      'the only contributor by the web',
      { author_is_only_contributor: true },
      { commits: [commit('c1', 'ada', { committer: 'web-flow', viaWeb: true })] },
      true,
    ],
    ['not the only contributor', { author_is_only_contributor: false }, {}, false],
    ['a base', { targets_branch: { pattern: '^main$' } }, {}, true],
    ['a head', { from_branch: { pattern: '^topic$' } }, {}, true],
    ['a head of a fork', { from_branch: { pattern: '^topic$' } }, { fork: true, headOwner: 'ada' }, false],
    ['one of two numbers of lines', { modified_lines: { additions: '> 100', deletions: '< 5' } }, {}, true],
    ['no number of lines', { modified_lines: { additions: '> 100' } }, {}, false],
    ['a status', { has_status: { statuses: ['build'] } }, { checks: check('success') }, true],
    ['a missing status', { has_status: { statuses: ['build'] } }, {}, false],
    ['a skipped check', { has_successful_status: ['build'] }, { checks: check('skipped') }, false],
    [
      'a skipped check if allowed',
      { has_status: { statuses: ['build'], conclusions: ['skipped'] } },
      { checks: check('skipped') },
      true,
    ],
    [
      'a check that hides a status',
      { has_successful_status: ['build'] },
      { checks: [{ name: 'build', kind: 'status', state: 'success' }, ...check('pending')] },
      false,
    ],
    ['labels without case', { has_labels: ['A', 'b'] }, { labels: ['a', 'B'] }, true],
    ['a title', { title: { matches: ['^Add'] } }, {}, true],
    ['a title by one of its parts', { title: { matches: ['^no'], not_matches: ['^BREAKING'] } }, {}, true],
    ['a title that one part refuses', { title: { matches: ['^Add'], not_matches: ['^Add'] } }, {}, true],
    [
      'signatures',
      { has_valid_signatures: true },
      { commits: [commit('c1', 'ada', { verified: false })] },
      false,
    ],
    ['the repository', { repository: { matches: ['^acme/'] } }, {}, true],
  ] as const)('%s', (_what, predicates, more, expected) => {
    expect(status({ if: predicates }, more as unknown as Partial<Subject>)).toBe(
      expected ? 'approved' : 'skipped',
    );
  });
});

describe('policies', () => {
  const rules = [
    { name: 'ok' },
    { name: 'no', requires: { count: 1, users: ['bob'] } },
    { name: 'skip', if: { targets_branch: { pattern: '^other$' } } },
  ];
  const state = (approval: unknown, disapproval?: unknown, more: Partial<Subject> = {}): string =>
    evaluate(JSON.stringify({ policy: { approval, disapproval }, approval_rules: rules }), pull(more)).status;

  it.each([
    [['ok'], 'approved'],
    [['ok', 'no'], 'pending'],
    [['ok', 'skip'], 'approved'],
    [['skip'], 'skipped'],
    [['skip', 'no'], 'pending'],
    [[{ or: ['no', 'ok'] }], 'approved'],
    [[{ or: ['no', 'skip'] }], 'pending'],
    [[{ or: ['skip', 'skip'] }], 'skipped'],
    [[{ or: [{ and: ['ok', 'no'] }, 'skip'] }], 'pending'],
    [[{ and: ['ok', { or: ['skip'] }] }], 'approved'],
    [[], 'approved'],
  ])('%j is %s', (approval, expected) => {
    expect(state(approval)).toBe(expected);
  });

  it.each([[['unknown']], [[{ xor: ['ok'] }]], [[{ or: [] }]], [[{ or: ['ok'], and: ['ok'] }]]])(
    'refuses %j',
    (approval) => {
      expect(() => state(approval)).toThrow();
    },
  );

  const byBob = { requires: { users: ['bob'] } };
  it.each([
    ['nobody named', {}, { comments: [say('bob', '👎')] }, 'approved'],
    ['a comment', byBob, { comments: [say('bob', 'no :-1:')] }, 'disapproved'],
    ['a review', byBob, { reviews: [review('bob', 'CHANGES_REQUESTED')] }, 'disapproved'],
    ['somebody else', byBob, { reviews: [review('eve', 'CHANGES_REQUESTED')] }, 'approved'],
    [
      'a later revocation',
      byBob,
      { reviews: [review('bob', 'CHANGES_REQUESTED', 10)], comments: [say('bob', ':+1:', 20)] },
      'approved',
    ],
    [
      'a later disapproval',
      byBob,
      { reviews: [review('bob', 'CHANGES_REQUESTED', 30)], comments: [say('bob', ':+1:', 20)] },
      'disapproved',
    ],
    [
      'own methods without defaults',
      { ...byBob, options: { methods: { disapprove: { comments: ['nope'] } } } },
      { comments: [say('bob', '👎')] },
      'approved',
    ],
    ['a predicate', { if: { has_labels: ['hold'] } }, { labels: ['hold'] }, 'disapproved'],
  ] as const)('disapproval: %s', (_what, disapproval, more, expected) => {
    expect(state(['ok'], disapproval, more as unknown as Partial<Subject>)).toBe(expected);
  });

  const file = (rule: unknown): string =>
    JSON.stringify({ policy: { approval: ['r'] }, approval_rules: [rule] });
  it.each([
    ['success', {}],
    ['error', { if: { targets_branch: { pattern: '^other$' } } }],
    ['error', { if: { unknown_predicate: 1 } }],
    ['pending', { requires: { count: 1 } }],
  ] as const)('sets the status %s', (expected, rule) => {
    expect(decide(file({ name: 'r', ...rule }), pull()).effects).toEqual([
      `status policy-bot: main ${expected}`,
    ]);
  });

  it('requests reviews of pending rules', () => {
    const rule = (mode: string) => ({
      name: 'r',
      options: { request_review: { enabled: true, mode } },
      requires: { count: 1, users: ['bob', 'dan', 'ada', 'nobody'], teams: ['acme/core'] },
    });
    const requests = (mode: string) =>
      decide(
        file(rule(mode)),
        pull({ permissions: { ada: 'admin', bob: 'read', dan: 'write' } }),
      ).effects.slice(1);

    expect(requests('all-users')).toEqual(['request-review bob', 'request-review dan']);
    expect(requests('random-users')).toEqual(['request-some 1 bob,dan']);
    expect(requests('teams')).toEqual(['request-review @core']);
  });
});
