import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, basic, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('accounts', (forge) => {
  let ada: Account;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });

  it('shows private fields only to the account itself and to administrators', async () => {
    const [own, admin, stranger, anonymous] = await Promise.all([
      forge.ask('GET', `/users/${ada.name}`, { as: ada }),
      forge.ask('GET', `/users/${ada.name}`, { as: forge.adminToken }),
      forge.ask('GET', `/users/${ada.name}`, { as: await forge.makeUser() }),
      forge.ask('GET', `/users/${ada.name}`),
    ]);

    expect([own, admin, stranger, anonymous].map((answer) => answer.json.active)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(stranger.json.email).toBe(`${ada.name}@example.org`);
    expect(anonymous.json.email).not.toBe(`${ada.name}@example.org`);
    expect(anonymous.json.username).toBe(ada.name);
  });

  it('hides private accounts from strangers and limited ones from anonymous callers', async () => {
    const secret = await forge.makeUser({ visibility: 'private' });
    const limited = await forge.makeUser({ visibility: 'limited' });
    const seen = async (name: string, as?: Account) =>
      (await forge.ask('GET', `/users/${name}`, { as })).status;

    expect([await seen(secret.name, ada), await seen(secret.name, secret)]).toEqual([404, 200]);
    expect([await seen(limited.name, ada), await seen(limited.name)]).toEqual([200, 404]);
  });

  it.each([
    ['a name with a space', { username: 'a b' }],
    ['a reserved name', { username: 'api' }],
    ['a name with the ending of a page', { username: 'ada.keys' }],
    ['a name that starts with a dot', { username: '.x' }],
    ['an invalid email address', { email: 'nonsense' }],
    ['an unknown visibility', { visibility: 'secret' }],
    ['no name', { username: '' }],
  ])('refuses an account with %s', async (_, wrong) => {
    const name = freshName('user');
    const body = { username: name, email: `${name}@example.org`, password: 'long enough 1', ...wrong };

    const answer = await forge.ask('POST', '/admin/users', { as: forge.adminToken, body });

    expect(answer.status).toBe(422);
  });

  it('refuses a name or an email address that is taken, ignoring case', async () => {
    const name = freshName('user');
    const make = (username: string, email: string) =>
      forge.ask('POST', '/admin/users', {
        as: forge.adminToken,
        body: { username, email, password: 'long enough 1' },
      });

    const sameName = await make(ada.name.toUpperCase(), `${name}@example.org`);
    const sameAddress = await make(name, `${ada.name.toUpperCase()}@example.org`);

    expect([sameName.status, sameAddress.status]).toEqual([422, 422]);
  });

  describe('tokens', () => {
    const tokens = () => `/users/${ada.name}/tokens`;
    const self = () => basic(ada.name, ada.password);
    const make = (body: object, headers: Record<string, string> = self()) =>
      forge.ask('POST', tokens(), { headers, body });

    it('are shown only once, as 40 hex digits', async () => {
      const name = freshName('token');

      const made = await make({ name, scopes: ['write:issue', 'read:issue', 'read:user'] });
      const listed = await forge.ask('GET', tokens(), { headers: self() });

      expect(made.status).toBe(201);
      expect(made.json.sha1).toMatch(/^[0-9a-f]{40}$/);
      expect(made.json.token_last_eight).toBe(made.json.sha1.slice(-8));
      const entry = listed.json.find((token: { name: string }) => token.name === name);
      expect(entry).toMatchObject({ sha1: '', token_last_eight: made.json.token_last_eight });
      expect([...entry.scopes].sort()).toEqual(['read:user', 'write:issue']);
      expect(listed.text).not.toContain(made.json.sha1);
    });

    it.each([
      ['no scope', {}, 400],
      ['an unknown scope', { scopes: ['fly'] }, 400],
      ['no name', { name: '', scopes: ['all'] }, 422],
    ])('are refused with %s', async (_, body, status) => {
      expect((await make({ name: freshName('token'), ...body })).status).toBe(status);
    });

    it('are refused with a name in use', async () => {
      const body = { name: freshName('token'), scopes: ['all'] };
      await make(body);

      expect((await make(body)).status).toBe(400);
    });

    it('are created only with Basic credentials, for the account itself', async () => {
      const other = await forge.makeUser();
      const body = { name: freshName('token'), scopes: ['all'] };

      const byToken = await forge.ask('POST', tokens(), { as: ada, body });
      const byOther = await make(body, basic(other.name, other.password));

      expect([byToken.status, byOther.status]).toEqual([401, 403]);
    });

    it('cannot create a token with a wider scope than their own', async () => {
      const narrow = await make({ name: freshName('token'), scopes: ['write:user'] });
      const through = basic(ada.name, narrow.json.sha1);

      const wider = await make({ name: freshName('token'), scopes: ['write:issue'] }, through);
      const same = await make({ name: freshName('token'), scopes: ['read:user'] }, through);

      expect([wider.status, same.status]).toEqual([403, 201]);
    });

    it('are deleted by id or by name, and then give no access', async () => {
      const byName = await make({ name: freshName('token'), scopes: ['all'] });
      const byId = await make({ name: freshName('token'), scopes: ['all'] });

      for (const key of [byName.json.name, byId.json.id]) {
        const gone = await forge.ask('DELETE', `${tokens()}/${key}`, { headers: self() });
        expect(gone.status).toBe(204);
      }

      const again = await forge.ask('DELETE', `${tokens()}/${byId.json.id}`, { headers: self() });
      const used = await forge.ask('GET', '/user', { as: byName.json.sha1 });
      expect([again.status, used.status]).toEqual([404, 401]);
    });
  });

  describe('organizations', () => {
    it('belong to their creator', async () => {
      const name = freshName('org');

      const made = await forge.ask('POST', '/orgs', { as: ada, body: { username: name, full_name: 'Acme' } });
      const read = await forge.ask('GET', `/orgs/${name}`);
      const label = await forge.ask('POST', `/orgs/${name}/labels`, {
        as: ada,
        body: { name: 'x', color: 'fff' },
      });

      expect([made.status, label.status]).toEqual([201, 201]);
      expect(read.json).toMatchObject({ name, username: name, full_name: 'Acme', visibility: 'public' });
    });

    it('cannot use the name of an account', async () => {
      const answer = await forge.ask('POST', '/orgs', { as: ada, body: { username: ada.name } });

      expect(answer.status).toBe(422);
    });

    it('are hidden from strangers when private, although edits by strangers are refused with 403', async () => {
      const name = await forge.makeOrganization(ada, { visibility: 'private' });
      const stranger = await forge.makeUser();

      const read = await forge.ask('GET', `/orgs/${name}`, { as: stranger });
      const own = await forge.ask('GET', `/orgs/${name}`, { as: ada });
      const write = await forge.ask('POST', `/orgs/${name}/labels`, {
        as: stranger,
        body: { name: 'x', color: 'fff' },
      });

      const edit = await forge.ask('PATCH', `/orgs/${name}`, { as: stranger, body: {} });

      expect([read.status, own.status, write.status, edit.status]).toEqual([404, 200, 404, 403]);
    });

    it('keep the fields that an edit omits', async () => {
      const name = await forge.makeOrganization(ada);
      const edit = (body: object) => forge.ask('PATCH', `/orgs/${name}`, { as: ada, body });
      await edit({
        full_name: 'Acme',
        email: 'acme@example.org',
        location: 'here',
        repo_admin_change_team_access: true,
      });

      const answer = await edit({
        email: '',
        description: 'about',
        website: 'https://example.org',
        visibility: 'limited',
      });

      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({
        name,
        full_name: 'Acme',
        email: '',
        description: 'about',
        website: 'https://example.org',
        location: 'here',
        visibility: 'limited',
        repo_admin_change_team_access: true,
      });
    });

    it.each(['', 'https://example.org:8080/x?y#z', 'http:\\\\example.org', 'HTTP:x', 'http:///x'])(
      'accept the website "%s"',
      async (website) => {
        const name = await forge.makeOrganization(ada);

        const answer = await forge.ask('PATCH', `/orgs/${name}`, { as: ada, body: { website } });

        expect([answer.status, answer.json.website]).toEqual([200, website]);
      },
    );

    it.each([
      ['an invalid email address', { email: 'nonsense' }],
      ['a website with another scheme', { website: 'ftp://example.org' }],
      ['a website with a control character', { website: 'http:\n' }],
      ['a website with an invalid host', { website: 'http://a b/' }],
      ['an unknown visibility', { visibility: 'secret' }],
      ['a name that is too long', { full_name: 'x'.repeat(101) }],
      ['a location that is too long', { location: 'x'.repeat(51) }],
    ])('refuse an edit with %s', async (_, body) => {
      const name = await forge.makeOrganization(ada);

      expect((await forge.ask('PATCH', `/orgs/${name}`, { as: ada, body })).status).toBe(422);
    });

    it('can be edited by their owners and by site administrators, even if hidden from others', async () => {
      const name = await forge.makeOrganization(ada, { visibility: 'private' });
      const edit = (as?: Account | string) =>
        forge.ask('PATCH', `/orgs/${name}`, { as, body: { description: 'x', visibility: '' } });

      const answers = await Promise.all([edit(forge.adminToken), edit(await forge.makeUser()), edit()]);

      expect(answers.map((answer) => answer.status)).toEqual([200, 403, 401]);
      expect(answers[0]?.json.visibility).toBe('private');
    });
  });
});
