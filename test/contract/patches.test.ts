import { beforeEach, describe, expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository } from '../support/shared-repository.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** Returns a unified diff of one file that replaces `from` with `to` between two lines. */
function diffOf(path: string, from: string, to: string): string {
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -2,3 +2,3 @@\n one\n-${from}\n+${to}\n three\n`;
}

function newFile(path: string, mode = '100644'): string {
  return `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
}

describeContract('patches', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge, { auto_init: true });
    const body = { content: encode('intro\none\ntwo\nthree\nend\n'), message: 'a' };
    await shared.ask('POST', '/contents/a.txt', { body });
  });
  // Forgejo requires `sha` and ignores it.
  const apply = (content: string, more: object = {}) =>
    shared.ask('POST', '/diffpatch', { body: { content, sha: 'x', ...more } });
  const read = async (path: string, ref = 'main') => {
    const { status, json } = await shared.ask('GET', `/contents/${path}?ref=${ref}`);
    return status === 200 ? Buffer.from(json.content, 'base64').toString() : status;
  };
  const tip = async (branch: string) => (await shared.ask('GET', `/branches/${branch}`)).json.commit;

  it('create one commit on the branch, with the caller as author and a message of its own', async () => {
    const before = (await tip('main')).id;
    const { status, json } = await apply(diffOf('a.txt', 'two', '2') + newFile('b/c.txt'));

    expect(status).toBe(201);
    expect(await read('a.txt')).toBe('intro\none\n2\nthree\nend\n');
    expect(await read('b/c.txt')).toBe('x\n');
    const after = await tip('main');
    expect(json.commit).toMatchObject({ sha: after.id, author: { name: shared.owner.name } });
    expect(json.commit.parents.map(({ sha }: { sha: string }) => sha)).toEqual([before]);
    expect(json.content).toBeNull();
    expect(after.message.trim()).toBe('apply-patch');
  });

  it('create a new branch, with the given author and message', async () => {
    const author = { name: 'Grace', email: 'grace@example.org' };
    const date = '2020-02-03T04:05:06Z';
    const { status, json } = await apply(diffOf('a.txt', 'two', '2'), {
      branch: 'main',
      new_branch: 'backport-1',
      message: 'fix\n\n(cherry picked from commit 1)',
      author,
      dates: { author: date },
    });

    expect(status).toBe(201);
    expect(await read('a.txt')).toBe('intro\none\ntwo\nthree\nend\n');
    expect(await read('a.txt', 'backport-1')).toBe('intro\none\n2\nthree\nend\n');
    expect(json.commit.author).toMatchObject(author);
    expect(Date.parse(json.commit.author.date)).toBe(Date.parse(date));
    expect((await tip('backport-1')).message.trim()).toBe('fix\n\n(cherry picked from commit 1)');
  });

  it('lose trailing white space in added lines', async () => {
    expect((await apply(diffOf('a.txt', 'two', '2  \t'))).status).toBe(201);
    expect(await read('a.txt')).toBe('intro\none\n2\nthree\nend\n');
  });

  it('apply to a branch that has moved if the context lines still match', async () => {
    const { sha } = (await shared.ask('GET', '/contents/a.txt')).json;
    const body = { content: encode('zero\nintro\none\ntwo\nthree\nend\n'), message: 'b', sha };
    await shared.ask('PUT', '/contents/a.txt', { body });

    expect((await apply(diffOf('a.txt', 'two', '2'))).status).toBe(201);
    expect(await read('a.txt')).toBe('zero\nintro\none\n2\nthree\nend\n');
  });

  it.each([
    ['a removed line that does not match', diffOf('a.txt', 'second', '2')],
    ['a missing file', diffOf('z.txt', 'two', '2')],
    ['a new file that already exists', newFile('a.txt')],
    ['a text that is not a patch', 'hello\n'],
    ['a path outside the repository', newFile('../x')],
    ['a path inside .git', newFile('.git/hooks/x')],
  ])('are refused for %s, and leave nothing behind', async (_, content) => {
    const before = (await tip('main')).id;
    // Gitea and Forgejo return 500.
    expect([422, 500]).toContain((await apply(content, { new_branch: 'refused' })).status);
    expect([422, 500]).toContain((await apply(content)).status);
    expect((await tip('main')).id).toBe(before);
    expect((await shared.ask('GET', '/branches/refused')).status).toBe(404);
  });

  it('require an existing branch, and an unused name for a new one', async () => {
    const content = diffOf('a.txt', 'two', '2');

    expect((await apply(content, { branch: 'nothing' })).status).toBe(404);
    expect((await apply(content, { branch: 'main', new_branch: 'topic' })).status).toBe(201);
    expect((await apply(content, { branch: 'main', new_branch: 'topic' })).status).toBe(422);
    expect([422, 500]).toContain((await apply(content, { new_branch: 'a..b' })).status);
    expect([422, 500]).toContain((await apply('')).status);
  });

  it('require write access, respect protected files and branches, and are refused in an archived repository', async () => {
    const body = (new_branch: string) => ({
      content: diffOf('a.txt', 'two', '2'),
      sha: 'x',
      branch: 'main',
      new_branch,
    });
    const statuses = [];
    for (const as of ['owner', 'writer', 'reader', 'stranger', 'anonymous'] as const) {
      statuses.push((await shared.ask('POST', '/diffpatch', { body: body(`by-${as}`), as })).status);
    }
    expect(statuses).toEqual([201, 201, 403, 404, 404]);

    const rule = { rule_name: 'main', enable_push: true, protected_file_patterns: '*.txt' };
    await shared.ask('POST', '/branch_protections', { body: rule });
    expect((await apply(diffOf('a.txt', 'two', '2'))).status).toBe(403);
    await shared.ask('PATCH', '/branch_protections/main', { body: { enable_push: false } });
    expect((await apply(newFile('b.md'))).status).toBe(403);
    await shared.ask('PATCH', '', { body: { archived: true } });
    expect((await apply(diffOf('a.txt', 'two', '2'))).status).toBe(423);
  });

  describe('of a pull request', () => {
    it('are available as a diff and apply to another branch', async () => {
      await shared.ask('POST', '/branches', {
        body: { new_branch_name: 'release', old_branch_name: 'main' },
      });
      const { sha } = (await shared.ask('GET', '/contents/a.txt')).json;
      const body = { content: encode('intro\none\n2\nthree\nend\n'), message: 'b', sha, new_branch: 'topic' };
      await shared.ask('PUT', '/contents/a.txt', { body });
      await shared.ask('POST', '/contents/b.bin', {
        body: { content: 'AP8BAgM=', message: 'c', branch: 'topic' },
      });
      await shared.ask('POST', '/pulls', { body: { title: 'p', head: 'topic', base: 'main' } });
      const diff = (await shared.ask('GET', '/pulls/1.diff?binary=true')).text;

      const { status } = await apply(diff, { branch: 'release', new_branch: 'backport' });

      expect(status).toBe(201);
      expect(await read('a.txt', 'backport')).toBe('intro\none\n2\nthree\nend\n');
      expect((await shared.ask('GET', '/contents/b.bin?ref=backport')).json.content).toBe('AP8BAgM=');
      const compared = await shared.ask('GET', '/compare/release...backport');
      expect(compared.json.total_commits).toBe(1);
    });
  });
});
