import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { reeve } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';

const rules = `
version: 1
rules:
  docs:
    on: { issues: [opened, edited] }
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
  code:
    on: { issues: [opened, edited] }
    steps: [{ uses: set-labels, with: { add: [area/code] } }]
`;
let harness: Harness;
beforeAll(async () => {
  harness = await startOperatorHarness(rules);
});
afterAll(() => harness?.close());

const run = async (...args: readonly string[]) =>
  reeve(args, { environment: { ...harness.environment, REEVE_RULES: harness.rules ?? '' } });
const openIssue = async (): Promise<number> => {
  const seen = harness.runs.length;
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'One' } });
  await harness.waitForRun((one) => harness.runs.indexOf(one) >= seen && one.trigger.kind === 'issues');
  await harness.idle();
  return number;
};

it('a pause by another process stops writes and survives a restart, and deferred deliveries run when it ends', async () => {
  expect(await run('pause', 'all')).toMatchObject({ status: 0 });
  const from = harness.proxy.passed.length;

  const index = await openIssue();
  await harness.restart();
  const second = await openIssue();

  expect(writesOf(harness, from)).toEqual([]);
  const explained = await run('explain', harness.runs.at(-1)?.trigger.delivery ?? '');
  expect(explained.out).toMatch(/refused, all writes are paused since .* by .*reeve resume all ends it/);
  expect((await harness.server.store.counts()).deferred).toBe(2);

  expect(await run('resume', 'all')).toMatchObject({ status: 0 });
  for (const one of [index, second]) {
    await expect
      .poll(() => harness.labelsOf(one), { timeout: timeoutMs })
      .toEqual(['area/code', 'area/docs']);
  }
  expect((await harness.server.store.counts()).deferred).toBe(0);
  const audit = await harness.server.store.listAudit();
  expect(audit.map(({ action, object }) => [action, object])).toEqual([
    ['resume', 'all writes'],
    ['pause', 'all writes'],
  ]);
});

it('a paused rule writes nothing, and the other rules continue', async () => {
  await run('pause', 'docs');

  const index = await openIssue();

  expect(await harness.labelsOf(index)).toEqual(['area/code']);
  await run('resume', 'docs');
  await expect
    .poll(() => harness.labelsOf(index), { timeout: timeoutMs })
    .toEqual(['area/code', 'area/docs']);
});

it('a paused repository gets no writes', async () => {
  await run('pause', `${at.owner}/${at.repo}`.toUpperCase());
  const from = harness.proxy.passed.length;

  await openIssue();

  expect(writesOf(harness, from)).toEqual([]);
  expect((await run('pause')).out).toContain('paused since');
  await run('resume', `${at.owner}/${at.repo}`);
});

it('a pause on the dashboard stops the next write, and deferred deliveries run when it ends', async () => {
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  const operator = await signInWithPassword(harness.server.url, password);
  for (const [page, fields] of [
    ['/', { kind: 'all' }],
    ['/rules', { kind: 'rule', name: 'docs', back: 'rules' }],
    ['/', { name: `${at.owner}/${at.repo}` }],
  ] as const) {
    expect((await operator.submit(page, 'pauses', fields)).status).toBe(303);
    const from = harness.proxy.passed.length;

    const index = await openIssue();

    if ('name' in fields && fields.name === 'docs')
      expect(await harness.labelsOf(index)).toEqual(['area/code']);
    else expect(writesOf(harness, from)).toEqual([]);
    expect((await operator.get('/')).text).toMatch(/Paused: .* by operator by the dashboard/);
    const [pause] = await harness.server.store.listPauses();
    expect(pause?.by).toBe('operator by the dashboard');
    const { kind } = pause?.scope ?? {};
    const name = 'name' in fields ? fields.name : 'all';
    expect((await operator.submit(page, 'pauses/end', { ...fields, kind: kind ?? '', name })).status).toBe(
      303,
    );
    await expect
      .poll(() => harness.labelsOf(index), { timeout: timeoutMs })
      .toEqual(['area/code', 'area/docs']);
  }
  const { text } = await operator.get('/audit');
  expect(text.match(/operator by the dashboard/g)).toHaveLength(6);
});

it('a pause that begins between plan and write stops the write', async () => {
  const { store } = harness.server;
  let hasPaused = false;
  harness.proxy.decide = ({ path }) => ({
    kind: 'pass',
    async after() {
      if (hasPaused || !path.includes('/labels')) return;
      hasPaused = true;
      await store.pause({ kind: 'all' }, 'ada');
    },
  });
  const from = harness.proxy.passed.length;

  const index = await openIssue();
  harness.proxy.decide = () => ({ kind: 'pass' });

  expect(hasPaused).toBe(true);
  expect(writesOf(harness, from)).toEqual([]);
  await store.resume({ kind: 'all' }, 'ada');
  await expect
    .poll(() => harness.labelsOf(index), { timeout: timeoutMs })
    .toEqual(['area/code', 'area/docs']);
});

it('pausing an unknown rule and ending a pause that does not exist are refused', async () => {
  const unknown = await run('pause', 'dosc');
  expect(unknown.status).toBe(2);
  expect(unknown.error).toContain('#docs');
  expect(await run('resume', 'docs')).toMatchObject({ status: 1 });
});

it('the pause works while the operator file cannot be used, with a warning', async () => {
  const broken = join(harness.data, 'broken.yml');
  await writeFile(broken, 'version: 1\nbogus: true\n', { mode: 0o600 });
  const environment = { ...harness.environment, REEVE_RULES: harness.rules ?? '', REEVE_CONFIG: broken };
  const paused = await reeve(['pause', 'all'], { environment });
  const resumed = await reeve(['resume', 'all'], { environment });
  const planned = await reeve(['plan', '--issue', 'acme/demo#1'], { environment });

  expect([paused.status, resumed.status, planned.status]).toEqual([0, 0, 2]);
  expect(paused.error).toContain('warning: the operator file is left out:');
  expect(paused.error).toContain('bogus');
});
