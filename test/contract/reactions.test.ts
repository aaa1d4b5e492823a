import { beforeEach, describe, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

describeContract('reactions', (forge) => {
  let shared: SharedRepository;
  let comment: number;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'one' } });
    comment = (await shared.ask('POST', '/issues/1/comments', { body: { body: 'hm' } })).json.id;
  });

  const pathOf = (subject: 'issue' | 'comment') =>
    subject === 'issue' ? '/issues/1/reactions' : `/issues/comments/${comment}/reactions`;
  const contents = async (path: string) =>
    ((await shared.ask('GET', path)).json ?? []).map(
      ({ content, user }: { content: string; user: { login: string } }) => [content, user.login],
    );

  describe.each(['issue', 'comment'] as const)('on the %s', (subject) => {
    it('are added once per account, listed oldest first, and removed by the account that added them', async () => {
      const path = pathOf(subject);
      const react = (content: string, as: 'writer' | 'reader') =>
        shared.ask('POST', path, { body: { content }, as });
      expect((await shared.ask('GET', path)).json).toBeNull();

      const added = await react('+1', 'reader');
      const again = await react('+1', 'reader');
      await react('eyes', 'reader');
      await react('+1', 'writer');

      expect([added.status, again.status]).toEqual([201, 200]);
      expect(added.json).toMatchObject({ content: '+1', user: { login: shared.reader.name } });
      expect(again.json.created_at).toBe(added.json.created_at);
      expect(await contents(path)).toEqual([
        ['+1', shared.reader.name],
        ['eyes', shared.reader.name],
        ['+1', shared.writer.name],
      ]);
      const removed = await shared.ask('DELETE', path, { body: { content: '+1' }, as: 'reader' });
      // Forgejo returns 200.
      expect([204, 200]).toContain(removed.status);
      expect([204, 200]).toContain(
        (await shared.ask('DELETE', path, { body: { content: '+1' }, as: 'reader' })).status,
      );
      expect(await contents(path)).toEqual([
        ['eyes', shared.reader.name],
        ['+1', shared.writer.name],
      ]);
    });

    it('are limited to a few kinds', async () => {
      for (const content of ['tada', '', 'EYES', ':eyes:'])
        expect((await shared.ask('POST', pathOf(subject), { body: { content } })).status).toBe(403);
    });

    it('are read by readers, and added and removed by signed-in accounts', async () => {
      const body = { content: 'heart' };

      expect(await shared.statuses('GET', pathOf(subject))).toEqual([200, 200, 200, 404, 404]);
      expect(await shared.statuses('POST', pathOf(subject), body)).toEqual([201, 201, 201, 404, 404]);
      const removed = await shared.statuses('DELETE', pathOf(subject), body);
      expect(removed.map((status) => (status === 200 ? 204 : status))).toEqual([204, 204, 204, 404, 404]);
    });

    it('are closed to accounts without write access while the issue is locked', async () => {
      await shared.ask('PUT', '/issues/1/lock', { body: {} });
      const body = { content: 'rocket' };

      expect((await shared.ask('POST', pathOf(subject), { body, as: 'reader' })).status).toBe(403);
      expect((await shared.ask('DELETE', pathOf(subject), { body, as: 'reader' })).status).toBe(403);
      expect((await shared.ask('POST', pathOf(subject), { body, as: 'writer' })).status).toBe(201);
    });

    it('are removed all at once if no content is given, for the caller only', async () => {
      for (const content of ['laugh', 'hooray'])
        await shared.ask('POST', pathOf(subject), { body: { content }, as: 'reader' });
      await shared.ask('POST', pathOf(subject), { body: { content: 'confused' }, as: 'writer' });
      await shared.ask('DELETE', pathOf(subject), { body: {}, as: 'reader' });

      expect(await contents(pathOf(subject))).toEqual([['confused', shared.writer.name]]);
    });
  });

  it('to an issue and to its comment are separate, and are deleted with them', async () => {
    await shared.ask('POST', pathOf('issue'), { body: { content: '+1' } });
    await shared.ask('POST', pathOf('comment'), { body: { content: '-1' } });

    expect(await contents(pathOf('issue'))).toEqual([['+1', shared.owner.name]]);
    expect(await contents(pathOf('comment'))).toEqual([['-1', shared.owner.name]]);
    await shared.ask('DELETE', `/issues/comments/${comment}`);
    expect((await shared.ask('GET', pathOf('comment'))).status).toBe(404);
    expect(await contents(pathOf('issue'))).toEqual([['+1', shared.owner.name]]);
  });

  it('to an issue are paged with a count', async () => {
    for (const content of ['+1', '-1', 'laugh']) {
      await shared.ask('POST', pathOf('issue'), { body: { content } });
    }
    const first = await shared.ask('GET', `${pathOf('issue')}?page=1&limit=2`);
    const second = await shared.ask('GET', `${pathOf('issue')}?page=2&limit=2`);
    const third = await shared.ask('GET', `${pathOf('issue')}?page=3&limit=2`);

    expect(first.headers.get('x-total-count')).toBe('3');
    expect([first.json.length, second.json.length, third.json]).toEqual([2, 1, null]);
  });

  it.each(['GET', 'POST', 'DELETE'])('return 404 on %s if the subject does not exist', async (method) => {
    const body = method === 'GET' ? undefined : { content: '+1' };
    const elsewhere = await makeSharedRepository(forge);

    for (const path of ['/issues/9/reactions', '/issues/comments/99999999/reactions']) {
      expect((await shared.ask(method, path, { body })).status).toBe(404);
    }
    expect((await elsewhere.ask(method, pathOf('comment'), { body })).status).toBe(404);
  });
});
