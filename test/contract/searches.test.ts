import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, basic, describeContract, freshName } from '../support/contract-forge.ts';
import { waitFor } from '../support/shared-repository.ts';

describeContract('searches', (forge) => {
  let ada: Account;
  let ben: Account;
  let organization: string;
  /** A word that occurs only in the titles of these issues. */
  const word = freshName('needle').replace('-', '');
  let created: string;

  beforeAll(async () => {
    [ada, ben] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    organization = await forge.makeOrganization(ada);
    const open = await forge.makeRepository(ada, { auto_init: true });
    const hidden = await forge.makeRepository(ada, { private: true });
    const team = await forge.makeRepository(ada, { in: organization, name: 'team' });
    const make = async (repository: string, as: Account, body: object) => {
      const { json } = await forge.ask('POST', `/repos/${repository}/issues`, { as, body });
      return json;
    };
    const label = (repository: string, name: string) =>
      forge.ask('POST', `/repos/${repository}/labels`, { as: ada, body: { name, color: 'ff0000' } });
    const bug = (await label(open, `bug-${word}`)).json.id;
    const doc = (await label(team, `doc-${word}`)).json.id;
    const milestone = await forge.ask('POST', `/repos/${open}/milestones`, {
      as: ada,
      body: { title: `soon-${word}` },
    });
    const first = await make(open, ada, { title: `${word} one`, labels: [bug], assignees: [ben.name] });
    created = first.created_at;
    await make(open, ben, { title: `${word} two`, body: `hello @${ada.name}` });
    await make(hidden, ada, { title: `${word} hidden` });
    await make(team, ada, { title: `${word} team`, labels: [doc] });
    await forge.ask('PATCH', `/repos/${open}/issues/2`, {
      as: ada,
      body: { milestone: milestone.json.id },
    });
    const closed = await make(open, ada, { title: `${word} closed` });
    await forge.ask('PATCH', `/repos/${open}/issues/${closed.number}`, {
      as: ada,
      body: { state: 'closed' },
    });
    await forge.share(open, ada, { with: ben, permission: 'write' });
    const file = { content: Buffer.from('a').toString('base64'), message: 'add', new_branch: 'change' };
    await forge.ask('POST', `/repos/${open}/contents/a.txt`, { as: ben, body: file });
    const pull = await forge.ask('POST', `/repos/${open}/pulls`, {
      as: ben,
      body: { title: `${word} pull`, head: 'change', base: 'main' },
    });
    expect(pull.status).toBe(201);
    await forge.ask('POST', `/repos/${open}/pulls/${pull.json.number}/requested_reviewers`, {
      as: ben,
      body: { reviewers: [ada.name] },
    });
    // Forgejo's index includes the pull request only after the next comment.
    await forge.ask('POST', `/repos/${open}/issues/${pull.json.number}/comments`, {
      as: ben,
      body: { body: 'please' },
    });
    // A server with an index finds an issue a moment after its creation.
    await waitFor(
      () => find('state=all'),
      ({ titles }) => titles.length === 6,
    );
  });

  async function find(query: string, as: Account | string | undefined = ada) {
    const { status, json, headers } = await forge.ask('GET', `/repos/issues/search?q=${word}&${query}`, {
      as,
    });
    const titles: string[] =
      status === 200 ? json.map((issue: { title: string }) => issue.title.slice(word.length + 1)) : [];
    return { status, titles: titles.toSorted(), json, headers };
  }

  describe('for issues', () => {
    it('find open ones in every repository that the caller can read', async () => {
      expect((await find('')).titles).toEqual(['hidden', 'one', 'pull', 'team', 'two']);
      expect((await find('', ben)).titles).toEqual(['one', 'pull', 'team', 'two']);
      expect((await forge.ask('GET', `/repos/issues/search?q=${word}`)).json).toHaveLength(4);
      expect((await find('', forge.adminToken)).titles).toContain('hidden');
    });

    it('count only what the caller can read', async () => {
      expect((await find('', ben)).headers.get('x-total-count')).toBe('4');
    });

    it('have pages with links', async () => {
      const { titles, headers } = await find('limit=2&page=2');

      expect([titles.length, headers.get('x-total-count')]).toEqual([2, '5']);
      expect(headers.get('link')).toContain('rel="next"');
    });

    it('filter by the query', async () => {
      for (const [query, expected] of [
        ['state=closed', ['closed']],
        ['state=all&type=pulls', ['pull']],
        ['type=issues', ['hidden', 'one', 'team', 'two']],
        [`labels=bug-${word}`, ['one']],
        [`labels=bug-${word},doc-${word},unknown-${word}`, ['one', 'team']],
        [`labels=unknown-${word}&type=pulls`, ['pull']],
        [`milestones=soon-${word}`, ['two']],
        [`milestones=none-${word}&type=pulls`, ['pull']],
        [`owner=${organization}`, ['team']],
        [`owner=${organization}&team=owners`, ['team']],
        [`owner=${ada.name}`, ['hidden', 'one', 'pull', 'two']],
        ['created=true', ['hidden', 'one', 'team']],
        ['mentioned=true', ['two']],
        ['review_requested=true', ['pull']],
        ['reviewed=true', []],
        [`since=${encodeURIComponent(created)}`, ['hidden', 'one', 'pull', 'team', 'two']],
        ['before=2001-01-01T00:00:00Z', []],
      ] as const) {
        const { titles } = await waitFor(
          () => find(query),
          (found) => found.titles.join() === expected.join(),
        );
        expect([query, titles]).toEqual([query, expected]);
      }
      expect((await find('assigned=true', ben)).titles).toEqual(['one']);
      expect((await find('assigned=true')).titles).toEqual([]);
    });

    it('filter by author', async () => {
      expect((await find(`created_by=${ben.name}`)).titles).toEqual(['pull', 'two']);
      expect((await find(`created_by=${ben.name}&created=true`)).titles).toEqual(['hidden', 'one', 'team']);
      expect((await find(`created_by=${word}`)).status).toBe(404);
    });

    it('show public issues to a token limited to public resources', async () => {
      const body = { name: freshName('public'), scopes: ['read:issue', 'public-only'] };
      const { json } = await forge.ask('POST', `/users/${ada.name}/tokens`, {
        headers: basic(ada.name, ada.password),
        body,
      });

      expect((await find('', json.sha1)).titles).toEqual(['one', 'pull', 'team', 'two']);
    });

    it('reject unknown values', async () => {
      for (const [query, status] of [
        [`owner=${word}`, 400],
        ['team=owners', 400],
        [`owner=${organization}&team=${word}`, 400],
        ['since=yesterday', 422],
      ] as const) {
        expect([query, (await find(query)).status]).toEqual([query, status]);
      }
    });

    it('require the issue scope', async () => {
      const body = { name: freshName('token'), scopes: ['read:repository'] };
      const { json } = await forge.ask('POST', `/users/${ada.name}/tokens`, {
        headers: basic(ada.name, ada.password),
        body,
      });

      expect((await find('', json.sha1)).status).toBe(403);
    });
  });

  it('for topics match substrings of names, and count repositories', async () => {
    const topic = `t${word}`.slice(0, 30);
    const [one, two] = [await forge.makeRepository(ada), await forge.makeRepository(ada)];
    const put = (repository: string, topics: string[]) =>
      forge.ask('PUT', `/repos/${repository}/topics`, { as: ada, body: { topics } });
    await put(one, [`${topic}-a`, `${topic}-b`]);
    await put(two, [`${topic}-b`]);
    const search = (query = '') =>
      forge.ask('GET', `/topics/search?q=${topic.slice(1)}${query}`, { as: ben });

    const { status, json, headers } = await search();
    const page = await search('&limit=1&page=2');
    await put(two, [`${topic}-a`]);
    const after = await search();
    await forge.ask('DELETE', `/repos/${two}`, { as: ada });
    const last = await search();

    const counts = (topics: { topic_name: string; repo_count: number }[]) =>
      topics.map(({ topic_name, repo_count }) => [topic_name.slice(-1), repo_count]);
    expect([status, headers.get('x-total-count'), headers.get('link')]).toEqual([200, '2', null]);
    expect(json.topics[0]).toEqual({
      id: expect.any(Number),
      topic_name: `${topic}-b`,
      repo_count: 2,
      created: expect.any(String),
      updated: expect.any(String),
    });
    expect(counts(json.topics)).toEqual([
      ['b', 2],
      ['a', 1],
    ]);
    expect(counts(page.json.topics)).toEqual([['a', 1]]);
    expect(counts(after.json.topics)).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(counts(last.json.topics).toSorted()).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect((await forge.ask('GET', `/topics/search?q=${freshName('none')}`)).json).toEqual({ topics: [] });
  });
});
