import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describeContract('branch and pull request updates', (forge) => {
  let ada: Account;
  let writer: Account;
  let reader: Account;
  let repository: string;
  beforeAll(async () => {
    [ada, writer, reader] = await Promise.all([forge.makeUser(), forge.makeUser(), forge.makeUser()]);
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: writer, permission: 'write' });
  });

  const ask = (method: string, path: string, body?: unknown, as: Account | undefined = ada) =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });
  const headOf = async (branch: string): Promise<string> =>
    (await ask('GET', `/branches/${branch}`)).json.commit.id;
  const commit = async (branch: string, path: string, text: string): Promise<void> => {
    const answer = await ask('POST', `/contents/${path}`, { content: base64(text), branch });
    if (answer.status !== 201) throw new Error(answer.text);
  };
  const makeBranch = async (): Promise<string> => {
    const name = freshName('branch');
    await ask('POST', '/branches', { new_branch_name: name, old_ref_name: 'main' });
    return name;
  };

  it('moves a branch forwards, and backwards only with force', async () => {
    const branch = await makeBranch();
    const before = await headOf(branch);
    await commit('main', freshName('file'), 'x');
    const after = await headOf('main');

    const forwards = await ask('PUT', `/branches/${branch}`, { new_commit_id: after, old_commit_id: before });
    const backwards = await ask('PUT', `/branches/${branch}`, { new_commit_id: before });
    const stale = await ask('PUT', `/branches/${branch}`, { new_commit_id: after, old_commit_id: before });
    const forced = await ask('PUT', `/branches/${branch}`, { new_commit_id: before, force: true });

    expect([forwards, backwards, stale, forced].map(({ status }) => status)).toEqual([204, 422, 422, 204]);
    expect(await headOf(branch)).toBe(before);
  });

  it('refuses unknown branches and commits', async () => {
    const head = await headOf('main');
    const unknown = await ask('PUT', '/branches/nowhere', { new_commit_id: head });
    const nothing = await ask('PUT', '/branches/main', { new_commit_id: 'f'.repeat(40) });
    const missing = await ask('PUT', '/branches/main', {});

    expect([unknown.status, missing.status]).toEqual([404, 422]);
    expect([404, 500]).toContain(nothing.status);
  });

  it('renames a branch and the head of its pull request', async () => {
    const branch = await makeBranch();
    await commit(branch, freshName('file'), 'x');
    const { number } = (await ask('POST', '/pulls', { title: 'p', head: branch, base: 'main' })).json;
    const name = `${branch}/deeper`;

    const answer = await ask('PATCH', `/branches/${branch}`, { name });

    const pull = await ask('GET', `/pulls/${number}`);
    expect(answer.status).toBe(204);
    expect((await ask('GET', `/branches/${branch}`)).status).toBe(404);
    expect((await ask('GET', `/branches/${name}`)).status).toBe(200);
    expect([pull.json.state, pull.json.head.ref]).toEqual(['open', name]);
  });

  it.each([
    ['its own name', 'main', { name: 'main' }, [422]],
    ['a name that git refuses', 'main', { name: 'a..b' }, [422]],
    ['no name', 'main', {}, [422]],
    ['an unknown branch', 'nowhere', { name: 'elsewhere' }, [404]],
  ])('refuses to rename to %s', async (_, branch, body, statuses) => {
    expect(statuses).toContain((await ask('PATCH', `/branches/${branch}`, body)).status);
  });

  it('lets only writers move and rename a branch, and only administrators rename the default branch', async () => {
    const branch = await makeBranch();
    const body = { name: freshName('other') };
    const put = { new_commit_id: await headOf('main') };

    expect((await ask('PATCH', `/branches/${branch}`, body, reader)).status).toBe(403);
    expect((await ask('PUT', `/branches/${branch}`, put, reader)).status).toBe(403);
    expect((await ask('PATCH', '/branches/main', body, writer)).status).toBe(403);
    expect((await ask('PUT', `/branches/${branch}`, put, writer)).status).toBe(204);
    expect((await forge.ask('PUT', `/repos/${repository}/branches/main`, { body: put })).status).toBe(401);
  });

  it('updates the default branch of a repository when that branch is renamed', async () => {
    const other = await forge.makeRepository(ada, { auto_init: true });

    const answer = await forge.ask('PATCH', `/repos/${other}/branches/main`, {
      as: ada,
      body: { name: 'trunk' },
    });

    expect(answer.status).toBe(204);
    expect((await forge.ask('GET', `/repos/${other}`, { as: ada })).json.default_branch).toBe('trunk');
    expect((await forge.ask('GET', `/repos/${other}/contents/README.md`, { as: ada })).status).toBe(200);
  });

  it('returns a pull request as a diff and as a patch in mail format', async () => {
    const branch = await makeBranch();
    await commit(branch, 'told.txt', 'a line\n');
    const { number } = (await ask('POST', '/pulls', { title: 'p', head: branch, base: 'main' })).json;

    const diff = await ask('GET', `/pulls/${number}.diff`);
    const patch = await ask('GET', `/pulls/${number}.patch`, undefined, reader);

    expect([diff.status, patch.status]).toEqual([200, 200]);
    expect(diff.headers.get('content-type')).toContain('text/plain');
    expect(diff.text).toMatch(/^diff --git a\/told\.txt b\/told\.txt.*\+a line\n$/s);
    expect(patch.text).toMatch(/^From [0-9a-f]{40} .*Subject: \[PATCH\].*\+a line\n/s);
    expect((await ask('GET', '/pulls/99999.diff')).status).toBe(404);
  });

  it.each(['merge', 'rebase'])('updates the head of a pull request with its base by %s', async (style) => {
    const branch = await makeBranch();
    await commit(branch, freshName('own'), 'x');
    const { number } = (await ask('POST', '/pulls', { title: 'p', head: branch, base: 'main' })).json;
    await commit('main', freshName('theirs'), 'y');

    const refused = await ask('POST', `/pulls/${number}/update?style=${style}`, undefined, reader);
    const answer = await ask('POST', `/pulls/${number}/update?style=${style}`, undefined, writer);
    const again = await ask('POST', `/pulls/${number}/update?style=${style}`);

    const compared = await ask('GET', `/compare/${branch}...main`);
    const { json: head } = await ask('GET', `/git/commits/${branch}`);
    expect([refused.status, answer.status, answer.text]).toEqual([403, 200, '']);
    expect([409, 500]).toContain(again.status);
    expect(compared.json.total_commits).toBe(0);
    expect(head.parents.length).toBe(style === 'merge' ? 2 : 1);
  });

  it('does not update the head if both sides changed the same lines, or if the pull request is closed', async () => {
    const branch = await makeBranch();
    const path = freshName('same');
    await commit(branch, path, 'ours\n');
    const { number } = (await ask('POST', '/pulls', { title: 'p', head: branch, base: 'main' })).json;
    await commit('main', path, 'theirs\n');

    const conflict = await ask('POST', `/pulls/${number}/update`);
    await ask('PATCH', `/pulls/${number}`, { state: 'closed' });
    const closed = await ask('POST', `/pulls/${number}/update`);

    expect([conflict.status, closed.status]).toEqual([409, 422]);
    expect((await ask('POST', '/pulls/99999/update')).status).toBe(404);
  });
});
