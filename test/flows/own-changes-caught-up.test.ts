import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { readCatchUpEnd } from '../../src/work/sweeps/catch-up/catch-up.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

const rules = `version: 1
rules:
  labeller:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [kept] } }]
  labelled:
    on: issues.label_updated
    steps: [{ uses: set-labels, with: { sync: { area/docs: '!labelled("area/docs")' } } }]
`;

let harness: Harness;
afterEach(() => harness?.close());

/** Restarts Reeve, and waits until it has looked for missed events. */
async function restart(between?: () => Promise<unknown>): Promise<void> {
  const before = (await readCatchUpEnd(harness.server.store))?.getTime() ?? 0;
  await harness.restart(between ? { between } : {});
  await expect
    .poll(async () => (await readCatchUpEnd(harness.server.store))?.getTime() ?? 0, { timeout: timeoutMs })
    .toBeGreaterThan(before);
  await harness.idle();
}

async function openIssue(title: string, body = ''): Promise<number> {
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body: { title, body } });
  await harness.idle();
  return number;
}

/** Number of runs that a change of labels started. */
const starts = () => harness.runs.filter(({ trigger }) => trigger.activity === 'label_updated');
const matched = () =>
  starts().filter(({ rules: verdicts }) => verdicts.some(({ verdict }) => verdict === 'matched'));

it('catching up does not find the labels that Reeve itself replaced, start after start', async () => {
  harness = await startOperatorHarness(rules);
  await restart();
  const number = await openIssue('one');
  expect(await harness.labelsOf(number)).toEqual(['kept']);

  for (let start = 0; start < 3; start += 1) await restart();

  expect(await harness.labelsOf(number)).toEqual(['kept']);
  expect(matched()).toEqual([]);
});

it('catching up does not find labels again that a person replaced, and the event showed none', async () => {
  harness = await startOperatorHarness(rules);
  await restart();
  const number = await openIssue('one');
  const labels = await harness.root.call(operations.listLabels, { params: at });
  const code = labels.find(({ name }) => name === 'area/code')?.id ?? 0;
  await harness.ada.call(operations.replaceIssueLabels, {
    params: { ...at, index: number },
    body: { labels: [code] },
  });
  await harness.idle();
  expect(await harness.labelsOf(number)).toEqual(['area/code', 'area/docs']);
  const before = matched().length;

  await restart();

  expect(await harness.labelsOf(number)).toEqual(['area/code', 'area/docs']);
  expect(matched()).toHaveLength(before);
});

it('an issue of Reeve’s account with a marker that catching up finds starts no rule, one of a person does', async () => {
  harness = await startOperatorHarness(rules, { hook: 'none' });
  await restart();
  let numbers: readonly number[] = [];

  await restart(async () => {
    const own = { title: 'report', body: '<!-- reeve:report -->\nNothing.' };
    const report = await harness.bot.call(operations.createIssue, { params: at, body: own });
    const person = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { ...own, title: 'a copy' },
    });
    numbers = [report.number, person.number];
  });

  const [report = 0, person = 0] = numbers;
  await expect.poll(() => harness.labelsOf(person), { timeout: timeoutMs }).toContain('kept');
  expect(await harness.labelsOf(report)).toEqual([]);
});
