import { describe, expect, it } from 'vitest';
import { decide, versionStep } from './kodiak.ts';
import { type Check, type Permission, plainPull, type Subject } from './subject.ts';

const protection = {
  approvals: 0,
  checks: ['build'],
  strict: true,
  signatures: false,
  resolution: false,
  dismissStale: false,
};
const check = (state: Check['state'], kind: Check['kind'] = 'status', name = 'build'): Check => ({
  name,
  kind,
  state,
});
const ready = (more: Partial<Subject> = {}): Subject =>
  plainPull({ labels: ['automerge'], checks: [check('success')], protection, ...more });
const run = (toml: string, subject: Subject): readonly string[] =>
  decide(`version = 1\n${toml}`, subject).effects;
const write: Record<string, Permission> = { bob: 'write', ada: 'write' };

describe('kodiak', () => {
  it.each([
    ['merges with the label', '', {}, ['merge merge']],
    ['needs the label', '', { labels: [] }, []],
    ['compares labels with case', '', { labels: ['Automerge'] }, []],
    [
      'takes one of several labels',
      '[merge]\nautomerge_label = ["a", "b"]',
      { labels: ['b'] },
      ['merge merge'],
    ],
    ['needs no label if told', '[merge]\nrequire_automerge_label = false', { labels: [] }, ['merge merge']],
    ['does nothing without protection', '', { protection: null }, []],
    ['stops at its own label', '', { labels: ['automerge', 'kodiak:disabled'] }, []],
    ['stops at WIP by default', '', { title: 'WIP: x' }, []],
    ['has case in WIP', '', { title: 'wip: x' }, ['merge merge']],
    [
      'has no title to block if empty',
      '[merge]\nblocking_title_regex = ""',
      { title: 'WIP: x' },
      ['merge merge'],
    ],
    [
      'searches the title',
      '[merge]\nblocking_title_regex = "no merge"',
      { title: 'please no merge yet' },
      [],
    ],
    [
      'prefers the new name of the title',
      '[merge]\nblocking_title_regex = "^a"\nblacklist_title_regex = "^b"',
      { title: 'b' },
      ['merge merge'],
    ],
    ['stops at a blocking label', '[merge]\nblocking_labels = ["wip"]', { labels: ['automerge', 'wip'] }, []],
    [
      'stops at the old name of it',
      '[merge]\nblacklist_labels = ["wip"]',
      { labels: ['automerge', 'wip'] },
      [],
    ],
    ['stops at a draft', '', { draft: true }, []],
    [
      'stops at requested reviews if told',
      '[merge]\nblock_on_reviews_requested = true',
      { requestedUsers: ['bob'] },
      [],
    ],
    ['takes requested reviews by default', '', { requestedUsers: ['bob'] }, ['merge merge']],
    ['takes the method', '[merge]\nmethod = "squash"', {}, ['merge squash']],
    [
      'takes the method of a label',
      '[merge]\nmethod = "squash"',
      { labels: ['automerge', 'kodiak: merge.method = "rebase"'] },
      ['merge rebase'],
    ],
    ['takes the first method of the repository', '', { methods: ['squash', 'rebase'] }, ['merge squash']],
    ['refuses a method that is off', '[merge]\nmethod = "rebase"', { methods: ['squash'] }, []],
    [
      'refuses a rebase with signatures',
      '[merge]\nmethod = "rebase"',
      { protection: { ...protection, signatures: true } },
      [],
    ],
    [
      'merges by a fast-forward',
      '[merge]\nmethod = "rebase_fast_forward"',
      { methods: ['squash'] },
      ['merge fast-forward'],
    ],
    ['removes the label of a conflict', '', { mergeable: false }, ['remove-label automerge', 'comment']],
    ['says nothing of a conflict if told', '[merge]\nnotify_on_conflict = false', { mergeable: false }, []],
    [
      'tells the conflict of a blocked title',
      '',
      { mergeable: false, title: 'WIP: x' },
      ['remove-label automerge', 'comment'],
    ],
    ['waits for the forge', '', { mergeable: null }, []],
    ['merges never if told', '[merge]\ndo_not_merge = true', {}, []],
    ['updates in the queue', '', { behind: 1 }, ['update-branch']],
    [
      'merges behind if the protection allows',
      '',
      { behind: 1, protection: { ...protection, strict: false } },
      ['merge merge'],
    ],
    ['does not update for ignored users', '[update]\nignored_usernames = ["ada"]', { behind: 1 }, []],
    [
      'updates for them by label',
      '[update]\nignored_usernames = ["ada"]\nautoupdate_label = "up"',
      { behind: 1, labels: ['up'] },
      ['update-branch'],
    ],
    ['updates always with the label alone', '[update]\nalways = true', { behind: 1, labels: [] }, []],
    [
      'updates always without the label',
      '[update]\nalways = true\nrequire_automerge_label = false',
      { behind: 1, labels: [] },
      ['update-branch'],
    ],
    ['updates a WIP always', '[update]\nalways = true', { behind: 1, title: 'WIP: x' }, ['update-branch']],
    ['updates before it waits', '', { behind: 1, checks: [check('pending')] }, ['update-branch']],
    [
      'waits before it updates',
      '[merge]\noptimistic_updates = false',
      { behind: 1, checks: [check('pending')] },
      [],
    ],
    ['waits for a check', '', { checks: [check('pending')] }, []],
    [
      'does not wait for a listed check',
      '[merge]\ndont_wait_on_status_checks = ["build"]',
      { checks: [check('pending')] },
      [],
    ],
    ['stops at a failing required check', '', { behind: 1, checks: [check('failure')] }, []],
    [
      'ignores a failing check that is not required',
      '',
      { checks: [check('success'), check('failure', 'run', 'other')] },
      ['merge merge'],
    ],
    ['takes a skipped check', '', { checks: [check('skipped', 'run')] }, ['merge merge']],
    ['takes a neutral check', '', { checks: [check('neutral', 'run')] }, ['merge merge']],
    [
      'stops at a neutral check if told',
      '[merge]\nblock_on_neutral_required_check_runs = true',
      { checks: [check('neutral', 'run')] },
      [],
    ],
    [
      'waits for a neutral check if behind',
      '[merge]\noptimistic_updates = false',
      { behind: 1, checks: [check('neutral', 'run')] },
      [],
    ],
    ['needs approvals', '', { protection: { ...protection, approvals: 1 } }, []],
    [
      'stops at unresolved threads',
      '',
      { protection: { ...protection, resolution: true }, unresolvedThreads: 1 },
      [],
    ],
    [
      'deletes the branch of a merged one',
      '[merge]\ndelete_branch_on_merge = true',
      { state: 'closed', merged: true },
      ['delete-branch'],
    ],
    [
      'deletes no branch without the label',
      '[merge]\ndelete_branch_on_merge = true',
      { state: 'closed', merged: true, labels: [] },
      [],
    ],
    [
      'deletes no branch of a fork',
      '[merge]\ndelete_branch_on_merge = true',
      { state: 'closed', merged: true, fork: true },
      [],
    ],
    ['approves for a user', '[approve]\nauto_approve_usernames = ["ada"]', { labels: [] }, ['approve']],
    ['approves no draft', '[approve]\nauto_approve_usernames = ["ada"]', { labels: [], draft: true }, []],
    [
      'merges a minor step of a user',
      '[merge.automerge_dependencies]\nversions = ["minor", "patch"]\nusernames = ["ada"]',
      { labels: [], title: 'Bump x from 1.2.3 to 1.3.0' },
      ['merge merge'],
    ],
    [
      'merges no major step',
      '[merge.automerge_dependencies]\nversions = ["minor", "patch"]\nusernames = ["ada"]',
      { labels: [], title: 'Bump x from 1.2.3 to 2.0.0' },
      [],
    ],
  ] as const)('%s', (_what, toml, more, expected) => {
    expect(run(toml, ready(more as unknown as Partial<Subject>))).toEqual(expected);
  });

  it('takes the approvals that the forge counts', () => {
    const needs = { ...protection, approvals: 1 };
    const review = { author: 'bob', state: 'APPROVED', commit: '', body: '', time: 1 } as const;

    expect(run('', ready({ protection: needs, reviews: [review], permissions: write }))).toEqual([
      'merge merge',
    ]);
    expect(
      run(
        '',
        ready({
          protection: needs,
          reviews: [review, { ...review, state: 'CHANGES_REQUESTED' }],
          permissions: write,
        }),
      ),
    ).toEqual([]);
  });

  it('refuses another version', () => {
    expect(decide('version = 2', ready()).effects).toEqual([]);
  });

  it.each([
    ['Bump lodash from 4.17.15 to 4.17.19', '', 'patch'],
    ['Bump x from 2.9.10.1 to 2.10.0.1', '', 'minor'],
    ['Bump x from 2.9.10.1 to 2.10.pr1', '', undefined],
    ['Bump x from 2.9.10 to 2.10.0.pr1', '', 'minor'],
    ['Bump x from 1 to 2', '', 'major'],
    ['Bump x from 1.0 to 1.0', '', 'patch'],
    ['Update x', '', undefined],
    ['Update x', '| x | `^4.14.0` -> `^4.15.0` |', 'minor'],
    ['Update x', '| x | `v1.0.0` -> `v1.0.1` |\n| y | `1.0.0` -> `2.0.0` |', 'major'],
    ['Update lock', '| lockFileMaintenance | All locks refreshed |', 'patch'],
    ['Bump x from 1.0.0 to 1.0.1', 'Updates y from 1.0.0 to 1.1.0', 'minor'],
    ['Bump x from 1.0.0 to 1.0.1', 'Bumps x from 1.0.0 to 1.1.0.', 'minor'],
  ])('reads the step of "%s" / "%s"', (title, body, step) => {
    expect(versionStep({ title, body })).toBe(step);
  });
});
