import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { HookLevel } from '../support/bot-hook.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { at, type Harness, people, startHarness } from '../support/harness.ts';
import { demoRules, shippedRules } from '../support/shipped-rules.ts';

let harness: Harness;
let clone: GitClone | undefined;
afterEach(async () => {
  clone?.remove();
  await harness.close();
});

const levels: readonly HookLevel[] = ['repository', 'organization', 'user', 'system'];

/** Creates ada's own repository, because a user hook receives the events of that user's repositories. */
async function makeOwn(labels: readonly string[]): Promise<{ owner: string; repo: string }> {
  const place = { owner: people.ada, repo: 'own' };
  await harness.ada.call(operations.createRepository, {
    body: { name: place.repo, auto_init: true, default_branch: 'main' },
  });
  await harness.ada.call(operations.putCollaborator, {
    params: { ...place, collaborator: people.bot },
    body: { permission: 'write' },
  });
  for (const name of labels)
    await harness.ada.call(operations.createLabel, { params: place, body: { name, color: 'ff0000' } });
  await harness.bot.call(operations.star, { params: place });
  // Stars are cached for some minutes, and read at each start.
  await harness.restart();
  return place;
}

it.each(levels)('a hook of the %s delivers git pushes to the rules of a repository', async (hook) => {
  const labels = ['area/docs', 'area/code', 'size/L', 'help wanted'];
  harness = await startHarness({ hook, labels });
  const place = hook === 'user' ? await makeOwn(labels) : at;
  const labelsOf = async (index: number) =>
    (await harness.ada.call(operations.listIssueLabels, { params: { ...place, index } })).map(
      ({ name }) => name,
    );
  clone = await cloneRepository(harness.cloneFrom(people.ada, `${place.owner}/${place.repo}`));
  const { git } = clone;
  await clone.commit({ '.reeve.yml': await shippedRules(demoRules) });
  const push = (...refs: string[]) => harness.waitForPush(() => git('push', '--quiet', 'origin', ...refs));
  await push('HEAD:main');
  await clone.git('checkout', '--quiet', '-b', 'work');
  await clone.git('mv', 'README.md', 'docs.md');
  await clone.commit({ 'code.js': 'a\n' });
  await push('work');

  const { number } = await harness.ada.call(operations.createPull, {
    params: place,
    body: { title: 'Work', head: 'work', base: 'main' },
  });
  await harness.waitForRun(({ trigger }) => trigger.kind === 'pull_request' && trigger.activity === 'opened');
  expect(await labelsOf(number)).toEqual([]);
  await clone.commit({ 'code.js': 'a\n'.repeat(60) });
  await clone.git('push', '--quiet', 'origin', 'work');

  await expect.poll(() => labelsOf(number), { timeout: timeoutMs }).toEqual(['size/L']);
  await harness.idle();
  const from = harness.proxy.passed.length;
  await clone.commit({ 'code.js': 'b\n'.repeat(60) });
  const seen = harness.runs.length;
  await clone.git('push', '--quiet', 'origin', 'work');
  await harness.waitForRun(
    (run) => harness.runs.indexOf(run) >= seen && run.trigger.activity === 'synchronized',
  );
  await harness.idle();
  expect(harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
});
