import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { actions } from '../../src/actions/actions.ts';
import type { Change } from '../../src/actions/change.ts';
import { type ActionMemory, createActionMemory } from '../../src/actions/memory.ts';
import type { Client } from '../../src/client/client.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import type { AnyInput, Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { AccountGuard, accountKey, accountsIn, confirmAccounts } from '../../src/engine/bounds/accounts.ts';
import { ruleResultsOf } from '../../src/engine/incidents/incident.ts';
import type { RunMode } from '../../src/engine/record.ts';
import { runRules } from '../../src/engine/run.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainAction } from '../support/plain-action.ts';
import { plainRule } from '../support/plain-rule.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

/** Request fields that name accounts without granting them anything, with the reason for each. */
const givesNothing: Readonly<Record<string, string>> = {
  'review.cancel-request body.reviewers[]': 'it takes a request back',
  'collaborator.delete params.collaborator': 'it takes rights away',
  'team.delete-member params.username': 'it takes rights away',
};

/** Returns the paths of the request fields whose names say that they hold accounts. */
function namingMembersOf({ params, body }: Operation): readonly string[] {
  const found: string[] = [];
  const walk = (shape: z.ZodType | undefined, path: string): void => {
    if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable) {
      walk(shape.def.innerType as z.ZodType, path);
      return;
    }
    if (shape instanceof z.ZodArray) {
      walk(shape.def.element as z.ZodType, `${path}[]`);
      return;
    }
    if (shape instanceof z.ZodObject) {
      for (const [name, member] of Object.entries(shape.shape)) walk(member as z.ZodType, `${path}.${name}`);
      return;
    }
    const name = path.replace(/\[\]$/, '').split('.').at(-1) ?? '';
    if (/user|login|assignee|reviewer|collaborator/.test(name) && !/^team_|token/.test(name))
      found.push(path);
  };
  walk(params, 'params');
  walk(body, 'body');
  return found;
}

describe('the request fields that name accounts', () => {
  // Unused operations name accounts too; an operation must be recognised as soon as an action uses it.
  const usedByActions = new Set(actions.flatMap(({ inverses }) => Object.keys(inverses)));
  const rows = (Object.values(operations) as readonly Operation[])
    .filter(({ id }) => usedByActions.has(id))
    .flatMap((row) => namingMembersOf(row).map((member) => [`${row.id} ${member}`, row, member] as const));

  it.each(rows)('are recognised: %s', (name, { id }, member) => {
    const [part = '', last = ''] = member.replace('[]', '').split('.');
    const input = { [part]: { [last]: member.endsWith('[]') ? ['Ada'] : 'Ada' } } as AnyInput;

    expect(accountsIn(id, input)).toEqual(givesNothing[name] === undefined ? ['Ada'] : []);
  });

  it('cover at least 11 operations: collaborators, teams, allow lists, reviewers and assignees', () => {
    expect(new Set(rows.map(([, { id }]) => id)).size).toBeGreaterThanOrEqual(11);
  });
});

/** Creates a client that only handles requests about accounts; `ids` may change between runs. */
function forgeWith(
  ids: Record<string, number | Error>,
  hidden: Record<string, number> = {},
): Client & { asked: number; sent: unknown[] } {
  const recording = makeRecordingClient();
  const client = {
    ...recording,
    asked: 0,
    sent: recording.sent,
    async call(operation: Operation, input: AnyInput) {
      client.asked += 1;
      if (operation.id === operations.getPermission.id) throw new ReeveError('forge-forbidden', 'no');
      if (operation.id === operations.listAssignees.id)
        return Object.entries(hidden).map(([login, id]) => ({ id, login }));
      expect(operation.id).toBe(operations.getUser.id);
      const login = String(input.params?.username);
      const id = ids[login.toLowerCase()];
      if (id instanceof Error) throw id;
      if (id === undefined) throw new ReeveError('forge-not-found', 'no such user');
      // A forge resolves a former login to the renamed account.
      return { id, login: id === renamed ? 'another-name' : login.toUpperCase() };
    },
  };
  return client as never;
}
const renamed = 77;

const event = parseEvent('issues', {
  action: 'opened',
  number: 1,
  issue: { number: 1 },
  repository: { id: 1, full_name: 'acme/demo', owner: { id: 2 } },
  sender: { id: 9, login: 'ada' },
});

type Trial = {
  readonly memory?: ActionMemory | undefined;
  readonly mode?: RunMode;
  readonly ruleMode?: 'observe' | 'enforce';
  readonly already?: true;
  readonly nowMs?: number;
};

async function give(client: Client, login: string, trial: Trial = {}) {
  return (await giveAll(client, [login], trial)).run;
}

