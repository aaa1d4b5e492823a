import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Credentials } from '../../src/client/credentials.ts';
import { operations } from '../../src/contract/operations.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';
import { scrapeWithPassword } from '../support/scrape-metrics.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
`;

let harness: Harness;
afterEach(() => harness.close());

async function readyz(): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${harness.server.url}/readyz`);
  return { status: answer.status, body: await answer.json() };
}

it('a revoked token is shown on /readyz, overview and metrics; the token file is read again, and waiting deliveries are handled', {
  timeout: 10 * timeoutMs,
}, async () => {
  /** Current content of the token file. */
  let inFile: Credentials | undefined;
  harness = await startHarness({ rules, readCredentials: () => inFile });
  await harness.idle();
  expect(await readyz()).toEqual({ status: 200, body: { status: 'ok' } });
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  const dashboard = await signInWithPassword(harness.server.url, password);
  const metrics = () => scrapeWithPassword(harness.server.url, password);

  await harness.revokeToken();
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });

  await expect
    .poll(readyz, { timeout: timeoutMs })
    .toEqual({ status: 200, body: { status: 'degraded', forge: 'refused' } });
  expect((await dashboard.get('/')).text).toContain('The forge refuses our credential');
  expect(await metrics()).toContain('reeve_forge_state{state="refused"} 1');
  expect((await harness.server.store.counts()).dead).toBe(0);

  await harness.renewToken();
  inFile = { token: harness.token };

  await expect.poll(() => harness.labelsOf(issue.number)).toEqual(['area/docs']);
  await expect.poll(readyz, { timeout: timeoutMs }).toEqual({ status: 200, body: { status: 'ok' } });
  expect((await dashboard.get('/')).text).not.toContain('refuses our credential');
  expect(await metrics()).toContain('reeve_forge_state{state="ok"} 1');
});
