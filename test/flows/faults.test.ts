import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { acme, at, type Harness, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  by-path:
    on: { pull_request: [opened] }
    steps:
      - uses: set-labels
        with:
          sync:
            area/docs: files.exists(f, f.filename.glob("docs/**"))
`;

let harness: Harness;
afterEach(() => harness.close());

const opened = (run: Run): boolean => run.trigger.activity === 'opened';
const isPut = ({ method }: { method: string }): boolean => method === 'PUT';

async function deliveriesOf(kind: string) {
  const { items } = await harness.server.store.listDeliveries({ search: kind });
  return items.filter(({ eventType }) => eventType === kind);
}

/** Waits until a delivery of the kind is in the state. */
async function until(kind: string, state: string): Promise<void> {
  const states = async () => (await deliveriesOf(kind)).map((delivery) => delivery.state);
  await expect.poll(states).toContain(state);
}

describe('a forge that fails', () => {
  const faults: readonly [string, Fault][] = [
    ['answers 500', { kind: 'answer', status: 500, body: '{"message":""}' }],
    ['answers 503', { kind: 'answer', status: 503, body: '' }],
    ['answers junk', { kind: 'answer', status: 200, body: '<html>hello</html>' }],
    ['resets the connection', { kind: 'reset' }],
  ];

  it.each(faults)('%s during the reads: the delivery waits and is retried', async (_title, fault) => {
    harness = await startHarness({ rules });
    let isBroken = true;
    harness.proxy.decide = ({ path }) => (isBroken && path.includes('/files') ? fault : { kind: 'pass' });
    const pull = await harness.openPull('docs', { 'docs/a.md': 'a' });
    await harness.waitForRun((run) => opened(run) && run.outcomes.length === 0);
    expect(harness.proxy.passed.filter(isPut)).toEqual([]);

    isBroken = false;
    await harness.waitForRun((run) => opened(run) && run.outcomes.some(({ status }) => status === 'applied'));

    expect(await harness.labelsOf(pull.number)).toEqual(['area/docs']);
    await until('pull_request', 'settled');
  });

  it('loses the response to a write: the write is planned again and not repeated', async () => {
    harness = await startHarness({ rules });
    let lost = 0;
    harness.proxy.decide = (passing) => {
      if (!isPut(passing) || lost > 0) return { kind: 'pass' };
      lost += 1;
      return { kind: 'lose' };
    };
    const pull = await harness.openPull('docs', { 'docs/a.md': 'a' });
    await harness.waitForRun((run) => opened(run) && run.outcomes.some(({ status }) => status === 'failed'));
    await harness.waitForRun((run) => opened(run) && run.changes.length === 0);

    expect(await harness.labelsOf(pull.number)).toEqual(['area/docs']);
    expect(harness.proxy.passed.filter(isPut)).toHaveLength(1);
  });

  it('refuses a write: the outcome reports it and the write is not retried', async () => {
    harness = await startHarness({ rules });
    harness.proxy.decide = (passing) =>
      isPut(passing) ? { kind: 'answer', status: 403, body: '{"message":"no"}' } : { kind: 'pass' };
    await harness.openPull('docs', { 'docs/a.md': 'a' });
    const run = await harness.waitForRun(opened);
    await until('pull_request', 'settled');

    expect(run.outcomes).toMatchObject([{ status: 'failed' }]);
    expect(run.outcomes[0]?.error).toContain('the forge answered 403; no; ');
    expect(harness.proxy.passed.filter(isPut)).toHaveLength(1);
  });
});

describe('a rule file that is broken', () => {
  it('is recorded in the run and affects no other delivery', async () => {
    harness = await startHarness({ rules: rules.replace('docs/**")', 'docs/**"') });
    const pull = await harness.openPull('docs', { 'docs/a.md': 'a' });
    const run = await harness.waitForRun(opened);

    expect(run.rules).toMatchObject([{ verdict: 'failed', rule: `${acme}/demo/.reeve.yml` }]);
    expect(run.rules[0]?.reason).toContain(`${acme}/demo/.reeve.yml:9:`);
    expect(await harness.labelsOf(pull.number)).toEqual([]);

    await harness.setRules(rules);
    await harness.openPull('more', { 'docs/b.md': 'a' });
    const next = await harness.waitForRun((one) => opened(one) && one !== run);
    expect(next.outcomes).toMatchObject([{ status: 'applied' }]);
  });

  it('is refused if the repository has two rule files', async () => {
    harness = await startHarness({ rules });
    await harness.root.call(operations.createFile, {
      params: { ...at, filepath: '.gitea/reeve.yml' },
      body: { content: Buffer.from(rules).toString('base64'), message: 'second' },
    });
    await harness.openPull('docs', { 'docs/a.md': 'a' });

    expect((await harness.waitForRun(opened)).rules[0]?.reason).toContain(
      '.reeve.yml and .gitea/reeve.yml both exist',
    );
  });
});

it('a condition with a missing key is reported, changes nothing, and is not retried', async () => {
  const missing = rules.replace(
    '    steps:',
    '    if: pull_request.merged_at.startsWith("2026")\n    steps:',
  );
  harness = await startHarness({ rules: missing });
  await harness.openPull('docs', { 'docs/a.md': 'a' });
  const run = await harness.waitForRun(opened);
  await until('pull_request', 'settled');

  expect(run.rules).toMatchObject([{ verdict: 'failed', findings: [{ result: 'error' }] }]);
  expect(JSON.stringify(run.rules)).toContain('merged_at');
  expect(run.changes).toEqual([]);
  expect(harness.runs.filter(opened)).toHaveLength(1);
});

it('a delivery survives a restart and is handled afterwards', async () => {
  harness = await startHarness({ rules });
  const asked = harness.proxy.passed.length;
  harness.proxy.decide = () => ({ kind: 'reset' });
  const pull = await harness.openPull('docs', { 'docs/a.md': 'a' });
  // An attempt fails, or Reeve has already noticed the outage and starts none. The number of requests does not matter
  // here.
  await expect.poll(() => harness.proxy.passed.length).toBeGreaterThan(asked);
  await expect.poll(async () => (await deliveriesOf('pull_request')).length).toBe(1);
  harness.proxy.decide = () => ({ kind: 'pass' });
  await harness.restart();

  await harness.waitForRun((run) => opened(run) && run.outcomes.some(({ status }) => status === 'applied'));
  expect(await harness.labelsOf(pull.number)).toEqual(['area/docs']);
});

it('a repository without stars is not served', async () => {
  harness = await startHarness({ rules });
  await harness.bot.call(operations.unstar, { params: at });
  // Stars are cached for some minutes, and read at each start.
  await harness.restart();
  await harness.openPull('docs', { 'docs/a.md': 'a' });
  await until('pull_request', 'settled');

  expect(harness.runs).toEqual([]);
});
