import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { reeve, start, waitForExit } from '../support/command.ts';
import { isThorough } from '../support/figure.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { mergeByHand } from '../support/merge-by-hand.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';

let harness: Harness;
afterEach(() => harness.close());

const timeout = 240_000;
const backporting = (more = '') => `version: 1
rules:
  backport:
    on: { pull_request: [closed, edited] }
    if: pull_request.title.startsWith("Fix")${more}
    steps:
      - uses: backport
        with: { to: ["release/*"] }
`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function startFlow(
  rules = backporting(),
  options: Parameters<typeof startOperatorHarness>[1] = {},
): Promise<void> {
  harness = await startOperatorHarness(rules, options);
  await commitFile('main', 'a.txt', 'one\ntwo\nthree\n');
  await makeBranch('release/1');
}

async function makeBranch(name: string): Promise<void> {
  const body = { new_branch_name: name, old_ref_name: 'main' };
  await harness.root.call(operations.createBranch, { params: at, body });
}

/** Writes a file on a branch, as ada. */
async function commitFile(branch: string, filepath: string, text: string, message = 'Edit'): Promise<void> {
  const params = { ...at, filepath };
  const query = { ref: branch };
  const live = await harness.root.call(operations.getContents, { params, query }).catch(() => undefined);
  const body = { branch, content: base64(text), message };
  if (live === undefined || Array.isArray(live)) {
    await harness.ada.call(operations.createFile, { params, body });
  } else {
    await harness.ada.call(operations.updateFile, { params, body: { ...body, sha: live.sha ?? '' } });
  }
}

/** Merges a pull request by ada that sets `a.txt` to this text, and returns its number. */
async function mergeFix(text: string, title = 'Fix the door', message = title): Promise<number> {
  await makeBranch('fix');
  await commitFile('fix', 'a.txt', text, message);
  const body = { title, head: 'fix', base: 'main' };
  const { number } = await harness.ada.call(operations.createPull, { params: at, body });
  await harness.idle();
  await mergeByHand(harness.ada, number, { do: 'merge', delete_branch_after_merge: true });
  return number;
}

const isOfRule = (run: Run): boolean =>
  run.rules.some(({ rule, verdict }) => rule.endsWith('#backport') && verdict === 'matched');

async function waitForBackport(seen = 0): Promise<Run> {
  const run = await harness.waitForRun((one) => harness.runs.indexOf(one) >= seen && isOfRule(one));
  await harness.idle();
  return run;
}

/** Runs the rule once more for the pull request. */
async function again(index: number, title: string): Promise<Run> {
  const seen = harness.runs.length;
  await harness.ada.call(operations.editPull, { params: { ...at, index }, body: { title } });
  return waitForBackport(seen);
}

const outcomesOf = ({ changes, outcomes }: Run) =>
  outcomes.map(({ change, status, error }) => {
    const operation = changes.find(({ id }) => id === change)?.operation;
    return `${operation} ${status}${error === undefined ? '' : `: ${error}`}`;
  });
const pullsInto = async (base: string) =>
  (await harness.root.call(operations.listPulls, { params: at, query: { state: 'all' } })).filter(
    (pull) => pull.base?.ref === base,
  );
const branchNames = async () =>
  (await harness.root.call(operations.listBranches, { params: at })).map(({ name }) => name).toSorted();
const commentsOn = async (index: number) =>
  harness.root.call(operations.listComments, { params: { ...at, index } });
const isOpening = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'POST' && path.endsWith('/pulls');

