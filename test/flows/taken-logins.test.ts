import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { reeve } from '../support/command.ts';
import { uniqueName } from '../support/flow-names.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';

let carols = 0;
/** Each test has its own carol, because the account outlives the test on a real server. */
let carol = '';
beforeEach(() => {
  carols += 1;
  carol = uniqueName(`carol${carols}`);
});

const naming = (login: string) => `version: 1
rules:
  access:
    on: release.published
    steps:
      - uses: sync-collaborators
        with: { collaborators: [{ login: ${login}, permission: write }] }
      - uses: protect-tags
        with: { tags: [{ name_pattern: "v*", whitelist_usernames: [${login}] }] }
      - uses: sync-branch-protections
        with: { protections: [{ rule_name: main, enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: [${login}, ${people.ada}] }] }
  assign:
    on: issues.opened
    steps: [{ uses: set-issue, with: { assignees: { add: [${login}] } } }]
  ask:
    on: pull_request.opened
    steps: [{ uses: request-reviewers, with: { users: [${login}] } }]
`;

let harness: Harness;
afterEach(() => harness?.close());

let releases = 0;
/** Publishes a release and returns the run of the access rule. */
async function release(): Promise<Run> {
  releases += 1;
  const from = harness.runs.length;
  const tag_name = `x${releases}`;
  await harness.root.call(operations.createRelease, {
    params: at,
    body: { tag_name, target_commitish: 'main' },
  });
  return nextRun(from, 'access');
}

async function nextRun(from: number, rule: string): Promise<Run> {
  const isOf = (run: Run) =>
    run.rules.some((one) => one.rule.endsWith(`#${rule}`) && one.verdict === 'matched');
  return harness.waitForRun((run) => harness.runs.indexOf(run) >= from && isOf(run));
}

async function openIssue(): Promise<Run> {
  const from = harness.runs.length;
  await harness.ada.call(operations.createIssue, { params: at, body: { title: 'Broken' } });
  return nextRun(from, 'assign');
}

async function idOf(username: string): Promise<number> {
  return (await harness.root.call(operations.getUser, { params: { username } })).id;
}

/** Creates another account with the login, and returns its id. */
async function takeLogin(): Promise<number> {
  const body = {
    username: carol,
    email: `stranger-${carol}@example.org`,
    password: `${carol}-stranger-password`,
  };
  await harness.root.call(operations.createUser, { body: { ...body, must_change_password: false } });
  return idOf(carol);
}

async function collaborators(): Promise<readonly string[]> {
  return (await harness.root.call(operations.listCollaborators, { params: at })).map(({ login }) => login);
}

async function allowed() {
  const [tags] = await harness.root.call(operations.listTagProtections, { params: at });
  const [branch] = await harness.root.call(operations.listBranchProtections, { params: at });
  return [...(tags?.whitelist_usernames ?? []), ...(branch?.push_whitelist_usernames ?? [])].toSorted();
}

const actionsOf = (changes: readonly { readonly action: string }[]) => [
  ...new Set(changes.map(({ action }) => action)),
];

/** Ways in which a login becomes free for a stranger to take. */
const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'the account was deleted': () =>
    harness.root.call(operations.deleteUser, { params: { username: carol }, query: { purge: true } }),
  'the account was renamed': () =>
    harness.root.call(operations.renameUser, {
      params: { username: carol },
      body: { new_username: `${carol}-two` },
    }),
};

