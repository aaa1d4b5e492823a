import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describeContract('tags and commits', (forge) => {
  let ada: Account;
  let reader: Account;
  let repository: string;
  let head: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    reader = await forge.makeUser();
    repository = await forge.makeRepository(ada, { auto_init: true });
    head = (await ask('GET', '/branches/main')).json.commit.id;
  });

  const ask = (method: string, path: string, body?: unknown, as: Account | undefined = ada) =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });

  it('creates lightweight and annotated tags, and lists the newest first', async () => {
    const plain = await ask('POST', '/tags', { tag_name: 'v1' });
    const annotated = await ask('POST', '/tags', { tag_name: 'releases/v2', message: 'two', target: 'main' });

    const list = await ask('GET', '/tags?limit=1');
    const one = await ask('GET', '/tags/releases/v2');

    expect([plain.status, annotated.status]).toEqual([201, 201]);
    expect(plain.json).toMatchObject({ name: 'v1', id: head, commit: { sha: head } });
    expect(annotated.json.id).not.toBe(head);
    expect(annotated.json).toMatchObject({ message: expect.stringContaining('two'), commit: { sha: head } });
    expect([list.status, list.json.length, list.headers.get('x-total-count')]).toEqual([200, 1, '2']);
    expect(one.json).toEqual(annotated.json);
  });

  it.each([
    ['no-break spaces, which stay', '\u00a0two\u00a0', '\u00a0two\u00a0\n'],
    ['spaces and empty lines at its ends', '\n\n \ntwo \t\n\nmore\n\n\n', 'two\n\nmore\n'],
    ['comment lines', 'two\n# a comment\nmore', 'two\nmore\n'],
    ['spaces at the end of lines', 'two \t\n  more  ', 'two\n  more\n'],
  ])('cleans the message of a tag as git does: %s', async (name, message, expected) => {
    const tag_name = `cleaned-${name.replaceAll(/\W+/g, '-')}`;
    const { json } = await ask('POST', '/tags', { tag_name, message });
    const object = await ask('GET', `/git/tags/${json.id}`);

    expect(object.json.message).toBe(expected);
  });

  it('counts the lines of a file whose name contains a tab', async () => {
    const content = base64('one\ntwo\n');
    for (const [at, path] of ['a\tb.txt', 'x\t\ty', 'c\t1\td.txt'].entries()) {
      const files = [{ operation: 'create', path, content }];
      const { json } = await ask('POST', '/contents', { files, message: 'tab', new_branch: `tab-${at}` });
      const commit = await ask('GET', `/git/commits/${json.commit.sha}`);

      expect([path, commit.json.stats, commit.json.files]).toMatchObject([
        path,
        { additions: 2, deletions: 0, total: 2 },
        [{ filename: path, status: 'added' }],
      ]);
    }
  });

  it.each([
    ['a name that is taken', { tag_name: 'v1' }, [409]],
    ['an unknown target', { tag_name: 'v3', target: 'nowhere' }, [404]],
    ['no name', { target: 'main' }, [422]],
    ['a name that git refuses', { tag_name: 'a..b' }, [422, 500]],
  ])('refuses a tag with %s', async (_, body, statuses) => {
    expect(statuses).toContain((await ask('POST', '/tags', body)).status);
  });

  it('deletes a tag once', async () => {
    await ask('POST', '/tags', { tag_name: 'gone' });

    const statuses = [await ask('DELETE', '/tags/gone'), await ask('DELETE', '/tags/gone')];

    expect(statuses.map(({ status }) => status)).toEqual([204, 404]);
    expect((await ask('GET', '/tags/gone')).status).toBe(404);
  });

  it('lets only writers create and delete tags', async () => {
    const made = await ask('POST', '/tags', { tag_name: 'mine' }, reader);
    const removed = await ask('DELETE', '/tags/v1', undefined, reader);
    const anonymous = await forge.ask('POST', `/repos/${repository}/tags`, { body: { tag_name: 'x' } });

    expect([made.status, removed.status, anonymous.status]).toEqual([403, 403, 401]);
    expect((await ask('GET', '/tags', undefined, reader)).status).toBe(200);
  });

  it('returns one commit, by id and by branch, with its changes', async () => {
    const byId = await ask('GET', `/git/commits/${head}`);
    const byBranch = await ask('GET', '/git/commits/main?stat=false&files=false&verification=false');

    expect(byId.json).toMatchObject({
      sha: head,
      files: [{ filename: 'README.md', status: 'added' }],
      stats: { deletions: 0 },
      // The forge sends the commit id as the tree id.
      commit: { verification: { verified: false }, tree: { sha: head } },
      author: { login: ada.name },
    });
    expect(byId.json.stats.total).toBe(byId.json.stats.additions);
    expect(byBranch.json.sha).toBe(head);
    expect(
      byBranch.json.files ?? byBranch.json.stats ?? byBranch.json.commit.verification ?? null,
    ).toBeNull();
    expect((await ask('GET', '/git/commits/0123456789')).status).toBe(404);
    expect((await ask('GET', '/git/commits/a..b')).status).toBe(422);
  });

  it('returns the changes of a commit against its first parent, as a diff and as a patch in mail format', async () => {
    const body = { content: base64('one\n'), message: 'add one\n\nwith a reason', branch: 'main' };
    const sha = (await ask('POST', '/contents/one.txt', body)).json.commit.sha;
    const binary = { content: 'AP8BAgM=', message: 'add bytes', branch: 'main' };
    const ofBytes = (await ask('POST', '/contents/bytes.bin', binary)).json.commit.sha;

    const diff = await ask('GET', `/git/commits/${sha}.diff`, undefined, reader);
    const patch = await ask('GET', `/git/commits/${sha}.patch`);

    expect([diff.status, patch.status]).toEqual([200, 200]);
    expect(diff.headers.get('content-type')).toContain('text/plain');
    expect(diff.text).toMatch(/^diff --git a\/one\.txt b\/one\.txt\nnew file mode 100644\n.*\+one\n$/s);
    expect(patch.text).toMatch(
      /^From [0-9a-f]{40} .*Subject: \[PATCH\] add one\n\nwith a reason\n---\n.*\+one\n/s,
    );
    const { text } = await ask('GET', `/git/commits/${ofBytes}.diff`);
    expect(text).toMatch(/^diff --git .*\nBinary files \/dev\/null and b\/bytes\.bin differ\n$/s);
    // A branch name means its newest commit.
    expect((await ask('GET', '/git/commits/main.diff')).text).toBe(text);
  });

  it('returns the changes of a merge against its first parent, and the full content of a root commit', async () => {
    const other = await forge.makeRepository(ada, { auto_init: true });
    const at = (method: string, path: string, body?: unknown) =>
      forge.ask(method, `/repos/${other}${path}`, { as: ada, body });
    const first = (await at('GET', '/branches/main')).json.commit.id;
    const commit = (path: string, branch: object) =>
      at('POST', `/contents/${path}`, { content: base64(`${path}\n`), message: path, ...branch });
    await commit('a.txt', { branch: 'main', new_branch: 'topic' });
    await commit('b.txt', { branch: 'topic' });
    await commit('c.txt', { branch: 'main' });
    const { number } = (await at('POST', '/pulls', { title: 'p', head: 'topic', base: 'main' })).json;
    await expect
      .poll(async () => (await at('POST', `/pulls/${number}/merge`, { do: 'merge' })).status)
      .toBe(200);
    const merge = (await at('GET', '/branches/main')).json.commit.id;

    const diff = (await at('GET', `/git/commits/${merge}.diff`)).text;
    const ofFirst = (await at('GET', `/git/commits/${first}.diff`)).text;
    const asMail = (await at('GET', `/git/commits/${first}.patch`)).text;

    expect([...diff.matchAll(/^diff --git a\/(\S+)/gm)].map(([, path]) => path)).toEqual(['a.txt', 'b.txt']);
    expect(ofFirst).toMatch(new RegExp(`^commit ${first}\\n.*^diff --git a/README\\.md`, 'ms'));
    expect(asMail).toMatch(new RegExp(`^From ${first} .*^diff --git a/README\\.md`, 'ms'));
  });

  it('returns 404 for an unknown commit, another format, and a name with a dot', async () => {
    await ask('POST', '/tags', { tag_name: 'v1.2', target: head });

    expect((await ask('GET', '/git/commits/v1.2')).json.sha).toBe(head);
    // The name ends at the first dot.
    expect((await ask('GET', '/git/commits/v1.2.diff')).status).toBe(404);
    // Gitea returns 500.
    expect([404, 500]).toContain((await ask('GET', '/git/commits/0123456789.diff')).status);
    expect([404, 500]).toContain((await ask('GET', '/git/commits/nothing.patch')).status);
    expect((await ask('GET', `/git/commits/${head}.zip`)).status).toBe(404);
    const hidden = await forge.makeRepository(ada, { auto_init: true, private: true });
    const path = `/repos/${hidden}/git/commits/main.diff`;
    expect((await forge.ask('GET', path, { as: reader })).status).toBe(404);
  });

  it('returns the bytes of a file by blob id, also after the file has changed', async () => {
    const path = '/contents/blob.bin';
    const bytes = Buffer.from([0, 255, 10, 13]).toString('base64');
    const { content: first } = (await ask('POST', path, { content: bytes })).json;
    const { content: empty } = (await ask('PUT', path, { content: '', sha: first.sha })).json;

    const read = await ask('GET', `/git/blobs/${first.sha}`, undefined, reader);
    const none = await ask('GET', `/git/blobs/${empty.sha}`);

    expect([read.status, read.json]).toMatchObject([
      200,
      { sha: first.sha, size: 4, encoding: 'base64', content: bytes, url: first.git_url },
    ]);
    expect(none.json).toMatchObject({ size: 0, content: '' });
    // A commit is an object as well, but not a file.
    const others = ['0'.repeat(40), 'main', 'abcdef'].map((sha) => ask('GET', `/git/blobs/${sha}`));
    for (const { status } of await Promise.all(others)) expect([400, 404]).toContain(status);
  });

  it('commits several files at once', async () => {
    const first = await ask('POST', '/contents', {
      files: [
        { operation: 'create', path: 'src/a.txt', content: base64('a') },
        { operation: 'create', path: 'src/b.txt', content: base64('b') },
      ],
    });
    const [a, b] = first.json.files;

    const second = await ask('POST', '/contents', {
      message: 'move on',
      files: [
        { operation: 'rename', path: 'src/c.txt', from_path: 'src/a.txt', sha: a.sha },
        { operation: 'delete', path: 'src/b.txt', sha: b.sha },
        { operation: 'upload', path: 'README.md', content: base64('new') },
      ],
    });

    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.json.commit.message).toContain('src/a.txt');
    expect(second.json.files.map((file: { path: string } | null) => file?.path ?? null)).toEqual([
      'src/c.txt',
      null,
      'README.md',
    ]);
    const listing = await ask('GET', '/contents/src');
    expect(listing.json.map((entry: { path: string; sha: string }) => [entry.path, entry.sha])).toEqual([
      ['src/c.txt', a.sha],
    ]);
  });

  it.each([
    ['an unknown operation', { operation: 'copy', path: 'x' }, [422, 500]],
    ['an existing file', { operation: 'create', path: 'README.md', content: '' }, [422]],
    ['a wrong sha', { operation: 'update', path: 'README.md', content: '', sha: '1'.repeat(40) }, [422]],
    // Gitea returns 500.
    ['a path outside the repository', { operation: 'create', path: '../x', content: '' }, [422, 500]],
    ['content that is not base64', { operation: 'create', path: 'x', content: '!' }, [422]],
  ])('refuses several files with %s, and writes none of them', async (_, wrong, statuses) => {
    const right = { operation: 'create', path: 'untouched.txt', content: base64('x') };

    const answer = await ask('POST', '/contents', { files: [right, wrong] });

    expect(statuses).toContain(answer.status);
    expect((await ask('GET', '/contents/untouched.txt')).status).toBe(404);
  });

  it('lets only writers commit several files', async () => {
    const files = [{ operation: 'create', path: 'no.txt', content: '' }];
    expect((await ask('POST', '/contents', { files }, reader)).status).toBe(403);
    expect((await forge.ask('POST', `/repos/${repository}/contents`, { body: { files } })).status).toBe(401);
    // A commit without file changes is still created.
    const nothing = await ask('POST', '/contents', { files: [] });
    expect([nothing.status, nothing.json.files]).toEqual([201, null]);
  });
});
