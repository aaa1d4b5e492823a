import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/actions/change.ts';
import { deleteBranch } from '../../src/actions/delete-branch.ts';
import { merge } from '../../src/actions/merge.ts';
import { updateBranch } from '../../src/actions/update-branch.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const head = 'a'.repeat(40);
const repo = (id: number) => ({ id, name: 'site', full_name: 'acme/site', owner: { id: 3, login: 'acme' } });
const pull = (more: object = {}) => ({
  id: 1,
  number: 7,
  title: 'Work',
  state: 'open',
  merged: false,
  mergeable: true,
  draft: false,
  head: { ref: 'work', sha: head, repo_id: 1, repo: repo(1) },
  base: { ref: 'main', sha: 'b'.repeat(40), repo_id: 1, repo: repo(1) },
  ...more,
});
const merged = (by = 9) => pull({ state: 'closed', merged: true, merged_by: { id: by, login: 'x' } });
const ofFork = { head: { ref: 'work', sha: head, repo_id: 5, repo: repo(5) } };
const status = (context: string, state: string, id = 1) => ({ id, context, status: state });
const checked = { name: 'main', enable_status_check: true, status_check_contexts: ['ci/*'] };
const branch = (more: object = {}) => ({
  name: 'work',
  sha: head,
  protected: false,
  is_default: false,
  used_by: [],
  ...more,
});

const factsOf = (given: object) =>
  makeFacts({
    pull_request: pull(),
    repository: { ...repo(1), default_merge_style: 'squash', allow_rebase: false },
    base_branch: { name: 'main', enable_status_check: false },
    statuses: [],
    head_branch: branch(),
    'pull_request.behind': 2,
    ...given,
  });

/** Summarizes the outcome of each change in a few words. */
const said = (changes: readonly Change[]) =>
  changes.map(({ operation, waits, already }) => {
    if (already) return `${operation} already`;
    return waits ? `${operation} waits${waits.polls ? ' and polls' : ''}: ${waits.why}` : operation;
  });

