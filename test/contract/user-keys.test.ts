import { beforeAll, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { makePublicKey } from '../support/pgp-keys.ts';

describeContract('public keys of accounts', (forge) => {
  let ada: Account;
  let ben: Account;
  beforeAll(async () => {
    [ada, ben] = [await forge.makeUser(), await forge.makeUser()];
  });
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | string | undefined = ada,
  ): Promise<Answer> => forge.ask(method, path, { as, body });
  const ids = ({ json }: Answer) => json.map(({ id }: { id: number }) => id);

  it('are added, shown, listed and removed', async () => {
    const key = makePublicKey('laptop of Ada');
    const created = await ask('POST', '/user/keys', { title: 'laptop', key: ` ${key}\n` });
    const { id, fingerprint } = created.json;
    const shown = await ask('GET', `/user/keys/${id}`);
    const others = await ask('GET', `/user/keys/${id}`, undefined, ben);
    const list = await ask('GET', '/user/keys');
    const seen = await ask('GET', `/users/${ada.name}/keys`, undefined, ben);

    const plain = {
      id,
      key,
      url: `${forge.url}/api/v1/user/keys/${id}`,
      title: 'laptop',
      fingerprint: expect.stringMatching(/^SHA256:[\w+/]{43}$/),
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      read_only: false,
    };
    const own = { ...plain, key_type: 'user', user: { login: ada.name } };
    expect([created.status, created.json]).toMatchObject([201, own]);
    expect([shown.status, shown.json]).toMatchObject([200, own]);
    expect([others.status, others.json]).toEqual([200, plain]);
    expect([list.headers.get('x-total-count'), list.json]).toMatchObject(['1', [own]]);
    expect(seen.json).toEqual([plain]);
    expect((await ask('GET', `/user/keys/${id}`, undefined, forge.adminToken)).json).toMatchObject(own);

    const found = await ask(
      'GET',
      `/user/keys?fingerprint=${encodeURIComponent(fingerprint)}`,
      undefined,
      ben,
    );
    const path = `/users/${ben.name}/keys?fingerprint=${encodeURIComponent(fingerprint)}`;
    expect([ids(found), ids(await ask('GET', path))]).toEqual([[id], []]);

    expect((await ask('DELETE', `/user/keys/${id}`, undefined, ben)).status).toBe(403);
    expect((await ask('DELETE', `/user/keys/${id}`)).status).toBe(204);
    expect((await ask('DELETE', `/user/keys/${id}`)).status).toBe(404);
    expect((await ask('GET', `/user/keys/${id}`)).status).toBe(404);
  });

  it('belong to one account or to repositories, with unique titles', async () => {
    const [key, other] = [makePublicKey(), makePublicKey()];
    const repository = await forge.makeRepository(ben);
    await ask('POST', '/user/keys', { title: 'one', key });

    const twice = await ask('POST', '/user/keys', { title: 'two', key });
    const taken = await ask('POST', '/user/keys', { title: 'one', key }, ben);
    const titled = await ask('POST', '/user/keys', { title: 'one', key: other });
    const deployed = await ask('POST', `/repos/${repository}/keys`, { title: 'one', key }, ben);
    const deploy = await ask('POST', `/repos/${repository}/keys`, { title: 'two', key: other }, ben);
    const own = await ask('POST', '/user/keys', { title: 'two', key: other });

    expect([twice, taken, titled, deployed, deploy, own].map(({ status }) => status)).toEqual([
      422, 422, 422, 422, 201, 422,
    ]);
    expect(titled.json.message).toBe('Key title has been used');
    expect(own.json.message).toBe('Key content has been used as non-deploy key');
  });

  it('are refused if invalid, or without a title', async () => {
    for (const body of [
      { title: 'x', key: 'ssh-ed25519 AAAA' },
      { title: 'x', key: '-----BEGIN OPENSSH PRIVATE KEY-----\n' },
      { title: '', key: makePublicKey() },
      { title: 'x' },
    ])
      expect([body, (await ask('POST', '/user/keys', body)).status]).toEqual([body, 422]);
    expect((await forge.ask('GET', '/user/keys')).status).toBe(401);
  });

  it('come in pages', async () => {
    for (const title of ['a', 'b', 'c'])
      await ask('POST', '/user/keys', { title, key: makePublicKey() }, ben);

    const page = await ask('GET', '/user/keys?limit=2&page=2', undefined, ben);

    expect([page.json.length, page.headers.get('x-total-count')]).toEqual([1, '3']);
    expect(page.headers.get('link')).toContain('rel="prev"');
  });

  it('are added and deleted by administrators', async () => {
    const path = `/admin/users/${ada.name}/keys`;
    const body = { title: 'by root', key: makePublicKey() };

    const created = await ask('POST', path, body, forge.adminToken);
    const { id } = created.json;
    const others = await ask('DELETE', `/admin/users/${ben.name}/keys/${id}`, undefined, forge.adminToken);
    const removed = await ask('DELETE', `${path}/${id}`, undefined, forge.adminToken);

    expect([created.status, created.json.user.login]).toEqual([201, ada.name]);
    expect([others, removed].map(({ status }) => status)).toEqual([403, 204]);
    expect((await ask('DELETE', `${path}/${id}`, undefined, forge.adminToken)).status).toBe(404);
    expect((await ask('POST', path, body)).status).toBe(403);
  });

  it('are deleted with their account, and with their repositories', async () => {
    const guest = await forge.makeUser();
    const [key, other] = [makePublicKey(), makePublicKey()];
    const repository = await forge.makeRepository(ada);
    await ask('POST', '/user/keys', { title: 'x', key }, guest);
    await ask('POST', `/repos/${repository}/keys`, { title: 'x', key: other });
    await ask('DELETE', `/admin/users/${guest.name}`, undefined, forge.adminToken);
    await ask('DELETE', `/repos/${repository}`);

    expect((await ask('POST', '/user/keys', { title: 'of guest', key })).status).toBe(201);
    expect((await ask('POST', '/user/keys', { title: 'of repository', key: other })).status).toBe(201);
  });
});
