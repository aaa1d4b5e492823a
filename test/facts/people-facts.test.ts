import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { Family } from '../../src/contract/events/event-families.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { operations } from '../../src/contract/operations.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { leftOutOf } from '../../src/facts/fact.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { freshName } from '../support/contract-forge.ts';
import { addFile, type PrivilegeSetup, startPrivilegeForge } from '../support/privilege-setup.ts';

let privilegeForge: Awaited<ReturnType<typeof startPrivilegeForge>>;
let setup: PrivilegeSetup;
beforeAll(async () => {
  privilegeForge = await startPrivilegeForge();
  setup = await privilegeForge.make({ access: 'admin', scopes: ['repository', 'issue', 'user'] });
});
afterAll(() => privilegeForge.close());

type Sender = { readonly id: number; readonly login: string };

/** Requests a fact as an account, in the run of an event from a sender. */
function ask(
  name: string,
  options: {
    client?: Client;
    subject?: Partial<Subject>;
    sender?: Sender;
    argument?: string;
    family?: Family;
  } = {},
): Promise<unknown> {
  const { client = setup.holder.client, subject, sender, argument, family = 'pull_request' } = options;
  const facts = createFacts({
    client,
    subject: { ...setup.subjects.pull_request, ...subject },
    memory: createFactMemory(systemClock),
    clock: systemClock,
    occasion: {
      event: {
        family,
        activity: 'opened',
        payload: {},
        sender: sender && { ...sender, ownsRepository: false },
      } as never,
      now: new Date(),
    },
  });
  return facts.ask(argument === undefined ? { name } : { name, argument });
}

const person = ({ id, name }: { id: number; name: string }): Sender => ({ id, login: name });

describe('sender_permission', () => {
  it('is the permission of the sender of the event', async () => {
    expect(await ask('sender_permission', { sender: person(setup.ada) })).toBe('write');
    expect(await ask('sender_permission', { sender: person(setup.owner) })).toMatch(/^(admin|owner)$/);
    const stranger = await privilegeForge.make({ access: 'reader', scopes: [] });
    expect(await ask('sender_permission', { sender: person(stranger.ada) })).toBe('none');
  });

  it('is the permission of the current author of a comment, even if another account sent the event', async () => {
    const { client } = setup.ada;
    const at = { ...setup.at, index: setup.pull.number };
    const { id } = await client.call(operations.createComment, { params: at, body: { body: '/merge' } });

    const sender = person(setup.owner);
    expect(await ask('sender_permission', { sender, subject: { comment: id } })).toBe('write');
    await expect(ask('sender_permission', { sender, subject: { comment: 1e9 } })).rejects.toThrow('404');
  });

  it('is an error without administrator access, without a sender, or if the name now belongs to another account', async () => {
    const { client } = setup.underprivileged;
    await expect(ask('sender_permission', { client, sender: person(setup.ada) })).rejects.toMatchObject({
      code: 'forge-forbidden',
    });
    await expect(ask('sender_permission')).rejects.toThrow('names no account');
    await expect(ask('sender_permission', { sender: { id: -1, login: 'Ghost' } })).rejects.toThrow(
      'no account',
    );
    await expect(
      ask('sender_permission', { sender: { id: setup.owner.id, login: setup.ada.name } }),
    ).rejects.toThrow('another one now');
    await expect(ask('sender_permission', { sender: { id: 1, login: '../../admin' } })).rejects.toThrow();
  });
});

describe('team', () => {
  it('returns the members of a team if the account is a member of the organization', async () => {
    const org = setup.at.owner;
    const { client } = setup.owner;
    const made = await client.call(operations.createTeam, {
      params: { org },
      body: { name: 'Release', permission: 'write', units: ['repo.code'] },
    });
    await client.call(operations.putTeamMember, { params: { id: made.id, username: setup.ada.name } });

    expect(await ask('team', { client, argument: `${org}/release` })).toEqual([setup.ada.name]);
    expect(await ask('team', { client: setup.ada.client, argument: `${org}/Release` })).toEqual([
      setup.ada.name,
    ]);
    await expect(ask('team', { client, argument: `${org}/nope` })).rejects.toThrow('no team "nope"');
    // The account sees no team of an organization of which it is not a member.
    await expect(ask('team', { argument: `${org}/release` })).rejects.toThrow();
    await expect(ask('team', { client, argument: 'no-such-org/release' })).rejects.toThrow('404');
  });
});

