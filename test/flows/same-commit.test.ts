import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { cloneRepository } from '../support/git-client.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

let harness: Harness;
afterEach(() => harness.close());

/**
 * The shipped rule, changed for files without owners as its comment describes, because an older branch has no
 * CODEOWNERS.
 */
const owners = readFileSync(join(packageRoot, 'rules/codeowners.yml'), 'utf8').replace(
  'codeowners.all(c, ',
  'codeowners.all(c, c.users.size() + c.teams.size() == 0 || ',
);
const bytes = (text: string): string => Buffer.from(text).toString('base64');

/** Commits a file to a branch of the repository as its administrator. */
async function put(filepath: string, text: string, branch = 'main'): Promise<void> {
  const body = { branch, content: bytes(text), message: `Add ${filepath}` };
  await harness.waitForPush(() =>
    harness.root.call(operations.createFile, { params: { ...at, filepath }, body }),
  );
}

async function openFrom(head: string, base: string): Promise<number> {
  const body = { title: `From ${head} into ${base}`, head, base };
  return (await harness.ada.call(operations.createPull, { params: at, body })).number;
}

const edit = (index: number, body: object) =>
  harness.ada.call(operations.editPull, { params: { ...at, index }, body });

/** Returns the newest status with a name on the head of a branch. */
async function statusOf(branch: string, context = 'reeve/owners') {
  await harness.idle();
  const params = { ...at, ref: branch };
  const { statuses } = await harness.root.call(operations.getCombinedStatus, { params });
  const found = statuses?.find((status) => status.context === context);
  return found && { status: found.status, description: found.description, url: found.target_url };
}

/**
 * Creates a repository whose branch main has a file with an owner, and an older branch without the file. The branch `h`
 * deletes that file: merging `h` into main requires an approval, merging it into the older branch requires nothing.
 */
async function arrange(rules = owners): Promise<void> {
  harness = await startOperatorHarness(rules);
  await harness.waitForPush(() =>
    harness.root.call(operations.createBranch, {
      params: at,
      body: { new_branch_name: 'older', old_branch_name: 'main' },
    }),
  );
  await put('CODEOWNERS', `src/auth/.* @${people.root}\n`);
  await put('src/auth/check.ts', 'check();\n');
  await harness.openPull('h', { 'b.md': 'b' });
  const params = { ...at, filepath: 'src/auth/check.ts' };
  const live = await harness.ada.call(operations.getContents, { params: { ...params }, query: { ref: 'h' } });
  const sha = Array.isArray(live) ? '' : (live.sha ?? '');
  const body = { branch: 'h', sha, message: 'No check' };
  await harness.waitForPush(() => harness.ada.call(operations.deleteFile, { params, body }));
}

const missing = 'An owner, or the approval of one, is missing.';
const held = (number: number, text = missing) => ({
  status: 'pending',
  description: `#${number}: ${text}`,
  url: expect.stringContaining(`/pulls/${number}`),
});

describe('a status on a commit that is the head of several pull requests', () => {
  it('does not become success through a second pull request into another branch', async () => {
    await arrange();
    expect(await statusOf('h')).toEqual({ status: 'pending', description: missing, url: '' });

    const second = await openFrom('h', 'older');

    expect(await statusOf('h')).toEqual(held(1));
    await edit(second, { title: 'Another title' });
    expect(await statusOf('h')).toEqual(held(1));
  });

  it('also depends on a pull request from another branch, until that pull request is closed or changes its base', async () => {
    await arrange();
    const { object } = await harness.ada
      .call(operations.getBranch, { params: { ...at, branch: 'h' } })
      .then(({ commit }) => ({ object: commit?.id ?? '' }));
    await harness.waitForPush(() =>
      harness.ada.call(operations.createBranch, {
        params: at,
        body: { new_branch_name: 'h2', old_ref_name: object },
      }),
    );
    await openFrom('h2', 'older');
    expect(await statusOf('h')).toEqual(held(1));

    await edit(1, { state: 'closed' });
    expect(await statusOf('h')).toMatchObject({ status: 'success' });

    await edit(1, { state: 'open' });
    expect(await statusOf('h')).toMatchObject({ status: 'pending' });

    await harness.waitForPush(() =>
      harness.root.call(operations.createBranch, {
        params: at,
        body: { new_branch_name: 'oldest', old_branch_name: 'older' },
      }),
    );
    await edit(1, { base: 'oldest' });
    expect(await statusOf('h')).toMatchObject({ status: 'success' });
  });
});

