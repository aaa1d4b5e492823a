import { relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { findRuleFiles } from '../../src/rules/sources/folder.ts';
import { reeve } from '../support/command.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { acme, at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import {
  appliedRules,
  checkRules,
  createTeams,
  deliveryRules,
  demoRules,
  mergeRules,
  namesIn,
  peopleRules,
  queueRules,
  scheduledRules,
  shippedFiles,
  staleRules,
} from '../support/shipped-rules.ts';

const files = await shippedFiles([...deliveryRules, ...peopleRules]);
const sweepRuns: Run[] = [];
const labels = [
  'area/docs',
  'area/build',
  'area/tests',
  'size/S',
  'size/M',
  'size/L',
  'blocked',
  'kept',
  'kind/bug',
];
let harness: Harness;
let clone: GitClone;
let eve: Client;

beforeAll(async () => {
  const namedSecrets = new Map([
    ['CI_HEADER', 'Bearer a-value-for-the-build-server'],
    ['CI_SIGNATURE', 'a-signature-for-the-build-server'],
  ]);
  const onSweepRun = (run: Run): number => sweepRuns.push(run);
  const server = { repositories: [`${acme}/*`], namedSecrets, onSweepRun };
  harness = await startOperatorHarness(files, { labels, hook: 'organization', server });
  await createTeams(harness, people.bot);
  eve = await harness.forge.makePerson(people.eve);
  clone = await cloneRepository(harness.cloneFrom(people.ada));
});
afterAll(async () => {
  clone?.remove();
  await harness?.close();
});

/** Waits for a run of this kind and activity that was caused by another account, among the runs after `seen`. */
const heard = (seen: number, kind: string, activity: string): Promise<Run> =>
  harness.waitForRun(
    (run) =>
      harness.runs.indexOf(run) >= seen &&
      run.trigger.kind === kind &&
      run.trigger.activity === activity &&
      run.rules.every(({ reason }) => reason !== 'own'),
  );

/** Performs something and returns the resulting run. */
async function after(doing: () => Promise<unknown>, kind: string, activity: string): Promise<Run> {
  await harness.idle();
  const seen = harness.runs.length;
  await doing();
  const run = await heard(seen, kind, activity);
  await harness.idle();
  return run;
}

async function push(branch: string, content: Readonly<Record<string, string>>): Promise<void> {
  await clone.git('checkout', '--quiet', '-B', branch);
  await clone.commit(content, `Change ${Object.keys(content).join(' ')}`);
  await harness.waitForPush(() => clone.git('push', '--quiet', 'origin', branch));
}

async function openPull(branch: string, body = 'Because.') {
  const pull = { title: `From ${branch}`, head: branch, base: 'main', body };
  return harness.ada.call(operations.createPull, { params: at, body: pull });
}

const fromMain = () => clone.git('checkout', '--quiet', '-B', 'main', 'origin/main');
const lines = (count: number): string => Array.from({ length: count }, (_, line) => `${line}\n`).join('');

it('labels follow a git push: location and size', async () => {
  await fromMain();
  await push('labels', { 'handbook.md': lines(10) });
  let index = 0;
  await after(async () => ({ number: index } = await openPull('labels')), 'pull_request', 'opened');
  expect(await harness.labelsOf(index)).toEqual(['area/docs', 'size/S']);

  await after(() => push('labels', { 'package.json': lines(600) }), 'pull_request', 'synchronized');
  expect(await harness.labelsOf(index)).toEqual(['area/build', 'area/docs', 'size/L']);

  const from = harness.proxy.passed.length;
  const edit = (state: string) =>
    harness.ada.call(operations.editPull, { params: { ...at, index }, body: { state } });
  await edit('closed');
  await after(() => edit('open'), 'pull_request', 'reopened');
  expect(writesOf(harness, from)).toEqual([]);
});

it('a contribution from a fork is welcomed once, and a missing description is requested until it exists', async () => {
  await eve.call(operations.createFork, { params: at, body: {} });
  await expect
    .poll(() => eve.call(operations.getRepository, { params: { owner: people.eve, repo: 'demo' } }), {
      timeout: timeoutMs,
    })
    .toMatchObject({ empty: false });
  const fork = await cloneRepository(harness.cloneFrom(people.eve, `${people.eve}/demo`));
  await fork.git('checkout', '--quiet', '-b', 'work');
  await fork.commit({ 'work.txt': 'work' });
  await fork.git('push', '--quiet', 'origin', 'work');
  fork.remove();
  let index = 0;
  const open = async () => {
    const body = { title: 'Work', head: `${people.eve}:work`, base: 'main' };
    ({ number: index } = await eve.call(operations.createPull, { params: at, body }));
  };
  const comments = async () =>
    (await eve.call(operations.listComments, { params: { ...at, index } })).map(
      ({ body, user }) => `${user?.login}: ${body?.split('\n')[1]}`,
    );
  await after(open, 'pull_request', 'opened');
  expect((await comments()).toSorted()).toEqual([
    `${people.bot}: Please say what **Work** is for and how you tried it: the description is empty.`,
    `${people.bot}: Thank you for your work, ${people.eve}!`,
  ]);

  const edit = (body: string) => eve.call(operations.editPull, { params: { ...at, index }, body: { body } });
  await after(() => edit('It works.'), 'pull_request', 'edited');
  expect(await comments()).toEqual([`${people.bot}: Thank you for your work, ${people.eve}!`]);
  const from = harness.proxy.passed.length;
  await after(() => edit('It works well.'), 'pull_request', 'edited');
  expect(writesOf(harness, from)).toEqual([]);
});

