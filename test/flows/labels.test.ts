import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { acme, at, type Harness, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  by-path:
    on:
      pull_request: [opened, reopened, synchronized]
    steps:
      - uses: set-labels
        with:
          sync:
            area/docs: files.exists(f, f.filename.glob("docs/**"))
            area/code: files.exists(f, f.filename.glob("src/**"))
`;

let harness: Harness;
afterEach(() => harness.close());

const opened = (run: Run): boolean => run.trigger.activity === 'opened';
const writesSince = (from: number): number =>
  harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET').length;

it('set-labels labels a pull request by its files, keeps labels that it does not own, and follows a push', async () => {
  harness = await startHarness({ rules });
  const pull = await harness.openPull('docs', { 'docs/a.md': 'a' }, ['kept']);
  const first = await harness.waitForRun(opened);

  expect(await harness.labelsOf(pull.number)).toEqual(['area/docs', 'kept']);
  expect(first.rules).toMatchObject([{ rule: `${acme}/demo/.reeve.yml#by-path`, verdict: 'matched' }]);
  expect(first.changes).toMatchObject([
    { target: 'label:area/docs', value: true, before: false, after: true, method: 'PUT' },
  ]);
  expect(first.outcomes).toEqual([{ change: first.changes[0]?.id, status: 'applied' }]);

  await harness.ada.call(operations.createFile, {
    params: { ...at, filepath: 'src/a.js' },
    body: { branch: 'docs', content: 'YQ==', message: 'code' },
  });
  await harness.waitForRun((run) => run.trigger.activity === 'synchronized');

  expect(await harness.labelsOf(pull.number)).toEqual(['area/code', 'area/docs', 'kept']);
});

it('set-labels makes three requests for a change, and no write if nothing changes', async () => {
  harness = await startHarness({ rules });
  await harness.openPull('one', { 'docs/a.md': 'a' });
  await harness.waitForRun(opened);
  const second = await harness.openPull('two', { 'docs/b.md': 'b' });
  const warm = await harness.waitForRun((run) => opened(run) && run !== harness.runs[0]);
  expect(warm.requests).toBe(3);

  await harness.idle();
  const from = harness.proxy.passed.length;
  await harness.ada.call(operations.createFile, {
    params: { ...at, filepath: 'docs/c.md' },
    body: { branch: 'two', content: 'YQ==', message: 'more' },
  });
  await harness.waitForRun((run) => run.trigger.activity === 'synchronized');

  expect(await harness.labelsOf(second.number)).toEqual(['area/docs']);
  expect(writesSince(from)).toBe(0);
});

it('a rule does not react to label changes by Reeve itself', async () => {
  harness = await startHarness({ rules: rules.replace('synchronized]', 'synchronized, label_updated]') });
  await harness.openPull('docs', { 'docs/a.md': 'a' });
  const own = await harness.waitForRun((run) => run.trigger.activity === 'label_updated');

  expect(own.rules).toMatchObject([{ verdict: 'skipped', reason: 'own' }]);
  await harness.idle();
  expect(harness.runs.filter(({ trigger }) => trigger.activity === 'label_updated')).toHaveLength(1);
});