describe('a rule that receives no event of the other pull request', () => {
  /** A rule that listens only to comments. Its result depends on the title. */
  const rules = `version: 1
rules:
  titled:
    on: issue_comment
    each: pull_request
    steps: [{ uses: set-status, with: { when: 'pull_request.title.startsWith("ok")' } }]
`;

  it('is still evaluated for that pull request, when it is opened and when it ends', async () => {
    harness = await startOperatorHarness(
      rules.replace('    each: pull_request\n', '').replace('issue_comment', 'pull_request.edited'),
    );
    await harness.openPull('h', { 'b.md': 'b' });
    await edit(1, { title: 'ok' });
    expect(await statusOf('h', 'reeve/titled')).toMatchObject({ status: 'success' });
    await harness.waitForPush(() =>
      harness.root.call(operations.createBranch, {
        params: at,
        body: { new_branch_name: 'older', old_branch_name: 'main' },
      }),
    );

    const second = await openFrom('h', 'older');
    expect(await statusOf('h', 'reeve/titled')).toMatchObject({ status: 'failure' });

    await edit(1, { title: 'ok again' });
    expect(await statusOf('h', 'reeve/titled')).toMatchObject({
      status: 'failure',
      description: `#${second}: failure`,
    });

    await harness.restart({ between: () => edit(second, { state: 'closed' }) });
    await expect
      .poll(() => statusOf('h', 'reeve/titled'), { timeout: 20_000 })
      .toMatchObject({ status: 'success' });
  });
});

describe('a pull request that its rule cannot evaluate', () => {
  const context = 'reeve/gate';
  /** For pull requests into any branch other than `older`, the condition fails without a label. */
  const rules = `version: 1
rules:
  gate:
    on: { pull_request: [opened, edited, reopened, synchronized] }
    steps: [{ uses: set-status, with: { when: 'pull_request.base.ref == "older" || labels[0].name == "ok"' } }]
`;
  const unjudged = { status: 'pending', description: 'the rule failed: it cannot be evaluated' };

  async function startBesideOlder(): Promise<void> {
    harness = await startOperatorHarness(rules);
    await harness.waitForPush(() =>
      harness.root.call(operations.createBranch, {
        params: at,
        body: { new_branch_name: 'older', old_branch_name: 'main' },
      }),
    );
    await harness.openPull('h', { 'b.md': 'b' });
  }

  it('does not keep the status that the same commit earned in another pull request', async () => {
    await startBesideOlder();
    await edit(1, { state: 'closed' });
    await openFrom('h', 'older');
    expect(await statusOf('h', context)).toMatchObject({ status: 'success' });

    await edit(1, { state: 'open' });
    expect(await statusOf('h', context)).toMatchObject({ status: 'pending' });

    await edit(1, { state: 'closed' });
    expect(await statusOf('h', context)).toMatchObject({ status: 'success' });
  });

  it('does not keep the status that it earned for another base', async () => {
    await startBesideOlder();
    expect(await statusOf('h', context)).toBeUndefined();
    await edit(1, { base: 'older' });
    expect(await statusOf('h', context)).toMatchObject({ status: 'success' });

    await edit(1, { base: 'main' });
    expect(await statusOf('h', context)).toMatchObject(unjudged);
  });
});

describe('a status context that contains the base', () => {
  it('is evaluated only for the pull requests into that base', async () => {
    const context = 'context: "reeve/owners ${{ pull_request.base.ref }}"';
    await arrange(
      owners.replace('          state: success\n', `          state: success\n          ${context}\n`),
    );
    await openFrom('h', 'older');

    expect(await statusOf('h', 'reeve/owners main')).toEqual({
      status: 'pending',
      description: missing,
      url: '',
    });
    expect(await statusOf('h', 'reeve/owners older')).toEqual({
      status: 'success',
      description: '',
      url: '',
    });
  });
});

describe('a pull request that the rule excludes', () => {
  it('does not count, and no longer holds back the others once it is excluded', async () => {
    const rules = `version: 1
rules:
  titled:
    on: { pull_request: [opened, edited, reopened, synchronized, label_updated] }
    if: '!labels.exists(l, l.name == "kept")'
    steps: [{ uses: set-status, with: { when: 'pull_request.title.startsWith("ok")' } }]
`;
    harness = await startOperatorHarness(rules);
    await harness.openPull('h', { 'b.md': 'b' });
    await harness.waitForPush(() =>
      harness.root.call(operations.createBranch, {
        params: at,
        body: { new_branch_name: 'older', old_branch_name: 'main' },
      }),
    );
    const second = await openFrom('h', 'older');
    await edit(second, { title: 'ok' });
    expect(await statusOf('h', 'reeve/titled')).toMatchObject({
      status: 'failure',
      description: '#1: failure',
    });

    const labels = await harness.root.call(operations.listLabels, { params: at });
    const kept = labels.find(({ name }) => name === 'kept')?.id ?? 0;
    const params = { ...at, index: 1 };
    await harness.ada.call(operations.addIssueLabels, { params, body: { labels: [kept] } });

    expect(await statusOf('h', 'reeve/titled')).toMatchObject({ status: 'success' });
  });
});

