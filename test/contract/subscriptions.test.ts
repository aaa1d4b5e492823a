import { beforeEach, describe, expect, it } from 'vitest';
import { type Cast, makeCast } from '../support/cast.ts';
import { describeContract } from '../support/contract-forge.ts';

describeContract('subscriptions', (forge) => {
  let cast: Cast;
  beforeEach(async () => {
    cast = await makeCast(forge);
    await cast.ask('POST', '/issues', { body: { title: 'first' } });
  });

  const logins = (json: { login: string }[]) => json.map(({ login }) => login).sort();
  const names = (json: { full_name: string }[]) => json.map(({ full_name }) => full_name);

  describe('to a repository', () => {
    it('are begun by making it', async () => {
      const { json } = await cast.ask('GET', '/subscribers');

      expect(logins(json)).toEqual([cast.owner.name]);
      expect((await cast.ask('GET', '')).json.watchers_count).toBe(1);
    });

    it('are begun, seen, listed and ended', async () => {
      const before = await cast.ask('GET', '/subscription', { as: 'reader' });
      const begun = await cast.ask('PUT', '/subscription', { as: 'reader' });
      await cast.ask('PUT', '/subscription', { as: 'reader' });
      const during = await cast.ask('GET', '/subscription', { as: 'reader' });
      const subscribers = await cast.ask('GET', '/subscribers');
      const count = (await cast.ask('GET', '')).json.watchers_count;
      const ended = await cast.ask('DELETE', '/subscription', { as: 'reader' });
      const again = await cast.ask('DELETE', '/subscription', { as: 'reader' });

      expect([before.status, begun.status, during.status]).toEqual([404, 200, 200]);
      expect(during.json).toMatchObject({
        subscribed: true,
        ignored: false,
        reason: null,
        url: `${forge.url}/api/v1/repos/${cast.repository}/subscription`,
        repository_url: `${forge.url}/api/v1/repos/${cast.repository}`,
      });
      expect(logins(subscribers.json)).toEqual([cast.owner.name, cast.reader.name].sort());
      expect(subscribers.headers.get('x-total-count')).toBe('2');
      expect(count).toBe(2);
      expect([ended.status, again.status]).toEqual([204, 204]);
      expect((await cast.ask('GET', '')).json.watchers_count).toBe(1);
    });

    it('come in pages', async () => {
      await cast.ask('PUT', '/subscription', { as: 'reader' });

      const subscribers = await cast.ask('GET', '/subscribers?limit=1&page=2');
      const own = await forge.ask('GET', '/user/subscriptions?limit=1&page=2', { as: cast.reader });

      expect([subscribers.json.length, subscribers.headers.get('x-total-count')]).toEqual([1, '2']);
      expect([own.json.length, own.headers.get('x-total-count')]).toEqual([0, '1']);
      expect(own.headers.get('link')).toBeNull();
    });

    it('are listed for oneself, and to others where the repository is public', async () => {
      const path = `/users/${cast.owner.name}/subscriptions`;
      const own = await forge.ask('GET', '/user/subscriptions', { as: cast.owner });
      const hidden = await forge.ask('GET', path, { as: cast.stranger });
      await cast.ask('PATCH', '', { body: { private: false } });
      await cast.ask('PUT', '/subscription');
      const shown = await forge.ask('GET', path, { as: cast.stranger });

      expect(names(own.json)).toEqual([cast.repository]);
      expect(names(hidden.json)).toEqual([]);
      expect(names(shown.json)).toEqual([cast.repository]);
      expect(
        (await forge.ask('GET', '/users/missing-account/subscriptions', { as: cast.owner })).status,
      ).toBe(404);
      expect((await forge.ask('GET', path)).status).toBe(401);
      expect((await forge.ask('GET', '/user/subscriptions')).status).toBe(401);
    });

    it('are for accounts that read it', async () => {
      expect(await cast.statuses('PUT', '/subscription')).toEqual([200, 200, 200, 404, 404]);
      expect(await cast.statuses('GET', '/subscription')).toEqual([200, 200, 200, 404, 404]);
      expect(await cast.statuses('DELETE', '/subscription')).toEqual([204, 204, 204, 404, 404]);
      expect(await cast.statuses('GET', '/subscribers')).toEqual([200, 200, 200, 404, 404]);
    });

    it('end for all when it becomes private, and for a collaborator who goes', async () => {
      await cast.ask('PATCH', '', { body: { private: false } });
      for (const as of ['owner', 'stranger'] as const) await cast.ask('PUT', '/subscription', { as });
      await cast.ask('PATCH', '', { body: { private: true } });
      const forgotten = await cast.ask('GET', '/subscribers');
      await cast.ask('PUT', '/subscription', { as: 'reader' });
      await cast.ask('DELETE', `/collaborators/${cast.reader.name}`);

      expect(forgotten.json).toEqual([]);
      expect((await cast.ask('GET', '/subscribers')).json).toEqual([]);
      expect((await cast.ask('GET', '')).json.watchers_count).toBe(0);
    });

    it('ask an anonymous caller to sign in', async () => {
      await cast.ask('PATCH', '', { body: { private: false } });

      for (const method of ['GET', 'PUT', 'DELETE'])
        expect((await cast.ask(method, '/subscription', { as: 'anonymous' })).status).toBe(401);
    });
  });

  describe('to an issue', () => {
    const path = () => `/issues/1/subscriptions/${cast.reader.name}`;

    it('are begun, seen, listed and ended; 200 says that it was so', async () => {
      const before = await cast.ask('GET', '/issues/1/subscriptions/check', { as: 'reader' });
      const begun = await cast.ask('PUT', path(), { as: 'reader' });
      const again = await cast.ask('PUT', path(), { as: 'reader' });
      const during = await cast.ask('GET', '/issues/1/subscriptions/check', { as: 'reader' });
      const listed = await cast.ask('GET', '/issues/1/subscriptions');
      const ended = await cast.ask('DELETE', path(), { as: 'reader' });
      const afterwards = await cast.ask('GET', '/issues/1/subscriptions');

      expect([before.json.subscribed, before.json.ignored]).toEqual([false, true]);
      expect([begun.status, again.status, ended.status]).toEqual([201, 200, 201]);
      expect(during.json).toMatchObject({
        subscribed: true,
        ignored: false,
        url: `${forge.url}/api/v1/repos/${cast.repository}/issues/1/subscriptions`,
      });
      expect(logins(listed.json)).toEqual([cast.reader.name]);
      expect(listed.headers.get('x-total-count')).toBe('1');
      expect(afterwards.json).toEqual([]);
    });

    it('hold for who wrote it, comments on it or watches the repository', async () => {
      const subscribed = async (as: 'owner' | 'writer' | 'reader') =>
        (await cast.ask('GET', '/issues/1/subscriptions/check', { as })).json.subscribed;
      await cast.ask('POST', '/issues/1/comments', { body: { body: 'hm' }, as: 'writer' });
      await cast.ask('PUT', '/subscription', { as: 'reader' });

      expect([await subscribed('owner'), await subscribed('writer'), await subscribed('reader')]).toEqual([
        true,
        true,
        true,
      ]);
    });

    it('are one’s own, and everybody’s for a site administrator', async () => {
      expect((await cast.ask('PUT', path(), { as: 'writer' })).status).toBe(403);
      expect((await cast.ask('DELETE', path(), { as: 'owner' })).status).toBe(403);
      const address = `/repos/${cast.repository}${path()}`;
      expect((await forge.ask('PUT', address, { as: forge.adminToken })).status).toBe(201);
    });

    it('answer 404 for an issue or account that is not there', async () => {
      for (const [method, where] of [
        ['GET', '/issues/9/subscriptions'],
        ['GET', '/issues/9/subscriptions/check'],
        ['PUT', `/issues/9/subscriptions/${cast.owner.name}`],
        ['PUT', '/issues/1/subscriptions/missing-account'],
        ['DELETE', '/issues/1/subscriptions/missing-account'],
      ] as const)
        expect((await cast.ask(method, where)).status, `${method} ${where}`).toBe(404);
    });

    it('are for accounts that read it', async () => {
      expect(await cast.statuses('GET', '/issues/1/subscriptions')).toEqual([200, 200, 200, 404, 404]);
      expect(await cast.statuses('GET', '/issues/1/subscriptions/check')).toEqual([200, 200, 200, 404, 404]);
      expect(await cast.statuses('PUT', path())).toEqual([403, 403, 201, 404, 404]);
    });
  });
});
