import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';

type Role = 'owner' | 'administrator' | 'writer' | 'reader' | 'stranger' | 'anonymous';
const roles: readonly Role[] = ['owner', 'administrator', 'writer', 'reader', 'stranger', 'anonymous'];

const label = { name: 'x', color: 'ffffff' };
const hook = { type: 'gitea', config: { url: 'http://localhost:1/', content_type: 'json' } };

/** Request, body, and the status for each role on a public repository, in the order of `roles`. */
const table: readonly [string, string, unknown, readonly number[]][] = [
  ['GET', '', undefined, [200, 200, 200, 200, 200, 200]],
  ['GET', '/labels', undefined, [200, 200, 200, 200, 200, 200]],
  ['POST', '/labels', label, [201, 201, 201, 403, 403, 401]],
  ['POST', '/milestones', { title: 'm' }, [201, 201, 201, 403, 403, 401]],
  ['POST', '/issues', { title: 'i' }, [201, 201, 201, 201, 201, 401]],
  ['PATCH', '/issues/1', { title: 'first' }, [201, 201, 201, 403, 403, 401]],
  ['PUT', '/issues/1/labels', { labels: [] }, [200, 200, 200, 403, 403, 401]],
  ['POST', '/issues/1/labels', { labels: [] }, [200, 200, 200, 403, 403, 401]],
  ['DELETE', '/issues/1/labels', undefined, [204, 204, 204, 403, 403, 401]],
  ['POST', '/issues/1/comments', { body: 'c' }, [201, 201, 201, 201, 201, 401]],
  ['GET', '/issues/1/comments', undefined, [200, 200, 200, 200, 200, 200]],
  ['GET', '/hooks', undefined, [200, 200, 403, 403, 403, 401]],
  ['POST', '/hooks', hook, [201, 201, 403, 403, 403, 401]],
  ['GET', '/collaborators', undefined, [200, 200, 200, 200, 200, 401]],
  ['PUT', '/collaborators/MISSING', {}, [422, 422, 403, 403, 403, 401]],
  ['PATCH', '', {}, [200, 200, 403, 403, 403, 401]],
  ['DELETE', '/labels/0', undefined, [204, 204, 204, 403, 403, 401]],
];

