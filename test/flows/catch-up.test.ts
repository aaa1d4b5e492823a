import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import { acme, people, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

let harness: SweepHarness;
const demo = { owner: acme, repo: 'demo' } as const;

const rules = `
version: 1
rules:
  by-path:
    on: { pull_request: [opened, synchronized, reopened] }
    steps:
      - uses: set-labels
        with: { sync: { docs: 'files.exists(f, f.filename.glob("docs/**"))' } }
  triage:
    on: [issues.opened, issues.edited]
    steps:
      - uses: set-labels
        with: { sync: { bug: 'issue.title.contains("crash")' } }
  by-change:
    on: issues.edited
    if: has(event.changes.title)
    steps:
      - uses: set-labels
        with: { add: [bug] }
`;

beforeEach(async () => {
  harness = await startSweepHarness();
  for (const name of ['docs', 'bug']) {
    await harness.bot.call(operations.createLabel, { params: demo, body: { name, color: 'ff0000' } });
  }
  harness.setRules(rules);
});
afterEach(() => harness.close());

const catchUp = async (): Promise<void> => {
  harness.advance(1);
  await harness.store.enqueue({
    door: 'cron',
    uuid: `catch-up@${harness.now().toISOString()}`,
    kind: 'catch-up',
    lane: 'catch-up',
    receivedAt: harness.now(),
    payload: {},
  });
  await harness.drain();
};

const addFile = (filepath: string, on: object) =>
  harness.ada.call(operations.createFile, {
    params: { ...demo, filepath },
    body: { content: Buffer.from(filepath).toString('base64'), message: filepath, ...on },
  });

const labelsOf = async (index: number) =>
  (await harness.bot.call(operations.listIssueLabels, { params: { ...demo, index } })).map(
    ({ name }) => name,
  );

/**
 * Waits until the pull request lists the file: a server moves the head first, updates its files a moment later, and then
 * sends the push.
 */
async function untilListed(path: string, index: number): Promise<void> {
  await expect
    .poll(async () => {
      const files = await harness.bot.call(operations.listPullFiles, { params: { ...demo, index } });
      return files.map(({ filename }) => filename);
    })
    .toContain(path);
}

const runKinds = () =>
  harness.runs.map(({ trigger }) => `${trigger.door} ${trigger.kind}.${trigger.activity}`);

it('catching up creates no events for subjects that it sees for the first time', async () => {
  await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });

  await catchUp();

  expect(harness.runs).toEqual([]);
});

it('catching up finds each subject that was opened, moved, edited or closed in the meantime, once', async () => {
  await harness.root.call(operations.putCollaborator, {
    params: { ...demo, collaborator: people.ada },
    body: { permission: 'write' },
  });
  const old = await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'quiet' } });
  await catchUp();
  harness.advance(1);
  await addFile('src/a.ts', { branch: 'main', new_branch: 'work' });
  const pull = await harness.ada.call(operations.createPull, {
    params: demo,
    body: { title: 'Work', head: 'work', base: 'main' },
  });
  await harness.ada.call(operations.editIssue, {
    params: { ...demo, index: old.number },
    body: { title: 'crash after all' },
  });

  await catchUp();
  expect(runKinds().toSorted()).toEqual(['cron issues.edited', 'cron pull_request.opened']);
  expect(await labelsOf(old.number)).toEqual(['bug']);
  expect(await labelsOf(pull.number)).toEqual([]);
  const edited = harness.runs.find(({ trigger }) => trigger.kind === 'issues');
  expect(edited?.rules).toContainEqual(
    expect.objectContaining({ rule: 'rules.yml#by-change', verdict: 'skipped', reason: 'not recoverable' }),
  );

  await addFile('docs/a.md', { branch: 'work' });
  await untilListed('docs/a.md', pull.number);
  harness.runs.length = 0;
  await catchUp();
  expect(runKinds()).toContain('cron pull_request.synchronized');
  expect(await labelsOf(pull.number)).toEqual(['docs']);

  await catchUp();
  harness.runs.length = 0;
  await catchUp();
  expect(runKinds()).toEqual([]);
});

