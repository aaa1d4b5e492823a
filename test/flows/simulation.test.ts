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
  const { out } = await reeve(['plan', '--pull', `${at.owner}/${at.repo}#1`], {
    environment: plans.environment(),
  });

  expect(out).toContain('pull_request.opened');
  expect(out).toContain('pull_request.closed');
  expect(out).toMatch(/fresh-approvals-only: matched/);
  expect(out).toMatch(/\[pull_request\.draft = false\]/);
  expect(out).toMatch(/- triage: not planned \(it listens to other events\)/);
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
