import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

let harness: Harness;
afterEach(() => harness.close());

const whenGreen = `when: 'statuses.exists(s, s.context == "ci") && statuses.all(s, s.status == "success")'`;
const rulesWith = (steps: string, on = 'pull_request: [edited]') => `version: 1
rules:
  auto-merge:
    on: { ${on} }
    if: pull_request.title.startsWith("Ready")
    steps:
${steps.replace(/^/gm, '      ')}
`;
const merging = rulesWith(`- uses: merge\n  with: { method: merge, ${whenGreen}, delete-branch: true }`);

async function report(state: 'success' | 'pending' | 'failure', index: number): Promise<void> {
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  await harness.root.call(operations.createStatus, {
    params: { ...at, sha: head?.sha ?? '' },
    body: { state, context: 'ci' },
  });
}

/** Marks a pull request as ready, and returns the resulting run. */
async function makeReady(index: number, title = 'Ready'): Promise<Run> {
  const seen = harness.runs.length;
  await harness.ada.call(operations.editPull, { params: { ...at, index }, body: { title } });
  const run = await harness.waitForRun(
    (one) => harness.runs.indexOf(one) >= seen && one.rules.some(({ verdict }) => verdict !== 'skipped'),
  );
  await harness.idle();
  return run;
}

const stateOf = async (index: number) => {
  const { merged, state } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  return merged ? 'merged' : state;
};

const isMergeRequest = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'POST' && path.endsWith('/merge');

describe('merge', () => {
  it('merges a green pull request at the head that it checked, and deletes the branch', async () => {
    harness = await startOperatorHarness(merging);
    const { number, head } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('success', number);

    const run = await makeReady(number);

    expect(run.outcomes.map(({ status, error }) => error ?? status)).toEqual(['applied', 'applied']);
    expect(run.changes[0]?.input).toMatchObject({ body: { head_commit_id: head?.sha } });
    expect(await stateOf(number)).toBe('merged');
    const branches = await harness.root.call(operations.listBranches, { params: at });
    expect(branches.map(({ name }) => name)).toEqual(['main']);
  });

  it('does not merge a commit that was pushed after the check', async () => {
    harness = await startOperatorHarness(merging);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('success', number);
    let pushes = 0;
    harness.proxy.decide = (passing) =>
      isMergeRequest(passing) && pushes === 0
        ? {
            kind: 'pass',
            async before() {
              pushes += 1;
              await addFile(harness.ada, at, 'work', 'late.txt');
            },
          }
        : { kind: 'pass' };

    const run = await makeReady(number);

    expect(pushes).toBe(1);
    expect(await stateOf(number)).toBe('open');
    // The refused merge was planned again, and the new head has no status.
    expect(harness.proxy.passed.filter(isMergeRequest)).toHaveLength(1);
    expect(run.outcomes[0]).toMatchObject({ status: 'skipped' });
  });

  it('checks its conditions again immediately before the merge', async () => {
    harness = await startOperatorHarness(
      rulesWith(`- uses: comment
  with: { text: Merging. }
- uses: merge
  with: { method: merge, ${whenGreen} }`),
    );
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('success', number);
    let isDone = false;
    harness.proxy.decide = ({ method, path }) =>
      method === 'POST' && path.endsWith('/comments') && !isDone
        ? {
            kind: 'pass',
            async after() {
              isDone = true;
              await report('failure', number);
            },
          }
        : { kind: 'pass' };

    const run = await makeReady(number);

    expect(run.outcomes.map(({ status }) => status)).toEqual(['applied', 'skipped']);
    expect(run.outcomes[1]?.error).toContain('no longer');
    expect(harness.proxy.passed.filter(isMergeRequest)).toEqual([]);
    expect(await stateOf(number)).toBe('open');
  });

  it('comes last, and not at all after an earlier change of its rule failed', async () => {
    harness = await startOperatorHarness(
      rulesWith(`- uses: merge
  with: { method: merge }
- uses: comment
  with: { text: Merged. }`),
    );
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    harness.proxy.decide = ({ method, path }) =>
      method === 'POST' && path.endsWith('/comments')
        ? { kind: 'answer', status: 422, body: '{"message":"no"}' }
        : { kind: 'pass' };

    const run = await makeReady(number);

    expect(run.changes.map(({ action }) => action)).toEqual(['comment', 'merge']);
    expect(run.outcomes.map(({ status }) => status)).toEqual(['failed', 'skipped']);
    expect(await stateOf(number)).toBe('open');
  });

  it('does not merge if another step of its rule failed or was refused', async () => {
    harness = await startOperatorHarness(
      rulesWith(`- uses: merge
  with: { method: merge }
- uses: set-labels
  with: { add: [unknown] }`),
    );
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });

    const run = await makeReady(number);

    expect(run.refused.map(({ change, why }) => [change.action, why])).toEqual([
      ['merge', 'it must be applied last, and a step of its rule failed'],
    ]);
    expect(await stateOf(number)).toBe('open');
  });

  it('never merges a draft, or against a protection', async () => {
    harness = await startOperatorHarness(
      rulesWith('- uses: merge\n  with: { method: merge }').replace(/ {4}if:.*\n/, ''),
    );
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.root.call(operations.createBranchProtection, {
      params: at,
      body: { rule_name: 'main', required_approvals: 1 },
    });

    const draft = await makeReady(number, 'WIP: Work');
    const refused = await makeReady(number, 'Work');

    expect(draft.refused.map(({ why }) => why)).toEqual(['it is a draft']);
    expect(refused.outcomes[0]?.error).toContain('the forge answered 405');
    expect(await stateOf(number)).toBe('open');
  });

  it('waits while there is a conflict', async () => {
    harness = await startOperatorHarness(rulesWith('- uses: merge\n  with: { method: merge }'));
    const { number } = await harness.openPull('work', { 'c.txt': 'one' });
    await addFile(harness.root, at, 'main', 'c.txt', 'another');
    // A real forge checks the pull requests into a branch some time after a push, and shows the old state until then.
    const read = () => harness.root.call(operations.getPull, { params: { ...at, index: number } });
    await expect.poll(async () => (await read()).mergeable).toBe(false);

    const run = await makeReady(number);

    expect(run.refused.map(({ why }) => why)).toEqual([
      expect.stringContaining('it conflicts with its base'),
    ]);
    expect(writesOf(harness)).toEqual([]);
  });

  it('is sent once even if its response is lost', async () => {
    harness = await startOperatorHarness(rulesWith('- uses: merge\n  with: { method: merge }'), {
      server: { backoff: { firstMs: 50 } },
    });
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    let lost = 0;
    harness.proxy.decide = (passing) => {
      if (!isMergeRequest(passing) || lost > 0) return { kind: 'pass' };
      lost += 1;
      return { kind: 'lose' };
    };

    await harness.ada.call(operations.editPull, {
      params: { ...at, index: number },
      body: { title: 'Ready' },
    });
    await expect.poll(() => stateOf(number)).toBe('merged');
    await harness.idle();

    expect(writesOf(harness).filter((request) => request.endsWith('/merge'))).toHaveLength(1);
  });
});