it('set-labels does not restore a label that a person removed between the read and the write', async () => {
  harness = await startHarness({ rules });
  const known = await harness.root.call(operations.listLabels, { params: at });
  const kept = known.find(({ name }) => name === 'kept')?.id ?? 0;
  let reads = 0;
  harness.proxy.decide = ({ method, path }) => {
    if (method !== 'GET' || !/\/issues\/\d+\/labels$/.test(path)) return { kind: 'pass' };
    reads += 1;
    if (reads > 1) return { kind: 'pass' };
    // The forge answers the first read before a person acts, and the response arrives late.
    return {
      kind: 'pass',
      after: async () => {
        const index = Number(/issues\/(\d+)/.exec(path)?.[1]);
        await harness.ada.call(operations.removeIssueLabel, { params: { ...at, index, id: kept } });
      },
    };
  };
  // The condition uses the labels, and reading the files takes longer than a cached response stays fresh.
  await harness.setRules(
    rules.replace('    steps:', '    if: labels.exists(l, l.name == "kept")\n    steps:'),
  );
  const slowFiles = harness.proxy.decide;
  harness.proxy.decide = (passing) =>
    passing.path.includes('/files')
      ? { kind: 'pass', before: () => new Promise((resolve) => setTimeout(resolve, 400)) }
      : slowFiles(passing);
  const pull = await harness.openPull('docs', { 'docs/a.md': 'a' }, ['kept']);
  const run = await harness.waitForRun(opened);

  expect(run.outcomes).toMatchObject([{ status: 'applied' }]);
  expect(await harness.labelsOf(pull.number)).toEqual(['area/docs']);
});

it('one PUT is sent for all label changes of a run', async () => {
  harness = await startHarness({
    rules:
      rules +
      rules.split('\n').slice(2).join('\n').replace('by-path', 'again').replace('area/code:', 'kept:'),
  });
  await harness.openPull('both', { 'docs/a.md': 'a', 'src/a.js': 'a' });
  await harness.idle();
  const run = await harness.waitForRun(opened);

  expect(run.changes.map(({ target, rules: by }) => [target, by.length])).toEqual([
    ['label:area/docs', 2],
    ['label:area/code', 1],
    ['label:kept', 1],
  ]);
  expect(harness.proxy.passed.filter(({ method }) => method === 'PUT')).toHaveLength(1);
});

it('both changes are refused if two rules of the same level conflict', async () => {
  const quarrel = `version: 1
rules:
  on: { on: pull_request.opened, steps: [{ uses: set-labels, with: { add: [area/docs] } }] }
  off: { on: pull_request.opened, steps: [{ uses: set-labels, with: { remove: [area/docs] } }] }
`;
  harness = await startHarness({ rules: quarrel });
  const pull = await harness.openPull('docs', { 'x.md': 'a' }, ['area/docs']);
  const run = await harness.waitForRun(opened);

  expect(run.refused).toMatchObject([{ change: { target: 'label:area/docs', value: false } }]);
  expect(run.refused[0]?.why).toContain('neither ranks higher');
  expect(await harness.labelsOf(pull.number)).toEqual(['area/docs']);
});

it('set-labels plans with the new id of a label that was recreated under its old name', async () => {
  harness = await startHarness({ rules });
  await harness.openPull('one', { 'docs/a.md': 'a' });
  await harness.waitForRun(opened);
  const old = (await harness.root.call(operations.listLabels, { params: at })).find(
    ({ name }) => name === 'area/docs',
  );
  await harness.root.call(operations.deleteLabel, { params: { ...at, id: old?.id ?? 0 } });
  await harness.root.call(operations.createLabel, {
    params: at,
    body: { name: 'area/docs', color: '00ff00' },
  });

  const pull = await harness.openPull('two', { 'docs/b.md': 'b' });
  const run = await harness.waitForRun((one) => opened(one) && one !== harness.runs[0]);

  expect(run.outcomes).toMatchObject([{ status: 'applied' }]);
  expect(await harness.labelsOf(pull.number)).toEqual(['area/docs']);
});

it('set-labels finds its label among thousands', async () => {
  const count = process.env.LONG ? 10_000 : 600;
  harness = await startHarness({ rules });
  for (let from = 0; from < count; from += 50) {
    const batch = Array.from({ length: 50 }, (_, place) => `filler/${from + place}`);
    await Promise.all(
      batch.map((name) =>
        harness.root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } }),
      ),
    );
  }
  const pull = await harness.openPull('docs', { 'docs/a.md': 'a' });
  const run = await harness.waitForRun(opened);

  expect(run.outcomes).toMatchObject([{ status: 'applied' }]);
  expect(await harness.labelsOf(pull.number)).toEqual(['area/docs']);
});