/** Runs one rule for each login, and one rule for each change of `taking`. */
async function giveAll(
  client: Client,
  logins: readonly string[],
  trial: Trial & { readonly taking?: readonly Partial<Change>[] } = {},
) {
  const { memory, mode = 'enforce', ruleMode = 'enforce', already, nowMs = 0, taking = [] } = trial;
  const giving = logins.map(
    (login): Change => ({
      action: 'plain',
      operation: operations.putCollaborator.id,
      input: { params: { owner: 'acme', repo: 'demo', collaborator: login }, body: { permission: 'write' } },
      target: `collaborator:${login}`,
      value: 'write',
      before: null,
      after: 'write',
      reason: '',
      ...(already && { already }),
    }),
  );
  const taken = taking.map(
    (change): Change => ({
      action: 'plain',
      operation: '',
      input: { params: { owner: 'acme', repo: 'demo', name: 'main', index: 1 }, body: {} },
      target: '',
      value: null,
      before: null,
      after: null,
      reason: '',
      ...change,
    }),
  );
  const given = {
    written: {},
    facts: [],
    reads: [],
    resolve: () => ({ findings: [], ok: true as const, value: {} }),
  };
  const rules = [...giving, ...taken].map((change, place) => {
    const action = plainAction({ name: 'plain', plan: async () => [change] });
    return plainRule({
      id: `a.yml#r${place}`,
      name: `r${place}`,
      source: 'a.yml',
      on: [{ family: 'issues' }],
      steps: [{ name: '1', action, line: 1, arguments: given }],
      mode: ruleMode,
    });
  });
  return runRules({
    id: 'r',
    mode,
    trigger: { door: 'webhook', kind: 'issues', activity: 'opened', at: new Date(nowMs).toISOString() },
    rules: createRuleSet(rules),
    event,
    facts: makeFacts(
      { repository_id: { id: 1 } },
      { subject: { kind: 'issue', index: 1, repository: { id: 1, owner: 'acme', name: 'demo' } } },
    ),
    client,
    memory,
    now: new Date(nowMs),
    clock: makeClock({ monotonicMs: () => nowMs }),
  });
}

const statusOf = (run: Awaited<ReturnType<typeof give>>) => run.outcomes[0]?.status ?? run.refused[0]?.why;

