import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

const team = { permission: 'read', units_map: { 'repo.code': 'read' } };

describeContract('organizations and accounts', (forge) => {
  let ada: Account;
  let bob: Account;
  let stranger: Account;
  let organization: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    bob = await forge.makeUser();
    stranger = await forge.makeUser();
    organization = await forge.makeOrganization(ada);
    const { json } = await ask('POST', `/orgs/${organization}/teams`, ada, { name: 'crew', ...team });
    await ask('PUT', `/teams/${json.id}/members/${bob.name}`, ada);
  });

  const ask = (method: string, path: string, as?: Account | string, body?: object) =>
    forge.ask(method, path, { as, ...(body ? { body } : {}) });
  const names = (rows: { name?: string; login?: string }[]) => rows.map((row) => row.name ?? row.login);

  describe('members', () => {
    const members = (as?: Account) => ask('GET', `/orgs/${organization}/members`, as);
    const open = (path = '') => `/orgs/${organization}/public_members${path}`;

    it('are all visible to each other, but only public ones to strangers', async () => {
      await ask('PUT', open(`/${bob.name}`), bob);
      const [inside, outside, listed] = await Promise.all([
        members(bob),
        members(stranger),
        ask('GET', open()),
      ]);

      expect(names(inside.json).sort()).toEqual([ada.name, bob.name].sort());
      expect([names(outside.json), names(listed.json)]).toEqual([[bob.name], [bob.name]]);
      expect(inside.headers.get('x-total-count')).toBe('2');
      expect((await members()).status).toBe(401);
    });

    it('are all in the list of public members for site administrators', async () => {
      const owner = await forge.makeUser();
      const hidden = await forge.makeOrganization(owner);

      const [byOwner, byAdministrator] = await Promise.all([
        ask('GET', `/orgs/${hidden}/public_members`, owner),
        ask('GET', `/orgs/${hidden}/public_members`, forge.adminToken),
      ]);

      expect([names(byOwner.json), names(byAdministrator.json)]).toEqual([[], [owner.name]]);
    });

    it('can be looked up by members; strangers are redirected to the public list', async () => {
      const check = (as: Account, who: Account) =>
        ask('GET', `/orgs/${organization}/members/${who.name}`, as);
      const sent = await check(stranger, bob);

      expect([(await check(bob, ada)).status, (await check(bob, stranger)).status]).toEqual([204, 404]);
      expect((await check(stranger, stranger)).status).toBe(404);
      expect(sent.status).toBe(303);
      expect(sent.headers.get('location')).toBe(`/api/v1/orgs/${organization}/public_members/${bob.name}`);
      expect((await ask('GET', open(`/${ada.name}`))).status).toBe(404);
    });

    it('can publish and hide their own membership; owners can do so for others', async () => {
      const hidden = await ask('DELETE', open(`/${bob.name}`), bob);
      const byOwner = await ask('PUT', open(`/${bob.name}`), ada);
      const byMember = await ask('PUT', open(`/${ada.name}`), bob);
      const byStranger = await ask('PUT', open(`/${bob.name}`), stranger);

      expect([hidden, byOwner, byMember, byStranger].map(({ status }) => status)).toEqual([
        204, 204, 403, 403,
      ]);
      expect((await ask('GET', open(`/${bob.name}`))).status).toBe(204);
    });

    it('are removed from every team by owners; the last owner cannot be removed', async () => {
      const refused = await ask('DELETE', `/orgs/${organization}/members/${ada.name}`, bob);
      const last = await ask('DELETE', `/orgs/${organization}/members/${ada.name}`, ada);
      const { json } = await ask('GET', `/orgs/${organization}/teams/search?q=crew`, ada);
      const gone = await ask('DELETE', `/orgs/${organization}/members/${bob.name}`, ada);
      const after = await ask('GET', `/teams/${json.data[0].id}/members/${bob.name}`, ada);
      await ask('PUT', `/teams/${json.data[0].id}/members/${bob.name}`, ada);

      expect(refused.status).toBe(403);
      expect([422, 500]).toContain(last.status);
      expect([gone.status, after.status]).toEqual([204, 404]);
    });
  });

  it('are listed only to those who may see them', async () => {
    const secret = await forge.makeOrganization(ada, { visibility: 'private' });
    const limited = await forge.makeOrganization(ada, { visibility: 'limited' });
    const mine = await ask('GET', '/user/orgs', ada);
    const theirs = await ask('GET', `/users/${ada.name}/orgs`, stranger);
    const all = await ask('GET', '/orgs?limit=1');

    expect(names(mine.json).sort()).toEqual([organization, secret, limited].sort());
    expect(theirs.json).toEqual([]);
    await ask('PUT', `/orgs/${limited}/public_members/${ada.name}`, ada);
    expect(names((await ask('GET', `/users/${ada.name}/orgs`, stranger)).json)).toEqual([limited]);
    expect(all.json).toHaveLength(1);
    expect(Number(all.headers.get('x-total-count'))).toBeGreaterThan(0);
    expect((await ask('GET', '/user/orgs')).status).toBe(401);
    expect((await ask('GET', `/orgs/${secret}/members`, stranger)).status).toBe(404);
  });

  it('return the permissions of an account', async () => {
    const of = (who: Account, as: Account) =>
      ask('GET', `/users/${who.name}/orgs/${organization}/permissions`, as);

    expect((await of(ada, ada)).json).toEqual({
      is_owner: true,
      is_admin: true,
      can_write: true,
      can_read: true,
      can_create_repository: true,
    });
    expect((await of(bob, bob)).json).toMatchObject({
      is_owner: false,
      can_write: false,
      can_read: false,
      can_create_repository: false,
    });
    expect((await of(stranger, ada)).json).toMatchObject({ can_read: false });
  });

  it('redirect from their old name to the new one', async () => {
    const old = await forge.makeOrganization(ada);
    const repository = (await forge.makeRepository(ada, { in: old })).split('/')[1];
    const fresh = freshName('org');
    const taken = await ask('POST', `/orgs/${old}/rename`, ada, { new_name: organization });
    const refused = await ask('POST', `/orgs/${old}/rename`, stranger, { new_name: fresh });
    const renamed = await ask('POST', `/orgs/${old}/rename`, ada, { new_name: fresh });
    const paths = [`/orgs/${old}`, `/repos/${old}/${repository}?x=1`, `/users/${old}/repos`];
    const moved = await Promise.all(paths.map((path) => ask('GET', path)));

    expect([taken.status, refused.status, renamed.status]).toEqual([422, 403, 204]);
    // Gitea and the embedded forge return 307, while descriptions of the API say 301.
    for (const { status } of moved) expect([301, 307]).toContain(status);
    expect(moved.map(({ headers }) => headers.get('location'))).toEqual(
      paths.map((path) => `/api/v1${path.replace(old, fresh)}`),
    );
    expect((await ask('GET', `/repos/${fresh}/${repository}`)).status).toBe(200);
    await ask('POST', '/orgs', ada, { username: old });
    expect((await ask('GET', `/orgs/${old}`)).json.name).toBe(old);
  });

  it('can be deleted once they own nothing', async () => {
    const doomed = await forge.makeOrganization(ada);
    const repository = await forge.makeRepository(ada, { in: doomed });
    const full = await ask('DELETE', `/orgs/${doomed}`, ada);
    const cleared = await ask('DELETE', `/orgs/${doomed}/repos`, ada);
    await expect.poll(async () => (await ask('GET', `/repos/${repository}`, ada)).status).toBe(404);
    const empty = await ask('DELETE', `/orgs/${doomed}/repos`, ada);
    const refused = await ask('DELETE', `/orgs/${doomed}`, stranger);
    const gone = await ask('DELETE', `/orgs/${doomed}`, ada);

    expect([422, 500]).toContain(full.status);
    expect([cleared, empty, refused, gone].map(({ status }) => status)).toEqual([202, 204, 403, 204]);
    expect((await ask('GET', `/orgs/${doomed}`, ada)).status).toBe(404);
  });

  describe('accounts', () => {
    const admin = () => forge.adminToken;

    it('are found by name, and listed for administrators', async () => {
      const found = await ask('GET', `/users/search?q=${bob.name.toUpperCase()}`);
      const secret = await forge.makeUser({ visibility: 'private' });
      const hidden = await ask('GET', `/users/search?q=${secret.name}`, stranger);
      const listed = await ask('GET', `/admin/users?q=${secret.name}&visibility=private`, admin());

      expect(found.json).toMatchObject({ ok: true, data: [{ login: bob.name }] });
      expect([hidden.json.data, names(listed.json)]).toEqual([[], [secret.name]]);
      expect((await ask('GET', '/admin/users', bob)).status).toBe(403);
      expect((await ask('GET', '/admin/users?visibility=odd', admin())).status).toBe(422);
    });

    it('are found by a part of their email address unless it is hidden', async () => {
      const open = await forge.makeUser();
      const shy = await forge.makeUser();
      await ask('PATCH', '/user/settings', shy, { hide_email: true });
      const search = async (who: Account, as?: Account | string) =>
        names((await ask('GET', `/users/search?q=${who.name.toUpperCase()}@example`, as)).json.data);

      expect([await search(open), await search(open, stranger)]).toEqual([[open.name], [open.name]]);
      expect([await search(shy), await search(shy, stranger)]).toEqual([[], []]);
      expect([await search(shy, shy), await search(shy, admin())]).toEqual([[shy.name], [shy.name]]);
    });

    it('are changed by administrators', async () => {
      const cid = await forge.makeUser();
      const edit = (body: object, as: Account | string = admin()) =>
        ask('PATCH', `/admin/users/${cid.name}`, as, { login_name: cid.name, source_id: 0, ...body });

      expect((await edit({ full_name: 'Cid', visibility: 'limited' })).json).toMatchObject({
        full_name: 'Cid',
        visibility: 'limited',
      });
      expect((await edit({ email: 'nonsense' })).status).toBe(400);
      expect((await edit({ email: `${bob.name}@example.org` })).status).toBe(400);
      expect((await edit({ password: 'short' })).status).toBe(400);
      expect((await edit({ login_name: '' })).status).toBe(422);
      expect((await edit({}, bob)).status).toBe(403);
      expect((await edit({ prohibit_login: true })).json.prohibit_login).toBe(true);
      expect((await ask('GET', '/user', cid)).status).toBe(403);
    });

    it('are renamed, and the old name redirects', async () => {
      const cid = await forge.makeUser();
      const fresh = freshName('user');

      expect(
        (await ask('POST', `/admin/users/${cid.name}/rename`, admin(), { new_username: bob.name })).status,
      ).toBe(422);
      expect(
        (await ask('POST', `/admin/users/${cid.name}/rename`, admin(), { new_username: fresh })).status,
      ).toBe(204);
      const moved = await ask('GET', `/users/${cid.name}`);
      expect([301, 307]).toContain(moved.status);
      expect(moved.headers.get('location')).toBe(`/api/v1/users/${fresh}`);
      expect((await ask('GET', '/user', cid)).json.login).toBe(fresh);
    });

    it('can be deleted once they own nothing, and their content is kept', async () => {
      const cid = await forge.makeUser();
      const own = await forge.makeRepository(cid);
      const repository = await forge.makeRepository(ada);
      await ask('POST', `/repos/${repository}/issues`, cid, { title: 'from cid' });
      const remove = (query = '', as: Account | string = admin()) =>
        ask('DELETE', `/admin/users/${cid.name}${query}`, as);

      expect([(await remove('', bob)).status, (await remove()).status]).toEqual([403, 422]);
      await ask('DELETE', `/repos/${own}`, cid);
      expect((await remove()).status).toBe(204);
      const { json } = await ask('GET', `/repos/${repository}/issues/1`, ada);
      expect([json.title, json.user.login.toLowerCase()]).toEqual(['from cid', 'ghost']);
      expect((await ask('GET', `/users/${cid.name}`)).status).toBe(404);
    });

    it('can be demoted and deleted if they are an inactive administrator beside an active one', async () => {
      const [cid, dan] = [await forge.makeUser(), await forge.makeUser()];
      const edit = ({ name }: Account, body: object) =>
        ask('PATCH', `/admin/users/${name}`, admin(), { source_id: 0, login_name: name, ...body });
      for (const one of [cid, dan])
        expect((await edit(one, { admin: true, active: false })).status).toBe(200);

      expect((await edit(cid, { admin: false })).status).toBe(200);
      expect((await ask('DELETE', `/admin/users/${dan.name}`, admin())).status).toBe(204);
    });

    it('are purged with everything they own', async () => {
      const cid = await forge.makeUser();
      const owned = await forge.makeOrganization(cid);
      const repository = await forge.makeRepository(cid, { in: owned });

      expect((await ask('DELETE', `/admin/users/${cid.name}?purge=true`, admin())).status).toBe(204);
      expect((await ask('GET', `/repos/${repository}`)).status).toBe(404);
      expect((await ask('GET', `/orgs/${owned}`)).status).toBe(404);
    });

    it('can be given organizations, and list their repositories', async () => {
      const username = freshName('org');
      const repository = await forge.makeRepository(bob);
      const secret = await forge.makeRepository(bob, { private: true });
      const full = (rows: { full_name: string }[]) => rows.map((row) => row.full_name);

      expect((await ask('POST', `/admin/users/${bob.name}/orgs`, admin(), { username })).status).toBe(201);
      expect((await ask('GET', `/users/${bob.name}/orgs/${username}/permissions`, bob)).json.is_owner).toBe(
        true,
      );
      expect(full((await ask('GET', `/users/${bob.name}/repos`)).json)).toEqual([repository]);
      expect(full((await ask('GET', `/users/${bob.name}/repos`, bob)).json)).toEqual([repository, secret]);
    });

    it('can read and revoke the token they use', async () => {
      const cid = await forge.makeUser();
      const { json } = await ask('GET', '/token', cid);

      expect(json).toMatchObject({ scopes: ['all'], user: { login: cid.name } });
      expect(json.sha1).toBeUndefined();
      expect((await ask('GET', '/token')).status).toBe(401);
      expect((await ask('GET', `/token?token=${cid.token}`)).status).toBe(404);
      expect((await ask('DELETE', '/token', cid)).status).toBe(204);
      expect((await ask('GET', '/user', cid)).status).toBe(401);
    });
  });
});
