import { beforeEach, describe, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

describeContract('subscriptions', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'first' } });
  });

  const logins = (json: { login: string }[]) => json.map(({ login }) => login).sort();
  const names = (json: { full_name: string }[]) => json.map(({ full_name }) => full_name);

  describe('to a repository', () => {
    it('start with the creation of the repository', async () => {
      const { json } = await shared.ask('GET', '/subscribers');

      expect(logins(json)).toEqual([shared.owner.name]);
      expect((await shared.ask('GET', '')).json.watchers_count).toBe(1);
    });

    it('are created, read, listed and deleted', async () => {
      const before = await shared.ask('GET', '/subscription', { as: 'reader' });
      const begun = await shared.ask('PUT', '/subscription', { as: 'reader' });
      await shared.ask('PUT', '/subscription', { as: 'reader' });
      const during = await shared.ask('GET', '/subscription', { as: 'reader' });
      const subscribers = await shared.ask('GET', '/subscribers');
      const count = (await shared.ask('GET', '')).json.watchers_count;
      const ended = await shared.ask('DELETE', '/subscription', { as: 'reader' });
      const again = await shared.ask('DELETE', '/subscription', { as: 'reader' });

      expect([before.status, begun.status, during.status]).toEqual([404, 200, 200]);
      expect(during.json).toMatchObject({
        subscribed: true,
        ignored: false,
        reason: null,
        url: `${forge.url}/api/v1/repos/${shared.fullName}/subscription`,
        repository_url: `${forge.url}/api/v1/repos/${shared.fullName}`,
      });
      expect(logins(subscribers.json)).toEqual([shared.owner.name, shared.reader.name].sort());
      expect(subscribers.headers.get('x-total-count')).toBe('2');
      expect(count).toBe(2);
      expect([ended.status, again.status]).toEqual([204, 204]);
      expect((await shared.ask('GET', '')).json.watchers_count).toBe(1);
    });

    it('come in pages', async () => {
      await shared.ask('PUT', '/subscription', { as: 'reader' });

      const subscribers = await shared.ask('GET', '/subscribers?limit=1&page=2');
      const own = await forge.ask('GET', '/user/subscriptions?limit=1&page=2', { as: shared.reader });

      expect([subscribers.json.length, subscribers.headers.get('x-total-count')]).toEqual([1, '2']);
      expect([own.json.length, own.headers.get('x-total-count')]).toEqual([0, '1']);
      expect(own.headers.get('link')).toBeNull();
    });

    it('are listed for their own account, and to others if the repository is public', async () => {
      const path = `/users/${shared.owner.name}/subscriptions`;
      const own = await forge.ask('GET', '/user/subscriptions', { as: shared.owner });
      const hidden = await forge.ask('GET', path, { as: shared.stranger });
      await shared.ask('PATCH', '', { body: { private: false } });
      await shared.ask('PUT', '/subscription');
      const shown = await forge.ask('GET', path, { as: shared.stranger });

      expect(names(own.json)).toEqual([shared.fullName]);
      expect(names(hidden.json)).toEqual([]);
      expect(names(shown.json)).toEqual([shared.fullName]);
      expect(
        (await forge.ask('GET', '/users/missing-account/subscriptions', { as: shared.owner })).status,
      ).toBe(404);
      expect((await forge.ask('GET', path)).status).toBe(401);
      expect((await forge.ask('GET', '/user/subscriptions')).status).toBe(401);
    });

    it('require read access to the repository', async () => {
      expect(await shared.statuses('PUT', '/subscription')).toEqual([200, 200, 200, 404, 404]);
      expect(await shared.statuses('GET', '/subscription')).toEqual([200, 200, 200, 404, 404]);
      expect(await shared.statuses('DELETE', '/subscription')).toEqual([204, 204, 204, 404, 404]);
      expect(await shared.statuses('GET', '/subscribers')).toEqual([200, 200, 200, 404, 404]);
    });

    it('end for everyone when it becomes private, and for a removed collaborator', async () => {
      await shared.ask('PATCH', '', { body: { private: false } });
      for (const as of ['owner', 'stranger'] as const) await shared.ask('PUT', '/subscription', { as });
      await shared.ask('PATCH', '', { body: { private: true } });
      const forgotten = await shared.ask('GET', '/subscribers');
      await shared.ask('PUT', '/subscription', { as: 'reader' });
      await shared.ask('DELETE', `/collaborators/${shared.reader.name}`);

      expect(forgotten.json).toEqual([]);
      expect((await shared.ask('GET', '/subscribers')).json).toEqual([]);
      expect((await shared.ask('GET', '')).json.watchers_count).toBe(0);
    });

    it('require an anonymous caller to sign in', async () => {
      await shared.ask('PATCH', '', { body: { private: false } });

      for (const method of ['GET', 'PUT', 'DELETE'])
        expect((await shared.ask(method, '/subscription', { as: 'anonymous' })).status).toBe(401);
    });
  });

  describe('to an issue', () => {
    const path = () => `/issues/1/subscriptions/${shared.reader.name}`;

    it('are created, read, listed and deleted; 200 means unchanged', async () => {
      const before = await shared.ask('GET', '/issues/1/subscriptions/check', { as: 'reader' });
      const begun = await shared.ask('PUT', path(), { as: 'reader' });
      const again = await shared.ask('PUT', path(), { as: 'reader' });
      const during = await shared.ask('GET', '/issues/1/subscriptions/check', { as: 'reader' });
      const listed = await shared.ask('GET', '/issues/1/subscriptions');
      const ended = await shared.ask('DELETE', path(), { as: 'reader' });
      const afterwards = await shared.ask('GET', '/issues/1/subscriptions');

      expect([before.json.subscribed, before.json.ignored]).toEqual([false, true]);
      expect([begun.status, again.status, ended.status]).toEqual([201, 200, 201]);
      expect(during.json).toMatchObject({
        subscribed: true,
        ignored: false,
        url: `${forge.url}/api/v1/repos/${shared.fullName}/issues/1/subscriptions`,
      });
      expect(logins(listed.json)).toEqual([shared.reader.name]);
      expect(listed.headers.get('x-total-count')).toBe('1');
      expect(afterwards.json).toEqual([]);
    });

    it('include the author, commenters and watchers of the repository', async () => {
      const subscribed = async (as: 'owner' | 'writer' | 'reader') =>
        (await shared.ask('GET', '/issues/1/subscriptions/check', { as })).json.subscribed;
      await shared.ask('POST', '/issues/1/comments', { body: { body: 'hm' }, as: 'writer' });
      await shared.ask('PUT', '/subscription', { as: 'reader' });

      expect([await subscribed('owner'), await subscribed('writer'), await subscribed('reader')]).toEqual([
        true,
        true,
        true,
      ]);
    });

    it('are changed by their own account, and by site administrators for everyone', async () => {
      expect((await shared.ask('PUT', path(), { as: 'writer' })).status).toBe(403);
      expect((await shared.ask('DELETE', path(), { as: 'owner' })).status).toBe(403);
      const address = `/repos/${shared.fullName}${path()}`;
      expect((await forge.ask('PUT', address, { as: forge.adminToken })).status).toBe(201);
    });

    it('return 404 for an unknown issue or account', async () => {
      for (const [method, where] of [
        ['GET', '/issues/9/subscriptions'],
        ['GET', '/issues/9/subscriptions/check'],
        ['PUT', `/issues/9/subscriptions/${shared.owner.name}`],
        ['PUT', '/issues/1/subscriptions/missing-account'],
        ['DELETE', '/issues/1/subscriptions/missing-account'],
      ] as const)
        expect((await shared.ask(method, where)).status, `${method} ${where}`).toBe(404);
    });

    it('require read access to the issue', async () => {
      expect(await shared.statuses('GET', '/issues/1/subscriptions')).toEqual([200, 200, 200, 404, 404]);
      expect(await shared.statuses('GET', '/issues/1/subscriptions/check')).toEqual([
        200, 200, 200, 404, 404,
      ]);
      expect(await shared.statuses('PUT', path())).toEqual([403, 403, 201, 404, 404]);
    });
  });
});