describe('contributions', () => {
  it('counts only earlier merged pull requests of the same author', async () => {
    const { ada, holder, at, pull } = setup;
    const open = async (client: Client, merge: boolean): Promise<number> => {
      const branch = freshName('topic');
      await addFile(client, at, branch, `${branch}.txt`);
      const made = await client.call(operations.createPull, {
        params: at,
        body: { title: branch, head: branch, base: 'main' },
      });
      const params = { ...at, index: made.number };
      if (merge) await holder.client.call(operations.mergePull, { params, body: { do: 'merge' } });
      else await client.call(operations.editPull, { params, body: { state: 'closed' } });
      return made.number;
    };
    const of = (index: number) => ask('contributions', { subject: { index } });
    expect(await of(pull.number)).toBe(0);
    await open(holder.client, true);
    await open(ada.client, true);
    await open(ada.client, false);
    const last = await open(ada.client, true);

    // For a pull request by the requesting account itself, the fact does not report a first contribution.
    const own = await ask('contributions', { subject: { index: pull.number }, client: ada.client });
    expect(own).toBe(1);
    // Later pull requests do not count, even if they were merged early.
    expect(await of(pull.number)).toBe(0);
    expect(await of(last)).toBe(1);
  });
});

describe('first_issue', () => {
  it('is true for the first issue of an author, also after later ones, and never for the own account', async () => {
    const { holder, owner, at } = setup;
    const open = async (client: Client): Promise<number> =>
      (await client.call(operations.createIssue, { params: at, body: { title: 'broken' } })).number;
    const of = (index: number, client?: Client) =>
      ask('first_issue', { subject: { kind: 'issue', index }, ...(client && { client }) });
    const first = await open(owner.client);
    expect(await of(first)).toBe(true);
    const second = await open(owner.client);

    expect(await of(first)).toBe(true);
    expect(await of(second)).toBe(false);
    expect(await of(await open(holder.client))).toBe(false);
    expect(await of(first, owner.client)).toBe(false);
  });
});

describe('first_pull_request', () => {
  it('is true while no earlier one was opened, merged or not, and never for the own account', async () => {
    const { holder, owner, at } = setup;
    const open = async (client: Client): Promise<number> => {
      const head = freshName('first');
      await addFile(client, at, head, `${head}.txt`);
      const body = { title: 'A change', head, base: 'main' };
      return (await client.call(operations.createPull, { params: at, body })).number;
    };
    const of = (index: number) => ask('first_pull_request', { subject: { index } });
    const first = await open(owner.client);
    expect(await of(first)).toBe(true);
    const second = await open(owner.client);

    expect(await of(first)).toBe(true);
    expect(await of(second)).toBe(false);
    expect(await of(await open(holder.client))).toBe(false);
  });
});

describe('scheduled_merge', () => {
  it('is who scheduled the merge, until it is cancelled or merged', async () => {
    const { owner, holder, at } = setup;
    const base = freshName('base');
    const head = freshName('head');
    await addFile(holder.client, at, base, 'base.txt');
    await owner.client.call(operations.createBranchProtection, {
      params: at,
      body: { rule_name: base, enable_push: true, enable_status_check: true, status_check_contexts: ['ci'] },
    });
    await addFile(holder.client, at, head, 'head.txt');
    const body = { title: 'Later', head, base };
    const { number: index } = await holder.client.call(operations.createPull, { params: at, body });
    const params = { ...at, index };
    const now = async () =>
      (await ask('scheduled_merge', { subject: { index } })) as { user: { login: string } } | null;
    const schedule = () =>
      holder.client.call(operations.mergePull, {
        params,
        body: { do: 'merge', merge_when_checks_succeed: true },
      });

    expect(await now()).toBe(null);
    await schedule();
    expect((await now())?.user.login).toBe(holder.name);
    await holder.client.call(operations.cancelScheduledMerge, { params });
    expect(await now()).toBe(null);
    await schedule();
    expect((await now())?.user.login).toBe(holder.name);
    const { head: pushed } = await holder.client.call(operations.getPull, { params });
    await holder.client.call(operations.createStatus, {
      params: { ...at, sha: pushed?.sha ?? '' },
      body: { context: 'ci', state: 'success' },
    });
    await expect
      .poll(async () => (await holder.client.call(operations.getPull, { params })).merged, {
        timeout: 20_000,
      })
      .toBe(true);
    expect(await now()).toBe(null);
  });
});

