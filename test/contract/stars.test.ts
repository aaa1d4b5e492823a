import { beforeAll, expect, it } from 'vitest';
import { type Account, basic, describeContract } from '../support/contract-forge.ts';

describeContract('stars', (forge) => {
  let ada: Account;
  let stranger: Account;
  beforeAll(async () => {
    ada = await forge.makeUser();
    stranger = await forge.makeUser();
  });

  const names = (json: { full_name: string }[]) => json.map(({ full_name }) => full_name);
  const star = (as: Account, repository: string) => forge.ask('PUT', `/user/starred/${repository}`, { as });

  it('D2: are listed and looked up for the caller', async () => {
    const repository = await forge.makeRepository(ada, { private: true });
    const before = await forge.ask('GET', `/user/starred/${repository}`, { as: ada });
    await star(ada, repository);

    const during = await forge.ask('GET', `/user/starred/${repository}`, { as: ada });
    const list = await forge.ask('GET', '/user/starred', { as: ada });
    await forge.ask('DELETE', `/user/starred/${repository}`, { as: ada });
    const after = await forge.ask('GET', `/user/starred/${repository}`, { as: ada });

    expect([before.status, during.status, after.status]).toEqual([404, 204, 404]);
    expect([list.status, names(list.json)]).toEqual([200, [repository]]);
    expect(list.headers.get('x-total-count')).toBe('1');
    expect((await forge.ask('GET', '/user/starred', { as: ada })).json).toEqual([]);
  });

  it('D2: require a signed-in caller who can read the repository', async () => {
    const repository = await forge.makeRepository(ada, { private: true });

    const anonymous = await forge.ask('GET', '/user/starred');
    const single = await forge.ask('GET', `/user/starred/${repository}`);
    const hidden = await forge.ask('GET', `/user/starred/${repository}`, { as: stranger });

    expect([anonymous.status, single.status, hidden.status]).toEqual([401, 401, 404]);
  });

  it('D2: require a token with both scopes', async () => {
    const body = { name: 'stars', scopes: ['read:user'] };
    const headers = basic(ada.name, ada.password);
    const { json } = await forge.ask('POST', `/users/${ada.name}/tokens`, { headers, body });

    expect((await forge.ask('GET', '/user/starred', { as: json.sha1 })).status).toBe(403);
  });

  it.each(['limited', 'private'])(
    'A6: of a %s organization are shown only to the account that gave them',
    async (kind) => {
      const giver = await forge.makeUser();
      const organization = await forge.makeOrganization(giver, { visibility: kind });
      const repository = await forge.makeRepository(giver, { in: organization });
      await star(giver, repository);
      await forge.ask('PUT', `/repos/${repository}/subscription`, { as: giver });

      for (const list of ['starred', 'subscriptions']) {
        const path = `/users/${giver.name}/${list}`;
        const own = await forge.ask('GET', path, { as: giver });
        const others = await forge.ask('GET', path, { as: stranger });

        expect([list, names(own.json), others.json]).toEqual([list, [repository], []]);
      }
    },
  );

  it('A6: are dropped once the account can no longer read the repository', async () => {
    const repository = await forge.makeRepository(ada, { private: true });
    const guest = await forge.makeUser();
    await forge.share(repository, ada, { with: guest, permission: 'read' });
    await star(guest, repository);
    await forge.ask('DELETE', `/repos/${repository}/collaborators/${guest.name}`, { as: ada });

    expect((await forge.ask('GET', '/user/starred', { as: guest })).json).toEqual([]);
  });

  it('A6: and watched repositories are shown to a token limited to public resources only if they are public', async () => {
    const giver = await forge.makeUser();
    const body = { name: 'public', scopes: ['read:user', 'read:repository', 'public-only'] };
    const headers = basic(giver.name, giver.password);
    const token = (await forge.ask('POST', `/users/${giver.name}/tokens`, { headers, body })).json.sha1;
    const [open, secret] = [
      await forge.makeRepository(giver),
      await forge.makeRepository(giver, { private: true }),
    ];
    for (const repository of [open, secret]) await star(giver, repository);

    const starred = await forge.ask('GET', '/user/starred', { as: token });
    const watched = await forge.ask('GET', '/user/subscriptions', { as: token });

    expect([names(starred.json), names(watched.json)]).toEqual([[open], [open]]);
  });
});