describe('a list of pull requests that cannot be read completely', () => {
  it('allows no better status to be written, and is retried automatically', async () => {
    await arrange();
    expect(await statusOf('h')).toMatchObject({ status: 'pending' });
    let isBroken = true;
    harness.proxy.decide = ({ path }) =>
      isBroken && path.includes('/pulls?') ? { kind: 'answer', status: 500, body: '{}' } : { kind: 'pass' };
    const from = harness.proxy.passed.length;
    await harness.root.call(operations.createReview, {
      params: { ...at, index: 1 },
      body: { event: 'APPROVED', body: 'Good.' },
    });
    await expect
      .poll(() => harness.proxy.passed.slice(from).filter(({ path }) => path.includes('/pulls?')).length, {
        timeout: 20_000,
      })
      .toBeGreaterThan(1);
    const writes = () =>
      harness.proxy.passed
        .slice(from)
        .filter(({ method, path }) => method === 'POST' && path.includes('/statuses/'));
    expect(writes()).toEqual([]);

    isBroken = false;

    await expect.poll(() => statusOf('h'), { timeout: 40_000 }).toMatchObject({ status: 'success' });
    expect(writes()).toHaveLength(1);
  });
});

describe('a push between two reads', () => {
  const dco = readFileSync(join(packageRoot, 'rules/dco.yml'), 'utf8');
  const signed = 'Work\n\nSigned-off-by: Ada <ada@example.org>\n';

  /** Commits to a branch with a message, and returns the commit. */
  async function commit(branch: string, filepath: string, message: string): Promise<string> {
    const body = { branch, content: bytes(filepath), message };
    const made = await harness.ada.call(operations.createFile, { params: { ...at, filepath }, body });
    return made.commit?.sha ?? '';
  }

  it('leads to a new evaluation, and no status is written for a commit that was not evaluated', async () => {
    harness = await startOperatorHarness(dco);
    await harness.waitForPush(() =>
      harness.root.call(operations.createBranch, {
        params: at,
        body: { new_branch_name: 'h', old_branch_name: 'main' },
      }),
    );
    await harness.waitForPush(() => commit('h', 'a', signed));
    let second = '';
    // The first commits belong to the first head. The head changes before the status is written.
    harness.proxy.decide = ({ path }) =>
      path.includes('/commits?') && second === ''
        ? {
            kind: 'pass',
            after: async () => {
              second = 'pushed';
              second = await commit('h', 'b', 'Not signed off');
            },
          }
        : { kind: 'pass' };

    const pull = await openFrom('h', 'main');
    expect(await statusOf('h', 'reeve/dco')).toMatchObject({ status: 'failure' });
    const all = await harness.root.call(operations.listStatuses, { params: { ...at, sha: second } });
    expect(all.filter(({ context }) => context === 'reeve/dco').map(({ status }) => status)).toEqual([
      'failure',
    ]);
    expect(pull).toBe(1);
  });

  it('is detected even if the head is the same again afterwards', async () => {
    harness = await startOperatorHarness(dco);
    const clone = await cloneRepository(harness.cloneFrom(people.ada));
    await clone.git('checkout', '--quiet', '-b', 'h');
    await clone.git('commit', '--quiet', '--allow-empty', '-m', 'Not signed off');
    await harness.waitForPush(() => clone.git('push', '--quiet', 'origin', 'h'));
    const bad = (await clone.git('rev-parse', 'HEAD')).trim();
    await clone.git('commit', '--quiet', '--amend', '--allow-empty', '-m', signed);
    const good = (await clone.git('rev-parse', 'HEAD')).trim();
    let pushes = 0;
    const push = (sha: string) => clone.git('push', '--quiet', '--force', 'origin', `${sha}:refs/heads/h`);
    // The branch is bad when its head is read, good while its commits are read, and bad again afterwards.
    harness.proxy.decide = ({ path }) => {
      if (!path.includes('/commits?') || pushes > 0) return { kind: 'pass' };
      pushes = 1;
      return { kind: 'pass', before: () => push(good), after: () => push(bad) };
    };

    await openFrom('h', 'main');
    expect(await statusOf('h', 'reeve/dco')).toMatchObject({ status: 'failure' });
    const all = await harness.root.call(operations.listStatuses, { params: { ...at, sha: bad } });
    clone.remove();
    expect(pushes).toBe(1);
    expect(all.filter(({ context }) => context === 'reeve/dco').map(({ status }) => status)).toEqual([
      'failure',
    ]);
  });
});