describe('a login', () => {
  it('is bound to the account that it named on first use, whatever its case, and a refusal contains both ids', async () => {
    const ids: Record<string, number> = { ada: 5 };
    const client = forgeWith(ids);
    const memory = createActionMemory();

    expect(statusOf(await give(client, 'Ada', { memory }))).toBe('applied');
    expect(statusOf(await give(client, 'ADA', { memory }))).toBe('applied');
    ids.ada = 9;
    const run = await give(client, 'ada', { memory, nowMs: 86_400_000 });

    expect(statusOf(run)).toMatch(/account 9, but.*account 5 on 1970-01-01/);
    expect(run.refused[0]?.account).toBe('ada');
    expect(client.sent).toHaveLength(2);
    // The login belongs to the first account again.
    ids.ada = 5;
    expect(statusOf(await give(client, 'ada', { memory }))).toBe('applied');
  });

  it('that now belongs to another account is an incident, and is accepted again once that account is confirmed', async () => {
    const ids: Record<string, number> = { ada: 5 };
    const client = forgeWith(ids);
    const memory = createActionMemory();
    await give(client, 'ada', { memory });
    ids.ada = 9;
    const run = await give(client, 'Ada', { memory });

    expect(ruleResultsOf(run, { repositoryId: 1 }).failed).toMatchObject([
      { kind: 'account-changed', key: 'ada', level: 'operator', source: 'a.yml', repositoryId: 1 },
    ]);
    expect(await memory.get(accountKey('ADA'))).toMatchObject({ id: 5, other: { id: 9 } });
    await confirmAccounts(memory, { ADA: 9 }, new Date(0));
    expect(statusOf(await give(client, 'ada', { memory }))).toBe('applied');
  });

  it.each<[string, Trial]>([
    ['a plan', { mode: 'plan' }],
    ['a rule that only observes', { ruleMode: 'observe' }],
  ])('is not stored by %s, which still reports a known change of account', async (_, trial) => {
    const ids: Record<string, number> = { ada: 5 };
    const client = forgeWith(ids);
    const memory = createActionMemory();

    await give(client, 'ada', { memory, ...trial });
    expect(await memory.get(accountKey('ada'))).toBeUndefined();
    expect(client.asked).toBe(0);

    await give(client, 'ada', { memory });
    ids.ada = 9;
    const run = await give(client, 'ada', { memory, ...trial });
    expect(run.refused[0]?.why).toContain('now belongs to account 9');
    expect(await memory.get(accountKey('ada'))).toEqual({ id: 5, at: new Date(0).toISOString() });
    expect(ruleResultsOf(run, {}).failed).toEqual([]);
  });

  it('is remembered, and looked up once, when the account already has what the rule gives', async () => {
    const ids: Record<string, number> = { ada: 5 };
    const client = forgeWith(ids);
    const memory = createActionMemory();

    for (const _ of [1, 2, 3]) await give(client, 'ada', { memory, already: true });
    expect(client.asked).toBe(1);
    ids.ada = 9;

    expect(statusOf(await give(client, 'ada', { memory }))).toContain('now belongs to account 9');
  });

  it.each<[string, number | undefined]>([
    ['has no account', undefined],
    ['leads to an account of another name', renamed],
  ])('is refused if it %s, even if it was never bound to an account', async (_, now) => {
    const ids: Record<string, number | Error> = now === undefined ? {} : { ada: now };
    const client = forgeWith(ids);
    const memory = createActionMemory();

    const first = await give(client, 'ada', { memory });
    expect(statusOf(first)).toMatch(/^no account that Reeve can see has the name "ada": nothing is granted/);
    expect(first.refused[0]?.account).toBe('ada');
    expect(await memory.get(accountKey('ada'))).toBeUndefined();
    await confirmAccounts(memory, { ada: 5 }, new Date(0));

    expect(statusOf(await give(client, 'ada', { memory }))).toContain(
      'now belongs to no account that Reeve can see',
    );
  });

  it('that the forge hides is bound to the account listed by the repository', async () => {
    const hidden: Record<string, number> = { Ada: 5 };
    const client = forgeWith({}, hidden);
    const memory = createActionMemory();

    expect(statusOf(await give(client, 'ada', { memory }))).toBe('applied');
    expect(await memory.get(accountKey('ada'))).toMatchObject({ id: 5 });
    hidden.Ada = 9;
    expect(statusOf(await give(client, 'ada', { memory, nowMs: 5_000 }))).toContain(
      'now belongs to account 9',
    );
  });

  it.each<[string, string, Record<string, number | Error>, boolean]>([
    [
      'cannot be asked about it',
      'ada',
      { ada: new ReeveError('forge-unavailable', 'away', { status: 503 }) },
      true,
    ],
    ['refuses to say whose it is', 'ada', { ada: new ReeveError('forge-forbidden', 'no') }, false],
  ])(
    'gets nothing while the forge %s, and does not stop other rules from writing',
    async (_, login, ids, isRetried) => {
      const client = forgeWith({ bob: 7, ...ids });
      const memory = createActionMemory();

      const ran = await giveAll(client, [login, 'bob'], { memory });

      const refused = ran.run.refused.map(({ change, why }) => [change.rules, why]);
      expect(refused).toEqual([[['a.yml#r0'], expect.any(String)]]);
      expect(ran.run.outcomes.map(({ status }) => status)).toEqual(['applied']);
      expect(client.sent).toHaveLength(1);
      expect(ran.retry?.message).toBe(isRetried ? 'away' : undefined);
      // An operator has to act only if waiting does not help.
      expect(ruleResultsOf(ran.run, {}).failed.map(({ kind }) => kind)).toEqual(
        isRetried ? [] : ['account-changed'],
      );
    },
  );

  it('that loses access is stored with its account, so that a revert gives the access back to the same account', async () => {
    const client = forgeWith({ ada: 5, bob: 6, carol: 7 });
    const memory = createActionMemory();
    const body = { push_whitelist_usernames: ['bob'], approvals_whitelist_username: ['carol'] };
    const taking: readonly Partial<Change>[] = [
      { operation: operations.editIssue.id, target: 'assignee:ada', before: true, accounts: [] },
      { operation: operations.deleteBranchProtection.id, target: 'protection:main', before: body },
    ];

    await giveAll(client, [], { memory, taking });

    expect(
      await Promise.all(['ada', 'bob', 'carol'].map((login) => memory.get(accountKey(login)))),
    ).toMatchObject([{ id: 5 }, { id: 6 }, { id: 7 }]);
  });

  it('is looked up again immediately before the request, because it may change hands during earlier changes', async () => {
    const ids: Record<string, number> = { ada: 5 };
    const client = forgeWith(ids);
    const memory = createActionMemory();
    let nowMs = 0;
    const guard = new AccountGuard({
      client,
      memory,
      now: new Date(0),
      clock: makeClock({ monotonicMs: () => nowMs }),
    });

    expect(await guard.refusalOf(['ada'], { records: true, params: {} })).toBeUndefined();
    ids.ada = 9;
    nowMs = 1_000;
    expect((await guard.refusalOf(['ada'], { records: true, params: {} }))?.why).toContain(
      'now belongs to account 9',
    );
  });

  it('is not bound to an account if there is no memory, and costs no request', async () => {
    const client = forgeWith({ ada: 5 });

    expect(statusOf(await give(client, 'ada'))).toBe('applied');
    expect(client.asked).toBe(0);
  });

  it('that two processes use first at the same time is bound to one account', async () => {
    const memory = createActionMemory();
    const clients = [forgeWith({ ada: 5 }), forgeWith({ ada: 9 })];

    const runs = await Promise.all(clients.map((client) => give(client, 'ada', { memory })));

    expect(runs.map(statusOf).filter((status) => status === 'applied')).toHaveLength(1);
  });
});