describe('backport', () => {
  it('goes to the branch that a label names, with the title and the assignee of the step', {
    timeout,
  }, async () => {
    const to = '{ label: "backport/{branch}", only: ["release/*"] }';
    const step = `to: ${to}, title: "Backport to {branch}", assignees: ["${people.ada}"]`;
    await startFlow(
      backporting().replace('closed, edited', 'closed, label_updated').replace('to: ["release/*"]', step),
    );
    await makeBranch('release/2');
    const names = ['backport/release/2', 'backport/main', 'backport/fix'];
    const made = await Promise.all(
      names.map((name) =>
        harness.root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } }),
      ),
    );
    const index = await mergeFix('one\n2\nthree\n');
    await waitForBackport();
    const seen = harness.runs.length;
    const labels = made.map(({ id }) => id);
    await harness.ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels } });
    await waitForBackport(seen);

    const open = await harness.root.call(operations.listPulls, { params: at, query: { state: 'open' } });
    expect(open).toMatchObject([{ base: { ref: 'release/2' }, title: 'Backport to release/2' }]);
    expect(open.flatMap(({ assignees }) => assignees ?? []).map(({ login }) => login)).toEqual([people.ada]);
  });

  it('applies a merged change to every target branch, keeping the original author, and then plans nothing more', {
    timeout,
  }, async () => {
    await startFlow();
    await makeBranch('release/2');
    await commitFile('release/1', 'b.txt', 'older\n');
    const reads = (end: RegExp) =>
      harness.proxy.passed.filter(({ method, path }) => method === 'GET' && end.test(path)).length;
    const index = await mergeFix('one\n2\nthree\n', 'Fix the door', 'Fix the door\n\nIt was stuck.');

    const run = await waitForBackport();

    expect(outcomesOf(run)).toEqual(
      ['contents.apply-patch', 'pull.create', 'contents.apply-patch', 'pull.create'].map(
        (one) => `${one} applied`,
      ),
    );
    // The diff is read once for the pull request, not for each branch. The list of pull requests is read again after
    // everything was sent, and before a write that comes more than 250 ms after the last read.
    expect(reads(/\/pulls\/\d+\.diff/)).toBe(1);
    expect(reads(/\/pulls\?.*state=all/)).toBeGreaterThanOrEqual(2);
    expect(reads(/\/pulls\?.*state=all/)).toBeLessThanOrEqual(2 + 4);
    const [pull] = await pullsInto('release/1');
    const { merge_commit_sha } = await harness.root.call(operations.getPull, { params: { ...at, index } });
    expect(pull).toMatchObject({
      title: '[release/1] Fix the door',
      state: 'open',
      user: { login: people.bot },
    });
    expect(pull?.body).toContain(`(cherry picked from commit ${merge_commit_sha})`);
    const commits = await harness.root.call(operations.listPullCommits, {
      params: { ...at, index: pull?.number ?? 0 },
    });
    expect(commits).toHaveLength(1);
    expect(commits[0]?.commit?.author?.name).toBe(
      (await harness.ada.call(operations.getSelf, {})).full_name || people.ada,
    );
    expect(commits[0]?.commit?.message?.trim()).toBe(
      `Fix the door\n\nIt was stuck.\n\n(cherry picked from commit ${merge_commit_sha})`,
    );

    const from = harness.proxy.passed.length;
    expect((await again(index, 'Fix the door!')).changes).toEqual([]);
    const params = { ...at, index: pull?.number ?? 0 };
    await harness.ada.call(operations.editPull, { params, body: { state: 'closed' } });
    expect((await again(index, 'Fix the door.')).changes).toEqual([]);
    expect(writesOf(harness, from)).toEqual([]);
  });

  it('also follows a merge by Reeve itself, and the new pull request triggers other rules', {
    timeout,
  }, async () => {
    await startFlow(`${backporting()}
  merge:
    on: pull_request.edited
    if: pull_request.title == "Fix now" && !pull_request.merged
    steps: [{ uses: merge, with: { method: squash } }]
  greet:
    on: pull_request.opened
    if: pull_request.title.startsWith("[release/1]")
    steps: [{ uses: comment, with: { text: A backport. } }]
`);
    await makeBranch('fix');
    await commitFile('fix', 'a.txt', 'one\n2\nthree\n');
    const body = { title: 'Later', head: 'fix', base: 'main' };
    const { number } = await harness.ada.call(operations.createPull, { params: at, body });
    await harness.ada.call(operations.editPull, {
      params: { ...at, index: number },
      body: { title: 'Fix now' },
    });

    const run = await harness.waitForRun((one) => one.changes.some(({ action }) => action === 'backport'));
    const greeting = await harness.waitForRun((one) =>
      one.changes.some(({ action }) => action === 'comment'),
    );

    expect(run.trigger.because).toBeDefined();
    expect(greeting.trigger.because?.run).toBe(run.id);
    await harness.idle();
    expect(await pullsInto('release/1')).toHaveLength(1);
  });

  it('reports a conflict in a comment, and tries again only after a person deletes the comment', {
    timeout,
  }, async () => {
    await startFlow();
    await commitFile('release/1', 'a.txt', 'one\nzwei\nthree\n');
    const before = await branchNames();
    const index = await mergeFix('one\n2\nthree\n');

    const run = await waitForBackport();

    expect(outcomesOf(run)).toEqual([
      'contents.apply-patch skipped: not backported to release/1: its changes do not apply to this branch',
      'pull.create skipped: it is no longer wanted',
      'comment.create applied',
    ]);
    expect(new Set(run.changes.map(({ id }) => id)).size).toBe(3);
    const [comment, ...others] = await commentsOn(index);
    expect(others).toEqual([]);
    expect(comment?.body).toContain('`release/1`: its changes do not apply to this branch.');
    expect(await branchNames()).toEqual(before);

    const from = harness.proxy.passed.length;
    expect((await again(index, 'Fix the door!')).changes).toEqual([]);
    expect(writesOf(harness, from)).toEqual([]);

    await commitFile('release/1', 'a.txt', 'one\ntwo\nthree\n');
    await harness.root.call(operations.deleteComment, { params: { ...at, id: comment?.id ?? 0 } });
    await again(index, 'Fix the door.');
    expect(await pullsInto('release/1')).toHaveLength(1);
    expect(await commentsOn(index)).toEqual([]);
  });

  // `test/actions/backport.test.ts` covers both cases without a forge. The next test deletes such a branch on a forge.
  it.runIf(isThorough).each([
    ['repairs its whitespace', 'one\n2 \t\nthree\n', undefined, 'different white space'],
    [
      'finds it there already',
      'one\n2\nthree\n',
      'one\n2\nthree\n',
      'the branch already contains its changes',
    ],
  ])('deletes its branch if the forge %s', { timeout }, async (_, text, released, words) => {
    await startFlow();
    if (released) await commitFile('release/1', 'a.txt', released);
    const before = await branchNames();
    const index = await mergeFix(text);

    const run = await waitForBackport();

    expect(outcomesOf(run).map((one) => one.split(':')[0])).toEqual([
      'contents.apply-patch applied',
      'pull.create skipped',
      'comment.create applied',
      'branch.delete applied',
    ]);
    expect((await commentsOn(index)).map(({ body }) => body)).toEqual([expect.stringContaining(words)]);
    expect(await branchNames()).toEqual(before);
    expect(await pullsInto('release/1')).toEqual([]);
    const from = harness.proxy.passed.length;
    expect((await again(index, 'Fix the door!')).changes).toEqual([]);
    expect(writesOf(harness, from)).toEqual([]);
  });

  it.runIf(isThorough)(
    'deletes its branch even if the response to the patch was lost',
    { timeout },
    async () => {
      await startFlow(backporting(), { server: { backoff: { firstMs: 50 } } });
      const before = await branchNames();
      let patches = 0;
      harness.proxy.decide = ({ method, path }) => {
        const isPatch = method === 'POST' && path.endsWith('/diffpatch');
        if (isPatch) patches += 1;
        return { kind: isPatch && patches === 1 ? 'lose' : 'pass' };
      };
      const index = await mergeFix('one\n2 \t\nthree\n');

      await expect.poll(async () => (await commentsOn(index)).length, { timeout }).toBe(1);
      await harness.idle();

      expect((await commentsOn(index))[0]?.body).toContain('different white space');
      expect(await branchNames()).toEqual(before);
      expect(patches).toBe(1);
    },
  );

  it.runIf(isThorough)(
    'is reverted only while its branch has the commit that it created',
    { timeout },
    async () => {
      await startFlow();
      await mergeFix('one\n2\nthree\n');
      const run = await waitForBackport();
      const { environment } = harness;
      const { after } = run.changes[0] ?? {};
      const { name, message } = after as { readonly name: string; readonly message: string };
      const shown = await reeve(['revert', '--plan', run.id], { environment });
      expect(shown.out).toContain(`DELETE /repos/${at.owner}/${at.repo}/branches/${name}`);

      // Amended: one commit with the same message but different content.
      await harness.root.call(operations.deleteBranch, { params: { ...at, branch: name } });
      const body = { new_branch_name: name, old_ref_name: 'release/1' };
      await harness.root.call(operations.createBranch, { params: at, body });
      await commitFile(name, 'a.txt', 'one\n2!\nthree\n', message);
      const { out } = await reeve(['revert', run.id, '--json'], { environment });

      expect(out).toContain('changed since');
      expect(await branchNames()).toContain(name);
    },
  );

  it('checks its conditions again before each write', { timeout }, async () => {
    await startFlow();
    let isRenamed = false;
    harness.proxy.decide = ({ method, path }) =>
      method === 'POST' && path.endsWith('/diffpatch') && !isRenamed
        ? {
            kind: 'pass',
            async after() {
              isRenamed = true;
              const [pull] = await pullsInto('main');
              const params = { ...at, index: pull?.number ?? 0 };
              await harness.ada.call(operations.editPull, { params, body: { title: 'Not that' } });
            },
          }
        : { kind: 'pass' };
    await mergeFix('one\n2\nthree\n');

    const run = await waitForBackport();

    expect(outcomesOf(run)).toEqual([
      'contents.apply-patch applied',
      'pull.create skipped: its conditions no longer hold',
    ]);
    expect(harness.proxy.passed.filter(isOpening)).toEqual([]);
  });

  const granted: readonly [string, string, readonly string[]][] = [
    ['', 'one\n2\nthree\n', ['contents.apply-patch applied', 'pull.create applied']],
    [', also in its comment', 'version https://git-lfs.github.com/spec/v1\n', ['comment.create applied']],
  ];
  // `test/actions/backport.test.ts` covers the variant with the comment.
  it.each(isThorough ? granted : granted.slice(0, 1))(
    'respects the branches listed in a grant of the repository%s',
    { timeout },
    async (_, text, outcomes) => {
      harness = await startOperatorHarness('version: 1\nrules: {}\n', {
        rules: backporting(),
        server: {
          grants: [
            {
              in: [`${at.owner}/*`],
              repositories: [],
              organizations: [],
              names: ['backport'],
              branches: ['release/1'],
            },
          ],
        },
      });
      await commitFile('main', 'a.txt', 'one\ntwo\nthree\n');
      for (const name of ['release/1', 'release/2']) await makeBranch(name);
      const index = await mergeFix(text);

      const run = await waitForBackport();

      expect(outcomesOf(run)).toEqual(outcomes);
      expect(run.refused.map(({ why }) => why)).toEqual(
        [0, 1].map(() => 'the grant of backport does not cover the branch release/2'),
      );
      expect(await pullsInto('release/2')).toEqual([]);
      const made = (await branchNames()).filter((name) => name.startsWith('backport'));
      expect(made).toHaveLength(outcomes.length - 1);
      for (const { body } of await commentsOn(index)) expect(body).not.toContain('release/2');
    },
  );

  it.runIf(isThorough)(
    'resumes after a kill between the branch and the pull request',
    { timeout: 2 * timeout },
    async () => {
      await startFlow(`version: 1
rules:
  backport:
    on: { schedule: "0 0 1 1 *" }
    each: { pull_request: { state: all } }
    if: pull_request.title.startsWith("Fix")
    steps: [{ uses: backport, with: { to: ["release/*"] } }]
`);
      await mergeFix('one\n2\nthree\n');
      await harness.server.stop();
      const environment = { ...harness.environment, REEVE_RULES: harness.rules ?? '' };
      const child = start(['sweep', 'backport'], { environment });
      harness.proxy.decide = (passing) => {
        if (!isOpening(passing)) return { kind: 'pass' };
        child.kill('SIGKILL');
        return { kind: 'hang' };
      };
      await waitForExit(child);
      expect((await branchNames()).filter((name) => name.startsWith('backport'))).toHaveLength(1);
      expect(await pullsInto('release/1')).toEqual([]);
      harness.proxy.decide = () => ({ kind: 'pass' });
      const from = harness.proxy.passed.length;

      const { status, error } = await reeve(['sweep', 'backport'], { environment });

      expect([status, error]).toEqual([0, expect.any(String)]);
      expect(writesOf(harness, from)).toEqual(['POST pulls']);
      expect(await pullsInto('release/1')).toHaveLength(1);
    },
  );
});
