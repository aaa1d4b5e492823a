import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Credentials } from '../../src/client/credentials.ts';
import { operations } from '../../src/contract/operations.ts';
import { silentLog } from '../../src/platform/log.ts';
import { startServer } from '../../src/server/server.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { timeoutMs } from '../support/flow-names.ts';
import {
  at,
  authorization,
  type Harness,
  minimalScopes,
  people,
  secret,
  startHarness,
} from '../support/harness.ts';
import { startReceiver } from '../support/hook-receiver.ts';
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

it('the report is sent as a message while the forge refuses the token, and says why the issue was not written', {
  timeout: 10 * timeoutMs,
}, async () => {
  const receiver = await startReceiver(() => ({ status: 200 }));
  harness = await startHarness({
    rules,
    server: {
      namedSecrets: new Map([['CHAT', receiver.url]]),
      notifyHosts: ['127.0.0.1'],
      report: {
        to: 'CHAT',
        chat: false,
        repository: `${at.owner}/${at.repo}`,
        schedule: { cron: '0 8 * * 1', timezone: 'UTC' },
      },
    },
  });
  await harness.idle();
  await harness.revokeToken();
  await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });
  await expect
    .poll(readyz, { timeout: timeoutMs })
    .toEqual({ status: 200, body: { status: 'degraded', forge: 'refused' } });

  await harness.server.store.enqueue({
    ...{ door: 'cron', uuid: 'report#1', kind: 'chore', lane: 'chore report', receivedAt: new Date() },
    payload: { chore: 'report', slot: 'report#1' },
  });

  await expect.poll(() => receiver.received.length, { timeout: timeoutMs }).toBe(1);
  expect(receiver.received[0]?.body).toMatch(
    /^The issue in acme\S*\/demo could not be written: .*401.*\n\n.*\n- The forge fails since/,
  );
  const issues = await harness.ada.call(operations.listIssues, { params: at, query: { state: 'all' } });
  expect(issues.map(({ title }) => title)).toEqual(['docs']);
  await receiver.close();
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

/** Lines of the log at error about the token file. */
function objections(lines: ReturnType<typeof recordLog>['lines']): readonly string[] {
  return lines
    .filter(([level, text]) => level === 'error' && text.includes('token file'))
    .map(([, text]) => text);
}

/** Returns the accounts that labeled an issue. */
async function labelers(issue: number): Promise<readonly (string | undefined)[]> {
  const timeline = await harness.ada.call(operations.listTimeline, { params: { ...at, index: issue } });
  return timeline.filter((entry) => entry?.type === 'label').map((entry) => entry?.user?.login);
}

it('the token of another account in the token file is not used, whoever it is; the work waits for one of the own account', {
  timeout: 10 * timeoutMs,
}, async () => {
  let inFile: Credentials | undefined;
  const { log, lines } = recordLog();
  harness = await startHarness({ rules, readCredentials: () => inFile, server: { log } });
  await harness.idle();
  const roots = await harness.forge.makeToken(people.root, ['all']);
  const adas = await harness.forge.makeToken(people.ada, ['all']);
  await harness.revokeToken();
  inFile = { token: roots.token };
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });

  const ofRoot = `the token file contains a token of @${people.root}, who is a site administrator, which is not used: Reeve acts as @${people.bot}`;
  await expect.poll(() => objections(lines), { timeout: timeoutMs }).toEqual([ofRoot]);
  await expect
    .poll(readyz, { timeout: timeoutMs })
    .toEqual({ status: 200, body: { status: 'degraded', forge: 'refused' } });
  const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
  const dashboard = await signInWithPassword(harness.server.url, password);
  expect((await dashboard.get('/')).text).toContain(`@${people.root}, who is a site administrator`);

  inFile = { token: adas.token };
  const ofAda = `the token file contains a token of @${people.ada}, which is not used: Reeve acts as @${people.bot}`;
  await expect.poll(() => objections(lines), { timeout: timeoutMs }).toEqual([ofRoot, ofAda]);
  expect(await harness.labelsOf(issue.number)).toEqual([]);
  expect((await harness.server.store.counts()).dead).toBe(0);

  await harness.renewToken();
  inFile = { token: harness.token };
  await expect.poll(() => harness.labelsOf(issue.number), { timeout: timeoutMs }).toEqual(['area/docs']);
  await expect.poll(readyz, { timeout: timeoutMs }).toEqual({ status: 200, body: { status: 'ok' } });
  expect(await labelers(issue.number)).toEqual([people.bot]);
  for (const { token } of [roots, adas, harness]) expect(JSON.stringify(lines)).not.toContain(token);
});

