import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('branches', (forge) => {
  let ada: Account;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
  });

  const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
  const make = (name: string, more: object = {}): Promise<Answer> =>
    ask('POST', '/branches', { new_branch_name: name, ...more });
  async function write(path: string, branch: string, at: string): Promise<string> {
    const dates = { author: at, committer: at };
    const body = { content: 'eA==', message: path, branch, dates };
    return (await ask('POST', `/contents/${path}`, body)).json.commit.sha;
  }

  it("include their head commit and the caller's permissions", async () => {
    const { json } = await ask('GET', '/branches/main');

    expect(json).toMatchObject({
      name: 'main',
      protected: false,
      required_approvals: 0,
      enable_status_check: false,
      status_check_contexts: [],
      user_can_push: true,
      user_can_merge: true,
      effective_branch_protection_name: '',
    });
    expect(json.commit).toMatchObject({
      message: expect.stringMatching(/^Initial commit/),
      verification: { verified: false },
      added: null,
      removed: null,
      modified: null,
    });
    const anonymous = await forge.ask('GET', `/repos/${repository}/branches/main`);
    expect([anonymous.json.user_can_push, anonymous.json.user_can_merge]).toEqual([false, false]);
  });

  it('are listed by newest commit first, page by page, filtered by `q`', async () => {
    await make('old/one');
    await make('new/two');
    await write('a', 'old/one', '2031-01-01T00:00:00Z');
    await write('b', 'new/two', '2032-01-01T00:00:00Z');
    const names = async (query: string): Promise<string[]> =>
      (await ask('GET', `/branches${query}`)).json.map((branch: { name: string }) => branch.name);

    const first = await ask('GET', '/branches?limit=2');

    expect(await names('')).toEqual(['new/two', 'old/one', 'main']);
    expect(await names('?limit=2&page=2')).toEqual(['main']);
    expect(await names('?q=/')).toEqual(['new/two', 'old/one']);
    expect(first.headers.get('x-total-count')).toBe('3');
    expect(first.headers.get('link')).toContain('rel="next"');
  });

  it('are null in an empty repository', async () => {
    repository = await forge.makeRepository(ada);

    const answer = await ask('GET', '/branches');

    expect([answer.status, answer.json, answer.headers.get('x-total-count')]).toEqual([200, null, '0']);
    expect((await make('topic')).status).toBe(404);
  });

  it.each(['a/b/c', 'ümläut', 'v1.0', 'a%25b'.replace('%25', '%'), '#1'])('may be named %s', async (name) => {
    expect((await make(name)).json.name).toBe(name);

    expect((await ask('GET', `/branches/${encodeURIComponent(name)}`)).json.name).toBe(name);
    expect((await ask('DELETE', `/branches/${encodeURIComponent(name)}`)).status).toBe(204);
  });

  it('start from a branch or a commit', async () => {
    const first = (await ask('GET', '/branches/main')).json.commit.id;
    const second = await write('a', 'main', '2030-01-01T00:00:00Z');

    const fromCommit = await make('one', { old_ref_name: first });
    const fromBranch = await make('two', { old_ref_name: 'main' });
    const fromOld = await make('three', { old_branch_name: 'one' });

    expect([fromCommit.json.commit.id, fromBranch.json.commit.id, fromOld.json.commit.id]).toEqual([
      first,
      second,
      first,
    ]);
  });

  it('cannot be created if the name is taken or conflicts with a folder of branch names', async () => {
    await make('a/b');

    expect((await make('main')).status).toBe(409);
    expect((await make('a/b/c')).status).toBe(409);
    expect((await make('a')).status).toBe(409);
  });

  it.each([
    '-x',
    '--help',
    '../x',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'x.lock',
    '.x',
    'x/',
    '/x',
    'a//b',
    '@',
    'a@{1}',
    'a\\b',
    'a\u0000b',
    'a\nb',
    'refs/../../x',
    'HEAD',
    'x'.repeat(300),
  ])('may not be named %j', async (name) => {
    const { status } = await make(name);

    expect(status).toBe(422);
    expect((await ask('GET', '/branches')).json).toHaveLength(1);
  });

  it('are not created from a missing ref', async () => {
    expect((await make('topic', { old_branch_name: 'nothing' })).status).toBe(404);
    // Gitea returns 500 for an unknown ref.
    expect([404, 500]).toContain((await make('topic', { old_ref_name: 'nothing' })).status);
    expect((await ask('POST', '/branches', {})).status).toBe(422);
  });

  it('can be deleted, except the default branch', async () => {
    await make('topic');

    expect((await ask('DELETE', '/branches/topic')).status).toBe(204);
    expect((await ask('DELETE', '/branches/topic')).status).toBe(404);
    expect((await ask('DELETE', '/branches/main')).status).toBe(403);
    expect((await ask('GET', '/branches/topic')).status).toBe(404);
  });

  it('are created and deleted by writers', async () => {
    const reader = await forge.makeUser();
    const path = `/repos/${repository}/branches`;

    expect((await forge.ask('POST', path, { as: reader, body: { new_branch_name: 'x' } })).status).toBe(403);
    expect((await forge.ask('DELETE', `${path}/main`, { as: reader })).status).toBe(403);
    expect((await forge.ask('POST', path, { body: { new_branch_name: 'x' } })).status).toBe(401);
  });

  describe('when compared', () => {
    it('return commits, newest first, and files since their merge base', async () => {
      await make('topic');
      const first = await write('a', 'topic', '2030-01-01T00:00:00Z');
      const second = await write('b', 'topic', '2030-01-02T00:00:00Z');
      await write('elsewhere', 'main', '2030-01-03T00:00:00Z');

      const { status, json } = await ask('GET', '/compare/main...topic');

      expect([status, json.total_commits]).toEqual([200, 2]);
      expect(json.commits.map((commit: { sha: string }) => commit.sha)).toEqual([second, first]);
      expect(json.commits[0]).toMatchObject({
        url: `${forge.url}/api/v1/repos/${repository}/git/commits/${second}`,
        commit: { message: expect.stringMatching(/^b\n?$/), author: { name: ada.name } },
        author: { login: ada.name },
        parents: [{ sha: first }],
        files: [{ filename: expect.stringMatching(/b/), status: 'added' }],
        stats: { deletions: 0 },
      });
    });

    it.each(['nothing...main', 'main...nothing', 'main...missing:main', '--help...main'])(
      'return 404 for %s',
      async (words) => {
        expect((await ask('GET', `/compare/${words}`)).status).toBe(404);
      },
    );
  });
});
