import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/actions/change.ts';
import { isStill } from '../../src/actions/inverses.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import { syncHooks } from '../../src/actions/sync-hooks.ts';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { json, startBareServer } from '../support/bare-server.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const url = 'https://ci.example.org/hook';
const key = new Uint8Array(32);
const secrets = createNamedSecrets(
  new Map([
    ['CI', 'the-value-of-ci'],
    ['SIGN', 'the-value-of-sign'],
  ]),
  key,
);
const print = (name: string): string => secrets.fingerprint(name) ?? '';

const hook = (id: number, more: object = {}) => ({
  id,
  type: 'gitea',
  active: true,
  events: ['push'],
  branch_filter: '',
  config: { url, content_type: 'json' },
  ...more,
});

type Plan = {
  readonly wanted?: object;
  readonly hooks?: readonly unknown[];
  /** Records about hooks, by hook id. */
  readonly known?: Readonly<Record<number, object>>;
  readonly context?: Parameters<typeof makeContext>[0];
  readonly facts?: Record<string, unknown>;
};

async function planned({ wanted = {}, hooks = [], known = {}, context = {}, facts = {} }: Plan) {
  const memory = createActionMemory();
  for (const [id, value] of Object.entries(known)) await memory.set(`sync-hooks/${id}`, value);
  const given = syncHooks.arguments.parse({ hooks: [{ url, events: ['push'], ...wanted }] });
  return syncHooks.plan(
    given,
    makeFacts({ hooks, repository: { id: 1, empty: false }, ...facts }, { subject: { kind: 'repository' } }),
    makeContext({ memory, secrets, ...context }),
  );
}

const own = { 1: { authorization: 'none' } };

