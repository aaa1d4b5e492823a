import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { acme, at, type Harness, people, repositoryScopes } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { requireStatuses } from '../support/queue/queue-repository.ts';
import { createTeams, shippedFiles } from '../support/shipped-rules.ts';

let harness: Harness;
let work: GitClone;
/** How far the server's clock is ahead. Polls happen when this test advances it. */
let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
afterEach(async () => {
  aheadMs = 0;
  work?.remove();
  await harness?.close();
});

/** Starts with shipped files, and with these files on `main`, pushed with git. */
async function start(rules: readonly string[], files: Readonly<Record<string, string>>): Promise<void> {
  harness = await startOperatorHarness(await shippedFiles(rules), {
    labels: ['merge-queue', 'kind/bug'],
    scopes: [...repositoryScopes, 'read:organization'],
    server: { clock, backoff: { firstMs: 50 } },
  });
  if (rules.includes('approvals-by-team.yml')) {
    await createTeams(harness, people.bot);
    const units = ['repo.code', 'repo.issues', 'repo.pulls'];
    const body = { name: 'security', permission: 'read', includes_all_repositories: true, units } as const;
    await harness.root.call(operations.createTeam, {
      params: { org: acme },
      body: { ...body, units: [...units] },
    });
  }
  work = await cloneRepository(harness.cloneFrom(people.ada));
  await push('main', files);
}

/** Commits files to a branch of the clone, and pushes the branch. Without files, commits what is staged. */
async function push(
  branch: string,
  files: Readonly<Record<string, string>>,
  message = 'A change',
): Promise<void> {
  await work.git('checkout', '--quiet', '-B', branch);
  for (const path of Object.keys(files)) await mkdir(dirname(join(work.folder, path)), { recursive: true });
  await work.commit(files, message);
  await work.git('push', '--quiet', 'origin', branch);
  await harness.idle();
}

async function open(head: string, base: string): Promise<number> {
  const { number } = await harness.ada.call(operations.createPull, {
    params: at,
    body: { title: head, head, base },
  });
  await harness.idle();
  return number;
}

/** Returns the newest status of each context on the head of a pull request. */
async function statusesOf(index: number): Promise<Readonly<Record<string, string>>> {
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const params = { ...at, ref: head?.sha ?? '' };
  const { statuses } = await harness.root.call(operations.getCombinedStatus, { params });
  return Object.fromEntries((statuses ?? []).map(({ context, status }) => [context ?? '', status ?? '']));
}

async function describedAs(index: number, context: string): Promise<string | undefined> {
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const params = { ...at, ref: head?.sha ?? '' };
  const { statuses } = await harness.root.call(operations.getCombinedStatus, { params });
  return statuses?.find((one) => one.context === context)?.description ?? undefined;
}

it('the recipe of a hold: the status follows the command of an account with write access at once', async () => {
  const page = await readFile(join(packageRoot, 'docs/recipes.md'), 'utf8');
  const recipe = /```yaml\n(# rules\/hold\.yml\n.*?)```/s.exec(page)?.[1] ?? '';
  const files = { 'hold.yml': recipe.replace('acme/', `${acme}/`) };
  harness = await startOperatorHarness(files, { labels: ['do-not-merge'] });
  const eve = await harness.forge.makePerson(people.eve);
  const { number: index } = await harness.openPull('topic', { 'a.txt': 'b' });
  await harness.idle();
  const after = async (client: Client, body: string) => {
    await client.call(operations.createComment, { params: { ...at, index }, body: { body } });
    await harness.idle();
    return [(await statusesOf(index))['reeve/hold'], await harness.labelsOf(index)];
  };

  expect(await statusesOf(index)).toEqual({ 'reeve/hold': 'success' });
  expect(await after(eve, '/hold')).toEqual(['success', []]);
  expect(await after(harness.root, '/hold')).toEqual(['pending', ['do-not-merge']]);
  expect(await after(harness.root, 'Why?')).toEqual(['pending', ['do-not-merge']]);
  expect(await after(eve, '/unhold')).toEqual(['pending', ['do-not-merge']]);
  expect(await after(harness.root, '/unhold')).toEqual(['success', []]);
});

