import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import { createClient, findAccount } from '../../src/client/client.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { makeEventRun, makeItemRun, makeRevertRun } from '../../src/engine/make-run.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

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

it('a run counts its own requests and denials, but not earlier ones of its client', async () => {
  const client = createClient({ url: forge.url, credentials: { token: 'secret' } });
  const account = await findAccount(client, { allowAdmin: true });
  const { run, denials } = await makeEventRun(
    event,
    {
      mode: 'plan',
      door: 'cli',
      rules: createRuleSet(rules),
    },
    { client, memory: createFactMemory(systemClock), account: async () => account, clock: systemClock },
  );
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

it('a run records no secret value in its requests, whatever the forge returns', async () => {
  const token = 'a-token-that-no-one-else-may-see';
  const named = 'a-value-of-a-named-secret';
  const echo = await startBareServer((_seen, response) =>
    json(response, { message: `bad: ${token} ${named} ${'x'.repeat(500)}` }, 500),
  );
  const client = createClient({ url: echo.url, credentials: { token }, tries: 1 });
  try {
    const { run } = await makeEventRun(
      event,
      {
        mode: 'plan',
        door: 'cli',
        rules: createRuleSet(rules),
      },
      {
        client,
        memory: createFactMemory(systemClock),
        secrets: createNamedSecrets(new Map([['HOOK', named]]), new Uint8Array(32)),
        clock: systemClock,
      },
    );

    const [request] = run.forgeRequests ?? [];
    expect(request?.error).toMatch(/^bad: \[secret\] \{secret: HOOK\} x+$/);
    expect(request?.error).toHaveLength(200);
    expect(JSON.stringify(run.forgeRequests)).not.toContain(token);
    expect(JSON.stringify(run.forgeRequests)).not.toContain(named);
  } finally {
    await echo.close();
  }
});

describe('the record of a run says what started it', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  const clock = makeClock({ now: () => now, monotonicMs: () => 0 });
  const at = now.toISOString();
  const given = { mode: 'plan', rules: createRuleSet(rules) } as const;
  const whatIf = { given: { labels: [], label_definitions: [{ id: 1, name: 'x' }] }, clock };
  const because = { run: 'r0', change: 'c1' };

  it.each<[string, Parameters<typeof makeEventRun>[0], Partial<Parameters<typeof makeEventRun>[1]>, object]>([
    ['a person', event, { door: 'cli' }, { door: 'cli', kind: 'issues', activity: 'opened' }],
    [
      'a delivery that repeats another',
      event,
      { door: 'webhook', delivery: 'd1', isRepeated: true },
      { door: 'webhook', kind: 'issues', activity: 'opened', delivery: 'd1', repeated: true },
    ],
    [
      'a change of an earlier run',
      event,
      { door: 'webhook', item: 'acme/shop#5', cause: { because, rules: [], depth: 1 } },
      { door: 'webhook', kind: 'issues', activity: 'opened', item: 'acme/shop#5', because },
    ],
    [
      'an event that no rule can listen to',
      parseEvent('odd', { action: 'done' }),
      { door: 'webhook' },
      { door: 'webhook', kind: 'odd', activity: 'done' },
    ],
  ])('%s', async (_title, about, parts, trigger) => {
    const { run, denials, facts } = await makeEventRun(about, { ...given, door: 'cli', ...parts }, whatIf);

    expect(run.trigger).toEqual({ ...trigger, ...(about === event ? { sender: 9 } : {}), at });
    expect([run.requests, denials, run.id.length]).toEqual([0, 0, 36]);
    expect(facts.subject.kind).toBe(about === event ? 'issue' : 'repository');
    // The payload stands in for the live issue.
    if (about === event) expect(run.changes.map(({ target }) => target)).toEqual(['label:x']);
  });

  it.each([
    [{}, { kind: 'schedule' }],
    [
      { key: 'acme/shop#7', slot: '2026-03-01T12:00', kind: 'ask' },
      { kind: 'ask', item: 'acme/shop#7', slot: '2026-03-01T12:00', delivery: 'j1' },
    ],
  ])('an item of a sweep: %j', async (more, trigger) => {
    const sweep = loadRuleFile({
      path: 's.yml',
      text: JSON.stringify({
        version: 1,
        rules: {
          read: {
            on: { schedule: '7 3 * * *' },
            each: 'notification',
            if: 'notification.unread',
            steps: [{ uses: 'mark-notifications', with: { as: 'read' } }],
          },
        },
      }),
      level: 'operator',
      commit: '',
      registry,
    });
    const { run } = await makeItemRun(
      { subject: { kind: 'notification' }, value: { notification: { id: 5, unread: false } }, ...more },
      {
        ...given,
        rules: createRuleSet(sweep.rules),
        door: 'cron',
        ...('key' in more ? { delivery: 'j1' } : {}),
      },
      whatIf,
    );

    expect(sweep.problems).toEqual([]);
    expect(run.trigger).toEqual({ door: 'cron', activity: '', at, ...trigger });
    expect(run.rules.map(({ verdict }) => verdict)).toEqual(['unmatched']);
  });

  it('a revert', async () => {
    const counted: unknown[] = [];
    const client = makeRecordingClient();
    const { signal } = new AbortController();
    const counting = {
      ...client,
      counted(options: unknown) {
        counted.push(options);
        return client;
      },
    };
    const { run: done } = await makeEventRun(event, { ...given, door: 'cli' }, whatIf);
    const applied = { ...done, outcomes: [{ change: 'c1', status: 'applied' as const }] };
    const reverted = await makeRevertRun(applied, { client: counting, signal, mode: 'plan', clock });

    expect(reverted.trigger).toEqual({ door: 'cli', kind: 'revert', activity: '', item: done.id, at });
    expect(reverted.refused.map(({ why }) => why)).toEqual([
      'it cannot be read now: nothing is read through this client',
    ]);
    expect(reverted.id).not.toBe(done.id);
    expect(counted).toEqual([{ signal }]);
  });

  it('a signal aborts the sending of messages as well as API calls', async () => {
    const { signal } = new AbortController();
    const secrets = createNamedSecrets(new Map([['CHAT', 'https://chat.example.org/x']]), new Uint8Array(32));
    const text = JSON.stringify({
      version: 1,
      rules: {
        tell: {
          on: 'issues.opened',
          steps: [{ uses: 'notify', with: { to: { secret: 'CHAT' }, key: 'k', text: 'hello' } }],
        },
      },
    });
    const file = loadRuleFile({ path: 'n.yml', text, level: 'operator', commit: '', registry });
    const told: unknown[] = [];
    const { run } = await makeEventRun(
      event,
      { mode: 'enforce', door: 'webhook', rules: createRuleSet(file.rules), signal },
      {
        client: makeRecordingClient(),
        memory: createFactMemory(systemClock),
        clock,
        secrets,
        messages: async ({ url }, given) => void told.push(url, given),
      },
    );

    expect(file.problems).toEqual([]);
    expect(run.outcomes.map(({ status, error }) => error ?? status)).toEqual(['applied']);
    expect(told).toEqual(['https://chat.example.org/x', signal]);
  });
});
