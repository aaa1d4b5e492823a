import { afterEach, beforeEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { readDrift } from '../../src/work/sweeps/drift.ts';
import { people, timeoutMs } from '../support/flow-names.ts';
import { acme, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

let harness: SweepHarness;
const ops = { owner: acme, repo: 'ops' } as const;
const demo = { owner: acme, repo: 'demo' } as const;

beforeEach(async () => {
  harness = await startSweepHarness();
});
afterEach(() => harness.close());

/** Runs the next slot. */
const next = async (minutes: number): Promise<void> => {
  harness.advance(minutes);
  await harness.tick();
};

it('a sweep marks notifications of closed subjects as read, and leaves others alone', async () => {
  harness.setRules(`
version: 1
rules:
  quiet:
    on: { schedule: "*/15 * * * *" }
    each: notification
    if: notification.unread && notification.subject.type == "Issue" && notification.subject.state == "closed"
    steps:
      - uses: mark-notifications
        with: { as: read }
`);
  await harness.tick();
  for (const title of ['done', 'open', 'done too']) {
    const { number } = await harness.ada.call(operations.createIssue, { params: demo, body: { title } });
    if (title === 'open') continue;
    await harness.root.call(operations.editIssue, {
      params: { ...demo, index: number },
      body: { state: 'closed' },
    });
  }
  // A server creates notifications in the background.
  await expect
    .poll(() => harness.bot.call(operations.listNotifications, {}), { timeout: timeoutMs })
    .toHaveLength(3);

  await next(15);

  const left = await harness.bot.call(operations.listNotifications, {});
  expect(left.map(({ subject }) => subject?.title)).toEqual(['open']);
  const listed = harness.proxy.passed.filter(({ path }) => path.startsWith('/api/v1/notifications?'));
  expect(listed[0]?.path).toContain('status-types=unread');
  expect(listed[0]?.path).toContain('subject-type=issue');
});

it('a sweep requests notifications repository by repository if the rule names repositories', async () => {
  harness.setRules(`
version: 1
rules:
  quiet:
    on: { schedule: "*/15 * * * *" }
    each: { notification: { in: ["${acme}/*", "!${acme}/ops"] } }
    steps:
      - uses: mark-notifications
        with: { as: read }
`);
  await harness.tick();
  for (const [params, title] of [
    [demo, 'one'],
    [demo, 'two'],
    [ops, 'other'],
  ] as const) {
    await harness.ada.call(operations.createIssue, { params, body: { title, body: `@${people.bot} look` } });
  }
  await expect
    .poll(() => harness.bot.call(operations.listNotifications, {}), { timeout: timeoutMs })
    .toHaveLength(3);

  await next(15);

  const left = await harness.bot.call(operations.listNotifications, {});
  expect(left.map(({ subject }) => subject?.title)).toEqual(['other']);
  const asked = harness.proxy.passed.filter(({ path }) => path.includes('/notifications?'));
  const paths = new Set(asked.map(({ path }) => path.split('?')[0]));
  expect([...paths]).toEqual([`/api/v1/repos/${acme}/demo/notifications`]);
});

it('a sweep reports an offline runner once, and closes the report when the runner is back', async () => {
  harness.setRules(`
version: 1
rules:
  offline:
    on: { schedule: "*/5 * * * *" }
    each: runner
    steps:
      - uses: report-issue
        with:
          when: runner.status == "offline" && runner.offline_for > duration("15m")
          repository: ${acme}/ops
          key: "runner-\${{ runner.id }}"
          title: "Runner \${{ runner.name }} of \${{ runner.owner }} is offline"
`);
  const issues = () =>
    harness.bot.call(operations.listIssues, { params: ops, query: { state: 'all', type: 'issues' } });
  await harness.putRunners([{ name: 'builder', owner: acme, state: 'idle' }]);
  await harness.tick();
  await next(5);
  await harness.putRunners([{ name: 'builder', owner: acme, state: 'offline' }]);
  await next(5);
  await next(10);
  expect(await issues()).toEqual([]);

  await next(10);
  await next(10);
  expect(await issues()).toMatchObject([
    { title: `Runner builder of ${acme} is offline`, state: 'open', comments: 0 },
  ]);

  await harness.putRunners([{ name: 'builder', owner: acme, state: 'idle' }]);
  await next(5);
  expect(await issues()).toMatchObject([{ state: 'closed' }]);
});

it('a sweep settles the report about a runner once the runner has disappeared', async () => {
  harness.setRules(`
version: 1
rules:
  offline:
    on: { schedule: "*/5 * * * *" }
    each: runner
    steps:
      - uses: report-issue
        with: { when: runner.status == "offline", repository: ${acme}/ops, key: "r-\${{ runner.id }}", title: Offline }
`);
  await harness.putRunners([
    { name: 'one', owner: acme, state: 'offline' },
    { name: 'two', repository: `${acme}/demo`, state: 'idle' },
  ]);
  await harness.tick();
  await next(5);
  await harness.putRunners([{ name: 'two', repository: `${acme}/demo`, state: 'idle' }]);
  await next(5);
  const gone = harness.runs.filter(({ trigger }) => trigger.item?.includes('one')).length;
  await next(5);

  const issues = await harness.bot.call(operations.listIssues, { params: ops, query: { state: 'all' } });
  expect(issues).toMatchObject([{ state: 'closed' }]);
  expect(harness.runs.filter(({ trigger }) => trigger.item?.includes('one'))).toHaveLength(gone);
});

it('a sweep reports an overdue milestone, and closes the report when the milestone is closed', async () => {
  harness.setRules(`
version: 1
rules:
  overdue:
    on: { schedule: "0 6 * * *" }
    each: { milestone: { state: all } }
    if: has(milestone.due_on)
    steps:
      - uses: report-issue
        with:
          when: milestone.state == "open" && timestamp(milestone.due_on) < now
          repository: ${acme}/ops
          key: "milestone-\${{ milestone.id }}"
          title: "Milestone \${{ milestone.title }} is overdue"
`);
  const day = 24 * 60;
  const dueIn = (days: number): string =>
    new Date(harness.now().getTime() + days * day * 60_000).toISOString();
  const create = (title: string, due: { due_on?: string }) =>
    harness.root.call(operations.createMilestone, { params: demo, body: { title, ...due } });
  const { id } = await create('1.0', { due_on: dueIn(3) });
  await create('2.0', { due_on: dueIn(90) });
  await create('some day', {});
  const issues = () =>
    harness.bot.call(operations.listIssues, { params: ops, query: { state: 'all', type: 'issues' } });
  await harness.tick();

  await next(day);
  expect(await issues()).toEqual([]);
  await next(4 * day);
  await next(day);
  expect(await issues()).toMatchObject([{ title: 'Milestone 1.0 is overdue', state: 'open' }]);

  await harness.root.call(operations.editMilestone, {
    params: { ...demo, id },
    body: { state: 'closed', due_on: dueIn(-2) },
  });
  await next(day);
  expect(await issues()).toMatchObject([{ title: 'Milestone 1.0 is overdue', state: 'closed' }]);
});

it('a sweep restores a protection that was changed manually', async () => {
  harness.setRules(`
version: 1
rules:
  protected:
    in: ${acme}/demo
    on: { schedule: "0 * * * *" }
    each: repository
    steps:
      - uses: sync-branch-protections
        with: { protections: [{ rule_name: main, required_approvals: 2 }] }
`);
  const read = () => harness.bot.call(operations.listBranchProtections, { params: demo });
  await harness.tick();
  await next(60);
  expect(await read()).toMatchObject([{ rule_name: 'main', required_approvals: 2 }]);
  await harness.root.call(operations.editBranchProtection, {
    params: { ...demo, name: 'main' },
    body: { required_approvals: 0 },
  });

  await next(60);
  expect(await read()).toMatchObject([{ rule_name: 'main', required_approvals: 2 }]);

  const sent = harness.proxy.passed.length;
  await next(60);
  expect(harness.proxy.passed.slice(sent).filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await readDrift(harness.store)).toEqual([]);
});

it('a sweep of an observing rule only reports a drifted organization, and since when it has drifted', async () => {
  harness.setRules(`
version: 1
rules:
  described:
    mode: observe
    on: { schedule: "0 * * * *" }
    each: organization
    steps:
      - uses: sync-organization
        with: { description: The makers of everything }
`);
  await harness.tick();
  await next(60);
  await next(60);

  const [drift] = await readDrift(harness.store);
  expect(drift).toMatchObject({
    rule: 'rules.yml#described',
    item: acme,
    since: new Date(harness.now().getTime() - 3_600_000).toISOString(),
  });
  expect(drift?.seen).toBe(harness.now().toISOString());
  expect(harness.proxy.passed.filter(({ method }) => method !== 'GET')).toEqual([]);

  await harness.bot.call(operations.editOrganization, {
    params: { org: acme },
    body: { description: 'The makers of everything' },
  });
  await next(60);
  expect(await readDrift(harness.store)).toEqual([]);
});
