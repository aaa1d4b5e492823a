import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import { acme, people, type SweepStage, setSweepStage } from '../support/sweep-stage.ts';

let stage: SweepStage;
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
  stage = await setSweepStage();
  for (const name of ['docs', 'bug']) {
    await stage.bot.call(operations.createLabel, { params: demo, body: { name, color: 'ff0000' } });
  }
  stage.setRules(rules);
});
afterEach(() => stage.close());

const catchUp = async (): Promise<void> => {
  stage.pass(1);
  await stage.store.enqueue({
    door: 'cron',
    uuid: `catch-up@${stage.now().toISOString()}`,
    kind: 'catch-up',
    lane: 'catch-up',
    receivedAt: stage.now(),
    payload: {},
  });
  await stage.work();
};

const addFile = (filepath: string, on: object) =>
  stage.ada.call(operations.createFile, {
    params: { ...demo, filepath },
    body: { content: Buffer.from(filepath).toString('base64'), message: filepath, ...on },
  });

const labelsOf = async (index: number) =>
  (await stage.bot.call(operations.listIssueLabels, { params: { ...demo, index } })).map(({ name }) => name);

/** A server moves the head of a pull request at once and its files a moment later, before it tells of the push. */
async function untilListed(path: string, index: number): Promise<void> {
  await expect
    .poll(async () => {
      const files = await stage.bot.call(operations.listPullFiles, { params: { ...demo, index } });
      return files.map(({ filename }) => filename);
    })
    .toContain(path);
}

const told = () => stage.runs.map(({ trigger }) => `${trigger.door} ${trigger.kind}.${trigger.activity}`);

it('makes no events of what it sees for the first time', async () => {
  await stage.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });

  await catchUp();

  expect(stage.runs).toEqual([]);
});

it('finds what was opened, moved, edited and closed meanwhile, each once', async () => {
  await stage.root.call(operations.putCollaborator, {
    params: { ...demo, collaborator: people.ada },
    body: { permission: 'write' },
  });
  const old = await stage.ada.call(operations.createIssue, { params: demo, body: { title: 'quiet' } });
  await catchUp();
  stage.pass(1);
  await addFile('src/a.ts', { branch: 'main', new_branch: 'work' });
  const pull = await stage.ada.call(operations.createPull, {
    params: demo,
    body: { title: 'Work', head: 'work', base: 'main' },
  });
  await stage.ada.call(operations.editIssue, {
    params: { ...demo, index: old.number },
    body: { title: 'crash after all' },
  });

  await catchUp();
  expect(told().toSorted()).toEqual(['cron issues.edited', 'cron pull_request.opened']);
  expect(await labelsOf(old.number)).toEqual(['bug']);
  expect(await labelsOf(pull.number)).toEqual([]);
  const edited = stage.runs.find(({ trigger }) => trigger.kind === 'issues');
  expect(edited?.rules).toContainEqual(
    expect.objectContaining({ rule: 'rules.yml#by-change', verdict: 'skipped', reason: 'not recoverable' }),
  );

  await addFile('docs/a.md', { branch: 'work' });
  await untilListed('docs/a.md', pull.number);
  stage.runs.length = 0;
  await catchUp();
  expect(told()).toContain('cron pull_request.synchronized');
  expect(await labelsOf(pull.number)).toEqual(['docs']);

  await catchUp();
  stage.runs.length = 0;
  await catchUp();
  expect(told()).toEqual([]);
});

it('finds nothing of what deliveries have told', async () => {
  await catchUp();
  stage.pass(1);
  const issue = await stage.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });
  const repository = await stage.bot.call(operations.getRepository, { params: demo });
  await stage.seen.note(
    parseEvent('issues', { action: 'opened', number: issue.number, issue, repository, sender: null }),
  );

  await catchUp();

  expect(told()).toEqual([]);
});

it('misses nothing where the clock of the forge is behind', async () => {
  await stage.close();
  stage = await setSweepStage({ behindMs: 90_000 });
  stage.setRules(rules);
  await catchUp();
  await stage.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });

  await catchUp();

  expect(told()).toEqual(['cron issues.opened']);
});

it('finds branches that came, moved and went', async () => {
  stage.setRules(`
version: 1
rules:
  pushed:
    on: [push, create, delete]
    if: event.ref != ""
    steps:
      - uses: set-status
        with: { context: seen, state: success }
`);
  await stage.root.call(operations.putCollaborator, {
    params: { ...demo, collaborator: people.ada },
    body: { permission: 'write' },
  });
  await catchUp();
  await addFile('a.txt', { branch: 'main', new_branch: 'side' });
  await catchUp();
  expect(told()).toEqual(['cron create.', 'cron push.']);

  await stage.bot.call(operations.deleteBranch, { params: { ...demo, branch: 'side' } });
  stage.runs.length = 0;
  await catchUp();
  expect(told()).toEqual(['cron delete.']);
});

it('goes on after a repository that fails, and finds it the next time', async () => {
  await catchUp();
  await stage.ada.call(operations.createIssue, { params: demo, body: { title: 'crash' } });
  stage.proxy.decide = ({ path }) =>
    path.includes(`/${acme}/demo/`) ? { kind: 'answer', status: 500, body: '{}' } : { kind: 'pass' };
  await catchUp();
  expect(told()).toEqual([]);

  stage.proxy.decide = () => ({ kind: 'pass' });
  await catchUp();

  expect(told()).toEqual(['cron issues.opened']);
});
