import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createSimulator } from '../../src/server/simulator.ts';
import { type DashboardClient, signInWithPassword } from '../support/dashboard-client.ts';
import { at, type Harness } from '../support/harness.ts';
import { makeReeve } from '../support/make-reeve.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';

const rules = `
version: 1
rules:
  docs:
    on: issues.edited
    if: issue.title.contains("<b>")
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
  pushed:
    on: push
    steps: [{ uses: set-status, with: { context: reeve/a, when: "true", state: success } }]
`;
let harness: Harness;
let operator: DashboardClient;
let subject: string;
beforeAll(async () => {
  harness = await startOperatorHarness(rules);
  const body = { title: 'a <b>bold</b> matter' };
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body });
  subject = `${at.owner}/${at.repo}#${number}`;
  await harness.idle();
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  operator = await signInWithPassword(harness.server.url, password);
});
afterAll(() => harness?.close());

const simulate = (fields: Readonly<Record<string, string>>) => operator.show('/simulate', 'simulate', fields);

it('a simulation shows the verdicts, values and changes of a live subject, and writes nothing', async () => {
  const { store } = harness.server;
  const from = harness.proxy.passed.length;
  const runs = (await store.listRuns()).items.length;

  const { status, text } = await simulate({ kind: 'issue', subject: ` ${subject} ` });

  expect(status).toBe(200);
  expect(text).toMatch(/<strong>docs<\/strong> <span class="mark matched">matched/);
  expect(text).toContain('a &lt;b&gt;bold&lt;/b&gt; matter');
  expect(text).toContain('+ label:area/docs');
  expect(text).toContain('<li>pushed: it listens to other events</li>');
  expect(text).toContain(`name="subject" value="${subject}"`);
  expect(harness.proxy.passed.length).toBeGreaterThan(from);
  expect(writesOf(harness, from)).toEqual([]);
  expect((await store.listRuns()).items).toHaveLength(runs);
});

it.each([
  [{ kind: 'issue', subject: '"><script>pwned()</script>' }, 400, 'write OWNER/REPO#NUMBER'],
  [{ kind: 'repository', subject: 'acme/unseen' }, 404, 'the forge answered 404'],
  [{}, 400, 'is not a valid pull_request'],
])('a simulation of %j is refused with the reason', async (fields, expected, words) => {
  const { status, text } = await simulate(fields);

  expect(status).toBe(expected);
  expect(text).toContain(words);
  expect(text).not.toContain('<script>');
});

it('a form without a valid CSRF token simulates nothing', async () => {
  const from = harness.proxy.passed.length;

  expect((await operator.post('simulate', '00', { kind: 'issue', subject })).status).toBe(403);

  expect(harness.proxy.passed.slice(from)).toEqual([]);
});

it('a simulation times out if the forge does not answer, and only one runs at a time', async () => {
  let time = new AbortController();
  const client = createClient({ url: harness.proxy.url, credentials: { token: harness.token } });
  const run = createSimulator(
    makeReeve({
      client,
      account: async () => ({ id: 1 }),
      rules: { operator: () => [], offered: () => new Map() },
      store: harness.server.store,
      clock: systemClock,
    }),
    { organizations: [], grants: [], isServed: async () => true, limit: () => time.signal },
  );
  harness.proxy.decide = () => {
    time.abort();
    return { kind: 'hang' };
  };
  const about = { kind: 'repository', ...at } as const;

  const [first, second] = await Promise.allSettled([run(about), run(about)]);
  harness.proxy.decide = () => ({ kind: 'pass' });
  time = new AbortController();

  expect(first).toMatchObject({ status: 'rejected', reason: { code: 'forge-timeout' } });
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'forge-throttled' } });
  expect(await run(about)).toMatchObject({ ignored: undefined });
});
