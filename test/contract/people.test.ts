import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('users of a repository', (forge) => {
  let ada: Account;
  let ben: Account;
  let reader: Account;
  let stranger: Account;
  let repository: string;
  beforeAll(async () => {
    [ada, ben, reader, stranger] = [
      await forge.makeUser(),
      await forge.makeUser(),
      await forge.makeUser(),
      await forge.makeUser(),
    ];
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: ben, permission: 'write' });
    await forge.share(repository, ada, { with: reader, permission: 'read' });
  });

  const ask = (path: string, as: Account | undefined = ada): Promise<Answer> =>
    forge.ask('GET', `/repos/${repository}${path}`, { as });
  const logins = ({ json }: Answer) => json.map(({ login }: { login: string }) => login);

  it('can be assigned if they can write, and are listed with the owner last', async () => {
    const answer = await ask('/assignees', stranger);

    expect([answer.status, logins(answer)]).toEqual([200, [ben.name, ada.name]]);
    expect((await forge.ask('GET', `/repos/${repository}/assignees`)).status).toBe(401);
  });

  it('can be requested as reviewers if they can read, and are listed for accounts that may request them', async () => {
    const answer = await ask('/reviewers', reader);

    expect([answer.status, logins(answer).toSorted()]).toEqual([
      200,
      [ada.name, ben.name, reader.name].toSorted(),
    ]);
    expect((await ask('/reviewers', stranger)).status).toBe(403);
    expect((await forge.ask('GET', `/repos/${repository}/reviewers`)).status).toBe(401);
  });

  it("include members of the organization's teams", async () => {
    const organization = await forge.makeOrganization(ada);
    const place = await forge.makeRepository(ada, { in: organization });
    const body = {
      name: 'readers',
      permission: 'read',
      units: ['repo.pulls'],
      includes_all_repositories: true,
    };
    const team = await forge.ask('POST', `/orgs/${organization}/teams`, { as: ada, body });
    await forge.ask('PUT', `/teams/${team.json.id}/members/${reader.name}`, { as: ada });

    const assignees = await forge.ask('GET', `/repos/${place}/assignees`, { as: ada });
    const reviewers = await forge.ask('GET', `/repos/${place}/reviewers`, { as: ada });

    expect(logins(assignees).toSorted()).toEqual([ada.name, reader.name].toSorted());
    expect(logins(reviewers).toSorted()).toEqual([ada.name, reader.name].toSorted());
  });

  it('who star it are listed page by page', async () => {
    for (const as of [ben, reader]) await forge.ask('PUT', `/user/starred/${repository}`, { as });

    const all = await ask('/stargazers', undefined);
    const page = await ask('/stargazers?limit=1&page=2');

    expect([all.status, logins(all).toSorted(), all.headers.get('x-total-count')]).toEqual([
      200,
      [ben.name, reader.name].toSorted(),
      '2',
    ]);
    expect(logins(page)).toHaveLength(1);
  });

  it('who fork it are listed, without the forks that the caller cannot read', async () => {
    const made = await forge.ask('POST', `/repos/${repository}/forks`, { as: ben, body: {} });
    const organization = await forge.makeOrganization(reader, { visibility: 'private' });
    await forge.ask('POST', `/repos/${repository}/forks`, { as: reader, body: { organization } });
    const names = ({ json }: Answer) => json.map(({ full_name }: { full_name: string }) => full_name);

    const seen = await ask('/forks', stranger);
    const own = await ask('/forks?limit=1', reader);

    expect([seen.status, names(seen), seen.headers.get('x-total-count')]).toEqual([
      200,
      [made.json.full_name],
      '1',
    ]);
    expect([own.json.length, own.headers.get('x-total-count')]).toEqual([1, '2']);
    expect(own.headers.get('link')).toContain('rel="next"');
    expect(seen.json[0]).toMatchObject({ fork: true, permissions: { push: false, pull: true } });
    expect((await ask('/forks', undefined)).status).toBe(200);
  });

  it('are hidden from strangers in a private repository', async () => {
    const hidden = await forge.makeRepository(ada, { private: true });
    for (const path of [
      'forks',
      'stargazers',
      'assignees',
      'reviewers',
      'new_pin_allowed',
      'issues/comments',
      'pulls/pinned',
    ]) {
      const { status } = await forge.ask('GET', `/repos/${hidden}/${path}`, { as: stranger });
      expect([path, status]).toEqual([path, 404]);
    }
  });

  describe('comment', () => {
    let place: string;
    const comments: number[] = [];
    beforeAll(async () => {
      place = await forge.makeRepository(ada, { auto_init: true });
      for (const title of ['one', 'two'])
        await forge.ask('POST', `/repos/${place}/issues`, { as: ada, body: { title } });
      for (const index of [1, 2, 1]) {
        const body = { body: `on ${index}` };
        const made = await forge.ask('POST', `/repos/${place}/issues/${index}/comments`, { as: ben, body });
        comments.push(made.json.id);
      }
    });
    const at = (
      method: string,
      path: string,
      as: Account | undefined = ada,
      body?: unknown,
    ): Promise<Answer> => forge.ask(method, `/repos/${place}${path}`, { as, body });
    const ids = ({ json }: Answer) => json.map(({ id }: { id: number }) => id);

    it('on all issues, listed together, page by page, filtered by time', async () => {
      const all = await at('GET', '/issues/comments', undefined);
      const page = await at('GET', '/issues/comments?limit=2&page=2');

      expect([all.status, ids(all), all.headers.get('x-total-count')]).toEqual([200, comments, '3']);
      expect(all.json[1]).toMatchObject({
        body: 'on 2',
        issue_url: `${forge.url}/${place}/issues/2`,
        user: { login: ben.name },
      });
      expect(ids(page)).toEqual([comments[2]]);
      expect(ids(await at('GET', '/issues/comments?since=2999-01-01T00:00:00Z'))).toEqual([]);
      expect(ids(await at('GET', '/issues/comments?before=2999-01-01T00:00:00Z'))).toHaveLength(3);
      expect((await at('GET', '/issues/comments?since=x')).status).toBe(422);
    });

    it('and can change a comment through the number of any issue', async () => {
      const [first] = comments;

      const edited = await at('PATCH', `/issues/2/comments/${first}`, ben, { body: 'changed' });
      const refused = await at('PATCH', `/issues/1/comments/${first}`, stranger, { body: 'x' });
      const anonymous = await forge.ask('DELETE', `/repos/${place}/issues/1/comments/${first}`);
      const kept = await at('DELETE', `/issues/1/comments/${first}`, stranger);
      const deleted = await at('DELETE', `/issues/1/comments/${first}`, ada);

      expect([edited.status, edited.json.body]).toEqual([200, 'changed']);
      expect([refused.status, anonymous.status, kept.status, deleted.status]).toEqual([403, 401, 403, 204]);
      expect((await at('GET', `/issues/comments/${first}`)).status).toBe(404);
      expect((await at('PATCH', '/issues/1/comments/987654321', ada, { body: 'x' })).status).toBe(404);
    });
  });

  describe('pin', () => {
    let place: string;
    beforeAll(async () => {
      place = await forge.makeRepository(ada, { auto_init: true });
      for (const title of ['a', 'b', 'c'])
        await forge.ask('POST', `/repos/${place}/issues`, { as: ada, body: { title } });
      for (const index of [1, 2, 3]) await at('POST', `/issues/${index}/pin`);
    });
    const at = (
      method: string,
      path: string,
      as: Account | undefined = ada,
      body?: unknown,
    ): Promise<Answer> => forge.ask(method, `/repos/${place}${path}`, { as, body });
    const pinned = async () =>
      (await at('GET', '/issues/pinned')).json.map(({ title }: { title: string }) => title);

    it('issues in a changeable order', async () => {
      expect((await at('PATCH', '/issues/3/pin/1')).status).toBe(204);
      expect(await pinned()).toEqual(['c', 'a', 'b']);
      expect((await at('PATCH', '/issues/3/pin/2')).status).toBe(204);
      expect(await pinned()).toEqual(['a', 'c', 'b']);
      expect((await at('PATCH', '/issues/3/pin/2')).status).toBe(204);
      // Gitea and Forgejo return 500.
      expect([422, 500]).toContain((await at('PATCH', '/issues/3/pin/0')).status);
      expect((await at('PATCH', '/issues/9/pin/1')).status).toBe(404);
      expect((await at('PATCH', '/issues/3/pin/1', stranger)).status).toBe(403);
    });

    it('no more than the maximum, with pull requests counted separately', async () => {
      const allowed = await at('GET', '/new_pin_allowed', undefined);

      expect([allowed.status, allowed.json]).toEqual([200, { issues: false, pull_requests: true }]);
    });

    it('pull requests as well', async () => {
      await at('POST', '/contents/x.txt', ada, { content: '', message: 'x', new_branch: 'topic' });
      const { number } = (await at('POST', '/pulls', ada, { title: 'p', head: 'topic', base: 'main' })).json;
      expect((await at('GET', '/pulls/pinned')).json).toEqual([]);
      await at('POST', `/issues/${number}/pin`);

      const { status, json } = await at('GET', '/pulls/pinned', undefined);

      expect([status, json]).toMatchObject([200, [{ number, title: 'p', pin_order: 1 }]]);
      expect(await pinned()).toHaveLength(3);
    });
  });
});