describe('a login taken over by a stranger', () => {
  it.each(Object.keys(ways))(
    'gets nothing until an operator confirms it, and is an incident: %s',
    async (way) => {
      harness = await startOperatorHarness(naming(carol));
      await harness.forge.makePerson(carol);
      const first = await idOf(carol);

      expect((await release()).refused).toEqual([]);
      expect(await collaborators()).toContain(carol);
      expect((await openIssue()).outcomes).toMatchObject([{ status: 'applied' }]);

      await ways[way]?.();
      // Nothing can be granted to the login while no account has it.
      const gone = await release();
      expect(gone.outcomes.filter(({ status }) => status === 'applied')).toEqual([]);

      const second = await takeLogin();
      expect(second).not.toBe(first);
      // The recorded incident outlives the process.
      await harness.restart();

      const refused = await release();
      const [{ why } = { why: '' }] = refused.refused;
      expect(actionsOf(refused.refused.map(({ change }) => change)).toSorted()).toEqual([
        'protect-tags',
        'sync-branch-protections',
        'sync-collaborators',
      ]);
      expect(why).toContain(`now belongs to account ${second}`);
      expect(why).toContain(`account ${first} on`);
      expect(why).toContain(`reeve adopt ${carol}`);
      expect(await collaborators()).not.toContain(carol);
      expect(await allowed()).not.toContain(carol);

      const issue = await openIssue();
      expect(issue.outcomes).toEqual([]);
      expect(issue.refused).toMatchObject([{ account: carol }]);
      const from = harness.runs.length;
      await harness.openPull('work', { 'a.txt': 'a' });
      expect((await nextRun(from, 'ask')).refused).toMatchObject([{ account: carol }]);
      const [incident] = await harness.server.store.listIncidents();
      expect(incident).toMatchObject({ kind: 'account-changed', key: carol, level: 'operator' });

      const listed = await reeve(['adopt'], { environment: harness.environment });
      expect(listed.out).toContain(`now belongs to account ${second}`);
      // The doctor reports an incident until it is confirmed.
      const confirmed = await reeve(['adopt', carol.toUpperCase()], { environment: harness.environment });
      expect([confirmed.status, confirmed.error]).toEqual([0, '']);
      expect(confirmed.out).toContain(`account ${second} from now on`);
      expect(await harness.server.store.listIncidents()).toEqual([]);

      expect((await release()).refused).toEqual([]);
      expect(await collaborators()).toContain(carol);
      expect(await allowed()).toEqual([people.ada, carol, carol].toSorted());
      const again = await reeve(['adopt', carol], { environment: harness.environment });
      expect(again.status).toBe(1);
    },
  );

  it('gets nothing back through a revert', async () => {
    harness = await startOperatorHarness(
      naming(people.ada).replace('permission: write }] }', 'permission: write }], prune: true }'),
    );
    await harness.forge.makePerson(carol);
    const params = { ...at, collaborator: carol };
    await harness.root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
    const pruned = await release();
    expect(await collaborators()).not.toContain(carol);

    await ways['the account was deleted']?.();
    await takeLogin();
    const back = await reeve(['revert', pruned.id, '--json'], { environment: harness.environment });

    expect(back.out).toContain('now belongs to account');
    expect(await collaborators()).not.toContain(carol);
  });

  it('is accepted only for the account id in the operator file, from the first use on', async () => {
    harness = await startOperatorHarness(naming(carol), { server: { accounts: { [carol]: 999_999 } } });
    await harness.forge.makePerson(carol);

    const run = await release();

    expect(run.refused.map(({ account }) => account)).toEqual([carol, carol, carol]);
    expect(run.refused[0]?.why).toContain('account 999999 on');
    expect(await collaborators()).not.toContain(carol);
    expect(await allowed()).not.toContain(carol);
  });

  it("gets nothing if the forge hides it from Reeve's account", async () => {
    harness = await startOperatorHarness(naming(carol));
    const hide = () =>
      harness.root.call(operations.editUser, {
        params: { username: carol },
        body: { login_name: carol, source_id: 0, visibility: 'private' },
      });
    await harness.forge.makePerson(carol);
    await hide();
    expect((await release()).refused).toEqual([]);
    expect(await collaborators()).toContain(carol);

    await ways['the account was deleted']?.();
    await takeLogin();
    await hide();
    const refused = await release();

    expect(new Set(refused.refused.map(({ account }) => account))).toEqual(new Set([carol]));
    expect(await collaborators()).not.toContain(carol);
    expect(await allowed()).not.toContain(carol);
  });

  it('gets nothing back through a revert of a pruned protection or of an assignee', async () => {
    harness = await startOperatorHarness(`version: 1
rules:
  access:
    on: release.published
    steps:
      - uses: sync-branch-protections
        with: { protections: [{ rule_name: main }], prune: true }
  assign:
    on: issues.opened
    steps: [{ uses: set-issue, with: { assignees: { remove: [${carol}] } } }]
`);
    await harness.forge.makePerson(carol);
    await harness.root.call(operations.putCollaborator, {
      params: { ...at, collaborator: carol },
      body: { permission: 'write' },
    });
    await harness.root.call(operations.createBranchProtection, {
      params: at,
      body: {
        rule_name: 'release/*',
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: [carol],
      },
    });
    const pruned = await release();
    const from = harness.runs.length;
    const { number: index } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'Broken', assignees: [carol] },
    });
    const unassigned = await nextRun(from, 'assign');
    expect(
      [pruned, unassigned].map(({ outcomes }) => outcomes.some(({ status }) => status === 'applied')),
    ).toEqual([true, true]);

    await ways['the account was deleted']?.();
    await takeLogin();
    await harness.root.call(operations.putCollaborator, {
      params: { ...at, collaborator: carol },
      body: { permission: 'write' },
    });
    for (const { id } of [pruned, unassigned]) {
      const back = await reeve(['revert', id, '--json'], { environment: harness.environment });
      expect(back.out).toContain('now belongs to account');
    }

    const protections = await harness.root.call(operations.listBranchProtections, { params: at });
    expect(protections.flatMap((one) => one.push_whitelist_usernames ?? [])).not.toContain(carol);
    const issue = await harness.root.call(operations.getIssue, { params: { ...at, index } });
    expect(issue.assignees ?? []).toEqual([]);
  });
});