describeContract('access by role', (forge) => {
  let accounts: Record<Role, Account | undefined>;
  let open: string;
  let secret: string;
  beforeAll(async () => {
    const [owner, administrator, writer, reader, stranger] = await Promise.all([
      forge.makeUser(),
      forge.makeUser(),
      forge.makeUser(),
      forge.makeUser(),
      forge.makeUser(),
    ]);
    accounts = { owner, administrator, writer, reader, stranger, anonymous: undefined };
    open = await forge.makeRepository(owner);
    secret = await forge.makeRepository(owner, { private: true });
    for (const repository of [open, secret]) {
      await forge.share(repository, owner, { with: administrator, permission: 'admin' });
      await forge.share(repository, owner, { with: writer, permission: 'write' });
      await forge.share(repository, owner, { with: reader, permission: 'read' });
      await forge.ask('POST', `/repos/${repository}/issues`, { as: owner, body: { title: 'first' } });
    }
  });

  it.each(table)(
    '%s %s on a public repository returns the expected status for each role',
    async (method, path, body, statuses) => {
      const answers: number[] = [];
      for (const role of roles) {
        const answer = await forge.ask(method, `/repos/${open}${path}`, { as: accounts[role], body });
        answers.push(answer.status);
      }

      expect(answers).toEqual(statuses);
    },
  );

  it.each(table)('%s %s hides a private repository from strangers', async (method, path, body, statuses) => {
    const answers: number[] = [];
    for (const role of roles) {
      const answer = await forge.ask(method, `/repos/${secret}${path}`, { as: accounts[role], body });
      answers.push(answer.status);
    }

    expect(answers).toEqual([...statuses.slice(0, 4), 404, 404]);
  });

  it('A9: shows a restricted account only public repositories, itself, and what it was granted access to', async () => {
    const restricted = await forge.makeUser({ restricted: true });
    const owner = accounts.owner as Account;
    const limited = await forge.makeOrganization(owner, { visibility: 'limited' });
    const inLimited = await forge.makeRepository(owner, { in: limited });
    const shared = await forge.makeRepository(owner, { in: limited, private: true });
    await forge.share(shared, owner, { with: restricted, permission: 'write' });
    const look = async (path: string) => (await forge.ask('GET', path, { as: restricted })).status;

    expect(await Promise.all([`/repos/${open}`, `/users/${owner.name}`, '/user'].map(look))).toEqual([
      200, 200, 200,
    ]);
    expect(await look(`/users/${restricted.name}/starred`)).toBe(200);
    expect(await look(`/repos/${shared}`)).toBe(200);
    expect(await Promise.all([`/repos/${secret}`, `/repos/${inLimited}`].map(look))).toEqual([404, 404]);
    const body = { title: 'from a restricted one' };
    expect((await forge.ask('POST', `/repos/${shared}/issues`, { as: restricted, body })).status).toBe(201);
  });

  it('allows only the owner to delete a repository', async () => {
    const doomed = await forge.makeRepository(accounts.owner as Account);
    const share = { with: accounts.administrator as Account, permission: 'admin' };
    await forge.share(doomed, accounts.owner as Account, share);

    const refused = await forge.ask('DELETE', `/repos/${doomed}`, { as: accounts.administrator });
    const done = await forge.ask('DELETE', `/repos/${doomed}`, { as: accounts.owner });
    const gone = await forge.ask('GET', `/repos/${doomed}`, { as: accounts.owner });

    expect([refused.status, done.status, gone.status]).toEqual([403, 204, 404]);
  });

  it('allows only site administrators to create accounts', async () => {
    const body = { username: 'x', email: 'x@example.org', password: 'y' };

    const anonymous = await forge.ask('POST', '/admin/users', { body });
    const person = await forge.ask('POST', '/admin/users', { as: accounts.owner, body });

    expect([anonymous.status, person.status]).toEqual([401, 403]);
  });

  it('shows callers their own permissions, and administrators the permissions of everyone', async () => {
    const path = (name: string) => `/repos/${open}/collaborators/${name}/permission`;
    const { owner, writer, reader, stranger } = accounts as Record<Role, Account>;

    const own = await forge.ask('GET', path(reader.name), { as: reader });
    const foreign = await forge.ask('GET', path(writer.name), { as: reader });
    const byOwner = await Promise.all(
      [owner, writer, stranger].map((account) => forge.ask('GET', path(account.name), { as: owner })),
    );
    const anonymous = await forge.ask('GET', path(owner.name));

    expect(own.json).toMatchObject({ permission: 'read', role_name: 'read', user: { login: reader.name } });
    expect(foreign.status).toBe(403);
    expect(byOwner.map((answer) => answer.json.permission)).toEqual(['owner', 'write', 'read']);
    expect(anonymous.status).toBe(401);
  });

  it('changes the access of an existing collaborator', async () => {
    const { owner } = accounts as Record<Role, Account>;
    const repository = await forge.makeRepository(owner);
    const other = await forge.makeUser();
    await forge.ask('PUT', `/repos/${repository}/collaborators/${other.name}`, { as: owner, body: {} });

    await forge.share(repository, owner, { with: other, permission: 'admin' });

    const answer = await forge.ask('GET', `/repos/${repository}/collaborators/${other.name}/permission`, {
      as: owner,
    });
    const list = await forge.ask('GET', `/repos/${repository}/collaborators`, { as: owner });
    expect(answer.json.permission).toBe('admin');
    expect(list.json.map((user: { login: string }) => user.login)).toEqual([other.name]);
    expect(list.headers.get('x-total-count')).toBe('1');
  });
});
