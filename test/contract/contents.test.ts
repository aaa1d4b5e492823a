import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');

describeContract('contents', (forge) => {
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
  async function write(path: string, text: string, more: object = {}): Promise<Answer> {
    return await ask('POST', `/contents/${path}`, {
      content: encode(text),
      message: `write ${path}`,
      ...more,
    });
  }
  async function withClone(work: (clone: GitClone) => Promise<void>): Promise<void> {
    const url = new URL(`${forge.url}/${repository}.git`);
    Object.assign(url, { username: ada.name, password: ada.token });
    const clone = await cloneRepository(url.href);
    try {
      await work(clone);
    } finally {
      clone.remove();
    }
  }

  describe('of a file', () => {
    it.each([{ content: '' }, {}])('may be empty: %j', async (body) => {
      const made = await ask('POST', '/contents/empty.txt', { ...body, message: 'x' });

      expect([made.status, made.json.content?.size]).toEqual([201, 0]);
    });

    it('include every field', async () => {
      const { json: written } = await write('docs/ä b.md', 'hello\n');

      const { status, json } = await ask('GET', '/contents/docs/%C3%A4%20b.md');

      const commit = written.commit.sha;
      const api = `${forge.url}/api/v1/repos/${repository}`;
      const self = `${api}/contents/docs/%C3%A4%20b.md?ref=main`;
      const html = `${forge.url}/${repository}/src/branch/main/docs/%C3%A4%20b.md`;
      const blob = `${api}/git/blobs/${json.sha}`;
      expect([status, json]).toEqual([
        200,
        {
          name: 'ä b.md',
          path: 'docs/ä b.md',
          sha: json.sha,
          last_commit_sha: commit,
          last_committer_date: expect.any(String),
          last_author_date: expect.any(String),
          type: 'file',
          size: 6,
          encoding: 'base64',
          content: encode('hello\n'),
          target: null,
          url: self,
          html_url: html,
          git_url: blob,
          download_url: `${forge.url}/${repository}/raw/branch/main/docs/%C3%A4%20b.md`,
          submodule_git_url: null,
          _links: { self, git: blob, html },
        },
      ]);
    });

    it.each(['docs%2Fdeep%2Fa.md', 'docs/deep/a.md', '/docs//deep/a.md'])('are found at %s', async (path) => {
      await write('docs/deep/a.md', 'x');

      expect((await ask('GET', `/contents/${path}`)).json.path).toBe('docs/deep/a.md');
    });

    it('are read at the branch, tag or commit that `ref` names', async () => {
      const first = (await write('a', 'one', { new_branch: 'topic' })).json;
      await ask('PUT', '/contents/a', {
        content: encode('two'),
        sha: first.content.sha,
        branch: 'topic',
      });
      const textAt = async (ref: string): Promise<string> =>
        Buffer.from((await ask('GET', `/contents/a?ref=${ref}`)).json.content, 'base64').toString();

      expect(await textAt('topic')).toBe('two');
      expect((await ask('GET', '/contents/a?ref=refs/heads/topic')).status).toBe(404);
      expect(await textAt(first.commit.sha)).toBe('one');
      expect((await ask('GET', '/contents/a')).status).toBe(404);
    });

    it('include the target of a symbolic link', async () => {
      await withClone(async (clone) => {
        await clone.git('config', 'core.symlinks', 'false');
        const id = (await clone.git('hash-object', '-w', '--', 'README.md')).trim();
        await clone.git('update-index', '--add', '--cacheinfo', `120000,${id},link`);
        await clone.git('commit', '--quiet', '-m', 'link');
        await clone.git('push', '--quiet', 'origin', 'HEAD:main');
      });

      const { json } = await ask('GET', '/contents/link');

      expect(json).toMatchObject({ type: 'symlink', encoding: null, content: null });
      expect(json.target).toMatch(/^# repo/);
    });

    it('include the URL of a submodule, without links to missing pages', async () => {
      const commit = '1'.repeat(40);
      await withClone(async (clone) => {
        const modules = '[submodule "x"]\n\tpath = lib/x\n\turl = https://example.org/x.git\n';
        await clone.commit({ '.gitmodules': modules });
        await clone.git('update-index', '--add', '--cacheinfo', `160000,${commit},lib/x`);
        await clone.git('commit', '--quiet', '-m', 'submodule');
        await clone.git('push', '--quiet', 'origin', 'HEAD:main');
      });

      const { json } = await ask('GET', '/contents/lib/x');

      expect(json).toMatchObject({
        type: 'submodule',
        sha: commit,
        submodule_git_url: 'https://example.org/x.git',
        html_url: null,
        git_url: null,
        download_url: null,
      });
    });

    it('include the object id and size from a Git LFS pointer', async () => {
      const oid = 'ab'.repeat(32);
      await write('big.bin', `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12345\n`);

      const { json } = await ask('GET', '/contents/big.bin');

      expect([json.lfs_oid, json.lfs_size]).toEqual([oid, 12345]);
    });

    it('omit content larger than 10 MiB', async () => {
      await write('huge.txt', 'x'.repeat(10 * 1024 * 1024 + 1));

      const { json } = await ask('GET', '/contents/huge.txt');

      expect([json.size, json.encoding, json.content]).toEqual([10 * 1024 * 1024 + 1, null, null]);
    });
  });

  describe('of a directory', () => {
    it("are its entries in git's order, without content", async () => {
      await write('b/inner', 'x');
      await write('b.txt', 'x');
      await write('a', 'x');

      const { json } = await ask('GET', '/contents');

      expect(json.map((entry: { path: string; type: string }) => `${entry.path} ${entry.type}`)).toEqual([
        'README.md file',
        'a file',
        'b.txt file',
        'b dir',
      ]);
      const file = json[1];
      expect([file.content, file.encoding, typeof file.last_commit_sha]).toEqual([null, null, 'string']);
    });

    it('include the last commit of each entry', async () => {
      const first = (await write('docs/a', 'x')).json.commit.sha;
      const second = (await write('docs/b', 'x')).json.commit.sha;

      const { json } = await ask('GET', '/contents/docs');

      expect(json.map((entry: { last_commit_sha: string }) => entry.last_commit_sha)).toEqual([
        first,
        second,
      ]);
    });

    it('are not found in an empty repository', async () => {
      repository = await forge.makeRepository(ada);

      for (const path of ['/contents', '/contents?ref=main', '/contents-ext/']) {
        expect((await ask('GET', path)).status).toBe(404);
      }
    });
  });

  describe('at a missing or invalid path or ref', () => {
    it.each([
      ['/contents/nothing', 404],
      ['/contents/README.md/below', 404],
      ['/contents/README.md?ref=nothing', 404],
      ['/contents/README.md?ref=..', 404],
      ['/contents/README.md?ref=--help', 404],
      ['/contents/README.md?ref=HEAD@%7B1%7D', 404],
      ['/contents/README.md?ref=main%00x', 404],
      ['/contents/README.md?ref=main%0Amain', 404],
      ['/contents/.git/config', 400],
      ['/contents/git~1/config', 404],
      ['/contents/a/.GIT/b', 400],
      ['/contents/%2e%2e%2f%2e%2e%2fetc%2fpasswd', 404],
      ['/contents/--help', 404],
      ['/contents/a%00b', 404],
    ])('are refused: %s returns %i', async (path, status) => {
      expect((await ask('GET', path)).status).toBe(status);
    });

    it('return the error followed by `null` from `contents-ext`', async () => {
      const answer = await ask('GET', '/contents-ext/nothing');

      expect(answer.status).toBe(404);
      expect(answer.text).toMatch(/^\{.*"message".*\}\s*null\s*$/s);
    });
  });

  describe('with selected fields', () => {
    it('include only the parts that `includes` lists', async () => {
      const plain = (await ask('GET', '/contents-ext/README.md')).json.file_contents;
      const full = (
        await ask('GET', '/contents-ext/README.md?includes=file_content,commit_metadata,commit_message')
      ).json.file_contents;

      expect([plain.content, plain.encoding, 'last_commit_sha' in plain]).toEqual([null, null, false]);
      expect(full.encoding).toBe('base64');
      expect(full.last_commit_sha).toMatch(/^[0-9a-f]{40}$/);
      expect(full.last_commit_message).toMatch(/^Initial commit/);
    });

    it.each(['', '.', '%2F'])('list the root at "%s", always without content', async (path) => {
      const { json } = await ask('GET', `/contents-ext/${path}?includes=file_content`);

      expect(json.file_contents).toBeUndefined();
      expect(json.dir_contents.map((entry: { content: unknown }) => entry.content)).toEqual([null]);
    });

    it('refuse an unknown option', async () => {
      expect((await ask('GET', '/contents-ext/README.md?includes=everything')).status).toBe(400);
    });
  });

  describe('when written', () => {
    it('create a commit on the branch, authored by the caller', async () => {
      const { status, json } = await write('a.txt', 'x');

      expect(status).toBe(201);
      expect(json.content).toMatchObject({ path: 'a.txt', content: encode('x') });
      expect(json.commit).toMatchObject({
        message: expect.stringMatching(/^write a.txt\n?$/),
        author: { name: ada.name },
        parents: [{ sha: expect.any(String) }],
      });
      expect(json.verification.verified).toBe(false);
      expect((await ask('GET', '/branches/main')).json.commit.id).toBe(json.commit.sha);
    });

    it('can be changed only with the current SHA, and moved with `from_path`', async () => {
      const { sha } = (await write('a', 'one')).json.content;

      const wrong = await ask('PUT', '/contents/a', { content: encode('two'), sha: '0'.repeat(40) });
      const moved = await ask('PUT', '/contents/b', { content: encode('two'), sha, from_path: 'a' });

      expect(wrong.status).toBe(422);
      expect([moved.status, moved.json.content.path]).toEqual([200, 'b']);
      expect((await ask('GET', '/contents/a')).status).toBe(404);
    });

    it('can be created by an update without `sha`', async () => {
      expect((await ask('PUT', '/contents/new', { content: encode('x') })).status).toBe(201);
    });

    it('can be deleted only with the current SHA', async () => {
      const { sha } = (await write('a', 'one')).json.content;

      const refused = await ask('DELETE', '/contents/a', { sha: '0'.repeat(40) });
      const removed = await ask('DELETE', '/contents/a', { sha });

      expect(refused.status).toBe(422);
      expect([removed.status, removed.json.content]).toEqual([200, null]);
      expect((await ask('GET', '/contents/a')).status).toBe(404);
    });

    it('are committed to a new branch if one is given', async () => {
      const { json } = await write('a', 'x', { new_branch: 'topic' });

      expect((await ask('GET', '/branches/topic')).json.commit.id).toBe(json.commit.sha);
      expect((await write('b', 'x', { new_branch: 'topic' })).status).toBe(422);
    });

    it('use the given author and dates', async () => {
      const author = { name: 'Grace', email: 'grace@example.org' };
      const dates = { author: '2020-01-02T03:04:05Z', committer: '2021-01-02T03:04:05Z' };

      const { json } = await write('a', 'x', { author, dates, signoff: true });

      expect(json.commit.author).toMatchObject(author);
      expect(Date.parse(json.commit.author.date)).toBe(Date.parse(dates.author));
      expect(json.commit.message).toContain('Signed-off-by: ');
    });

    it.each([
      ['an existing file', 'README.md', { content: encode('x') }, [422]],
      ['a path below a file', 'README.md/x', { content: encode('x') }, [422]],
      ['content that is not base64', 'a', { content: '%%%' }, [422]],
      ['a path inside .git', '.git/hooks/x', { content: encode('x') }, [422]],
      ['a path inside the Windows short name of .git', 'git~1/x', { content: encode('x') }, [422]],
      ['a path inside another Windows spelling of .git', '.git%20./x', { content: encode('x') }, [422]],
      // Gitea returns 500 here.
      ['a path outside the repository', '..%2f..%2fx', { content: encode('x') }, [422, 500]],
      ['an unknown branch', 'a', { content: encode('x'), branch: 'nothing' }, [404]],
      ['a branch with an invalid name', 'a', { content: encode('x'), new_branch: '../x' }, [422]],
    ])('are refused for %s', async (_, path, body, statuses) => {
      expect(statuses).toContain((await ask('POST', `/contents/${path}`, body)).status);
    });

    it('create the first commit of an empty repository', async () => {
      repository = await forge.makeRepository(ada);

      const { status } = await write('first', 'x', { branch: 'trunk' });

      const { json } = await ask('GET', '');
      expect([status, json.empty, json.default_branch]).toEqual([201, false, 'trunk']);
    });

    it('require write access, and a repository that is not archived', async () => {
      const stranger = await forge.makeUser();
      const body = { content: encode('x') };

      const refused = await forge.ask('POST', `/repos/${repository}/contents/a`, { as: stranger, body });
      await ask('PATCH', '', { archived: true });

      expect(refused.status).toBe(403);
      expect((await write('a', 'x')).status).toBe(423);
    });

    it('are readable once the write is confirmed, even after many concurrent writes', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => write(`file-${at}`, 'x')));

      const written = answers.filter(({ status }) => status === 201);
      // If the branch moved in the meantime, the write fails with 403, or on Forgejo with 500.
      for (const { status } of answers) expect([201, 403, 500]).toContain(status);
      expect(written).not.toHaveLength(0);
      expect((await ask('GET', '/contents')).json).toHaveLength(written.length + 1);
    });
  });
});