it('every shipped gate is evaluated again when the base of a pull request changes', {
  timeout: timeoutMs * 4,
}, async () => {
  const gates = [
    'codeowners',
    'approvals-by-team',
    'changelog',
    'dco',
    'signed-commits',
    'required-label',
    'freeze',
  ];
  await start(
    gates.map((name) => `${name}.yml`),
    {
      CODEOWNERS: `docs/.* @${people.ada}\nsrc/auth/.* @${people.root}\n`,
      'src/auth/check.ts': 'check\n',
    },
  );
  // Changes in `release` that `main` lacks do not become part of a pull request that moves from one to the other.
  await push('release', { 'src/auth/check.ts': 'no check\n' });
  await push('topic', { 'docs/a.md': 'docs\n' }, 'Document it\n\nSigned-off-by: Ada <ada@example.org>');
  const index = await open('topic', 'release');
  const released = {
    'reeve/owners': 'success',
    'reeve/security': 'success',
    'reeve/changelog': 'success',
    'reeve/dco': 'success',
    'reeve/signed': 'failure',
    'reeve/labels': 'failure',
  };
  await expect.poll(() => statusesOf(index), { timeout: timeoutMs }).toEqual(released);
  const from = harness.runs.length;

  await harness.ada.call(operations.editPull, { params: { ...at, index }, body: { base: 'main' } });
  await harness.idle();

  await expect
    .poll(() => statusesOf(index), { timeout: timeoutMs })
    .toEqual({
      'reeve/owners': 'pending',
      'reeve/security': 'pending',
      'reeve/changelog': 'failure',
      'reeve/dco': 'failure',
      'reeve/signed': 'failure',
      'reeve/labels': 'failure',
      'reeve/freeze': expect.stringMatching(/^(success|pending)$/),
    });
  const judged = harness.runs.slice(from).flatMap(({ rules }) => rules.map(({ rule }) => rule.split('#')[1]));
  expect([...new Set(judged)].toSorted()).toEqual([
    'changelog',
    'dco',
    'freeze',
    'labels',
    'owners',
    'security',
    'signed',
  ]);
});

describe('a gate about files', () => {
  it('detects a file that is moved out of its folder, and a deleted changelog', async () => {
    await start(['approvals-by-team.yml', 'changelog.yml'], {
      'src/auth/check.ts': 'check the password, and nothing else\n',
      'CHANGELOG.md': 'changes\n',
    });
    await work.git('checkout', '--quiet', '-B', 'moved');
    await work.git('mv', 'src/auth/check.ts', 'src/check.ts');
    await work.git('rm', '--quiet', 'CHANGELOG.md');
    await push('moved', {});
    const index = await open('moved', 'main');

    const files = await harness.root.call(operations.listPullFiles, { params: { ...at, index } });
    expect(
      files.map(({ filename, status, previous_filename }) => [filename, status, previous_filename]),
    ).toContainEqual(['src/check.ts', 'renamed', 'src/auth/check.ts']);
    await expect
      .poll(() => statusesOf(index), { timeout: timeoutMs })
      .toEqual({ 'reeve/security': 'pending', 'reeve/changelog': 'failure' });
  });

  it("passes no file whose owners are listed only in GitHub's CODEOWNERS syntax, and reports those lines", async () => {
    await start(['codeowners.yml'], {
      CODEOWNERS: `/lib @${people.root}\nlib/ @${people.root}\ndocs/.* @${people.ada}\n`,
      'lib/a.ts': 'a\n',
      'docs/a.md': 'a\n',
    });
    await push('library', { 'lib/a.ts': 'b\n' });
    const library = await open('library', 'main');
    await expect
      .poll(() => statusesOf(library), { timeout: timeoutMs })
      .toEqual({ 'reeve/owners': 'pending' });
    expect(await describedAs(library, 'reeve/owners')).toMatch(/missing\. .*line 1 \(.*lib\), 2 \(lib\/\)/);

    await work.git('checkout', '--quiet', 'main');
    await push('documents', { 'docs/a.md': 'b\n' });
    const documents = await open('documents', 'main');
    await expect
      .poll(() => statusesOf(documents), { timeout: timeoutMs })
      .toEqual({ 'reeve/owners': 'success' });
  });
});

it('the queue merges nothing into a branch that requires every check until a check exists', {
  timeout: timeoutMs * 4,
}, async () => {
  await start(['merge-queue.yml', 'required-label.yml'], { 'a.txt': 'a\n' });
  await requireStatuses(harness.root, at, { contexts: ['*'] });
  await push('topic', { 'a.txt': 'b\n' });
  const index = await open('topic', 'main');
  const known = await harness.root.call(operations.listLabels, { params: at });
  const labels = known.map(({ id }) => id);
  await harness.ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels } });
  const isMerged = async () =>
    (await harness.root.call(operations.getPull, { params: { ...at, index } })).merged;
  const passTime = async () => {
    aheadMs += 5_000;
    await harness.idle();
  };

  // A status of our own rule passes, and the queue's status would pass as well.
  await expect
    .poll(() => statusesOf(index), { timeout: timeoutMs })
    .toEqual({ 'reeve/labels': 'success', 'reeve/queue': 'pending' });
  for (let turn = 0; turn < 15; turn += 1) await passTime();
  expect([await isMerged(), await statusesOf(index)]).toEqual([
    false,
    { 'reeve/labels': 'success', 'reeve/queue': 'pending' },
  ]);

  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const params = { ...at, sha: head?.sha ?? '' };
  await harness.root.call(operations.createStatus, { params, body: { state: 'success', context: 'ci' } });
  await expect
    .poll(
      async () => {
        await passTime();
        return isMerged();
      },
      { timeout: timeoutMs * 3 },
    )
    .toBe(true);
});
