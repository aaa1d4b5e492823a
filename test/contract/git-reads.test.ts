import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { cloneRepository } from '../support/git-client.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');

describeContract('git data', (forge) => {
  let ada: Account;
  let stranger: Account;
  let repository: string;
  let empty: string;
  /** Commits of `main`, oldest first, followed by the commit of `topic`. */
  const shas: string[] = [];
  let tag: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    stranger = await forge.makeUser();
    empty = await forge.makeRepository(ada, { default_branch: 'main' });
    repository = await forge.makeRepository(ada, { auto_init: true });
    shas.push((await ask('/branches/main')).json.commit.id);
    await commit('src/a.txt', 'a\n', '2024-01-01T10:00:00Z');
    await commit('src/b/c.txt', 'c\n', '2024-02-01T10:00:00Z');
    const made = { tag_name: 'v1', message: 'the first', target: shas[1] };
    tag = (await forge.ask('POST', `/repos/${repository}/tags`, { as: ada, body: made })).json.id;
    await commit('README.md', 'changed\n', '2024-03-01T10:00:00Z', { new_branch: 'topic/x' });
  });

  const ask = (path: string, as: Account | undefined = ada): Promise<Answer> =>
    forge.ask('GET', `/repos/${repository}${path}`, { as });

  async function commit(path: string, text: string, at: string, more: object = {}): Promise<void> {
    const known = (await ask(`/contents/${path}`)).json?.sha;
    const body = {
      content: encode(text),
      message: path,
      branch: 'main',
      dates: { author: at, committer: at },
      ...more,
    };
    const answer = await forge.ask(known ? 'PUT' : 'POST', `/repos/${repository}/contents/${path}`, {
      as: ada,
      body: known ? { ...body, sha: known } : body,
    });
    shas.push(answer.json.commit.sha);
  }

  const names = (answer: Answer) => answer.json.map(({ ref }: { ref: string }) => ref);
  const ids = (answer: Answer) => answer.json.map(({ sha }: { sha: string }) => sha);

  describe('refs', () => {
    it('are listed by name, annotated tags as tag objects', async () => {
      const { status, json } = await ask('/git/refs');

      const api = `${forge.url}/api/v1/repos/${repository}/git`;
      const commitOf = (sha: string | undefined) => ({ type: 'commit', sha, url: `${api}/commits/${sha}` });
      expect([status, json]).toEqual([
        200,
        [
          { ref: 'refs/heads/main', url: `${api}/refs/heads/main`, object: commitOf(shas[2]) },
          { ref: 'refs/heads/topic/x', url: `${api}/refs/heads/topic/x`, object: commitOf(shas[3]) },
          {
            ref: 'refs/tags/v1',
            url: `${api}/refs/tags/v1`,
            object: { type: 'tag', sha: tag, url: `${api}/tags/${tag}` },
          },
        ],
      ]);
    });

    it('are found by a prefix of their name, as a list even for a single match', async () => {
      expect(names(await ask('/git/refs/heads'))).toEqual(['refs/heads/main', 'refs/heads/topic/x']);
      expect(names(await ask('/git/refs/heads/topic/x'))).toEqual(['refs/heads/topic/x']);
      expect(names(await ask('/git/refs/tags/v'))).toEqual(['refs/tags/v1']);
      for (const path of ['/git/refs/nothing', '/git/refs/heads/--all', '/git/refs/..%2F..']) {
        expect((await ask(path)).status, path).toBe(404);
      }
    });

    it('return 404 in an empty repository', async () => {
      expect((await forge.ask('GET', `/repos/${empty}/git/refs`, { as: ada })).status).toBe(404);
    });
  });

  describe('an annotated tag', () => {
    it('includes its object, its commit and its tagger', async () => {
      const { status, json } = await ask(`/git/tags/${tag}`);

      const api = `${forge.url}/api/v1/repos/${repository}/git`;
      expect([status, json]).toMatchObject([
        200,
        {
          tag: 'v1',
          sha: tag,
          url: `${api}/tags/${tag}`,
          message: expect.stringMatching(/^the first\n*$/),
          object: { type: 'commit', sha: shas[1], url: `${api}/commits/${shas[1]}` },
          verification: { verified: false },
        },
      ]);
      // A real forge may sign the tag on behalf of the user, so the name of the tagger is not known.
      expect(json.tagger.name).not.toBe('');
    });

    it.each(['v1', '0'.repeat(40), 'COMMIT'])('is refused for %s', async (sha) => {
      expect((await ask(`/git/tags/${sha.replace('COMMIT', shas[1] ?? '')}`)).status).toBe(400);
    });
  });

  describe('a tree', () => {
    it('lists the entries of a commit, a branch, a tag or a folder', async () => {
      const { status, json, headers } = await ask('/git/trees/main');

      const api = `${forge.url}/api/v1/repos/${repository}/git`;
      const [readme, folder] = json.tree;
      expect([status, headers.get('x-total-count')]).toEqual([200, '2']);
      expect(json).toMatchObject({
        truncated: false,
        page: 1,
        total_count: 2,
        url: `${api}/trees/${json.sha}`,
      });
      expect(readme).toMatchObject({
        path: 'README.md',
        mode: '100644',
        type: 'blob',
        url: `${api}/blobs/${readme.sha}`,
      });
      expect(readme.size).toBeGreaterThan(0);
      expect(folder).toEqual({
        path: 'src',
        mode: '040000',
        type: 'tree',
        size: 0,
        sha: folder.sha,
        url: `${api}/trees/${folder.sha}`,
      });
      for (const name of [folder.sha, 'main:src', 'topic%2Fx:src']) {
        const inner = await ask(`/git/trees/${name}`);
        expect(inner.json.tree.map(({ path }: { path: string }) => path)).toEqual(['a.txt', 'b']);
      }
      for (const name of ['v1', shas[1], shas[1]?.slice(0, 10)]) {
        expect((await ask(`/git/trees/${name}`)).json.total_count, name).toBe(2);
      }
    });

    it('has its own id, not that of the commit', async () => {
      const { json } = await ask('/git/trees/main');

      expect(json.sha).not.toBe(shas[2]);
      expect((await ask(`/git/trees/${json.sha}`)).json.sha).toBe(json.sha);
    });

    it('is recursive on request, page by page', async () => {
      const pathsOf = async (query: string) => {
        const { json } = await ask(`/git/trees/main?recursive=true${query}`);
        return [json.tree?.map(({ path }: { path: string }) => path) ?? null, json.truncated, json.page];
      };

      const all = ['README.md', 'src', 'src/a.txt', 'src/b', 'src/b/c.txt'];
      expect(await pathsOf('')).toEqual([all, false, 1]);
      expect(await pathsOf('&per_page=2&page=2')).toEqual([['src/a.txt', 'src/b'], true, 2]);
      expect(await pathsOf('&per_page=2&page=3')).toEqual([['src/b/c.txt'], false, 3]);
      expect(await pathsOf('&per_page=2&page=4')).toEqual([null, false, 4]);
      expect(await pathsOf('&per_page=0&page=-1')).toEqual([all, false, 1]);
    });

    it.each(['nothing', '--help', 'main:nothing', '0'.repeat(40), 'main..topic', 'BLOB'])(
      'is refused for %s',
      async (name) => {
        const { sha } = (await ask('/contents/README.md')).json;
        expect((await ask(`/git/trees/${name.replace('BLOB', sha)}`)).status).toBe(400);
      },
    );
  });

  describe('notes', () => {
    it('are returned for a commit, with the commit of the note', async () => {
      const url = new URL(`${forge.url}/${repository}.git`);
      Object.assign(url, { username: ada.name, password: ada.token });
      const clone = await cloneRepository(url.href);
      try {
        await clone.git('notes', 'add', '-m', 'looks good', shas[2] ?? '');
        await clone.git('push', '--quiet', 'origin', 'refs/notes/commits');
      } finally {
        clone.remove();
      }

      const byId = await ask(`/git/notes/${shas[2]}`);
      const short = await ask('/git/notes/main?verification=false&files=false');

      expect([byId.status, byId.json]).toMatchObject([
        200,
        {
          message: 'looks good\n',
          commit: {
            commit: { message: expect.stringContaining('Notes added') },
            files: [{ filename: shas[2], status: 'added' }],
            stats: { additions: 1 },
          },
        },
      ]);
      expect(short.json.message).toBe('looks good\n');
      expect([short.json.commit.files, short.json.commit.commit.verification]).toEqual([null, null]);
      expect(names(await ask('/git/refs/notes'))).toEqual(['refs/notes/commits']);
    });

    it('return 404 without a note or for an unknown commit, and 422 for an invalid name', async () => {
      expect((await ask('/git/notes/v1')).status).toBe(404);
      expect((await ask('/git/notes/nothing')).status).toBe(404);
      expect((await ask('/git/notes/a..b')).status).toBe(422);
    });
  });

  describe('commits', () => {
    it('are listed newest first, with two sets of paging headers', async () => {
      const { status, json, headers } = await ask('/commits?limit=2');

      const header = (name: string) => headers.get(name);
      expect([status, ids({ json } as Answer)]).toEqual([200, [shas[2], shas[1]].map(String)]);
      expect(
        ['x-total-count', 'x-total', 'x-page', 'x-perpage', 'x-pagecount', 'x-hasmore'].map(header),
      ).toEqual(['3', '3', '1', '2', '2', 'true']);
      expect(header('link')).toContain('rel="next"');
      expect(header('access-control-expose-headers')).toMatch(/X-Total-Count.*X-HasMore/);
      expect(json[0]).toMatchObject({
        html_url: `${forge.url}/${repository}/commit/${shas[2]}`,
        commit: { message: expect.stringContaining('src/b/c.txt'), verification: { verified: false } },
        author: { login: ada.name },
        files: [{ filename: 'src/b/c.txt', status: 'added' }],
        stats: { total: 1, additions: 1, deletions: 0 },
        parents: [{ sha: shas[1] }],
      });
      const last = await ask('/commits?limit=2&page=2');
      expect([ids(last), last.headers.get('x-hasmore')]).toEqual([[shas[0]], 'false']);
      expect((await ask('/commits?page=9')).json).toEqual([]);
    });

    it('omit parts that are not requested', async () => {
      const [first] = (await ask('/commits?limit=1&stat=false&files=false&verification=false')).json;

      expect([first.stats, first.files, first.commit.verification]).toEqual([null, null, null]);
    });

    it('start at `sha` and stop at `not`', async () => {
      for (const [query, expected] of [
        ['sha=topic/x', [3, 2, 1, 0]],
        ['sha=topic/x&not=main', [3]],
        ['sha=v1', [1, 0]],
        [`sha=${shas[1]}`, [1, 0]],
        [`sha=${shas[1]?.slice(0, 12)}`, [1, 0]],
        ['sha=main~1', [1, 0]],
        ['sha=refs/heads/main&not=v1', [2]],
      ] as const) {
        const answer = await ask(`/commits?${query}`);
        expect([query, ids(answer)]).toEqual([query, expected.map((at) => shas[at])]);
      }
    });

    it('are filtered by path, including a deleted file or a folder', async () => {
      expect(ids(await ask('/commits?path=src/a.txt'))).toEqual([shas[1]]);
      expect(ids(await ask('/commits?path=src'))).toEqual([shas[2], shas[1]]);
      expect(ids(await ask('/commits?sha=topic/x&path=README.md'))).toEqual([shas[3], shas[0]]);
      expect((await ask('/commits?path=nothing')).status).toBe(404);
    });

    it('have pages of 50 if a path is given, although the headers follow the request', async () => {
      const { json, headers } = await ask('/commits?path=src&limit=1');

      expect([json.length, headers.get('x-perpage'), headers.get('x-pagecount')]).toEqual([2, '1', '2']);
    });

    it('are filtered by time', async () => {
      expect(
        ids(await ask('/commits?sha=topic/x&since=2024-02-15T00:00:00Z&until=2024-12-31T00:00:00Z')),
      ).toEqual([shas[3]]);
      const { headers } = await ask('/commits?sha=topic/x&until=2024-01-15T01:00:00%2B02:00');
      expect(headers.get('x-total')).toBe('1');
      const none = await ask('/commits?path=src&until=2001-01-01T00:00:00Z');
      expect([none.status, none.json]).toEqual([200, []]);
    });

    it.each(['since=yesterday', 'until=2024-01-01', 'since=2024-13-01T00:00:00Z'])(
      'are refused for an invalid time: %s',
      async (query) => {
        expect((await ask(`/commits?${query}`)).status).toBe(422);
      },
    );

    it.each([
      ['sha=nothing', [404]],
      ['sha=--all', [404]],
      // Gitea and Forgejo return 500.
      ['not=nothing', [404, 500]],
      ['path=README.md&sha=nothing', [404, 500]],
      ['path=../x', [422, 500]],
      ['path=/README.md', [422, 500]],
    ])('are not listed for %s', async (query, statuses) => {
      expect(statuses).toContain((await ask(`/commits?${query}`)).status);
    });

    it('return 409 in an empty repository', async () => {
      expect((await forge.ask('GET', `/repos/${empty}/commits`, { as: ada })).status).toBe(409);
    });

    it('return the pull request that they merged', async () => {
      const body = { title: 'p', head: 'topic/x', base: 'main' };
      const { number } = (await forge.ask('POST', `/repos/${repository}/pulls`, { as: ada, body })).json;
      await forge.ask('POST', `/repos/${repository}/pulls/${number}/merge`, {
        as: ada,
        body: { do: 'merge' },
      });
      const merged = (await ask('/branches/main')).json.commit.id;

      const answer = await ask(`/commits/${merged}/pull`);

      expect([answer.status, answer.json]).toMatchObject([
        200,
        { number, merged: true, merge_commit_sha: merged },
      ]);
      expect((await ask(`/commits/${shas[1]}/pull`)).status).toBe(404);
      expect((await ask('/commits/main/pull')).status).toBe(404);
    });
  });

  it('are hidden from strangers in a private repository', async () => {
    const hidden = await forge.makeRepository(ada, { auto_init: true, private: true });
    for (const path of [
      'git/refs',
      'git/trees/main',
      'git/notes/main',
      `git/tags/${tag}`,
      'commits',
      'commits/a/pull',
    ]) {
      const { status } = await forge.ask('GET', `/repos/${hidden}/${path}`, { as: stranger });
      expect([path, status]).toEqual([path, 404]);
    }
    expect((await ask('/commits', undefined)).status).toBe(200);
  });

  it('belong to a repository that is also found by its id', async () => {
    const { id, full_name } = (await ask('')).json;
    const hidden = await forge.makeRepository(ada, { private: true });
    const { json } = await forge.ask('GET', `/repos/${hidden}`, { as: ada });

    const found = await forge.ask('GET', `/repositories/${id}`, { as: stranger });

    expect([found.status, found.json.full_name]).toEqual([200, full_name]);
    expect((await forge.ask('GET', `/repositories/${json.id}`, { as: stranger })).status).toBe(404);
    expect((await forge.ask('GET', '/repositories/0', { as: ada })).status).toBe(404);
    expect((await forge.ask('GET', `/repositories/${id}`)).status).toBe(401);
  });
});