it('a token of the own account is not used while that account is a site administrator', {
  timeout: 10 * timeoutMs,
}, async () => {
  let inFile: Credentials | undefined;
  const { log, lines } = recordLog();
  harness = await startHarness({ rules, readCredentials: () => inFile, server: { log } });
  await harness.idle();
  const { id } = await harness.bot.call(operations.getSelf, {});
  const makeAdministrator = (admin: boolean) =>
    harness.root.call(operations.editUser, {
      params: { username: people.bot },
      body: { login_name: people.bot, source_id: 0, admin },
    });
  await makeAdministrator(true);
  await harness.revokeToken();
  await harness.renewToken();
  inFile = { token: harness.token };
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });

  await expect
    .poll(() => objections(lines), { timeout: timeoutMs })
    .toEqual([
      `the token file contains a token of @${people.bot}, who is a site administrator, which is not used`,
    ]);
  expect(await harness.labelsOf(issue.number)).toEqual([]);

  await makeAdministrator(false);
  expect((await harness.bot.call(operations.getSelf, {})).id).toBe(id);
  await expect.poll(() => harness.labelsOf(issue.number), { timeout: 3 * timeoutMs }).toEqual(['area/docs']);
});

it('a token that lacks a scope is not replaced by one of another account, and the work waits', {
  timeout: 10 * timeoutMs,
}, async () => {
  let inFile: Credentials | undefined;
  const { log, lines } = recordLog();
  const scopes = minimalScopes.map((scope) => (scope === 'write:issue' ? 'read:issue' : scope));
  harness = await startHarness({ rules, scopes, readCredentials: () => inFile, server: { log } });
  await harness.idle();
  const roots = await harness.forge.makeToken(people.root, ['all']);
  inFile = { token: roots.token };
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });

  await expect.poll(() => objections(lines), { timeout: timeoutMs }).toHaveLength(1);
  await expect
    .poll(readyz, { timeout: timeoutMs })
    .toEqual({ status: 200, body: { status: 'degraded', forge: 'refused' } });
  expect(await harness.labelsOf(issue.number)).toEqual([]);

  const able = await harness.forge.makeToken(people.bot, minimalScopes);
  inFile = { token: able.token };
  await expect.poll(() => harness.labelsOf(issue.number), { timeout: timeoutMs }).toEqual(['area/docs']);
  expect(await labelers(issue.number)).toEqual([people.bot]);
  expect((await harness.server.store.counts()).dead).toBe(0);
  await expect.poll(readyz, { timeout: timeoutMs }).toEqual({ status: 200, body: { status: 'ok' } });
});

it('a server that started with a refused token takes only one of the account with which its store has worked', {
  timeout: 10 * timeoutMs,
}, async () => {
  let inFile: Credentials | undefined;
  const { log, lines } = recordLog();
  harness = await startHarness({ rules, readCredentials: () => inFile, server: { log } });
  const adas = await harness.forge.makeToken(people.ada, ['all']);
  await harness.restart({ between: () => harness.revokeToken() });
  inFile = { token: adas.token };
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'docs' } });

  await expect
    .poll(() => objections(lines), { timeout: timeoutMs })
    .toEqual([
      `the token file contains a token of @${people.ada}, which is not used: Reeve acts as @${people.bot}`,
    ]);

  await harness.renewToken();
  inFile = { token: harness.token };
  await expect.poll(() => harness.labelsOf(issue.number), { timeout: timeoutMs }).toEqual(['area/docs']);
  expect(await labelers(issue.number)).toEqual([people.bot]);
});