describe('the plan', () => {
  const cases: readonly [string, Plan, readonly unknown[]][] = [
    [
      'creates a missing hook, with its secrets by name',
      { wanted: { events: ['issues'], authorization: { secret: 'CI' }, hmac: { secret: 'SIGN' } } },
      [
        {
          operation: 'hook.create',
          stage: 0,
          input: {
            body: {
              type: 'gitea',
              active: true,
              authorization_header: { secret: 'CI' },
              config: { url, content_type: 'json', secret: { secret: 'SIGN' } },
              events: ['issue_assign', 'issue_comment', 'issue_label', 'issue_milestone', 'issues_only'],
            },
          },
        },
      ],
    ],
    ['marks what is already in the desired state', { hooks: [hook(1)] }, [{ already: true }]],
    [
      'accepts a family of events in the form the forge stores it',
      {
        wanted: { events: ['issues'] },
        hooks: [
          hook(1, { events: ['issue_comment', 'issue_milestone', 'issues', 'issue_label', 'issue_assign'] }),
        ],
      },
      [{ already: true }],
    ],
    [
      'detects a single kind if the family is wanted, and sends filter and header with the edit',
      {
        wanted: { events: ['pull_request'] },
        hooks: [hook(1, { events: ['pull_request'], branch_filter: 'main' })],
        known: own,
      },
      [
        {
          operation: 'hook.edit',
          reason: 'different: events',
          input: { params: { id: 1 }, body: { branch_filter: 'main', authorization_header: '' } },
        },
      ],
    ],
    [
      'activates a hook',
      { hooks: [hook(1, { active: false })], known: own },
      [{ before: { active: false }, input: { body: { active: true, events: ['push'] } } }],
    ],
    [
      'leaves hooks with other URLs alone',
      { hooks: [hook(1), hook(2, { config: { url: 'https://other.example.org', content_type: 'json' } })] },
      [{ already: true }],
    ],
    [
      'recognizes a header by its fingerprint',
      {
        wanted: { authorization: { secret: 'CI' } },
        hooks: [hook(1)],
        known: { 1: { authorization: print('CI') } },
      },
      [{ already: true }],
    ],
    [
      'edits a header that differs or is unknown',
      {
        wanted: { authorization: { secret: 'CI' } },
        hooks: [hook(1)],
        known: { 1: { authorization: print('SIGN') } },
      },
      [{ operation: 'hook.edit', input: { body: { authorization_header: { secret: 'CI' } } } }],
    ],
    [
      'replaces a hook for another secret: creates a new one, tests it, and removes the old one',
      {
        wanted: { hmac: { secret: 'SIGN' } },
        hooks: [hook(1)],
        known: { 1: { authorization: 'none', hmac: 'other' } },
      },
      [
        { operation: 'hook.create', stage: 0, before: { replaces: [1] } },
        { operation: 'hook.test' },
        { operation: 'hook.delete', stage: 2, input: { params: { id: 1 } } },
      ],
    ],
    [
      'resumes an interrupted rotation',
      {
        wanted: { hmac: { secret: 'SIGN' } },
        hooks: [hook(1), hook(2)],
        known: { 2: { authorization: 'none', hmac: print('SIGN'), replaces: [1] } },
      },
      [
        { already: true, input: { params: { id: 2 } } },
        { operation: 'hook.test', input: { params: { id: 2 } } },
        { operation: 'hook.delete', input: { params: { id: 1 } } },
      ],
    ],
    [
      'does not test in an empty repository',
      {
        wanted: { hmac: { secret: 'SIGN' } },
        hooks: [hook(1)],
        known: { 1: { authorization: 'none', hmac: 'other' } },
        facts: { repository: { id: 1, empty: true } },
      },
      [{ operation: 'hook.create' }, { operation: 'hook.delete' }],
    ],
    [
      'assumes unchanged secrets in a simulation, which knows none',
      {
        wanted: { authorization: { secret: 'CI' }, hmac: { secret: 'SIGN' } },
        hooks: [hook(1)],
        context: { secrets: undefined as never },
      },
      [{ already: true }],
    ],
    [
      'declares what the forge must support',
      { wanted: { events: ['push', 'status', 'workflow_run'], name: 'ci' } },
      [{ requires: ['status_events', 'workflow_run_events', 'hook_names'] }],
    ],
    [
      'declares that not every forge can change package events in an edit',
      { hooks: [hook(1, { events: ['package', 'push'] })], known: own },
      [{ operation: 'hook.edit', requires: ['hook_package_edit'] }],
    ],
    [
      'requires nothing of the forge if package events are already as wanted',
      {
        wanted: { events: ['push', 'package'], active: false },
        hooks: [hook(1, { events: ['package', 'push'] })],
        known: own,
      },
      [expect.not.objectContaining({ requires: expect.anything() })],
    ],
    [
      'declares that not every forge can remove a header',
      { wanted: { authorization: 'none' }, hooks: [hook(1, { has_authorization: true })] },
      [
        {
          operation: 'hook.edit',
          input: { body: { authorization_header: '' } },
          requires: ['hook_header_removal'],
        },
      ],
    ],
    [
      'detects a header on a hook that is declared without one',
      { wanted: { authorization: 'none' }, hooks: [hook(1, { has_authorization: true })], known: own },
      [{ operation: 'hook.edit', reason: 'different: authorization' }],
    ],
  ];

  it.each(cases)('%s', async (_title, given, expected) => {
    const changes = await planned(given);

    expect(changes).toMatchObject(expected);
    expect(changes).toHaveLength(expected.length);
  });

  const failures: readonly [string, Plan, string][] = [
    [
      'a header that an edit would clear unnoticed',
      { wanted: { events: ['issues'] }, hooks: [hook(1)] },
      'does not show whether',
    ],
    ['two hooks with the same URL', { hooks: [hook(1), hook(2)] }, 'there are 2 hooks to'],
    ['a secret without a value', { wanted: { hmac: { secret: 'NONE' } } }, 'REEVE_SECRET_NONE'],
    [
      'a rule below operator level that names a secret',
      { wanted: { hmac: { secret: 'SIGN' } }, context: { level: 'organization' } },
      'only rules of the operator',
    ],
    ['hooks that cannot be read', { hooks: new Error('403') as never }, '403'],
  ];

  it.each(failures)('fails for %s', async (_title, given, words) => {
    await expect(planned(given)).rejects.toThrow(words);
  });

  it('contains no secret value', async () => {
    const changes = await planned({
      wanted: { authorization: { secret: 'CI' }, hmac: { secret: 'SIGN' } },
      hooks: [hook(1)],
      known: { 1: { hmac: 'other' } },
    });

    expect(JSON.stringify(changes)).not.toContain('the-value');
    expect(JSON.stringify(changes)).not.toContain(print('CI'));
  });
});