it('catching up finds nothing that deliveries have already reported', async () => {
  await catchUp();
  harness.advance(1);
  const issue = await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });
  const repository = await harness.bot.call(operations.getRepository, { params: demo });
  await harness.snapshots.note(
    parseEvent('issues', { action: 'opened', number: issue.number, issue, repository, sender: null }),
  );

  await catchUp();

  expect(runKinds()).toEqual([]);
});

it("catching up misses nothing if the forge's clock is behind", async () => {
  await harness.close();
  harness = await startSweepHarness({ behindMs: 90_000 });
  harness.setRules(rules);
  await catchUp();
  await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });

  await catchUp();

  expect(runKinds()).toEqual(['cron issues.opened']);
});

it('catching up finds branches that were created, moved and deleted', async () => {
  harness.setRules(`
version: 1
rules:
  pushed:
    on: [push, create, delete]
    if: event.ref != ""
    steps:
      - uses: set-status
        with: { context: seen, state: success }
`);
  await harness.root.call(operations.putCollaborator, {
    params: { ...demo, collaborator: people.ada },
    body: { permission: 'write' },
  });
  await catchUp();
  await addFile('a.txt', { branch: 'main', new_branch: 'side' });
  await catchUp();
  expect(runKinds()).toEqual(['cron create.', 'cron push.']);

  harness.runs.length = 0;
  await addFile('b.txt', { branch: 'side' });
  await catchUp();
  expect(runKinds()).toEqual(['cron push.']);

  await harness.bot.call(operations.deleteBranch, { params: { ...demo, branch: 'side' } });
  harness.runs.length = 0;
  await catchUp();
  expect(runKinds()).toEqual(['cron delete.']);
});

it('catching up continues after a repository that fails, and includes that repository the next time', async () => {
  await catchUp();
  await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });
  harness.proxy.decide = ({ path }) =>
    path.includes(`/${acme}/demo/`) ? { kind: 'answer', status: 500, body: '{}' } : { kind: 'pass' };
  await catchUp();
  expect(runKinds()).toEqual([]);

  harness.proxy.decide = () => ({ kind: 'pass' });
  await catchUp();

  expect(runKinds()).toEqual(['cron issues.opened']);
});

const heardRules = `
version: 1
rules:
  answer:
    on: [issue_comment.created, issue_comment.edited, pull_request_comment.created]
    if: sender.login == "${people.ada}" && command("bug").found
    steps: [{ uses: set-labels, with: { add: [bug] } }]
  reviewed:
    on: [pull_request_review.approved, pull_request_review.commented]
    steps: [{ uses: set-labels, with: { add: [docs] } }]
`;

const say = (index: number, body: string) =>
  harness.ada.call(operations.createComment, { params: { ...demo, index }, body: { body } });

it('catching up finds comments, edits and reviews, once, and what was there at first is no event', async () => {
  harness.setRules(heardRules);
  const { number } = await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'one' } });
  const early = await say(number, '/bug');
  await catchUp();
  await harness.root.call(operations.putCollaborator, {
    params: { ...demo, collaborator: people.ada },
    body: { permission: 'write' },
  });
  await addFile('a.txt', { branch: 'main', new_branch: 'work' });
  const pull = await harness.bot.call(operations.createPull, {
    params: demo,
    body: { title: 'Work', head: 'work', base: 'main' },
  });
  await catchUp();
  expect(await labelsOf(number)).toEqual([]);
  harness.runs.length = 0;

  harness.advance(2);
  await say(number, 'first words\n/bug');
  await harness.ada.call(operations.editComment, {
    params: { ...demo, id: early.id },
    body: { body: 'never mind' },
  });
  const params = { ...demo, index: pull.number };
  await harness.ada.call(operations.createReview, { params, body: { event: 'APPROVED', body: 'Good.' } });
  harness.advance(2);
  await catchUp();

  expect(runKinds().toSorted()).toEqual([
    'cron issue_comment.created',
    'cron issue_comment.edited',
    'cron pull_request_review.approved',
  ]);
  // The forge does not show who edited a comment, so a rule that reads the sender is skipped.
  expect(harness.runs.find(({ trigger }) => trigger.activity === 'edited')?.rules).toMatchObject([
    { verdict: 'skipped', reason: 'polled' },
  ]);
  expect(await labelsOf(number)).toEqual(['bug']);
  expect(await labelsOf(pull.number)).toEqual(['docs']);

  harness.runs.length = 0;
  harness.advance(30);
  await catchUp();
  await catchUp();
  expect(runKinds()).toEqual([]);
});

