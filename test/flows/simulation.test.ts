import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { packageRoot } from '../../src/package.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { nameOfRule } from '../../src/rules/verdict.ts';
import { findRuleFiles, loadRuleFiles } from '../../src/sources/folder.ts';
import { reeve } from '../support/command.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { acme, at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { createTeams, demoRules, shippedFiles } from '../support/shipped-rules.ts';

/** Families whose events a pull request has. */
const families: readonly string[] = ['pull_request', 'pull_request_review', 'pull_request_comment'];
const labels = ['area/docs', 'area/build', 'area/tests', 'size/S', 'size/M', 'size/L', 'blocked', 'kept'];
let harness: Harness;
let clone: GitClone;
let between: FaultProxy;
let data: string;
/** The shipped rules under test. */
let rules: readonly LoadedRule[];
/** Names of rules that were planned as the webhook then ran them, and of those with a change. */
const compared = new Set<string>();
const changed = new Set<string>();

/** Shipped files with a rule about pull requests. */
async function pullRequestFiles(): Promise<readonly string[]> {
  const files = await loadRuleFiles(await findRuleFiles([join(packageRoot, 'rules')]));
  return files
    .filter(({ rules }) => rules.some(({ on }) => on.some(({ family }) => families.includes(family))))
    .map(({ path }) => relative(join(packageRoot, 'rules'), path))
    .filter((path) => path !== demoRules);
}

beforeAll(async () => {
  const files = await shippedFiles(await pullRequestFiles());
  harness = await startOperatorHarness(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name.replaceAll('/', '-'), text])),
    { labels, server: { repositories: [`${acme}/*`] } },
  );
  rules = (await loadRuleFiles([harness.rules ?? ''])).flatMap((file) => file.rules);
  await createTeams(harness, people.bot);
  between = await startFaultProxy(harness.forge.url);
  clone = await cloneRepository(harness.cloneFrom(people.ada));
  data = await mkdtemp(join(tmpdir(), 'reeve-simulation-'));
});
afterAll(async () => {
  clone?.remove();
  await between?.close();
  await harness?.close();
  await rm(data, { recursive: true, force: true });
});

/** A command reaches the forge beside the server, whose requests may have to wait. */
const environment = () => ({
  ...harness.environment,
  FORGE_URL: between.url,
  REEVE_RULES: harness.rules ?? '',
});

