import { beforeEach, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository, waitFor } from '../support/shared-repository.ts';

describeContract('dependencies', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge);
    for (const title of ['one', 'two', 'three']) await shared.ask('POST', '/issues', { body: { title } });
  });

  const names = () => {
    const [owner = '', repo = ''] = shared.fullName.split('/');
    return { owner, repo };
  };
  const meta = (index: number) => ({ index, ...names() });
  const block = (index: number, by: number) =>
    shared.ask('POST', `/issues/${index}/dependencies`, { body: meta(by) });
  const numbers = (json: { number: number }[]) => json.map(({ number }) => number).sort();

  it('are added, listed for both issues, and removed', async () => {
    const added = await block(1, 2);
    const blocking = await shared.ask('POST', '/issues/3/blocks', { body: meta(1) });
    const dependencies = await shared.ask('GET', '/issues/1/dependencies');
    const blocks = await shared.ask('GET', '/issues/2/blocks');
    const removed = await shared.ask('DELETE', '/issues/1/dependencies', { body: meta(2) });
    const unblocked = await shared.ask('DELETE', '/issues/3/blocks', { body: meta(1) });

    expect([added.status, added.json.number]).toEqual([201, 1]);
    expect([blocking.status, blocking.json.number]).toEqual([201, 3]);
    expect(numbers(dependencies.json)).toEqual([2, 3]);
    expect(dependencies.headers.get('x-total-count')).toBe('2');
    expect(numbers(blocks.json)).toEqual([1]);
    expect([removed.status, removed.json.number]).toEqual([201, 1]);
    expect([unblocked.status, unblocked.json.number]).toEqual([201, 3]);
    expect((await shared.ask('GET', '/issues/1/dependencies')).json).toEqual([]);
  });

  it('come in pages, without paging headers for `blocks`', async () => {
    await block(1, 2);
    await block(1, 3);
    await block(2, 3);

    const page = await shared.ask('GET', '/issues/1/dependencies?limit=1&page=2');
    const blocks = await shared.ask('GET', '/issues/3/blocks?limit=2&page=2');

    expect(page.json).toHaveLength(1);
    expect(page.headers.get('x-total-count')).toBe('2');
    expect(page.headers.get('link')).toContain('rel="prev"');
    expect(blocks.json ?? []).toEqual([]);
    expect(blocks.headers.get('x-total-count')).toBeNull();
  });

  it('keep an issue open until its blockers are closed', async () => {
    await block(1, 2);

    const refused = await shared.ask('PATCH', '/issues/1', { body: { state: 'closed' } });
    await shared.ask('PATCH', '/issues/2', { body: { state: 'closed' } });
    const closed = await shared.ask('PATCH', '/issues/1', { body: { state: 'closed' } });

    expect(refused.status).toBe(412);
    expect([closed.status, closed.json.state]).toEqual([201, 'closed']);
  });

  it('block the merge of a pull request', async () => {
    const file = { content: 'eA==', message: 'a', branch: 'main' };
    await shared.ask('POST', '/contents/a.txt', { body: file });
    await shared.ask('POST', '/contents/b.txt', { body: { ...file, new_branch: 'topic' } });
    const pull = await shared.ask('POST', '/pulls', {
      body: { title: 'a change', head: 'topic', base: 'main' },
    });
    await block(pull.json.number, 1);
    const merge = () => shared.ask('POST', `/pulls/${pull.json.number}/merge`, { body: { do: 'merge' } });
    await waitFor(
      () => shared.ask('GET', `/pulls/${pull.json.number}`),
      ({ json }) => json.mergeable === true,
    );

    expect([500, 412]).toContain((await merge()).status);
    await shared.ask('PATCH', '/issues/1', { body: { state: 'closed' } });
    expect((await merge()).status).toBe(200);
  });

  it('refuse a duplicate, a cycle, and the removal of a missing dependency', async () => {
    await block(1, 2);

    expect([500, 409]).toContain((await block(1, 2)).status);
    expect([500, 409]).toContain((await block(2, 1)).status);
    expect([500, 404]).toContain(
      (await shared.ask('DELETE', '/issues/1/dependencies', { body: meta(3) })).status,
    );
    expect((await shared.ask('GET', '/issues/2/dependencies')).json).toEqual([]);
  });

  it.each([
    ['an unknown issue in the path', '/issues/99/dependencies', 1],
    ['an unknown issue in the body', '/issues/1/dependencies', 99],
    ['an unknown blocking issue', '/issues/99/blocks', 1],
  ])('return 404 for %s', async (_what, path, index) => {
    expect((await shared.ask('POST', path, { body: meta(index) })).status).toBe(404);
  });

  it('return 404 for an unknown repository in the body', async () => {
    const body = { index: 1, owner: shared.owner.name, repo: 'nowhere' };

    expect((await shared.ask('POST', '/issues/1/dependencies', { body })).status).toBe(404);
  });

  it('are listed for readers and changed by writers; other callers get 404', async () => {
    expect(await shared.statuses('GET', '/issues/1/dependencies')).toEqual([200, 200, 200, 404, 404]);
    expect(await shared.statuses('GET', '/issues/1/blocks')).toEqual([200, 200, 200, 404, 404]);
    expect((await shared.ask('POST', '/issues/1/dependencies', { body: meta(2), as: 'writer' })).status).toBe(
      201,
    );
    for (const as of ['reader', 'stranger', 'anonymous'] as const) {
      const answers = [
        await shared.ask('POST', '/issues/1/dependencies', { body: meta(3), as }),
        await shared.ask('DELETE', '/issues/1/dependencies', { body: meta(2), as }),
        await shared.ask('POST', '/issues/1/blocks', { body: meta(3), as }),
        await shared.ask('DELETE', '/issues/1/blocks', { body: meta(3), as }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    }
  });

  it('require an anonymous writer of a public repository to sign in', async () => {
    await shared.ask('PATCH', '', { body: { private: false } });

    expect(
      (await shared.ask('POST', '/issues/1/dependencies', { body: meta(2), as: 'anonymous' })).status,
    ).toBe(401);
  });

  it('can refer to other repositories; issues that the caller cannot read are shown as placeholders', async () => {
    const other = await forge.makeRepository(shared.owner, { private: true });
    await forge.ask('POST', `/repos/${other}/issues`, { as: shared.owner, body: { title: 'secret' } });
    const body = { index: 1, owner: shared.owner.name, repo: other.split('/')[1] };
    expect((await shared.ask('POST', '/issues/1/dependencies', { body })).status).toBe(201);
    await block(1, 2);

    const [own] = [await shared.ask('GET', '/issues/1/dependencies')];
    const asWriter = await shared.ask('GET', '/issues/1/dependencies', { as: 'writer' });
    const asReader = await shared.ask('GET', '/issues/1/dependencies', { as: 'reader' });

    expect(own.json.map(({ title }: { title: string }) => title)).toEqual(['two', 'secret']);
    expect(asWriter.json[1]).toMatchObject({ id: 0, number: 0, title: '', state: '', repository: null });
    expect(asReader.json[1]).toMatchObject({ id: 0, number: 0, title: 'HIDDEN', state: 'open' });
    expect(asReader.headers.get('x-total-count')).toBe('2');
  });

  it('return 404 if disabled in the repository, and then block nothing', async () => {
    await block(1, 2);
    const internal_tracker = {
      enable_issue_dependencies: false,
      enable_time_tracker: true,
      allow_only_contributors_to_track_time: true,
    };
    await shared.ask('PATCH', '', { body: { has_issues: true, internal_tracker } });

    expect((await shared.ask('GET', '/issues/1/dependencies')).status).toBe(404);
    expect((await block(1, 3)).status).toBe(404);
    expect((await shared.ask('PATCH', '/issues/1', { body: { state: 'closed' } })).status).toBe(201);
  });

  it('cannot be changed in an archived repository', async () => {
    await block(1, 2);
    await shared.ask('PATCH', '', { body: { archived: true } });

    expect((await block(1, 3)).status).toBe(423);
    expect((await shared.ask('DELETE', '/issues/1/dependencies', { body: meta(2) })).status).toBe(423);
    expect((await shared.ask('POST', '/issues/1/blocks', { body: meta(3) })).status).toBe(404);
  });
});
