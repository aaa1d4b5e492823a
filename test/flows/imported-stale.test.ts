import { afterAll, beforeAll, expect } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { imported } from '../import/support/imported.ts';
import { requiring } from '../support/flow-requirements.ts';
import { acme, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

// What a rule writes before it closes an issue moves the time of the last update, and the condition of closing is
// evaluated again after that.
const it = requiring('a stopped clock');
const demo = { owner: acme, repo: 'demo' } as const;
const day = 24 * 60;
let harness: SweepHarness;

beforeAll(async () => {
  harness = await startSweepHarness();
  for (const name of ['Stale', 'closed', 'needs'])
    await harness.root.call(operations.createLabel, { params: demo, body: { name, color: 'cccccc' } });
});
afterAll(() => harness.close());

async function inForce(name: string, source: string): Promise<void> {
  const { text } = await imported(name, source);
  harness.setRules(text.replace('mode: observe\n', ''));
  await harness.tick();
}

async function pass(days: number): Promise<void> {
  harness.advance(days * day);
  await harness.tick();
}

const openIssue = async (title: string): Promise<number> =>
  (await harness.ada.call(operations.createIssue, { params: demo, body: { title } })).number;

async function stateOf(index: number): Promise<readonly unknown[]> {
  const { state, labels } = await harness.root.call(operations.getIssue, { params: { ...demo, index } });
  const comments = await harness.root.call(operations.listComments, { params: { ...demo, index } });
  return [
    state,
    labels.map(({ name }) => name).toSorted(),
    comments.map(({ body }) => body?.split('\n').at(-1)),
  ];
}

it('an imported stale workflow marks, then comments, labels and closes', async () => {
  await inForce(
    'stale',
    `on: { schedule: [{ cron: "30 1 * * *" }] }
jobs:
  stale:
    steps:
      - uses: actions/stale@v10
        with:
          stale-issue-message: Quiet.
          close-issue-message: Closed.
          close-issue-label: closed
          days-before-issue-close: 7
`,
  );
  const index = await openIssue('quiet');
  await pass(59);
  expect(await stateOf(index)).toEqual(['open', [], []]);
  await pass(2);
  expect(await stateOf(index)).toEqual(['open', ['Stale'], ['Quiet.']]);
  await pass(6);
  expect(await stateOf(index)).toEqual(['open', ['Stale'], ['Quiet.']]);
  await pass(2);
  expect(await stateOf(index)).toEqual(['closed', ['Stale', 'closed'], ['Quiet.', 'Closed.']]);
});

it('an imported no-response file comments and closes by the time of the label', async () => {
  await inForce(
    'probot-no-response',
    'daysUntilClose: 14\nresponseRequiredLabel: needs\ncloseComment: No answer.',
  );
  const index = await openIssue('a question');
  await harness.root.call(operations.addIssueLabels, {
    params: { ...demo, index },
    body: { labels: ['needs'] },
  });
  await pass(13);
  expect(await stateOf(index)).toEqual(['open', ['needs'], []]);
  await pass(2);
  expect(await stateOf(index)).toEqual(['closed', ['needs'], ['No answer.']]);
});
