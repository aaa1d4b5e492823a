import { afterEach, beforeEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { appliedRules, namesIn, shippedRules } from '../support/shipped-rules.ts';
import { acme, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

const demo = { owner: acme, repo: 'demo' } as const;
const org = { org: acme } as const;
const day = 24 * 60;
let harness: SweepHarness;

beforeEach(async () => {
  harness = await startSweepHarness();
});
afterEach(() => harness.close());

/** Activates a shipped file, and returns the names of its rules. */
async function inForce(name: string): Promise<readonly string[]> {
  const text = await shippedRules(name);
  harness.setRules(text);
  await harness.tick();
  return namesIn({ [name]: text });
}

/** Runs the next slot, some minutes later. */
const next = async (minutes: number): Promise<void> => {
  harness.advance(minutes);
  await harness.tick();
};
/** Returns the bot's writes since an index of the proxy's list. */
const writes = (from: number) => harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET');

it('notifications.yml marks notifications of closed subjects as read immediately and old ones later, and then does nothing', async () => {
  const names = await inForce('notifications.yml');
  const titles = async () =>
    (await harness.bot.call(operations.listNotifications, {}))
      .map(({ subject }) => subject?.title)
      .toSorted();
  for (const title of ['over', 'waits']) {
    const { number: index } = await harness.ada.call(operations.createIssue, {
      params: demo,
      body: { title },
    });
    if (title === 'over')
      await harness.root.call(operations.editIssue, {
        params: { ...demo, index },
        body: { state: 'closed' },
      });
  }
  await expect.poll(titles, { timeout: timeoutMs }).toEqual(['over', 'waits']);

  await next(15);
  expect(await titles()).toEqual(['waits']);
  await next(31 * day);
  expect(await titles()).toEqual([]);
  expect(appliedRules(harness.runs)).toEqual(names);

  const from = harness.proxy.passed.length;
  await next(day);
  expect(writes(from)).toEqual([]);
});

it('organization-settings.yml keeps the settings of the organization, and writes nothing while they are unchanged', async () => {
  const names = await inForce('organization-settings.yml');
  await next(day);
  const read = () => harness.bot.call(operations.getOrganization, { params: org });
  const wanted = {
    visibility: 'limited',
    website: 'https://acme.example.org',
    repo_admin_change_team_access: false,
  };
  expect(await read()).toMatchObject(wanted);

  await harness.bot.call(operations.editOrganization, {
    params: org,
    body: { visibility: 'public', location: 'Moon' },
  });
  await next(day);
  expect(await read()).toMatchObject({ ...wanted, location: 'Moon' });
  expect(appliedRules(harness.runs)).toEqual(names);

  const from = harness.proxy.passed.length;
  await next(day);
  expect(writes(from)).toEqual([]);
});

it('runners.yml reports a runner that is offline for a while once, and closes the report when it is back', async () => {
  const names = await inForce('runners.yml');
  const issues = () =>
    harness.bot.call(operations.listIssues, {
      params: { owner: acme, repo: 'ops' },
      query: { state: 'all', type: 'issues' },
    });
  await harness.putRunners([{ name: 'builder', owner: acme, state: 'offline' }]);
  await next(5);
  await next(10);
  expect(await issues()).toEqual([]);
  await next(10);
  expect(await issues()).toMatchObject([
    { title: 'Runner builder of the organization is offline', state: 'open' },
  ]);
  const from = harness.proxy.passed.length;
  await next(5);
  expect(writes(from)).toEqual([]);

  await harness.putRunners([{ name: 'builder', owner: acme, state: 'idle' }]);
  await next(5);
  expect(await issues()).toMatchObject([{ state: 'closed' }]);
  expect(appliedRules(harness.runs)).toEqual(names);
});

it('overdue-milestones.yml reports a milestone in its repository once, and closes the report when its due date moves', async () => {
  const names = await inForce('overdue-milestones.yml');
  const issues = () =>
    harness.bot.call(operations.listIssues, { params: demo, query: { state: 'all', type: 'issues' } });
  const dueIn = (days: number): string =>
    new Date(harness.now().getTime() + days * day * 60_000).toISOString();
  const { id } = await harness.root.call(operations.createMilestone, {
    params: demo,
    body: { title: '1.0', due_on: dueIn(1) },
  });
  const body = { title: 'open', milestone: id };
  await harness.root.call(operations.createIssue, { params: demo, body });
  // Forgejo counts the issues of a milestone in the background.
  await expect
    .poll(() => harness.root.call(operations.getMilestone, { params: { ...demo, id } }), {
      timeout: timeoutMs,
    })
    .toMatchObject({ open_issues: 1 });
  await next(day);
  expect(await issues()).toHaveLength(1);
  await next(2 * day);
  expect(await issues()).toMatchObject([
    { title: 'Milestone 1.0 is overdue', state: 'open' },
    { title: 'open' },
  ]);
  const from = harness.proxy.passed.length;
  await next(day);
  expect(writes(from)).toEqual([]);

  await harness.root.call(operations.editMilestone, { params: { ...demo, id }, body: { due_on: dueIn(30) } });
  await next(day);
  expect(await issues()).toMatchObject([
    { title: 'Milestone 1.0 is overdue', state: 'closed' },
    { title: 'open' },
  ]);
  expect(appliedRules(harness.runs)).toEqual(names);
});

it('rollout-files.yml commits the shared files once, and again if a person changed them', async () => {
  const content = Buffer.from('root = true\n').toString('base64');
  await harness.makeRepository('templates');
  const templates = { owner: acme, repo: 'templates', filepath: '.editorconfig' };
  await harness.root.call(operations.createFile, { params: templates, body: { content, message: 'x' } });
  const names = await inForce('rollout-files.yml');
  const params = { ...demo, filepath: '.editorconfig' };
  const read = async () => {
    const entry = await harness.root.call(operations.getContents, { params });
    return Array.isArray(entry) ? undefined : entry;
  };
  await next(day);
  expect(await read()).toMatchObject({ content });
  const policy = { ...demo, filepath: 'SECURITY.md' };
  expect(await harness.root.call(operations.getContents, { params: policy })).toMatchObject({ type: 'file' });

  const sha = (await read())?.sha ?? '';
  const body = { content: Buffer.from('root = false\n').toString('base64'), sha, message: 'other' };
  await harness.root.call(operations.updateFile, { params, body });
  await next(day);
  expect(await read()).toMatchObject({ content });
  expect(appliedRules(harness.runs)).toEqual(names);

  const from = harness.proxy.passed.length;
  await next(day);
  expect(writes(from)).toEqual([]);
});
