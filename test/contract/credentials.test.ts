import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, basic, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('credentials', (forge) => {
  let ada: Account;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    repository = await forge.makeRepository(ada);
  });

  it.each([
    ['a token header', () => ({ authorization: `token ${ada.token}` })],
    ['a token header in another letter case', () => ({ authorization: `TOKEN ${ada.token}` })],
    ['a bearer header', () => ({ authorization: `Bearer ${ada.token}` })],
    ['a password', () => basic(ada.name, ada.password)],
    ['a token in place of the password', () => basic(ada.name, ada.token)],
    ['a token in place of the user name', () => basic(ada.token, '')],
    ['a token in place of the user name, as old clients send it', () => basic(ada.token, 'x-oauth-basic')],
  ])('accept %s', async (_, headers) => {
    const answer = await forge.ask('GET', '/user', { headers: headers() });

    expect([answer.status, answer.json.login]).toEqual([200, ada.name]);
  });

  it.each(['token', 'access_token'])('accept the query parameter %s, with a warning', async (name) => {
    const answer = await forge.ask('GET', `/user?${name}=${ada.token}`);

    expect(answer.json.login).toBe(ada.name);
    expect(answer.headers.get('x-gitea-warning')).not.toBeNull();
  });

  it.each([
    ['an unknown token', () => ({ authorization: `token ${'0'.repeat(40)}` })],
    ['an unknown bearer token', () => ({ authorization: 'Bearer nonsense' })],
    ['a wrong password', () => basic(ada.name, 'wrong')],
    ['an unknown user name', () => basic(freshName('missing'), 'wrong')],
  ])('with %s are refused with 401, even if none are required', async (_, headers) => {
    const answer = await forge.ask('GET', `/repos/${repository}`, { headers: headers() });

    expect(answer.status).toBe(401);
    expect(Object.keys(answer.json).sort()).toEqual(['message', 'url']);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  });

  it.each([
    ['an unknown scheme', 'Digest abc'],
    ['three words', 'token a b'],
    ['a Basic value without a colon', `Basic ${Buffer.from('nocolon').toString('base64')}`],
  ])('with %s count as anonymous', async (_, authorization) => {
    const open = await forge.ask('GET', `/repos/${repository}`, { headers: { authorization } });
    const closed = await forge.ask('GET', '/user', { headers: { authorization } });

    expect([open.status, closed.status]).toEqual([200, 401]);
  });

  it('of an account that must change its password are refused with 403, without a `url` field', async () => {
    const name = freshName('user');
    const body = {
      username: name,
      email: `${name}@example.org`,
      password: 'long enough 1',
      must_change_password: true,
    };
    await forge.ask('POST', '/admin/users', { as: forge.adminToken, body });

    const answer = await forge.ask('GET', '/user', { headers: basic(name, 'long enough 1') });

    expect([answer.status, Object.keys(answer.json)]).toEqual([403, ['message']]);
  });

  it('let only administrators act as another account', async () => {
    const other = await forge.makeUser();

    const admin = await forge.ask('GET', `/user?sudo=${other.name}`, { as: forge.adminToken });
    const header = await forge.ask('GET', '/user', { as: forge.adminToken, headers: { sudo: other.name } });
    const person = await forge.ask('GET', `/user?sudo=${other.name}`, { as: ada });

    expect([admin.json.login, header.json.login]).toEqual([other.name, other.name]);
    expect([person.status, Object.keys(person.json)]).toEqual([403, ['message']]);
  });

  describe('scopes of a token', () => {
    async function tokenWith(...scopes: string[]): Promise<string> {
      const headers = basic(ada.name, ada.password);
      const body = { name: freshName('token'), scopes };
      const answer = await forge.ask('POST', `/users/${ada.name}/tokens`, { headers, body });
      return answer.json.sha1;
    }

    it.each([
      [['read:user'], 'GET', '/user', 200],
      [['write:user'], 'GET', '/user', 200],
      [['read:repository'], 'GET', '/user', 403],
      [['read:repository'], 'GET', '/repos/R', 200],
      [['read:repository'], 'GET', '/repos/R/labels', 403],
      [['read:issue'], 'GET', '/repos/R/labels', 200],
      [['read:issue'], 'POST', '/repos/R/labels', 403],
      [['write:issue'], 'POST', '/repos/R/labels', 201],
      [['write:user'], 'POST', '/user/repos', 403],
      [['write:user', 'write:repository'], 'POST', '/user/repos', 201],
      [['all'], 'GET', '/user', 200],
      [['read:misc'], 'GET', '/version', 200],
    ])('%j for %s %s return %i', async (scopes, method, path, status) => {
      const token = await tokenWith(...scopes);
      const body = method === 'POST' ? { name: freshName('thing'), color: 'ffffff' } : undefined;

      const answer = await forge.ask(method, path.replace('R', repository), { as: token, body });

      expect(answer.status).toBe(status);
    });

    it('hide private repositories from a token limited to public resources', async () => {
      const secret = await forge.makeRepository(ada, { private: true });
      const token = await tokenWith('read:repository', 'public-only');

      const hidden = await forge.ask('GET', `/repos/${secret}`, { as: token });
      const shown = await forge.ask('GET', `/repos/${repository}`, { as: token });

      expect([hidden.status, shown.status]).toEqual([404, 200]);
    });

    it('hide the hooks of the account from a token limited to public resources', async () => {
      const answer = await forge.ask('GET', '/user/hooks', {
        as: await tokenWith('read:user', 'public-only'),
      });

      expect(answer.status).toBe(403);
    });
  });
});