it('an approval is dismissed when the approved commits change', async () => {
  await fromMain();
  await push('reviewed', { 'code.ts': 'one' });
  let index = 0;
  await after(async () => ({ number: index } = await openPull('reviewed')), 'pull_request', 'opened');
  const params = { ...at, index };
  await harness.root.call(operations.createReview, { params, body: { event: 'APPROVED' } });
  const reviews = async () =>
    (await harness.ada.call(operations.listReviews, { params }))
      .filter(({ state }) => state === 'APPROVED')
      .map(({ dismissed }) => dismissed);
  expect(await reviews()).toEqual([false]);

  await after(() => push('reviewed', { 'guide.md': 'words' }), 'pull_request', 'synchronized');
  expect(await reviews()).toEqual([false]);
  await after(() => push('reviewed', { 'code.ts': 'two' }), 'pull_request', 'synchronized');
  await expect.poll(reviews, { timeout: timeoutMs }).toEqual([true]);
  const from = harness.proxy.passed.length;
  await after(() => push('reviewed', { 'code.ts': 'three' }), 'pull_request', 'synchronized');
  expect(writesOf(harness, from).filter((write) => write.includes('reviews'))).toEqual([]);
});

it('a subject that depends on an open issue is blocked, with a label and a status', async () => {
  await fromMain();
  await push('waits', { 'waits.txt': 'a' });
  const pull = await openPull('waits');
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'Waits' } });
  const first = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'First' } });
  for (const { number: index } of [pull, issue])
    await harness.ada.call(operations.addDependency, {
      params: { ...at, index },
      body: { ...at, index: first.number },
    });
  const edit = async (title: string): Promise<void> => {
    const [one, two] = [pull.number, issue.number].map((index) => ({ ...at, index }));
    if (!one || !two) return;
    const seen = harness.runs.length;
    await harness.ada.call(operations.editPull, { params: one, body: { title } });
    await harness.ada.call(operations.editIssue, { params: two, body: { title } });
    await heard(seen, 'pull_request', 'edited');
    await heard(seen, 'issues', 'edited');
    await harness.idle();
  };
  const state = async () => ({
    pull: (await harness.labelsOf(pull.number)).includes('blocked'),
    issue: await harness.labelsOf(issue.number),
    status: (
      await harness.ada.call(operations.listStatuses, { params: { ...at, sha: pull.head?.sha ?? '' } })
    )
      .toSorted((a, b) => b.id - a.id)
      .map(({ context, status, description }) => `${context} ${status} ${description}`)[0],
  });
  await harness.idle();

  await edit('Waits for the first');
  expect(await state()).toEqual({
    pull: true,
    issue: ['blocked'],
    status: 'reeve/blocked failure Open dependencies: 1.',
  });
  await harness.ada.call(operations.editIssue, {
    params: { ...at, index: first.number },
    body: { state: 'closed' },
  });
  await edit('Free');
  expect(await state()).toEqual({
    pull: false,
    issue: [],
    status: 'reeve/blocked success No open dependencies.',
  });
  const from = harness.proxy.passed.length;
  await edit('Free still');
  expect(writesOf(harness, from)).toEqual([]);
});

it('a pull request is assigned a maintainer as reviewer who is not its author', async () => {
  await fromMain();
  await push('asks', { 'asks.txt': 'a' });
  let index = 0;
  await after(async () => ({ number: index } = await openPull('asks')), 'pull_request', 'opened');
  const requested = async () =>
    (await harness.ada.call(operations.getPull, { params: { ...at, index } })).requested_reviewers?.map(
      ({ login }) => login,
    );
  expect(await requested()).toEqual([people.root]);

  const from = harness.proxy.passed.length;
  await after(() => push('asks', { 'asks.txt': 'b' }), 'pull_request', 'synchronized');
  expect(writesOf(harness, from).filter((write) => write.includes('requested_reviewers'))).toEqual([]);
});

