import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('conventions', (forge) => {
  let ada: Account;
  let repository: string;
  let secret: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    repository = await forge.makeRepository(ada);
    secret = await forge.makeRepository(ada, { private: true });
    for (let at = 1; at <= 5; at += 1) {
      await forge.ask('POST', `/repos/${repository}/labels`, {
        as: ada,
        body: { name: `l${at}`, color: 'ffffff' },
      });
      await forge.ask('POST', `/repos/${repository}/issues`, { as: ada, body: { title: `issue ${at}` } });
    }
  });

  it('returns JSON without a space before the charset and without a newline at the end', async () => {
    const answer = await forge.ask('GET', `/repos/${repository}`);

    expect(answer.headers.get('content-type')).toBe('application/json;charset=utf-8');
    expect(answer.text.endsWith('}')).toBe(true);
  });

  it('answers an unknown route with plain text', async () => {
    const answer = await forge.ask('GET', '/no-such-route');

    expect([answer.status, answer.json]).toEqual([404, undefined]);
    expect(answer.headers.get('content-type')).toContain('text/plain');
  });

  it('answers an unsupported method on a known path with an empty 405', async () => {
    const answer = await forge.ask('PUT', '/version');

    expect([answer.status, answer.text]).toEqual([405, '']);
  });

  it.each(['/version', '/repos/R', '/repos/R/labels'])(
    'answers HEAD of %s like GET, without a body',
    async (path) => {
      const head = await forge.ask('HEAD', path.replace('R', repository));
      const get = await forge.ask('GET', path.replace('R', repository));

      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers.get('x-total-count')).toBe(get.headers.get('x-total-count'));
    },
  );

  it('includes the message and the URL of the API description in an error', async () => {
    const answer = await forge.ask('GET', `/repos/${freshName('missing')}/nothing`);

    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({
      message: expect.any(String),
      url: expect.stringMatching(/\/api\/swagger$/),
    });
  });

  it('finds owners and repositories ignoring case', async () => {
    const answer = await forge.ask('GET', `/repos/${repository.toUpperCase()}`);

    expect([answer.status, answer.json.full_name]).toEqual([200, repository]);
  });

  it.each(['/issues/abc', '/issues/99999999999999999999', '/issues/-1', '/issues/1.5'])(
    'returns 404 for the invalid number in %s',
    async (path) => {
      const answer = await forge.ask('GET', `/repos/${repository}${path}`);

      expect(answer.status).toBe(404);
    },
  );

  describe('the order of checks', () => {
    const write = { name: 'x', color: 'ffffff' };

    it('requires an anonymous writer of a public repository to sign in', async () => {
      const answer = await forge.ask('POST', `/repos/${repository}/labels`, { body: write });

      expect(answer.status).toBe(401);
    });

    it('hides a private repository from an anonymous writer', async () => {
      const answer = await forge.ask('POST', `/repos/${secret}/labels`, { body: write });

      expect(answer.status).toBe(404);
    });

    it('checks the role before the body', async () => {
      const stranger = await forge.makeUser();

      const answer = await forge.ask('POST', `/repos/${repository}/labels`, { as: stranger, body: '{' });

      expect(answer.status).toBe(403);
    });

    it('checks the archived state before the body', async () => {
      const old = await forge.makeRepository(ada);
      await forge.ask('PATCH', `/repos/${old}`, { as: ada, body: { archived: true } });

      const answer = await forge.ask('POST', `/repos/${old}/issues`, { as: ada, body: '{' });

      expect(answer.status).toBe(423);
    });
  });

  describe('a body', () => {
    it.each([
      ['is not JSON', '{'],
      ['is not an object', '[]'],
      ['has a duplicate field', '{"name":"x","color":"ffffff","name":"y"}'],
      ['has a duplicate field with another spelling', '{"name":"x","color":"ffffff","n\\u0061me":"y"}'],
      ['has a field of the wrong type', { name: 1, color: 'ffffff' }],
      ['lacks a required field', { name: 'x' }],
      ['has an empty text in a required field', { name: '', color: 'ffffff' }],
      ['has null in a required field', { name: null, color: 'ffffff' }],
    ])('that %s is refused with 422', async (_, body) => {
      const answer = await forge.ask('POST', `/repos/${repository}/labels`, { as: ada, body });

      expect([answer.status, Object.keys(answer.json).sort()]).toEqual([422, ['message', 'url']]);
    });

    it('may have unknown fields', async () => {
      const body = { name: freshName('label'), color: 'ffffff', shape: 'round', __proto__: 1 };

      const answer = await forge.ask('POST', `/repos/${repository}/labels`, { as: ada, body });

      expect(answer.status).toBe(201);
    });
  });

  describe('a disabled unit', () => {
    it('returns 404 for its content', async () => {
      const quiet = await forge.makeRepository(ada);
      await forge.ask('POST', `/repos/${quiet}/issues`, { as: ada, body: { title: 'x' } });
      await forge.ask('PATCH', `/repos/${quiet}`, { as: ada, body: { has_issues: false } });

      const read = await forge.ask('GET', `/repos/${quiet}/issues/1`, { as: ada });
      const write = await forge.ask('POST', `/repos/${quiet}/issues`, { as: ada, body: { title: 'x' } });

      expect([read.status, write.status]).toEqual([404, 404]);
    });
  });

  describe('pages', () => {
    const list = (query: string) => forge.ask('GET', `/repos/${repository}/issues?${query}`, { as: ada });

    it.each([
      ['page=0&limit=2', ['issue 5', 'issue 4']],
      ['page=-3&limit=2', ['issue 5', 'issue 4']],
      ['page=x&limit=2', ['issue 5', 'issue 4']],
      ['page=2&limit=2', ['issue 3', 'issue 2']],
      ['page=3&limit=2', ['issue 1']],
      ['page=4&limit=2', []],
    ])('of %s contain %j', async (query, titles) => {
      const answer = await list(query);

      expect(answer.json.map((issue: { title: string }) => issue.title)).toEqual(titles);
      expect(answer.headers.get('x-total-count')).toBe('5');
    });

    it.each(['limit=0', 'limit=-1', 'limit=x', 'limit=1000', ''])(
      'use the default or maximum size with "%s"',
      async (query) => {
        expect((await list(query)).json).toHaveLength(5);
      },
    );

    it('have links to the next and last, then the first and previous page, with sorted query keys', async () => {
      const relations = async (query: string) =>
        [...((await list(query)).headers.get('link') ?? '').matchAll(/\?([^>]*)>; rel="(\w+)"/g)].map(
          ([, text, relation]) => `${relation} ${text}`,
        );

      expect(await relations('state=all&limit=2')).toEqual([
        'next limit=2&page=2&state=all',
        'last limit=2&page=3&state=all',
      ]);
      expect(await relations('limit=2&page=2')).toEqual([
        'next limit=2&page=3',
        'last limit=2&page=3',
        'first limit=2&page=1',
        'prev limit=2&page=1',
      ]);
      expect(await relations('limit=2&page=3')).toEqual(['first limit=2&page=1', 'prev limit=2&page=2']);
      expect(await relations('limit=50')).toEqual([]);
    });

    it('list their headers in Access-Control-Expose-Headers', async () => {
      const linked = await list('limit=2');
      const whole = await list('limit=50');

      expect(linked.headers.get('access-control-expose-headers')).toBe('Link, X-Total-Count');
      expect(whole.headers.get('access-control-expose-headers')).toBe('X-Total-Count');
    });

    it('of labels have a count and no links', async () => {
      const answer = await forge.ask('GET', `/repos/${repository}/labels?limit=2`);

      expect([answer.headers.get('link'), answer.json.length]).toEqual([null, 2]);
    });
  });

  describe('a renamed repository', () => {
    it('is redirected with 301 to the new path, keeping the subpath and the query', async () => {
      const old = await forge.makeRepository(ada);
      const name = freshName('renamed');
      await forge.ask('PATCH', `/repos/${old}`, { as: ada, body: { name } });

      const get = await forge.ask('GET', `/repos/${old}/labels?limit=2&page=1`);
      const post = await forge.ask('POST', `/repos/${old}/labels`, {
        as: ada,
        body: { name: 'x', color: 'fff' },
      });

      expect([get.status, post.status]).toEqual([301, 301]);
      expect(get.headers.get('location')).toBe(`/api/v1/repos/${ada.name}/${name}/labels?limit=2&page=1`);
    });

    it('frees its old name for a new repository', async () => {
      const old = await forge.makeRepository(ada);
      await forge.ask('PATCH', `/repos/${old}`, { as: ada, body: { name: freshName('renamed') } });

      const fresh = await forge.makeRepository(ada, { name: old.split('/')[1] });

      expect((await forge.ask('GET', `/repos/${fresh}`)).status).toBe(200);
    });
  });
});