describe('update-branch', () => {
  it('updates a head that is behind, but never the head of a fork', async () => {
    harness = await startOperatorHarness(rulesWith('- uses: update-branch'));
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.ada.call(operations.createFork, { params: at, body: { name: 'copy' } });
    const fork = { owner: people.ada, repo: 'copy' };
    await addFile(harness.ada, fork, 'theirs', 'fork.txt');
    const { number: ofFork } = await harness.ada.call(operations.createPull, {
      params: at,
      body: { title: 'From a fork', head: `${people.ada}:theirs`, base: 'main' },
    });
    await addFile(harness.root, at, 'main', 'ahead.txt');
    await harness.idle();
    // The pull request counts as conflicting until the forge has checked it again.
    const read = () => harness.root.call(operations.getPull, { params: { ...at, index: number } });
    await expect.poll(async () => (await read()).mergeable).toBe(true);

    const own = await makeReady(number);
    const theirs = await makeReady(ofFork);

    expect(own.outcomes.map(({ status, error }) => error ?? status)).toEqual(['applied']);
    expect(theirs.refused.map(({ why }) => why)).toEqual([
      'its head is in a fork, and forks: true is not set',
    ]);
    expect(writesOf(harness).filter((one) => one.includes('/update'))).toEqual([
      `POST pulls/${number}/update?style=merge`,
    ]);
  });
});

describe('delete-branch with closed', () => {
  const branches = async () =>
    (await harness.root.call(operations.listBranches, { params: at })).map(({ name }) => name).toSorted();
  const close = (index: number) =>
    harness.root.call(operations.editPull, { params: { ...at, index }, body: { state: 'closed' } });

  it('deletes the branch of a closed pull request at the commit at which it was closed', async () => {
    harness = await startOperatorHarness(rulesWith('- uses: delete-branch\n  with: { closed: true }'));
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await close(number);

    const run = await makeReady(number);

    expect(run.outcomes.map(({ status, error }) => error ?? status)).toEqual(['applied']);
    expect(await branches()).toEqual(['main']);
  });

  it('keeps commits that were pushed after the close or the merge', async () => {
    harness = await startOperatorHarness(rulesWith('- uses: delete-branch\n  with: { closed: true }'));
    const closed = await harness.openPull('work', { 'a.txt': 'a' });
    const merged = await harness.openPull('done', { 'b.txt': 'b' });
    await close(closed.number);
    const params = { ...at, index: merged.number };
    const body = { do: 'merge', delete_branch_after_merge: false } as const;
    await harness.root.call(operations.mergePull, { params, body });
    await addFile(harness.ada, at, 'work', 'late.txt');
    await addFile(harness.ada, at, 'done', 'later.txt');
    await harness.idle();

    const whys = [await makeReady(closed.number), await makeReady(merged.number, 'Ready, too')].map((run) =>
      run.refused.map(({ why }) => why),
    );

    expect(whys).toEqual([
      ['work has moved since the pull request was closed'],
      ['done has commits that were not merged'],
    ]);
    expect(await branches()).toEqual(['done', 'main', 'work']);
  });

  it('keeps a branch that another open pull request uses', async () => {
    harness = await startOperatorHarness(rulesWith('- uses: delete-branch\n  with: { closed: true }'));
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await close(number);
    const body = { head: 'work', base: 'main', title: 'Again' };
    const again = await harness.ada.call(operations.createPull, { params: at, body });

    const run = await makeReady(number);

    expect(run.refused.map(({ why }) => why)).toEqual([
      `work is used by the open pull request #${again.number}`,
    ]);
    expect(await branches()).toEqual(['main', 'work']);
  });
});