describe('merge', () => {
  const plan = (more: object = {}, given: object = {}) =>
    merge.plan({ 'delete-branch': false, 'after-push': 'anyone', ...more }, factsOf(given), makeContext());

  it('sends the head that was read, without force, schedule or branch deletion by the forge', async () => {
    const [change] = await plan({ title: 'Work (#7)', message: 'All of it.' });

    expect(change?.input).toEqual({
      params: { owner: 'acme', repo: 'site', index: 7 },
      body: {
        do: 'squash',
        head_commit_id: head,
        delete_branch_after_merge: false,
        merge_title_field: 'Work (#7)',
        merge_message_field: 'All of it.',
      },
    });
    expect(change).toMatchObject({ stage: 3, reconsiders: true, branch: 'main' });
  });

  it.each<[string, object, object, readonly string[]]>([
    ['nothing while `when` is false', { when: false }, {}, []],
    ['nothing for a closed pull request', {}, { pull_request: pull({ state: 'closed' }) }, []],
    ['nothing more for a merged pull request', {}, { pull_request: merged() }, ['pull.merge already']],
    ['to wait for a draft', {}, { pull_request: pull({ draft: true }) }, ['pull.merge waits: it is a draft']],
    [
      'to wait if the pull request is not mergeable, and to check again',
      {},
      { pull_request: pull({ mergeable: false }) },
      ['pull.merge waits and polls: it conflicts with its base, or the forge has not checked that yet'],
    ],
    [
      'to wait for a required status that is missing',
      {},
      { base_branch: checked, statuses: [status('other', 'success')] },
      ['pull.merge waits and polls: the required status ci/* is missing'],
    ],
    [
      'to wait for a required status that is pending, across slashes',
      {},
      { base_branch: checked, statuses: [status('ci/a/b', 'success'), status('ci/c', 'pending', 2)] },
      ['pull.merge waits and polls: the required status ci/c is pending'],
    ],
    [
      'to wait for a required status whose name begins with an exclamation mark',
      {},
      {
        base_branch: { ...checked, status_check_contexts: ['!ci', 'ci/*'] },
        statuses: [status('ci/a', 'success')],
      },
      ['pull.merge waits and polls: the required status !ci is missing'],
    ],
    [
      'to merge if the only other required status is an invalid pattern, which forges ignore',
      {},
      {
        base_branch: { ...checked, status_check_contexts: ['[ci', 'ci/*'] },
        statuses: [status('ci/a', 'success')],
      },
      ['pull.merge'],
    ],
    [
      'to wait if all required statuses are invalid patterns',
      {},
      { base_branch: { ...checked, status_check_contexts: ['[ci'] }, statuses: [status('ci/a', 'success')] },
      ['pull.merge waits and polls: the required status [ci is missing'],
    ],
    [
      'to merge once all required statuses have passed',
      {},
      { base_branch: checked, statuses: [status('ci/a', 'success'), status('slow', 'pending', 2)] },
      ['pull.merge'],
    ],
    [
      'to wait for any status if the base requires statuses without naming any',
      {},
      { base_branch: { name: 'main', enable_status_check: true, status_check_contexts: [] } },
      ['pull.merge waits and polls: the head has no status yet, and the base branch requires status checks'],
    ],
    [
      'the deletion of the branch after the merge',
      { 'delete-branch': true },
      {},
      ['pull.merge', 'branch.delete'],
    ],
    [
      'only the deletion of the branch if Reeve has merged the pull request before',
      { 'delete-branch': true },
      { pull_request: merged(9) },
      ['pull.merge already', 'branch.delete'],
    ],
    [
      'no deletion if a person merged the pull request and kept the branch',
      { 'delete-branch': true },
      { pull_request: merged(8) },
      ['pull.merge already'],
    ],
    ['no deletion in a fork', { 'delete-branch': true }, { pull_request: pull(ofFork) }, ['pull.merge']],
  ])('plans %s', async (_title, more, given, expected) => {
    expect(said(await plan(more, given))).toEqual(expected);
  });

  it('reports a method that the repository does not allow, and the allowed methods', async () => {
    await expect(plan({ method: 'rebase' })).rejects.toThrow(
      'does not allow the merge method rebase; it allows merge, rebase-merge, squash, fast-forward-only',
    );
  });

  it('makes the deletion depend on the merge and on the grant of delete-branch', async () => {
    const [first, second] = await plan({ 'delete-branch': true });

    expect(second).toMatchObject({ needs: first?.target, alsoNeeds: 'delete-branch', action: 'merge' });
  });
});

