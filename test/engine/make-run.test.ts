import { afterAll, beforeAll, expect, it } from 'vitest';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import { findAccount } from '../../src/client/account.ts';
import { createClient } from '../../src/client/client.ts';
import { systemClock } from '../../src/clock.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { makeEventRun } from '../../src/engine/make-run.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule-set.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

const text = `version: 1
rules:
  titles:
    on: issues.opened
    if: issue.title == "first"
    steps: [{ uses: set-labels, with: { add: [x] } }]
`;
const { rules } = loadRuleFile({ path: 'r.yml', text, level: 'operator', commit: '', registry });
const owner = { id: 2, login: 'acme' };
const event = parseEvent('issues', {
  action: 'opened',
  number: 7,
  issue: { id: 3, number: 7, title: 'first' },
  repository: { id: 1, name: 'shop', full_name: 'acme/shop', owner },
  sender: { id: 9, login: 'ada' },
});

let forge: BareServer;
beforeAll(async () => {
  forge = await startBareServer(({ path }, response) =>
    path === '/api/v1/user' ? json(response, { id: 5, login: 'reeve' }) : json(response, {}, 404),
  );
});
afterAll(() => forge.close());

it('a run counts its own requests and denials, and none that its client made before', async () => {
  const client = createClient({ url: forge.url, credentials: { token: 'secret' } });
  const account = await findAccount(client, { allowAdmin: true });
  const { run, denials } = await makeEventRun(event, {
    mode: 'plan',
    door: 'cli',
    rules: createRuleSet(rules),
    facts: { client, memory: createFactMemory(systemClock) },
    account,
    clock: systemClock,
  });
  expect(forge.requests.map(({ path }) => path)).toEqual([
    '/api/v1/user',
    '/api/v1/repos/acme/shop/issues/7',
  ]);
  expect(run.rules).toMatchObject([{ verdict: 'failed', code: 'forge-not-found' }]);
  expect({ requests: run.requests, denials }).toEqual({ requests: 1, denials: 1 });
  expect(client.requests).toBe(1);
  expect(run.forgeRequests).toMatchObject([
    { method: 'GET', path: '/repos/acme/shop/issues/7', status: 404, attempt: 1 },
  ]);
});

it('a run records no value of a secret in its requests, whatever the forge answers', async () => {
  const token = 'a-token-that-no-one-else-may-see';
  const named = 'a-value-of-a-named-secret';
  const echo = await startBareServer((_seen, response) =>
    json(response, { message: `bad: ${token} ${named} ${'x'.repeat(500)}` }, 500),
  );
  const client = createClient({ url: echo.url, credentials: { token }, tries: 1 });
  try {
    const { run } = await makeEventRun(event, {
      mode: 'plan',
      door: 'cli',
      rules: createRuleSet(rules),
      facts: { client, memory: createFactMemory(systemClock) },
      secrets: createNamedSecrets(new Map([['HOOK', named]]), new Uint8Array(32)),
      clock: systemClock,
    });

    const [request] = run.forgeRequests ?? [];
    expect(request?.error).toMatch(/^bad: \[secret\] \{secret: HOOK\} x+$/);
    expect(request?.error).toHaveLength(200);
    expect(JSON.stringify(run.forgeRequests)).not.toContain(token);
    expect(JSON.stringify(run.forgeRequests)).not.toContain(named);
  } finally {
    await echo.close();
  }
});
