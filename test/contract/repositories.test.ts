import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('repositories', (forge) => {
  let ada: Account;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });

  const create = (body: object) => forge.ask('POST', '/user/repos', { as: ada, body });

  it('start empty, public, and with default branch main', async () => {
    const name = freshName('repo');

    const answer = await create({ name, description: 'about' });

    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      name,
      full_name: `${ada.name}/${name}`,
      description: 'about',
      empty: true,
      private: false,
      archived: false,
      default_branch: 'main',
      permissions: { admin: true, push: true, pull: true },
      owner: { login: ada.name },
    });
    expect(new Date(answer.json.archived_at).getTime()).toBe(0);
    expect(answer.json.mirror_updated).toBe('0001-01-01T00:00:00Z');
  });

  it('have a first commit on request', async () => {
    const repository = await forge.makeRepository(ada, { auto_init: true, default_branch: 'trunk' });

    const answer = await forge.ask('GET', `/repos/${repository}`, { as: ada });
    const branches = await forge.ask('GET', `/repos/${repository}/branches`, { as: ada });

    expect(answer.json).toMatchObject({ empty: false, default_branch: 'trunk', branch_count: 1 });
    expect(branches.json.map((branch: { name: string }) => branch.name)).toEqual(['trunk']);
  });

  it('can start with a set of labels', async () => {
    const repository = await forge.makeRepository(ada, { issue_labels: 'Default' });

    const labels = await forge.ask('GET', `/repos/${repository}/labels`, { as: ada });

    expect(labels.json.map((label: { name: string }) => label.name)).toContain('wontfix');
  });

  it('D2: are created with sha1 if the object format is empty', async () => {
    const answer = await create({ name: freshName('repo'), object_format_name: '' });

    expect([answer.status, answer.json.object_format_name]).toEqual([201, 'sha1']);
  });

  it('D2: are created for other accounts only by site administrators', async () => {
    const other = await forge.makeUser();
    const organization = await forge.makeOrganization(other);
    const name = freshName('repo');
    const make = (owner: string, as: Account | string | undefined) =>
      forge.ask('POST', `/admin/users/${owner}/repos`, { as, body: { name, private: true } });

    const refused = [await make(other.name, undefined), await make(other.name, other)];
    const made = await make(other.name, forge.adminToken);
    const inOrganization = await make(organization, forge.adminToken);
    const again = await make(other.name, forge.adminToken);
    const unknown = await make(freshName('missing'), forge.adminToken);

    expect(refused.map(({ status }) => status)).toEqual([401, 403]);
    expect([made.status, made.json]).toMatchObject([
      201,
      { full_name: `${other.name}/${name}`, private: true, owner: { login: other.name } },
    ]);
    expect([inOrganization.status, again.status, unknown.status]).toEqual([201, 409, 404]);
    const seen = await forge.ask('GET', `/repos/${other.name}/${name}`, { as: other });
    expect(seen.json.permissions).toEqual({ admin: true, push: true, pull: true });
  });

  it.each([
    ['no name', { name: '' }, 422],
    ['a slash in the name', { name: 'a/b' }, 422],
    ['a reserved name', { name: '.' }, 422],
    ['a reserved ending', { name: 'x.git' }, 422],
    ['a name of more than 100 characters', { name: 'x'.repeat(101) }, 422],
    ['an unknown set of labels', { name: 'fine', issue_labels: 'Nothing' }, 422],
    ['an unknown readme', { name: 'fine', auto_init: true, readme: 'Nothing' }, 400],
  ])('are refused with %s', async (_, body, status) => {
    expect((await create(body)).status).toBe(status);
  });

  it('have unique names, ignoring case', async () => {
    const name = freshName('repo');
    await create({ name });

    expect((await create({ name: name.toUpperCase() })).status).toBe(409);
  });

  it('are created once if requested concurrently with the same name', async () => {
    const name = freshName('repo');

    const answers = await Promise.all([create({ name }), create({ name }), create({ name })]);

    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
  });

  describe('when edited', () => {
    it('keep omitted fields', async () => {
      const repository = await forge.makeRepository(ada, { description: 'about' });

      const answer = await forge.ask('PATCH', `/repos/${repository}`, {
        as: ada,
        body: {
          has_wiki: false,
          allow_rebase: false,
          default_merge_style: 'squash',
          website: 'https://example.org',
        },
      });

      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({
        description: 'about',
        website: 'https://example.org',
        has_wiki: false,
        allow_rebase: false,
        allow_squash_merge: true,
        default_merge_style: 'squash',
      });
    });

    it('are archived and unarchived', async () => {
      const repository = await forge.makeRepository(ada);
      const edit = (archived: boolean) =>
        forge.ask('PATCH', `/repos/${repository}`, { as: ada, body: { archived } });

      const there = await edit(true);
      const back = await edit(false);

      expect([there.json.archived, back.json.archived]).toEqual([true, false]);
      expect(new Date(there.json.archived_at).getTime()).toBeGreaterThan(0);
      expect(new Date(back.json.archived_at).getTime()).toBe(0);
    });

    it('reject a name in use', async () => {
      const [one, two] = [await forge.makeRepository(ada), await forge.makeRepository(ada)];
      const body = { name: two.split('/')[1] };

      expect((await forge.ask('PATCH', `/repos/${one}`, { as: ada, body })).status).toBe(422);
    });

    it('become unreadable when made private', async () => {
      const repository = await forge.makeRepository(ada);

      await forge.ask('PATCH', `/repos/${repository}`, { as: ada, body: { private: true } });

      expect((await forge.ask('GET', `/repos/${repository}`)).status).toBe(404);
    });
  });

  describe('in lists', () => {
    it('of an organization contain only what the caller can read, although the count is taken before this filter', async () => {
      const organization = await forge.makeOrganization(ada);
      const stranger = await forge.makeUser();
      const open = await forge.makeRepository(ada, { in: organization });
      const secret = await forge.makeRepository(ada, { in: organization, private: true });
      const list = async (as?: Account) => {
        const answer = await forge.ask('GET', `/orgs/${organization}/repos`, { as });
        const names = answer.json.map((repository: { full_name: string }) => repository.full_name);
        return [names, answer.headers.get('x-total-count')];
      };

      expect(await list(ada)).toEqual([[open, secret], '2']);
      expect(await list(stranger)).toEqual([[open], '2']);
      expect(await list()).toEqual([[open], '1']);
    });

    it('of the caller contain those that the caller owns or collaborates on', async () => {
      const bob = await forge.makeUser();
      const shared = await forge.makeRepository(ada, { private: true });
      const own = await forge.makeRepository(bob);
      await forge.share(shared, ada, { with: bob, permission: 'read' });
      const inside = await forge.makeRepository(bob, { in: await forge.makeOrganization(bob) });

      const answer = await forge.ask('GET', '/user/repos', { as: bob });

      const names = answer.json.map((repository: { full_name: string }) => repository.full_name).sort();
      expect(names).toEqual([shared, own, inside].sort());
    });
  });

  describe('stars', () => {
    it('are added and removed, and counted once', async () => {
      const bob = await forge.makeUser();
      const repository = await forge.makeRepository(ada);
      const count = async () => (await forge.ask('GET', `/repos/${repository}`)).json.stars_count;

      const given = await forge.ask('PUT', `/user/starred/${repository}`, { as: bob });
      await forge.ask('PUT', `/user/starred/${repository}`, { as: bob });
      const once = await count();
      const list = await forge.ask('GET', `/users/${bob.name}/starred`, { as: ada });
      const taken = await forge.ask('DELETE', `/user/starred/${repository}`, { as: bob });

      expect([given.status, once, taken.status, await count()]).toEqual([204, 1, 204, 0]);
      expect(list.json.map((starred: { full_name: string }) => starred.full_name)).toEqual([repository]);
    });

    it('show the permissions of the account that gave them, and hide private repositories from other accounts', async () => {
      const bob = await forge.makeUser();
      const shared = await forge.makeRepository(ada, { private: true });
      await forge.share(shared, ada, { with: bob, permission: 'write' });
      await forge.ask('PUT', `/user/starred/${shared}`, { as: bob });

      const own = await forge.ask('GET', `/users/${bob.name}/starred`, { as: bob });
      const foreign = await forge.ask('GET', `/users/${bob.name}/starred`, { as: ada });

      expect(own.json[0].permissions).toEqual({ admin: false, push: true, pull: true });
      expect([foreign.json, foreign.headers.get('x-total-count')]).toEqual([[], '1']);
    });

    it('are dropped once their giver can no longer read the repository', async () => {
      const bob = await forge.makeUser();
      const repository = await forge.makeRepository(ada);
      await forge.ask('PUT', `/user/starred/${repository}`, { as: bob });

      await forge.ask('PATCH', `/repos/${repository}`, { as: ada, body: { private: true } });

      const answer = await forge.ask('GET', `/users/${bob.name}/starred`, { as: bob });
      expect([answer.json, answer.headers.get('x-total-count')]).toEqual([[], '0']);
    });

    it('are shown only to signed-in callers', async () => {
      const anonymous = await forge.ask('GET', `/users/${ada.name}/starred`);
      const unknown = await forge.ask('GET', `/users/${freshName('missing')}/starred`, { as: ada });

      expect([anonymous.status, unknown.status]).toEqual([401, 404]);
    });

    it('cannot be given to a repository that the account cannot see', async () => {
      const secret = await forge.makeRepository(ada, { private: true });
      const bob = await forge.makeUser();

      expect((await forge.ask('PUT', `/user/starred/${secret}`, { as: bob })).status).toBe(404);
    });
  });
});