describe('delete-branch', () => {
  const plan = (given: object, when?: boolean) =>
    deleteBranch.plan(
      when === undefined ? {} : { when },
      factsOf({ pull_request: merged(), ...given }),
      makeContext(),
    );

  it.each<[string, object, readonly string[]]>([
    ['deletes the branch of a merged pull request', {}, ['branch.delete']],
    ['keeps the branch of an open pull request', { pull_request: pull() }, []],
    [
      'keeps the branch of a pull request closed without a merge',
      { pull_request: pull({ state: 'closed' }) },
      [],
    ],
    ['has nothing to do if the branch is gone', { head_branch: null }, []],
    ['keeps a branch of a fork', { pull_request: { ...merged(), ...ofFork } }, []],
    [
      'keeps the default branch',
      { head_branch: branch({ is_default: true }) },
      ['branch.delete waits: work is the default branch'],
    ],
    [
      'keeps a protected branch',
      { head_branch: branch({ protected: true }) },
      ['branch.delete waits: work is protected'],
    ],
    [
      'keeps a branch with newer commits',
      { head_branch: branch({ sha: 'c'.repeat(40) }) },
      ['branch.delete waits: work has commits that were not merged'],
    ],
    [
      'keeps a branch that another open pull request uses',
      { head_branch: branch({ used_by: [12] }) },
      ['branch.delete waits: work is used by the open pull request #12'],
    ],
  ])('%s', async (_title, given, expected) => {
    expect(said(await plan(given))).toEqual(expected);
  });

  it.each<[string, object, readonly string[]]>([
    ['deletes the branch of a pull request that was closed', {}, ['branch.delete']],
    ['deletes the branch of a merged one, too', { pull_request: merged() }, ['branch.delete']],
    ['keeps the branch of an open pull request', { pull_request: pull() }, []],
    ['keeps a branch of a fork', { pull_request: pull({ state: 'closed', ...ofFork }) }, []],
    [
      'keeps a branch that moved after the close, although the forge shows its tip as the head',
      { head_branch: branch({ closed_sha: 'c'.repeat(40) }) },
      ['branch.delete waits: work has moved since the pull request was closed'],
    ],
    [
      'keeps a branch if the forge does not show where the pull request ended',
      { head_branch: branch({ closed_sha: null }) },
      ['branch.delete waits: the forge does not show at which commit pull request #7 ended'],
    ],
    [
      'keeps a branch that another open pull request uses',
      { head_branch: branch({ closed_sha: head, used_by: [12] }) },
      ['branch.delete waits: work is used by the open pull request #12'],
    ],
  ])('with closed: %s', async (_title, given, expected) => {
    const facts = factsOf({
      pull_request: pull({ state: 'closed' }),
      head_branch: branch({ closed_sha: head }),
      ...given,
    });

    expect(said(await deleteBranch.plan({ closed: true }, facts, makeContext()))).toEqual(expected);
  });

  it('keeps commits that were pushed after the merge, although the forge shows the tip as the head', async () => {
    expect(said(await plan({ head_branch: branch({ closed_sha: 'c'.repeat(40) }) }))).toEqual([
      'branch.delete waits: work has commits that were not merged',
    ]);
  });

  it('needs a grant of its own for a branch that was not merged', async () => {
    const facts = factsOf({ pull_request: pull({ state: 'closed' }) });
    const [unmerged] = await deleteBranch.plan({ closed: true }, facts, makeContext());
    const [done] = await plan({});

    expect([unmerged?.alsoNeeds, done?.alsoNeeds]).toEqual(['delete-closed-branch', undefined]);
  });

  it('keeps the branch while `when` does not hold', async () => {
    expect(await plan({}, false)).toEqual([]);
  });
});

describe('update-branch', () => {
  const plan = (more: object, given: object = {}) =>
    updateBranch.plan({ how: 'merge', forks: false, ...more }, factsOf(given), makeContext());

  it.each<[string, object, object, readonly string[]]>([
    ['updates a head that is behind', {}, {}, ['pull.update']],
    ['leaves a head that is not behind', {}, { 'pull_request.behind': 0 }, ['pull.update already']],
    ['leaves a merged pull request', {}, { pull_request: merged() }, []],
    ['updates nothing while `when` does not hold', { when: false }, {}, []],
    [
      'waits while there is a conflict',
      {},
      { pull_request: pull({ mergeable: false }) },
      ['pull.update waits and polls: it conflicts with its base, or the forge has not checked that yet'],
    ],
    [
      'does not update the head of a fork by default',
      {},
      { pull_request: pull(ofFork) },
      ['pull.update waits: its head is in a fork, and forks: true is not set'],
    ],
    [
      'does not update a head whose repository is gone',
      {},
      { pull_request: pull({ head: { ref: 'work', sha: head, repo_id: -1, repo: null } }) },
      ['pull.update waits: its head is in a fork, and forks: true is not set'],
    ],
    [
      'updates the head of a fork if `forks` is set',
      { forks: true },
      { pull_request: pull(ofFork) },
      ['pull.update'],
    ],
  ])('%s', async (_title, more, given, expected) => {
    expect(said(await plan(more, given))).toEqual(expected);
  });

  it('uses the method in `how`, and reports a head in a fork', async () => {
    const [change] = await plan({ how: 'rebase', forks: true }, { pull_request: pull(ofFork) });

    expect(change).toMatchObject({ input: { query: { style: 'rebase' } }, fork: true, branch: 'main' });
  });
});
