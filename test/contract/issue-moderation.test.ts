import { beforeEach, describe, expect, it } from 'vitest';
import { describeContract, freshName } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

describeContract('issue moderation, milestones and organization labels', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
    for (const title of ['one', 'two', 'three', 'four'])
      await shared.ask('POST', '/issues', { body: { title } });
  });

  describe('an issue', () => {
    it('is deleted by administrators, with everything attached to it', async () => {
      const comment = (await shared.ask('POST', '/issues/1/comments', { body: { body: 'hm' } })).json.id;
      await shared.ask('POST', '/issues/1/times', { body: { time: 5 } });
      const milestone = (await shared.ask('POST', '/milestones', { body: { title: 'v1' } })).json.id;
      await shared.ask('PATCH', '/issues/1', { body: { milestone } });

      expect((await shared.ask('DELETE', '/issues/1')).status).toBe(204);
      expect((await shared.ask('GET', '/issues/1')).status).toBe(404);
      expect((await shared.ask('GET', `/issues/comments/${comment}`)).status).toBe(404);
      expect((await shared.ask('GET', '/times')).json).toEqual([]);
      expect((await shared.ask('GET', '')).json.open_issues_count).toBe(3);
      expect((await shared.ask('GET', `/milestones/${milestone}`)).json.open_issues).toBe(0);
      expect((await shared.ask('DELETE', '/issues/1')).status).toBe(404);
    });

    it('can be locked for accounts without write access', async () => {
      const comment = (as: 'writer' | 'reader') =>
        shared.ask('POST', '/issues/1/comments', { body: { body: 'hm' }, as });

      expect((await shared.ask('PUT', '/issues/1/lock', { body: { lock_reason: 'off-topic' } })).status).toBe(
        204,
      );
      expect((await shared.ask('GET', '/issues/1')).json.is_locked).toBe(true);
      expect([(await comment('writer')).status, (await comment('reader')).status]).toEqual([201, 403]);
      expect((await shared.ask('PUT', '/issues/1/lock', { body: {} })).status).toBe(204);
      expect((await shared.ask('DELETE', '/issues/1/lock')).status).toBe(204);
      expect((await comment('reader')).status).toBe(201);
      expect((await shared.ask('DELETE', '/issues/1/lock')).status).toBe(204);
    });

    it('is pinned after those already pinned, up to three', async () => {
      const statuses = [];
      for (const index of [2, 1, 3, 4])
        statuses.push((await shared.ask('POST', `/issues/${index}/pin`)).status);
      const pinned = await shared.ask('GET', '/issues/pinned');
      const unpinned = await shared.ask('DELETE', '/issues/1/pin');

      expect(statuses.slice(0, 3)).toEqual([204, 204, 204]);
      // Gitea returns 500.
      expect([400, 500]).toContain(statuses[3]);
      expect(pinned.json.map(({ number }: { number: number }) => number)).toEqual([2, 1, 3]);
      expect(pinned.json.map(({ pin_order }: { pin_order: number }) => pin_order)).toEqual([1, 2, 3]);
      expect(unpinned.status).toBe(204);
      expect((await shared.ask('DELETE', '/issues/1/pin')).status).toBe(204);
      expect((await shared.ask('GET', '/issues/pinned')).json).toHaveLength(2);
    });

    it('cannot be pinned twice', async () => {
      await shared.ask('POST', '/issues/1/pin');

      expect([500, 409]).toContain((await shared.ask('POST', '/issues/1/pin')).status);
    });

    it('is due at the end of a day', async () => {
      const due = (due_date: string | null, as: 'owner' | 'reader' = 'owner') =>
        shared.ask('POST', '/issues/1/deadline', { body: { due_date }, as });
      const set = await due('2030-05-06T07:08:09Z');
      const shown = (await shared.ask('GET', '/issues/1')).json.due_date;
      const cleared = await due(null);

      expect(set.status).toBe(201);
      expect(set.json.due_date).toBe(shown);
      expect(shown).toMatch(/T23:59:59/);
      expect([cleared.status, cleared.json.due_date]).toEqual([201, '1970-01-01T00:00:00Z']);
      expect((await shared.ask('GET', '/issues/1')).json.due_date).toBeNull();
      expect((await due(null, 'reader')).status).toBe(403);
      expect((await due('soon')).status).toBe(422);
    });

    it.each([
      ['DELETE', '/issues/1', undefined, [204, 403, 403, 404, 404]],
      ['PUT', '/issues/1/lock', {}, [204, 403, 403, 404, 404]],
      ['DELETE', '/issues/1/lock', undefined, [204, 403, 403, 404, 404]],
      ['POST', '/issues/1/pin', undefined, [204, 403, 403, 404, 404]],
      ['DELETE', '/issues/1/pin', undefined, [204, 403, 403, 404, 404]],
      ['GET', '/issues/pinned', undefined, [200, 200, 200, 404, 404]],
      ['POST', '/issues/1/deadline', { due_date: null }, [201, 201, 403, 404, 404]],
    ])('returns the expected status for each role on %s %s', async (method, path, body, expected) => {
      expect(await shared.statuses(method, path, body)).toEqual(expected);
    });

    it.each([
      ['PUT', '/issues/9/lock'],
      ['DELETE', '/issues/9/lock'],
      ['POST', '/issues/9/pin'],
      ['DELETE', '/issues/9/pin'],
      ['POST', '/issues/9/deadline'],
    ])('that does not exist returns 404 on %s %s', async (method, path) => {
      expect((await shared.ask(method, path, { body: {} })).status).toBe(404);
    });
  });

  describe('a milestone', () => {
    const make = async (title: string, more: object = {}): Promise<number> =>
      (await shared.ask('POST', '/milestones', { body: { title, ...more } })).json.id;

    it('is found by id and by title', async () => {
      const id = await make('v one');

      expect((await shared.ask('GET', `/milestones/${id}`)).json).toMatchObject({ id, title: 'v one' });
      expect((await shared.ask('GET', '/milestones/v%20one')).json.id).toBe(id);
      expect((await shared.ask('GET', '/milestones/v%20two')).status).toBe(404);
      expect((await shared.ask('GET', '/milestones/999999')).status).toBe(404);
    });

    it('is edited, closed and reopened, and loses an omitted due date', async () => {
      const id = await make('v1', { due_on: '2030-05-06T00:00:00Z', description: 'old' });
      const edit = (body: object) => shared.ask('PATCH', `/milestones/${id}`, { body });

      const due = await edit({ due_on: '2031-05-06T07:00:00Z', description: 'new', title: '' });
      const closed = await edit({ state: 'closed' });
      const opened = await edit({ state: 'open', title: 'v2' });

      expect(due.status).toBe(200);
      expect(due.json).toMatchObject({ title: 'v1', description: 'new', state: 'open' });
      expect(due.json.due_on).toMatch(/T23:59:59/);
      expect(closed.json).toMatchObject({ state: 'closed', due_on: null });
      expect(closed.json.closed_at).not.toBeNull();
      expect(opened.json).toMatchObject({ state: 'open', title: 'v2' });
      expect((await edit({ due_on: 'soon' })).status).toBe(422);
      expect((await shared.ask('PATCH', '/milestones/nothing', { body: {} })).status).toBe(404);
    });

    it('is deleted, and its issues are kept', async () => {
      const id = await make('v1');
      await shared.ask('PATCH', '/issues/1', { body: { milestone: id } });

      expect((await shared.ask('DELETE', `/milestones/${id}`)).status).toBe(204);
      expect((await shared.ask('DELETE', `/milestones/${id}`)).status).toBe(404);
      expect((await shared.ask('GET', '/issues/1')).json.milestone).toBeNull();
    });

    it('is read by readers and changed by writers', async () => {
      const path = `/milestones/${await make('v1')}`;

      expect(await shared.statuses('GET', path)).toEqual([200, 200, 200, 404, 404]);
      expect(await shared.statuses('PATCH', path, { title: 'v2' })).toEqual([200, 200, 403, 404, 404]);
      expect((await shared.ask('DELETE', path, { as: 'reader' })).status).toBe(403);
      expect((await shared.ask('DELETE', path, { as: 'stranger' })).status).toBe(404);
    });
  });

  describe('a label of an organization', () => {
    let path: string;
    let id: number;
    beforeEach(async () => {
      path = `/orgs/${await forge.makeOrganization(shared.owner)}/labels`;
      const body = { name: freshName('label'), color: '#abc', is_archived: true };
      id = (await forge.ask('POST', path, { as: shared.owner, body })).json.id;
    });

    it('is found by id and by name, edited and deleted', async () => {
      const ask = (method: string, below: string | number, body?: object) =>
        forge.ask(method, `${path}/${below}`, { as: shared.owner, body });
      const byId = await ask('GET', id);
      const byName = await ask('GET', byId.json.name);
      const edited = await ask('PATCH', id, { name: 'a b', color: '123456', exclusive: true });
      const removed = await ask('DELETE', id);

      expect([byId.status, byId.json.color]).toEqual([200, 'aabbcc']);
      expect(byName.json).toEqual(byId.json);
      expect(edited.json).toMatchObject({
        id,
        name: 'a b',
        color: '123456',
        exclusive: true,
        is_archived: false,
      });
      expect([removed.status, (await ask('DELETE', id)).status]).toEqual([204, 204]);
      expect((await ask('GET', id)).status).toBe(404);
      expect((await ask('GET', 'unknown')).status).toBe(404);
      expect((await ask('PATCH', id, { name: 'x' })).status).toBe(404);
    });

    it('rejects an invalid color', async () => {
      const body = { color: 'reddish' };

      expect((await forge.ask('PATCH', `${path}/${id}`, { as: shared.owner, body })).status).toBe(422);
    });

    it('is changed only by owners', async () => {
      const statuses = async (method: string, body?: object) => [
        (await forge.ask(method, `${path}/${id}`, { as: shared.stranger, body })).status,
        (await forge.ask(method, `${path}/${id}`, { body })).status,
      ];

      expect(await statuses('GET')).toEqual([200, 401]);
      expect(await statuses('PATCH', { name: 'x' })).toEqual([403, 401]);
      expect(await statuses('DELETE')).toEqual([403, 401]);
    });
  });
});
