import { describe, expect, it } from 'vitest';
import { decide } from './bulldozer.ts';
import { type Check, type Comment, plainPull, type Subject } from './subject.ts';

const passed: Check = { name: 'build', kind: 'status', state: 'success' };
const protection = {
  approvals: 0,
  checks: ['build'],
  strict: false,
  signatures: false,
  resolution: false,
  dismissStale: false,
};
const ready = (more: Partial<Subject> = {}): Subject => plainPull({ checks: [passed], protection, ...more });
const say = (body: string): Comment => ({ author: 'bob', bot: false, body, time: 0, edited: false });
const run = (merge: unknown, subject: Subject, update: unknown = {}): readonly string[] =>
  decide(JSON.stringify({ version: 1, merge, update }), subject).effects;

describe('bulldozer merges', () => {
  it.each([
    ['without a trigger', {}, {}, true],
    [
      'a label, without case',
      { trigger: { labels: ['Merge When Ready'] } },
      { labels: ['merge when ready'] },
      true,
    ],
    ['not another label', { trigger: { labels: ['merge'] } }, { labels: ['merge when ready'] }, false],
    ['a whole comment', { trigger: { comments: ['merge it'] } }, { comments: [say('merge it')] }, true],
    [
      'not a part of a comment',
      { trigger: { comments: ['merge it'] } },
      { comments: [say('please merge it')] },
      false,
    ],
    ['the whole description as a comment', { trigger: { comments: ['go'] } }, { body: 'go' }, true],
    [
      'a part of a comment',
      { trigger: { comment_substrings: ['==MERGE=='] } },
      { comments: [say('x ==MERGE== y')] },
      true,
    ],
    [
      'a part of the description',
      { trigger: { comment_substrings: ['==MERGE=='] } },
      { body: 'x ==MERGE== y' },
      true,
    ],
    ['the description alone', { trigger: { pr_body_substrings: ['go'] } }, { comments: [say('go')] }, false],
    ['a base', { trigger: { branches: ['main'] } }, {}, true],
    ['a pattern of the whole base', { trigger: { branch_patterns: ['mai'] } }, {}, false],
    ['a pattern', { trigger: { branch_patterns: ['ma.*'] } }, {}, true],
    ['auto-merge', { trigger: { auto_merge: true } }, { autoMerge: true }, true],
    ['one of two signals', { trigger: { labels: ['x'], branches: ['main'] } }, {}, true],
    ['never by the number of commits', { trigger: { max_commits: 5 } }, {}, false],
    ['an ignored label', { ignore: { labels: ['wip'] } }, { labels: ['WIP'] }, false],
    [
      'ignored before triggered',
      { ignore: { labels: ['wip'] }, trigger: { branches: ['main'] } },
      { labels: ['wip'] },
      false,
    ],
    ['the old name of a trigger', { whitelist: { labels: ['go'] } }, { labels: ['go'] }, true],
    ['the old name of ignore', { blacklist: { labels: ['no'] } }, { labels: ['no'] }, false],
    [
      'the new name before the old',
      { whitelist: { labels: ['go'] }, trigger: { labels: ['new'] } },
      { labels: ['go'] },
      false,
    ],
    ['a missing required status', { required_statuses: ['extra'] }, {}, false],
    [
      'a required status of a check run that was skipped',
      { required_statuses: ['extra'] },
      { checks: [passed, { name: 'extra', kind: 'run', state: 'skipped' }] },
      true,
    ],
    ['nothing required', {}, { protection: null }, false],
    ['nothing required, but allowed', { allow_merge_with_no_checks: true }, { protection: null }, true],
    ['a closed pull request', {}, { state: 'closed' }, false],
    ['a conflict', {}, { mergeable: false }, false],
    ['a draft, which the forge refuses', {}, { draft: true }, false],
    [
      'missing approvals, which the forge refuses',
      {},
      { protection: { ...protection, approvals: 1 } },
      false,
    ],
  ] as const)('%s', (_what, merge, more, expected) => {
    expect(run(merge, ready(more as Partial<Subject>))).toEqual(expected ? ['merge merge'] : []);
  });

  it('takes Travis of a push or a pull request for its required status', () => {
    const travis = { ...protection, checks: ['continuous-integration/travis-ci'] };
    const checks: Check[] = [{ ...passed, name: 'continuous-integration/travis-ci/pr' }];
    // The forge has the same exception, which is not modelled: without protection the bot alone decides.
    expect(run({ required_statuses: travis.checks }, ready({ checks, protection: null }))).toEqual([
      'merge merge',
    ]);
  });

  it.each([
    ['squash', { method: 'squash' }, {}, 'squash'],
    ['one for a branch', { method: 'squash', branch_method: { main: 'rebase' } }, {}, 'rebase'],
    [
      'one whose signals all match',
      { method: 'squash', merge_method: [{ method: 'rebase', trigger: { labels: ['r'], max_commits: 1 } }] },
      { labels: ['r'] },
      'rebase',
    ],
    [
      'not one with a signal that does not',
      {
        method: 'squash',
        merge_method: [{ method: 'rebase', trigger: { labels: ['r'], branches: ['dev'] } }],
      },
      { labels: ['r'] },
      'squash',
    ],
    ['merge for an unknown one', { method: 'quash' }, {}, 'merge'],
    ['a fast-forward', { method: 'ff-only' }, {}, 'fast-forward'],
  ] as const)('with the method %s', (_what, merge, more, method) => {
    expect(run(merge, ready(more as Partial<Subject>))).toEqual([`merge ${method}`]);
  });

  it('deletes the branch, unless it is of a fork or the base of another', () => {
    const merge = { delete_after_merge: true };

    expect(run(merge, ready())).toEqual(['merge merge', 'delete-branch']);
    expect(run(merge, ready({ fork: true }))).toEqual(['merge merge']);
    expect(run(merge, ready({ targeted: ['topic'] }))).toEqual(['merge merge']);
  });
});