it('an issue is acknowledged, and labelled by commands of accounts with write access', async () => {
  let index = 0;
  const open = async () =>
    ({ number: index } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'Crash' },
    }));
  await after(open, 'issues', 'opened');
  const params = () => ({ ...at, index });
  const { assignees } = await harness.ada.call(operations.getIssue, { params: params() });
  const reactions = await harness.ada.call(operations.listIssueReactions, { params: params() });
  expect(assignees).toHaveLength(1);
  expect(reactions.map(({ content, user }) => [content, user?.login])).toEqual([['eyes', people.bot]]);

  const say = (client: Client, body: string) =>
    after(
      () => client.call(operations.createComment, { params: params(), body: { body } }),
      'issue_comment',
      'created',
    );
  const answers = async () =>
    (await harness.ada.call(operations.listComments, { params: params() }))
      .filter(({ user }) => user?.login === people.bot)
      .map(({ body }) => body?.split('\n').filter((line) => line.startsWith('- ')));
  await say(eve, '/label kind/bug kind/none');
  expect([await harness.labelsOf(index), await answers()]).toEqual([[], []]);

  await say(harness.root, `/label kind/bug "\`@${people.eve}"`);
  expect(await harness.labelsOf(index)).toEqual(['kind/bug']);
  expect(await answers()).toEqual([[`- \`\` \`@\u200b${people.eve} \`\`: commands may not name it here`]]);

  await say(harness.root, '/unlabel kind/bug\n/label kind/none');
  expect(await harness.labelsOf(index)).toEqual([]);
  expect(await answers()).toEqual([['- `kind/none`: it does not exist']]);
});

describe('a new repository', () => {
  const fresh = { owner: acme, repo: 'fresh' };
  const live = async () => ({
    branches: (await harness.root.call(operations.listBranchProtections, { params: fresh }))
      .map(({ rule_name, required_approvals, push_whitelist_teams }) => [
        rule_name,
        required_approvals,
        push_whitelist_teams,
      ])
      .toSorted(),
    tags: (await harness.root.call(operations.listTagProtections, { params: fresh })).map(
      ({ name_pattern, whitelist_teams }) => [name_pattern, whitelist_teams],
    ),
    labels: (await harness.root.call(operations.listLabels, { params: fresh })).map(({ name }) => name),
    hooks: (await harness.root.call(operations.listHooks, { params: fresh })).map(
      ({ config }) => config?.url,
    ),
  });
  const wanted = {
    branches: [
      ['main', 1, []],
      ['release/**', 0, ['release']],
    ],
    tags: [['v*', ['release']]],
    labels: ['blocked', 'kind/bug', 'kind/feature'],
    hooks: ['https://ci.example.org/hook'],
  };
  const sweeps = ['guard-branches', 'release-tags', 'label-definitions', 'ci-hook'];

  it('gets its protections, labels and hook immediately', async () => {
    await harness.idle();
    await harness.root.call(operations.createOrganizationRepository, {
      params: { org: acme },
      body: { name: 'fresh', auto_init: true, default_branch: 'main' },
    });

    await expect.poll(live, { timeout: timeoutMs }).toEqual(wanted);
  });

  it('has its protections, labels and hook restored by a sweep after they were loosened, and a second sweep writes nothing', async () => {
    await harness.root.call(operations.editBranchProtection, {
      params: { ...fresh, name: 'main' },
      body: { required_approvals: 0 },
    });
    const [tag] = await harness.root.call(operations.listTagProtections, { params: fresh });
    await harness.root.call(operations.deleteTagProtection, { params: { ...fresh, id: tag?.id ?? 0 } });
    const [label] = await harness.root.call(operations.listLabels, { params: fresh });
    await harness.root.call(operations.deleteLabel, { params: { ...fresh, id: label?.id ?? 0 } });
    const [hook] = await harness.root.call(operations.listHooks, { params: fresh });
    await harness.root.call(operations.deleteHook, { params: { ...fresh, id: hook?.id ?? 0 } });
    const rules = harness.rules ?? '';
    const environment = { ...harness.environment, REEVE_RULES: rules };
    const sweep = async () => {
      for (const name of sweeps) {
        const { status, error } = await reeve(['sweep', name, '--in', `${acme}/fresh`], { environment });
        expect([name, status, status === 0 ? '' : error]).toEqual([name, 0, '']);
      }
    };

    await sweep();
    expect(await live()).toEqual(wanted);
    const from = harness.proxy.passed.length;
    await sweep();
    expect(writesOf(harness, from)).toEqual([]);
  });
});

it('every rule of these files changed something in these flows', () => {
  expect(appliedRules([...harness.runs, ...sweepRuns])).toEqual(namesIn(files));
});

it('every shipped rule file is covered by a flow test', async () => {
  const shipped = (await findRuleFiles(['rules'])).map((path) =>
    relative('rules', relative(packageRoot, path)),
  );

  expect(
    [
      ...deliveryRules,
      ...peopleRules,
      ...mergeRules,
      ...queueRules,
      ...scheduledRules,
      ...checkRules,
      ...staleRules,
      demoRules,
    ].toSorted(),
  ).toEqual(shipped.toSorted());
});