it('catching up finds a comment of the last minute in the same pass, because its delivery would have come', async () => {
  harness.setRules(heardRules);
  const { number } = await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'one' } });
  await catchUp();
  harness.advance(1);
  await say(number, '/bug');

  await harness.store.enqueue({
    ...{ door: 'cron', uuid: 'at once', kind: 'catch-up', lane: 'catch-up', payload: {} },
    receivedAt: harness.now(),
  });
  await harness.drain();

  expect(runKinds()).toEqual(['cron issue_comment.created']);
  expect(await labelsOf(number)).toEqual(['bug']);
});

it('catching up finds a review of the last minute, although another pull request has changed since', async () => {
  harness.setRules(heardRules);
  await harness.root.call(operations.putCollaborator, {
    params: { ...demo, collaborator: people.ada },
    body: { permission: 'write' },
  });
  const open = async (branch: string) => {
    await addFile(`${branch}.txt`, { branch: 'main', new_branch: branch });
    const body = { title: branch, head: branch, base: 'main' };
    return harness.bot.call(operations.createPull, { params: demo, body });
  };
  const [reviewed, changed] = [await open('one'), await open('two')];
  await catchUp();
  harness.advance(10);
  await catchUp();
  harness.runs.length = 0;
  const params = { ...demo, index: reviewed.number };
  await harness.ada.call(operations.createReview, { params, body: { event: 'APPROVED', body: 'Good.' } });
  harness.advance(0.6);
  await harness.bot.call(operations.editPull, {
    params: { ...demo, index: changed.number },
    body: { title: 'changed' },
  });
  await harness.store.enqueue({
    ...{ door: 'cron', uuid: 'at once', kind: 'catch-up', lane: 'catch-up', payload: {} },
    receivedAt: harness.now(),
  });
  await harness.drain();

  expect(runKinds()).toContain('cron pull_request_review.approved');
});

it('catching up leaves comments and reviews that were delivered, and those whose deliveries wait', async () => {
  harness.setRules(heardRules);
  const { number } = await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'one' } });
  const waiting = await harness.ada.call(operations.createIssue, { params: demo, body: { title: 'two' } });
  await catchUp();
  harness.advance(2);
  const issue = await harness.bot.call(operations.getIssue, { params: { ...demo, index: number } });
  const repository = await harness.bot.call(operations.getRepository, { params: demo });
  const comment = await say(number, '/bug');
  const payload = { action: 'created', issue, comment, is_pull: false, repository, sender: comment.user };
  await harness.snapshots.note(parseEvent('issue_comment', payload));
  // The delivery of this one arrived, and its first attempts fail.
  const late = await say(waiting.number, '/bug');
  const whole = { ...payload, comment: late, issue: { ...issue, ...waiting } };
  harness.proxy.decide = ({ method, path }) =>
    method !== 'GET' && path.includes(`/issues/${waiting.number}/labels`)
      ? { kind: 'answer', status: 429, body: '{}' }
      : { kind: 'pass' };
  await harness.store.accept({
    ...{ uuid: 'waits', eventType: 'issue_comment', entry: 'all', contentType: 'application/json' },
    receivedAt: harness.now(),
    body: Buffer.from(JSON.stringify(whole)),
  });
  await harness.drain();
  expect((await harness.store.counts()).retry).toBe(1);
  harness.runs.length = 0;
  // The waiting delivery is not due again before the pass has ended.
  await catchUp();
  expect(harness.runs.filter(({ trigger }) => trigger.door === 'cron')).toEqual([]);

  harness.proxy.decide = () => ({ kind: 'pass' });
  for (let minutes = 0; minutes < 60; minutes += 10) {
    harness.advance(10);
    await catchUp();
  }
  expect(await labelsOf(waiting.number)).toEqual(['bug']);
  expect(harness.runs.filter(({ trigger }) => trigger.door === 'cron')).toEqual([]);
});
