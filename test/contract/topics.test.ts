import { beforeEach, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

describeContract('topics', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
  });
  const replace = (topics: readonly string[]) => shared.ask('PUT', '/topics', { body: { topics } });
  const read = async () => (await shared.ask('GET', '/topics')).json.topics;

  it('are empty at first, replaced as a whole, and part of the repository', async () => {
    expect(await read()).toEqual([]);
    expect((await replace(['web', ' Tools ', 'web', ''])).status).toBe(204);
    expect(await read()).toEqual(['tools', 'web']);
    expect((await shared.ask('GET', '')).json.topics.toSorted()).toEqual(['tools', 'web']);
    expect((await replace([])).status).toBe(204);
    expect(await read()).toEqual([]);
  });

  it('are added and removed one by one', async () => {
    expect((await shared.ask('PUT', '/topics/Web')).status).toBe(204);
    expect((await shared.ask('PUT', '/topics/web')).status).toBe(204);
    expect((await shared.ask('PUT', '/topics/a.b-1')).status).toBe(204);
    expect(await read()).toEqual(['a.b-1', 'web']);
    expect((await shared.ask('DELETE', '/topics/web')).status).toBe(204);
    expect((await shared.ask('DELETE', '/topics/web')).status).toBe(404);
    expect(await read()).toEqual(['a.b-1']);
  });

  it.each(['-web', 'a b', 'ä', 'x'.repeat(36)])('named %s are refused', async (topic) => {
    expect((await replace(['good', topic])).status).toBe(422);
    expect((await shared.ask('PUT', `/topics/${encodeURIComponent(topic)}`)).status).toBe(422);
    expect((await shared.ask('DELETE', `/topics/${encodeURIComponent(topic)}`)).status).toBe(422);
    expect(await read()).toEqual([]);
  });

  it('are limited to 25, and are paged', async () => {
    const many = Array.from({ length: 25 }, (_, at) => `t${at + 10}`);

    expect((await replace([...many, 'more'])).status).toBe(422);
    expect((await replace(many)).status).toBe(204);
    expect((await shared.ask('PUT', '/topics/more')).status).toBe(422);
    const page = await shared.ask('GET', '/topics?page=2&limit=20');
    expect([page.json.topics.length, page.headers.get('x-total-count')]).toEqual([5, '25']);
  });

  it('are read by readers and changed by administrators', async () => {
    const body = { topics: ['web'] };

    expect(await shared.statuses('GET', '/topics')).toEqual([200, 200, 200, 404, 404]);
    expect(await shared.statuses('PUT', '/topics', body)).toEqual([204, 403, 403, 404, 404]);
    expect(await shared.statuses('PUT', '/topics/x')).toEqual([204, 403, 403, 404, 404]);
    expect(await shared.statuses('DELETE', '/topics/x')).toEqual([204, 403, 403, 404, 404]);
  });
});
