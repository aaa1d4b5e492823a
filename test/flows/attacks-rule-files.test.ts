import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { recordFigure } from '../support/figure.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { acme, at, type Harness, people, startHarness } from '../support/harness.ts';

/** The rules on the default branch, which no other place may change. */
const rulesThat = (label: string): string => `version: 1
rules:
  mark:
    on: [issues.opened, pull_request.opened, pull_request.edited]
    steps: [{ uses: set-labels, with: { add: [${label}] } }]
`;
const good = rulesThat('area/docs');
const evil = rulesThat('area/code');

let harness: Harness;
let clone: GitClone;
let count = 0;
beforeAll(async () => {
  harness = await startHarness({ rules: good });
  clone = await cloneRepository(harness.cloneFrom(people.ada));
});
afterAll(async () => {
  clone.remove();
  await harness.close();
});

/** Commits the file on its own branch from main, in the form that `write` produces, and returns the commit. */
async function branchWith(branch: string, write: () => Promise<unknown> | unknown): Promise<string> {
  await clone.git('fetch', '--quiet', 'origin');
  await clone.git('checkout', '--quiet', '-B', 'work', 'origin/main');
  await write();
  await clone.git('add', '--all', '--force');
  await clone.git('commit', '--quiet', '--allow-empty', '-m', branch);
  return (await clone.git('rev-parse', 'HEAD')).trim();
}

async function headOf(branch: string): Promise<string> {
  const { commit } = await harness.root.call(operations.getBranch, { params: { ...at, branch } });
  return commit?.id ?? '';
}

/** Triggers the rules, and returns the bot's run and the resulting labels. */
async function trigger(): Promise<{ run: Run; labels: readonly string[] }> {
  count += 1;
  const title = `number ${count}`;
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  const run = await harness.waitForRun((one) =>
    one.changes.some(({ path }) => path.endsWith(`/issues/${issue.number}/labels`)),
  );
  return { run, labels: await harness.labelsOf(issue.number) };
}

async function pushAs(ref: string, content = evil): Promise<string> {
  const commit = await branchWith(ref, () => clone.commit({ '.reeve.yml': content }, 'rules'));
  await clone.git('push', '--quiet', '--force', 'origin', `HEAD:${ref}`);
  return commit;
}

const shapes: Readonly<Record<string, () => Promise<unknown>>> = {
  'a rule file in the head of a pull request': async () => {
    await pushAs('refs/heads/feature');
    return harness.ada.call(operations.createPull, {
      params: at,
      body: { title: 'evil', head: 'feature', base: 'main' },
    });
  },
  'a rule file in the main branch of a fork, with a pull request from that branch': async () => {
    await harness.ada.call(operations.createFork, { params: at, body: {} });
    const fork = await cloneRepository(harness.cloneFrom(people.ada, `${people.ada}/demo`));
    await fork.commit({ '.reeve.yml': evil });
    await fork.git('push', '--quiet', 'origin', 'HEAD:main');
    fork.remove();
    const body = { title: 'from the fork', head: `${people.ada}:main`, base: 'main' };
    return harness.ada.call(operations.createPull, { params: at, body });
  },
  'a branch named like the full name of the default branch': () => pushAs('refs/heads/refs/heads/main'),
  'a branch named like a remote-tracking branch': () => pushAs('refs/heads/origin/main'),
  'a branch named HEAD in lower case': () => pushAs('refs/heads/head'),
  'a branch whose name differs by case': () => pushAs('refs/heads/Main'),
  'a tag named like the default branch': () => pushAs('refs/tags/main'),
  'a tag named like the full name of the default branch': () => pushAs('refs/tags/refs/heads/main'),
  'a branch named like the commit of the default branch': async () =>
    pushAs(`refs/heads/${await headOf('main')}`),
  'a tag named like the commit of the default branch': async () =>
    pushAs(`refs/tags/${await headOf('main')}`),
  'a ref in another namespace': () =>
    pushAs('refs/evil/main').catch(() => 'the forge may refuse it, which is as good'),
  'a pull request whose base is moved to another branch and back': async () => {
    await pushAs('refs/heads/other-base');
    const pull = await harness.openPull('moving', { 'docs/moving.md': 'a' });
    const params = { ...at, index: pull.number };
    await harness.ada.call(operations.editPull, { params, body: { base: 'other-base' } });
    return harness.ada.call(operations.editPull, { params, body: { base: 'main' } });
  },
};

describe('rules from anywhere but the default branch are not used', () => {
  it.each(Object.keys(shapes))('%s', async (shape) => {
    await shapes[shape]?.();
    // The restart clears the cached rules, so that the server reads them again during this attack.
    await harness.restart();
    const main = await headOf('main');

    const { run, labels } = await trigger();

    expect(labels).toEqual(['area/docs']);
    expect(run.rules).toMatchObject([
      { verdict: 'matched', commit: main, source: `${acme}/demo/.reeve.yml` },
    ]);
  });

  it('the rules contained in these pull requests labelled none of them', async (context) => {
    await harness.idle();
    const pulls = await harness.root.call(operations.listPulls, { params: at, query: { state: 'all' } });

    expect(pulls.length).toBeGreaterThan(2);
    for (const { labels } of pulls) expect(labels.map(({ name }) => name)).not.toContain('area/code');
    expect(harness.runs.flatMap(({ changes }) => changes).map(({ target }) => target)).not.toContain(
      'label:area/code',
    );
    recordFigure(context, `${Object.keys(shapes).length} kinds of refs and forks: 0 effects`);
  });
});