async function plan(args: readonly string[]): Promise<readonly Run[]> {
  const from = between.passed.length;
  const { out } = await reeve(['plan', ...args, '--json'], { environment: environment() });
  expect(between.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
  const lines = out.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

/** What a run decided, without ids and times. */
function decided({ rules, changes, refused }: Run): string {
  const text = JSON.stringify(
    { rules, changes: changes.map(({ id: _id, ...change }) => change), refused },
    undefined,
    1,
  );
  return text.replace(/"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)"/g, '"a time"');
}

/** Does something while requests of the server wait, plans meanwhile, and compares with the run of the webhook. */
async function comparePlans(
  doing: () => Promise<unknown>,
  { kind, activity, args }: { kind: string; activity: string; args: () => readonly string[] },
): Promise<void> {
  await harness.idle();
  if (
    !rules.some(({ on }) =>
      on.some((one) => one.family === kind && (one.activities?.includes(activity) ?? true)),
    )
  ) {
    await doing();
    return;
  }
  const seen = harness.runs.length;
  const gate = Promise.withResolvers<void>();
  harness.proxy.decide = () => ({ kind: 'pass', before: () => gate.promise });
  let planned: readonly Run[];
  try {
    await doing();
    planned = await plan(args());
  } finally {
    harness.proxy.decide = () => ({ kind: 'pass' });
    gate.resolve();
  }
  const isSame = ({ trigger }: Run): boolean => trigger.kind === kind && trigger.activity === activity;
  const run = await harness.waitForRun(
    (one) =>
      harness.runs.indexOf(one) >= seen && isSame(one) && one.rules.every(({ reason }) => reason !== 'own'),
  );
  await harness.idle();

  const simulated = planned.find(isSame);
  expect(simulated && decided(simulated)).toBe(decided(run));
  for (const { rule } of run.rules) compared.add(nameOfRule(rule));
  for (const { rules } of run.changes) for (const rule of rules) changed.add(nameOfRule(rule));
}

it('prints the plan that the webhook then applies, for every shipped rule about pull requests', {
  timeout: 120_000,
}, async () => {
  let index = 0;
  const subject = () => ['--pull', `${at.owner}/${at.repo}#${index}`];
  const step = (activity: string, doing: () => Promise<unknown>) =>
    comparePlans(doing, {
      kind: 'pull_request',
      activity,
      args: () => [...subject(), '--activity', activity],
    });
  const editPull = (body: object) =>
    harness.ada.call(operations.editPull, { params: { ...at, index }, body });
  const push = async (content: Readonly<Record<string, string>>) => {
    await clone.git('checkout', '--quiet', '-B', 'work');
    await clone.commit(content, 'Change');
    await harness.waitForPush(() => clone.git('push', '--quiet', 'origin', 'work'));
  };

  await push({ 'handbook.md': 'a\n', 'code.ts': 'one\n', 'a.test.ts': '1\n' });
  await step('opened', async () => {
    const body = { title: 'Work', head: 'work', base: 'main', body: '' };
    ({ number: index } = await harness.ada.call(operations.createPull, { params: at, body }));
  });
  await comparePlans(
    () =>
      harness.root.call(operations.createReview, {
        params: { ...at, index },
        body: { event: 'APPROVED', body: 'Good.' },
      }),
    {
      kind: 'pull_request_review',
      activity: 'approved',
      args: () => [...subject(), '--activity', 'approved'],
    },
  );
  await step('synchronized', () => push({ 'code.ts': 'two\n', 'package.json': '{}\n' }));
  await comparePlans(
    () =>
      harness.ada.call(operations.createComment, { params: { ...at, index }, body: { body: '/label kept' } }),
    {
      kind: 'pull_request_comment',
      activity: 'created',
      args: () => [...subject(), '--activity', 'created'],
    },
  );
  const dependency = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'First' } });
  await harness.ada.call(operations.addDependency, {
    params: { ...at, index },
    body: { ...at, index: dependency.number },
  });
  await step('edited', () => editPull({ title: 'Work on it', body: 'Because.' }));
  await harness.ada.call(operations.editIssue, {
    params: { ...at, index: dependency.number },
    body: { state: 'closed' },
  });
  await step('closed', () => editPull({ state: 'closed' }));
  await step('reopened', () => editPull({ state: 'open' }));

  const about = rules.filter(({ on }) => on.some(({ family }) => families.includes(family)));
  expect([...compared].toSorted()).toEqual(about.map(({ name }) => name).toSorted());
  // Where the plan of a rule is empty, to be equal is little.
  expect([...changed]).toEqual(
    expect.arrayContaining([
      'label-by-path',
      'label-by-size',
      'fresh-approvals-only',
      'blocked-pulls',
      'describe',
    ]),
  );
});

it('plans each rule once without an activity, with the values seen, and says what is not planned', async () => {
  const { out } = await reeve(['plan', '--pull', `${at.owner}/${at.repo}#1`], {
    environment: environment(),
  });

  expect(out).toContain('pull_request.opened');
  expect(out).toContain('pull_request.synchronized');
  expect(out).toMatch(/fresh-approvals-only: matched/);
  expect(out).toMatch(/\[pull_request\.draft = false\]/);
  expect(out).toMatch(/- blocked-issues: not planned \(it listens to other events\)/);
});

it('plans issues, pushes, and rules with a schedule', async () => {
  const number = (await harness.ada.call(operations.createIssue, { params: at, body: { title: 'Waits' } }))
    .number;
  await harness.idle();
  const [issue] = await plan(['--issue', `${at.owner}/${at.repo}#${number}`]);
  expect(issue).toMatchObject({ mode: 'plan', trigger: { kind: 'issues', activity: 'opened' } });
  expect(issue?.rules.map(({ rule }) => nameOfRule(rule))).toContain('blocked-issues');

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
  const runs = await plan(['--branch', `${at.owner}/${at.repo}@main`, '--rules', own]);
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
])('refuses %j', async (args, words) => {
  const { status, error } = await reeve(['plan', ...args], { environment: environment() });

  expect(status).toBe(2);
  expect(error).toContain(words);
});
