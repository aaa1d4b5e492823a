import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { reeve } from '../support/command.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

const rules = `version: 1
conditions:
  documented: touches("docs/**") || labelled("kept")
rules:
  documented:
    on: auto
    each: pull_request
    steps: [{ uses: set-labels, with: { sync: { area/docs: documented } } }]
  question:
    on: auto
    each: issue
    steps: [{ uses: set-labels, with: { sync: { kept: 'issue.title.endsWith("?")' } } }]
  every-question:
    on: auto
    each: { issue: { state: all } }
    steps: [{ uses: set-labels, with: { sync: { area/code: 'issue.state == "closed"' } } }]
`;

let harness: Harness;
afterEach(() => harness?.close());

const until = (index: number, labels: readonly string[]) =>
  expect.poll(async () => (await harness.labelsOf(index)).toSorted(), { timeout: timeoutMs }).toEqual(labels);
const edit = (index: number, body: { title?: string; state?: 'open' | 'closed' }) =>
  harness.ada.call(operations.editIssue, { params: { ...at, index }, body });

it('a pull request has its label after a push and after a manual removal, until the base has the file', async () => {
  harness = await startOperatorHarness(rules);
  const { ada, root } = harness;
  const first = await harness.openPull('first', { 'src/a.txt': 'a' });
  await addFile(ada, at, 'first', 'docs/a.md');
  await until(first.number, ['area/docs']);
  const branch = { new_branch_name: 'second', old_branch_name: 'first' };
  await ada.call(operations.createBranch, { params: at, body: branch });
  await addFile(ada, at, 'second', 'src/b.txt');
  const body = { title: 'Second', head: 'second', base: 'main' };
  const { number } = await ada.call(operations.createPull, { params: at, body });
  await until(number, ['area/docs']);
  const known = await ada.call(operations.listLabels, { params: at });
  const idOf = (name: string) => known.find((label) => label.name === name)?.id ?? 0;
  const params = { ...at, index: number };
  await ada.call(operations.removeIssueLabel, { params: { ...params, id: idOf('area/docs') } });
  await until(number, ['area/docs']);

  await root.call(operations.mergePull, {
    params: { ...at, index: first.number },
    body: { Do: 'merge' },
  });
  await until(number, []);
  await ada.call(operations.addIssueLabels, { params, body: { labels: [idOf('kept')] } });
  await until(number, ['area/docs', 'kept']);
});

it('a rule is about open items, unless its each says more', async () => {
  harness = await startOperatorHarness(rules);
  const { number } = await harness.ada.call(operations.createIssue, {
    params: at,
    body: { title: 'Is it so?' },
  });
  await until(number, ['kept']);
  await edit(number, { state: 'closed' });
  await until(number, ['area/code', 'kept']);
  await edit(number, { title: 'It is.' });
  await harness.idle();

  expect(await harness.labelsOf(number)).toContain('kept');
  const verdicts = harness.runs
    .flatMap((run) => run.rules)
    .filter(({ rule, verdict }) => rule.endsWith('#question') && verdict === 'skipped');
  expect(verdicts.map(({ reason }) => reason)).toContain('state');
  await edit(number, { state: 'open' });
  await until(number, []);
});

it('the events are in the record of the run, in the plan and in the output of check', async () => {
  harness = await startOperatorHarness(rules);
  const { number } = await harness.openPull('work', { 'docs/a.md': 'a' });
  await until(number, ['area/docs']);
  const events = 'pull_request (opened, reopened, edited, synchronized, label_updated, label_cleared), push';
  const isDocumented = ({ rule }: { readonly rule: string }): boolean => rule.endsWith('#documented');
  const run = await harness.waitForRun(({ rules: verdicts }) => verdicts.some(isDocumented));
  const verdict = run.rules.find(isDocumented);
  expect(verdict?.automatic).toBe(events);

  const check = await reeve(['check', harness.rules ?? '']);
  expect(check.out).toContain(
    `documented: on: auto = ${events}; no event: a label of the repository is renamed or deleted`,
  );
  const plan = await reeve(
    ['plan', '--all', '--pull', `${at.owner}/${at.repo}#${number}`, '--rules', harness.rules ?? ''],
    {
      environment: harness.environment,
    },
  );
  expect(plan.out).toContain(`on: auto = ${events}`);
});
