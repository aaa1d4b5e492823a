import { createHash } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import { makePublicKey } from '../support/pgp-keys.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

describeContract('deploy keys', (forge) => {
  let shared: SharedRepository;
  beforeAll(async () => {
    shared = await makeSharedRepository(forge);
  });

  let made = 0;
  const add = (key: string, more: object = {}, at = shared) => {
    made += 1;
    return at.ask('POST', '/keys', { body: { title: `key ${made}`, key, ...more } });
  };
  const fingerprintOf = (key: string) => {
    const bytes = Buffer.from(key.split(' ')[1] ?? '', 'base64');
    return `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`;
  };

  it('are added, shown, listed and removed', async () => {
    const key = makePublicKey('laptop of Ada');
    const created = await add(`  ${key}\n`, { title: 'deploy', read_only: true });
    const { id, key_id } = created.json;
    const shown = await shared.ask('GET', `/keys/${id}`);
    const removed = await shared.ask('DELETE', `/keys/${id}`);

    const expected = {
      id,
      key_id,
      key,
      url: `${forge.url}/api/v1/repos/${shared.fullName}/keys/${id}`,
      title: 'deploy',
      fingerprint: fingerprintOf(key),
      created_at: expect.any(String),
      read_only: true,
    };
    expect([created.status, created.json]).toEqual([201, expected]);
    expect([shown.status, shown.json]).toMatchObject([
      200,
      {
        ...expected,
        repository: {
          full_name: shared.fullName,
          permissions: { admin: false, push: false, pull: true },
        },
      },
    ]);
    expect([removed.status, (await shared.ask('GET', `/keys/${id}`)).status]).toEqual([204, 404]);
    expect((await shared.ask('DELETE', `/keys/${id}`)).status).toBe(204);
  });

  it('are listed in pages, and filtered by key id and by fingerprint', async () => {
    const other = await makeSharedRepository(forge);
    const keys = [makePublicKey(), makePublicKey(), makePublicKey()];
    const added = [];
    for (const key of keys) added.push((await add(key, {}, other)).json);

    const page = await other.ask('GET', '/keys?limit=2&page=2');
    const byPrint = await other.ask(
      'GET',
      `/keys?fingerprint=${encodeURIComponent(fingerprintOf(keys[1] ?? ''))}`,
    );
    const byId = await other.ask('GET', `/keys?key_id=${added[2].key_id}`);

    const idsOf = (json: { id: number }[]) => json.map(({ id }) => id);
    expect(idsOf(page.json)).toEqual([added[2].id]);
    expect([page.headers.get('x-total-count'), page.headers.get('link')]).toEqual(['3', null]);
    expect([idsOf(byPrint.json), idsOf(byId.json)]).toEqual([[added[1].id], [added[2].id]]);
    expect(added.map(({ read_only }) => read_only)).toEqual([false, false, false]);
  });

  it('are unique within a repository, by key and by title', async () => {
    const key = makePublicKey();
    await add(key, { title: 'taken' });

    const again = await add(`${key} elsewhere`);
    const titled = await add(makePublicKey(), { title: 'taken' });

    expect([again.status, again.json.message]).toEqual([
      422,
      'This key has already been added to this repository',
    ]);
    expect([titled.status, titled.json.message]).toEqual([422, 'A key with the same name already exists']);
  });

  it('of several repositories can share a key, which is freed when the last deploy key is deleted', async () => {
    const key = makePublicKey('first');
    const other = await makeSharedRepository(forge);
    const [here, there] = [await add(key), await add(key.replace('first', 'second'), {}, other)];
    await shared.ask('DELETE', `/keys/${here.json.id}`);
    const kept = await other.ask('GET', `/keys/${there.json.id}`);
    await forge.ask('DELETE', `/repos/${other.fullName}`, { as: other.owner });
    const anew = await add(key);

    expect(there.json).toMatchObject({ key_id: here.json.key_id, key: key.replace('first', 'second') });
    expect([kept.status, kept.json.key]).toEqual([200, key]);
    expect(anew.status).toBe(201);
    expect(anew.json.key_id).not.toBe(here.json.key_id);
  });

  it('of another repository are not found', async () => {
    const other = await makeSharedRepository(forge);
    const { json } = await add(makePublicKey(), {}, other);

    expect((await shared.ask('GET', `/keys/${json.id}`)).status).toBe(404);
    // Gitea returns 500.
    expect([403, 500]).toContain((await shared.ask('DELETE', `/keys/${json.id}`)).status);
    expect((await other.ask('GET', `/keys/${json.id}`)).status).toBe(200);
  });

  it.each([
    ['a text that is not a key', { key: 'not a key' }],
    ['a truncated key', { key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5' }],
    ['a mismatched type', { key: makePublicKey().replace('ssh-ed25519', 'ssh-rsa') }],
    ['no title', { title: '', key: makePublicKey() }],
    ['an empty key', { key: '' }],
    ['a key that is too long', { key: `${makePublicKey()}${' '.repeat(20_000)}.` }],
  ])('are refused with %s', async (_, body) => {
    expect((await shared.ask('POST', '/keys', { body: { title: 'refused', ...body } })).status).toBe(422);
  });

  it('require an administrator of the repository', async () => {
    const body = { title: 'x', key: 'x' };

    expect(await shared.statuses('GET', '/keys')).toEqual([200, 403, 403, 404, 404]);
    expect(await shared.statuses('GET', '/keys/0')).toEqual([404, 403, 403, 404, 404]);
    expect(await shared.statuses('POST', '/keys', body)).toEqual([422, 403, 403, 404, 404]);
    expect(await shared.statuses('DELETE', '/keys/0')).toEqual([204, 403, 403, 404, 404]);
  });
});
