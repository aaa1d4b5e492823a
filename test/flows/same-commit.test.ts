import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/package.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

let harness: Harness;
afterEach(() => harness.close());

const owners = readFileSync(join(packageRoot, 'rules/codeowners.yml'), 'utf8');
const bytes = (text: string): string => Buffer.from(text).toString('base64');

/** Puts a file on a branch of the repository as its administrator. */
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

/** The newest status of a name on the head of a branch. */
async function statusOf(branch: string, context = 'reeve/owners') {
  await harness.idle();
  const params = { ...at, ref: branch };
  const { statuses } = await harness.root.call(operations.getCombinedStatus, { params });
  const found = statuses?.find((status) => status.context === context);
  return found && { status: found.status, description: found.description, url: found.target_url };
}

/**
 * A repository whose branch main has a file with an owner, and an older branch without it. The branch `h` deletes that file: into
 * main that needs an approval, into the older branch nothing does.
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

const missing = 'An approval of an owner is missing.';
const held = (number: number, text = missing) => ({
  status: 'pending',
  description: `#${number}: ${text}`,
  url: expect.stringContaining(`/pulls/${number}`),
});

describe('a status on a commit that several pull requests have as their head', () => {
  it('is not opened by a second pull request into another branch', async () => {
    await arrange();
    expect(await statusOf('h')).toEqual({ status: 'pending', description: missing, url: '' });

    const second = await openFrom('h', 'older');

    expect(await statusOf('h')).toEqual(held(1));
    await edit(second, { title: 'Another title' });
    expect(await statusOf('h')).toEqual(held(1));
  });

  it('counts another branch, and is set free when the other one is closed or gets another base', async () => {
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
