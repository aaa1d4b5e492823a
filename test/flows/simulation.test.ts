import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { nameOfRule } from '../../src/rules/verdict.ts';
import { reeve } from '../support/command.ts';
import { type PlanComparison, startPlanComparison } from '../support/compare-plans.ts';
import { acme, at, type Harness } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { shippedFiles } from '../support/shipped-rules.ts';

let harness: Harness;
let plans: PlanComparison;
let data: string;
beforeAll(async () => {
  const files = await shippedFiles([
    'labels.yml',
    'stale-reviews.yml',
    'blocked.yml',
    'milestones.yml',
    'triage.yml',
  ]);
  harness = await startOperatorHarness(files, { server: { repositories: [`${acme}/*`] } });
  const rules = (await loadRuleFiles([harness.rules ?? ''])).flatMap((file) => file.rules);
  plans = await startPlanComparison(harness, { rules });
  data = await mkdtemp(join(tmpdir(), 'reeve-simulation-'));
  await harness.openPull('work', { 'handbook.md': 'a' });
  await harness.idle();
});
afterAll(async () => {
  await plans?.close();
  await harness?.close();
  await rm(data, { recursive: true, force: true });
});

it('a simulation plans each rule once without an activity, with the values seen, and reports what is not planned', async () => {
  const { out } = await reeve(['plan', '--all', '--pull', `${at.owner}/${at.repo}#1`], {
    environment: plans.environment(),
  });

  expect(out).toContain('pull_request.opened');
  expect(out).toContain('pull_request.closed');
  expect(out).toMatch(/fresh-approvals-only: matched/);
  expect(out).toMatch(/\[pull_request\.draft = false\]/);
  expect(out).toMatch(/- triage: not planned \(it listens to other events\)/);
});

it('without --all, changes and failures are printed once with their events, and the other rules are counted', async () => {
  const own = join(data, 'once.yml');
  await writeFile(
    own,
    `version: 1
rules:
  both: { on: pull_request, steps: [{ uses: set-labels, with: { add: [kept] } }] }
  opened: { on: pull_request.opened, steps: [{ uses: set-labels, with: { add: [kept] } }] }
  pushed: { on: pull_request.synchronized, steps: [{ uses: set-labels, with: { remove: [area/docs] } }] }
  failing: { on: pull_request.opened, steps: [{ uses: set-labels, with: { add: [nowhere] } }] }
  other: { on: pull_request.opened, if: pull_request.draft, steps: [{ uses: comment, with: { text: a } }] }
  unrelated: { on: push, steps: [{ uses: run-workflow, with: { workflow: x.yml, ref: main } }] }
`,
  );
  const subject = `${at.owner}/${at.repo}#1`;

  const { out, status } = await reeve(['plan', '--pull', subject, '--rules', own], {
    environment: plans.environment(),
  });

  expect(status).toBe(1);
  expect(out).toMatch(
    new RegExp(
      [
        `^${subject}`,
        '  \\+ label:kept {2}\\(both, opened; pull_request.opened, pull_request.synchronized\\)',
        '  ✗ failing failed: .*there is no label "nowhere".* {2}\\(pull_request.opened\\)',
        '  - label:area/docs {2}\\(pushed; pull_request.synchronized\\)',
        '',
      ].join('\\n'),
    ),
  );
  for (const name of ['both', 'opened', 'pushed', 'failing'])
    expect(out.match(new RegExp(`^. ${name}: `, 'gm'))).toHaveLength(1);
  expect(out).not.toContain('other:');
  expect(out).toContain(
    '- 1 rule whose condition does not hold, 1 rule that no event of this subject reaches; --all lists them',
  );
});

it('a simulation plans issues, pushes, and rules with a schedule', async () => {
  const number = (await harness.ada.call(operations.createIssue, { params: at, body: { title: 'Waits' } }))
    .number;
  await harness.idle();
  const [issue] = await plans.plan(['--issue', `${at.owner}/${at.repo}#${number}`]);
  expect(issue).toMatchObject({ mode: 'plan', trigger: { kind: 'issues', activity: 'opened' } });
  expect(issue?.rules.map(({ rule }) => nameOfRule(rule))).toContain('blocked-label');

  const own = `${data}/own.yml`;
  await writeFile(
    own,
    [
      'version: 1',
      'rules:',
      '  pushed: { on: push, mode: observe, steps: [{ uses: set-status, with: { context: reeve/a, when: "event.after == event.after", state: success } }] }',
      '  nightly: { on: { schedule: "7 3 * * *" }, each: branch, steps: [{ uses: set-status, with: { context: reeve/b, when: "true", state: success } }] }',
    ].join('\n'),
  );
  const runs = await plans.plan(['--branch', `${at.owner}/${at.repo}@main`, '--rules', own]);
  expect(runs.map(({ trigger, rules: all }) => [trigger.kind, trigger.item, all[0]?.verdict])).toEqual([
    ['push', undefined, 'matched'],
    ['schedule', `${at.owner}/${at.repo}@main`, 'matched'],
  ]);
  expect(runs[0]?.changes).toMatchObject([{ target: 'status:reeve/a', observed: true }]);
});

it.each([
  [['--pull', 'acme'], 'write OWNER/REPO#NUMBER'],
  [['--pull', 'a/b#1', '--issue', 'a/b#1'], 'name one of'],
  [['--pull', 'a/b#1', '--facts', 'x'], 'neither --event nor --facts'],
  [['--pull', `${at.owner}/${at.repo}#1`, '--activity', 'synchronize'], 'known are opened, '],
])('a simulation refuses the arguments %j', async (args, words) => {
  const { status, error } = await reeve(['plan', ...args], { environment: plans.environment() });

  expect(status).toBe(2);
  expect(error).toContain(words);
});