describe('undoing a hook', () => {
  it.each([
    ['removes the hook', {}, [hook(7)], { operation: operations.deleteHook, input: { params: { id: 7 } } }],
    [
      'reports that the replaced hook cannot be restored',
      { hooks: [hook(1)], known: { 1: {} } },
      [hook(7)],
      'cannot be read',
    ],
    ['reports that several hooks exist now', {}, [hook(7), hook(8)], 'several hooks'],
  ] as const)('%s', async (_title, given, live, expected) => {
    const signed = { wanted: { authorization: 'none', hmac: { secret: 'SIGN' } }, ...given };
    const [change] = await planned(signed);
    const server = await startBareServer((_request, response) => json(response, live, 200, { link: '' }));
    try {
      const inverse = syncHooks.inverses[change?.operation ?? ''];
      const found = await inverse?.(change as Change, createClient({ url: server.url }));
      const undo = found?.undo();

      expect(isStill(change?.after, found?.value)).toBe(true);
      if (typeof expected === 'string') expect(undo).toContain(expected);
      else expect(undo).toMatchObject(expected);
    } finally {
      await server.close();
    }
  });
});

describe('named secrets', () => {
  const input = { params: {}, body: { a: { secret: 'CI' }, config: { url, secret: { secret: 'SIGN' } } } };

  it('are inserted into the request, and only there', () => {
    expect(secrets.reveal(input).body).toEqual({
      a: 'the-value-of-ci',
      config: { url, secret: 'the-value-of-sign' },
    });
    expect(JSON.stringify(input)).not.toContain('the-value');
  });

  it('are removed from responses that repeat them', () => {
    expect(secrets.redact('bad header "the-value-of-ci"')).toBe('bad header "{secret: CI}"');
  });

  it('have fingerprints that depend on the key', () => {
    const other = createNamedSecrets(new Map([['CI', 'the-value-of-ci']]), new Uint8Array(32).fill(1));

    expect(other.fingerprint('CI')).not.toBe(print('CI'));
    expect(other.fingerprint('SIGN')).toBeUndefined();
  });
});

it('sync-hooks detects events that the forge did not accept', async () => {
  const [change] = await planned({ wanted: { events: ['push', 'status'] } });
  if (!change) throw new Error('no change');

  expect(syncHooks.confirm?.(change, hook(1, { events: ['status', 'push'] }))).toBeUndefined();
  expect(syncHooks.confirm?.(change, hook(1))).toContain('events');
});

it('sync-hooks accepts one kind of an event family under the name that the forge returns', async () => {
  const [change] = await planned({ wanted: { events: ['pull_request_only'] } });
  if (!change) throw new Error('no change');

  expect(syncHooks.confirm?.(change, hook(1, { events: ['pull_request'] }))).toBeUndefined();
});

it('sync-hooks remembers what the forge does not show, so that a second plan is empty', async () => {
  const memory = createActionMemory();
  const context = makeContext({ memory, secrets });
  const given = syncHooks.arguments.parse({
    hooks: [{ url, events: ['push'], authorization: { secret: 'CI' }, hmac: { secret: 'SIGN' } }],
  });
  const factsOf = (hooks: readonly unknown[]) => makeFacts({ hooks }, { subject: { kind: 'repository' } });
  const [change] = await syncHooks.plan(given, factsOf([]), context);
  if (!change) throw new Error('no change');
  await syncHooks.remember?.(change, hook(7), context);

  expect(await syncHooks.plan(given, factsOf([hook(7)]), context)).toMatchObject([{ already: true }]);
});