describe('approvals', () => {
  let index = 0;
  const approve = (client: Client, event = 'APPROVED') =>
    client.call(operations.createReview, {
      params: { ...setup.at, index },
      body: { event, body: 'read it' },
    });
  const counted = async (client?: Client, fact = 'approvals'): Promise<readonly string[]> => {
    const found = (await ask(fact, { subject: { index }, ...(client && { client }) })) as {
      user: { login: string };
    }[];
    return found.map(({ user }) => user.login);
  };

  const reasons = async (client?: Client) =>
    leftOutOf(await ask('approvals', { subject: { index }, ...(client && { client }) }));

  beforeAll(async () => {
    const { ada, at } = setup;
    await addFile(ada.client, at, 'reviewed', 'src/r.ts');
    const body = { title: 'Reviewed', head: 'reviewed', base: 'main' };
    index = (await ada.client.call(operations.createPull, { params: at, body })).number;
  });

  it('are counted from accounts with write access, on an unprotected base', async () => {
    const { holder, owner, underprivileged, at } = setup;
    await owner.client.call(operations.putCollaborator, {
      params: { ...at, collaborator: underprivileged.name },
      body: { permission: 'read' },
    });
    expect(await counted()).toEqual([]);
    await approve(underprivileged.client);
    await approve(owner.client, 'COMMENT');
    expect(await counted()).toEqual([]);
    expect(await reasons()).toEqual([`${underprivileged.name}: has no write access`]);

    await approve(holder.client);
    await approve(owner.client);
    expect(await counted()).toEqual([holder.name, owner.name]);
    // A comment does not revoke an approval, but a rejection does.
    await approve(owner.client, 'COMMENT');
    expect(await counted()).toEqual([holder.name, owner.name]);
    await approve(owner.client, 'REQUEST_CHANGES');
    expect(await counted()).toEqual([holder.name]);
    expect(await reasons()).toContain(`${owner.name}: requested changes afterwards`);
  });

  it('are an error without administrator access on an unprotected base', async () => {
    await expect(counted(setup.ada.client)).rejects.toMatchObject({ code: 'forge-forbidden' });
  });

  it('are revoked by a new review request, and by new commits', async () => {
    const { ada, holder, owner, at } = setup;
    const params = { ...at, index };
    await approve(owner.client);
    await ada.client.call(operations.requestReviews, { params, body: { reviewers: [owner.name] } });
    expect(await counted()).toEqual([holder.name]);
    expect(await reasons()).toContain(`${owner.name}: was asked for a new review afterwards`);

    await addFile(ada.client, at, 'reviewed', 'src/later.ts');
    expect(await counted()).toEqual([]);
    expect(await reasons()).toContainEqual(
      expect.stringMatching(`${holder.name}: approved other changes than`),
    );
    await approve(holder.client);
    expect(await counted()).toEqual([holder.name]);
  });

  it('rejections are counted from accounts with write access, on an unprotected base', async () => {
    const { ada, holder, owner, underprivileged } = setup;
    for (const { client } of [holder, owner, underprivileged]) await approve(client, 'REQUEST_CHANGES');

    expect(await counted(undefined, 'rejections')).toEqual([holder.name, owner.name]);
    await expect(counted(ada.client, 'rejections')).rejects.toMatchObject({ code: 'forge-forbidden' });
  });

  it('are the official approvals on a protected base, which a reader can read', async () => {
    const { ada, holder, owner, at } = setup;
    await owner.client.call(operations.createBranchProtection, {
      params: at,
      body: {
        rule_name: 'main',
        enable_approvals_whitelist: true,
        approvals_whitelist_username: [owner.name],
      },
    });
    await approve(holder.client);
    await approve(owner.client);

    expect(await counted(ada.client)).toEqual([owner.name]);
    expect(await reasons(ada.client)).toContain(
      `${holder.name}: the forge does not count approvals of this account for the protected branch`,
    );
  });

  it('rejections are the latest votes that request changes, if official and not dismissed', async () => {
    const { ada, holder, owner, underprivileged, at } = setup;
    const params = { ...at, index };
    const rejecting = (client?: Client) => counted(client, 'rejections');
    expect(await rejecting(ada.client)).toEqual([]);
    for (const { client } of [holder, owner, underprivileged]) await approve(client, 'REQUEST_CHANGES');

    // The allowlist contains only the owner.
    expect(await rejecting(ada.client)).toEqual([owner.name]);
    await approve(owner.client, 'COMMENT');
    await addFile(ada.client, at, 'reviewed', 'src/last.ts');
    expect(await rejecting(ada.client)).toEqual([owner.name]);
    await approve(owner.client);
    expect(await rejecting(ada.client)).toEqual([]);

    const rejection = await approve(owner.client, 'REQUEST_CHANGES');
    expect(await rejecting(ada.client)).toEqual([owner.name]);
    await owner.client.call(operations.dismissReview, {
      params: { ...params, id: rejection.id },
      body: { message: 'done' },
    });
    expect(await rejecting(ada.client)).toEqual([]);
    await approve(owner.client, 'REQUEST_CHANGES');
    await ada.client.call(operations.requestReviews, { params, body: { reviewers: [owner.name] } });
    expect(await rejecting(ada.client)).toEqual([]);
  });
});

