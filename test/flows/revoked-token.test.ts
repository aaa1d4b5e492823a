import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Credentials } from '../../src/client/credentials.ts';
import { operations } from '../../src/contract/operations.ts';
import { silentLog } from '../../src/platform/log.ts';
import { startServer } from '../../src/server/server.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, authorization, type Harness, secret, startHarness } from '../support/harness.ts';
import { recordLog } from '../support/record-log.ts';
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

it('a server starts with a token that the forge refuses, if its store has worked before: it says what to do, stores deliveries, and handles them once the token file is renewed', {
  timeout: 10 * timeoutMs,
}, async () => {
  let inFile: Credentials | undefined;
  const { log, lines } = recordLog();
  harness = await startHarness({ rules, readCredentials: () => inFile, server: { log } });
  await harness.restart({ between: () => harness.revokeToken() });
  expect(lines.filter(([level]) => level === 'error')).toEqual([
    [
      'error',
      'the forge refuses the token; deliveries are stored until it accepts a new one',
      {
        error: expect.stringContaining('401'),
        remedy: 'write a new token to the token file; it is used without a restart',
      },
    ],
  ]);
  expect(JSON.stringify(lines)).not.toContain(harness.token);

  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });
  await expect
    .poll(readyz, { timeout: timeoutMs })
    .toEqual({ status: 200, body: { status: 'degraded', forge: 'refused' } });
  await expect
    .poll(async () => {
      const { accepted, retry } = await harness.server.store.counts();
      return accepted + retry;
    })
    .toBeGreaterThan(0);

  await harness.renewToken();
  inFile = { token: harness.token };
  await expect.poll(() => harness.labelsOf(issue.number), { timeout: timeoutMs }).toEqual(['area/docs']);
  await expect.poll(readyz, { timeout: timeoutMs }).toEqual({ status: 200, body: { status: 'ok' } });
});

it('a server whose store never worked does not start with a token that the forge refuses', {
  timeout: 10 * timeoutMs,
}, async () => {
  harness = await startHarness({ rules });
  const start = () =>
    startServer({
      forge: { url: harness.proxy.url, credentials: { token: 'f'.repeat(40) } },
      secrets: [{ name: 'test', scope: ['*'], authorization: [authorization], hmac: [secret] }],
      data: join(harness.data, 'another'),
      repositories: [],
      allowAdmin: false,
      host: '127.0.0.1',
      port: 0,
      log: silentLog,
    });
  await expect(start()).rejects.toMatchObject({ code: 'forge-unauthorized' });
  // A failed start does not count as one that worked.
  await expect(start()).rejects.toMatchObject({ code: 'forge-unauthorized' });
});