describe('bulldozer updates', () => {
  const never = { trigger: { labels: ['never'] } };
  it.each([
    ['nothing without a section', {}, {}, false],
    ['a label', { trigger: { labels: ['update me'] } }, { labels: ['Update Me'] }, true],
    [
      'a triggered draft in spite of ignore_drafts',
      { trigger: { branches: ['main'] }, ignore_drafts: true },
      { draft: true },
      true,
    ],
    ['no draft', { ignore_drafts: true }, { draft: true }, false],
    ['all others', { ignore_drafts: true }, {}, true],
    ['ignore_drafts of false enables the section', { ignore_drafts: false }, { draft: true }, true],
    ['an ignored label', { ignore: { labels: ['no'] } }, { labels: ['no'] }, false],
    ['all that is not ignored', { ignore: { labels: ['no'] } }, {}, true],
    ['a missing status', { required_statuses: ['extra'] }, {}, false],
    ['no fork', { ignore_drafts: true }, { fork: true }, false],
    ['nothing up to date', { ignore_drafts: true }, { behind: 0 }, false],
  ] as const)('%s', (_what, update, more, expected) => {
    const subject = ready({ behind: 1, ...(more as Partial<Subject>) });
    expect(run(never, subject, update)).toEqual(expected ? ['update-branch'] : []);
  });
});

describe('bulldozer reads', () => {
  it('the format before version 1', () => {
    expect(
      decide('mode: pr_body\nstrategy: squash', ready({ body: 'x ==MERGE_WHEN_READY==' })).effects,
    ).toEqual(['merge squash']);
    expect(decide('mode: whitelist', ready({ labels: ['merge when ready'] })).effects).toEqual([
      'merge merge',
    ]);
    expect(decide('mode: blacklist', ready({ labels: ['do-not-merge'] })).effects).toEqual([]);
  });

  it('no unknown key and no other version', () => {
    expect(decide('version: 1\nmerge: {triger: {labels: [a]}}', ready()).effects).toEqual([]);
    expect(decide('version: 2\nmerge: {}', ready()).effects).toEqual([]);
  });
});