describe('required_checks', () => {
  let sha = '';
  const report = (context: string, state: string) =>
    setup.ada.client.call(operations.createStatus, {
      params: { ...setup.at, sha },
      body: { context, state },
    });
  const checks = () => ask('required_checks', { client: setup.ada.client });
  const protect = (rule: object) =>
    setup.owner.client.call(operations.editBranchProtection, {
      params: { ...setup.at, name: 'main' },
      body: rule,
    });

  it('are the checks required by the base, each with its state', async () => {
    sha = setup.pull.head?.sha ?? '';
    expect(await checks()).toEqual([]);
    await protect({ enable_status_check: true, status_check_contexts: ['ci/*', 'lint', '[broken', '!*'] });
    const states = async () =>
      Object.fromEntries(
        ((await checks()) as { context: string; state: string }[]).map((c) => [c.context, c.state]),
      );
    expect(await states()).toEqual({ 'ci/*': 'pending', lint: 'pending', '!*': 'pending' });

    await report('ci/unit/linux', 'success');
    await report('ci/e2e', 'pending');
    await report('lint', 'skipped');
    expect(await states()).toEqual({ 'ci/*': 'pending', lint: 'success', '!*': 'pending' });
    await report('ci/e2e', 'success');
    expect(await states()).toMatchObject({ 'ci/*': 'success' });
    await report('ci/unit/linux', 'failure');
    expect(await states()).toMatchObject({ 'ci/*': 'failure' });

    await protect({ enable_status_check: true, status_check_contexts: ['[broken', '{a'] });
    expect(await states()).toEqual({ '[broken': 'pending', '{a': 'pending' });
    await protect({ enable_status_check: true, status_check_contexts: [] });
    // The setup itself reported a failure under another context.
    expect(await states()).toEqual({ '*': 'failure' });
  });
});

describe('commits', () => {
  it('include author accounts, signature verification, and trailers', async () => {
    const { ada, at } = setup;
    await ada.client.call(operations.createFile, {
      params: { ...at, filepath: 'src/signed.ts' },
      body: { branch: 'work', content: '', message: 'Add it\n\nSigned-off-by: Ada <ada@example.org>' },
    });
    const [newest] = (await ask('commits')) as readonly object[];

    expect(newest).toMatchObject({
      author: { login: ada.name },
      committer: { login: ada.name },
      verification: { verified: false },
      trailers: [{ name: 'Signed-off-by', value: 'Ada <ada@example.org>' }],
    });
  });
});
