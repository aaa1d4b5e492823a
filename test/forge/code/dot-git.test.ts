import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, freshName, startEmbedded } from '../../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../../support/git-client.ts';

/**
 * Names that the file system of a clone treats as `.git`: in any letter case, with code points that HFS+ ignores, and
 * in NTFS forms.
 */
const spellings = [
  ...['.git', '.GIT', '.g\u200cit', '\u200d.git', '.git\u206f', '.\ufeffGi\u202et'],
  ...[
    'git~1',
    'GIT~1',
    '.git.',
    '.git ',
    '.git. .',
    '.git:x',
    '.git::$INDEX_ALLOCATION',
    'a\\.git',
    '.git\\x',
  ],
];
const paths = spellings.flatMap((name) => [`${name}/config`, `deep/er/${name}/hooks/x`, name]);
const content = Buffer.from('x').toString('base64');

/** Quotes a path as git does in a patch. */
const quote = (path: string): string => JSON.stringify(path);
const newFile = (path: string, mode = '100644'): string =>
  [
    `diff --git ${quote(`a/${path}`)} ${quote(`b/${path}`)}`,
    `new file mode ${mode}\n--- /dev/null\n+++ ${quote(`b/${path}`)}\n@@ -0,0 +1 @@\n+x\n`,
  ].join('\n');
const movedFile = (path: string, how: 'rename' | 'copy'): string =>
  [
    `diff --git a/a.txt ${quote(`b/${path}`)}`,
    `similarity index 100%\n${how} from a.txt\n${how} to ${quote(path)}\n`,
  ].join('\n');

describe('a path that a file system treats as .git', () => {
  let data: string;
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let owner: Account;
  let repository: string;
  const clones: GitClone[] = [];
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'dot-git-'));
    forge = await startEmbedded({ data });
    owner = await forge.makeUser();
    repository = await forge.makeRepository(owner, { auto_init: true, default_branch: 'main' });
    const body = { content, message: 'a' };
    await forge.ask('POST', `/repos/${repository}/contents/a.txt`, { as: owner, body });
  });
  afterAll(async () => {
    for (const clone of clones) clone.remove();
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  const ask = (method: string, path: string, body?: object, name = repository) =>
    forge.ask(method, `/repos/${name}${path}`, { as: owner, body });
  const tip = async () => (await ask('GET', '/branches/main')).json.commit.id;
  const clone = async (name: string): Promise<GitClone> => {
    const url = new URL(`${forge.url}/${name}.git`);
    Object.assign(url, { username: owner.name, password: owner.password });
    const made = await cloneRepository(url.href);
    clones.push(made);
    return made;
  };
  /** Creates a commit with one file at a path that `git add` would refuse. */
  async function commitAt({ folder }: { folder: string }, path: string, mode = '100644'): Promise<string> {
    const run = (args: string[], input?: string): string =>
      execFileSync('git', args, {
        cwd: folder,
        input,
        env: {
          PATH: process.env.PATH,
          ...Object.fromEntries(
            ['AUTHOR', 'COMMITTER'].flatMap((who) => [
              [`GIT_${who}_NAME`, 'x'],
              [`GIT_${who}_EMAIL`, 'x@example.org'],
            ]),
          ),
        },
      })
        .toString()
        .trim();
    let entry = `${mode} blob ${run(['hash-object', '-w', '--stdin'], 'x')}`;
    for (const segment of path.split('/').reverse())
      entry = `040000 tree ${run(['mktree', '-z'], `${entry}\t${segment}\0`)}`;
    return run(['commit-tree', '-m', 'x', entry.slice('040000 tree '.length)]);
  }

  it.each([
    ['is created', 'POST', (path: string) => ({ path, operation: 'create', content })],
    ['is uploaded', 'POST', (path: string) => ({ path, operation: 'upload', content })],
    [
      'is the target of a rename',
      'POST',
      (path: string) => ({ path, operation: 'rename', from_path: 'a.txt', sha: 'x' }),
    ],
  ])('is refused by the contents API if it %s', async (_, method, fileOf) => {
    const before = await tip();
    const accepted: string[] = [];
    for (const path of paths) {
      const several = await ask(method, '/contents', { files: [fileOf(path)], message: 'x' });
      const one = await ask('POST', `/contents/${path.split('/').map(encodeURIComponent).join('/')}`, {
        content,
        message: 'x',
      });
      if (several.status !== 422 || one.status !== 422) accepted.push(path);
    }

    expect(accepted).toEqual([]);
    expect(await tip()).toBe(before);
  });

  it.each([
    ['new file', (path: string) => newFile(path)],
    ['symbolic link', (path: string) => newFile(path, '120000')],
    ['rename', (path: string) => movedFile(path, 'rename')],
    ['copy', (path: string) => movedFile(path, 'copy')],
  ])('is refused in a patch as a %s', async (_, patchOf) => {
    const control = { content: patchOf('fine.txt'), message: 'x', new_branch: freshName('fine') };
    expect((await ask('POST', '/diffpatch', control)).json).toMatchObject({ commit: {} });
    const before = await tip();
    const accepted: string[] = [];
    for (const path of paths) {
      const { status } = await ask('POST', '/diffpatch', { content: patchOf(path), message: 'x' });
      if (status !== 422) accepted.push(path);
    }

    expect(accepted).toEqual([]);
    expect(await tip()).toBe(before);
  });

  it.each(['.gitmodules', '.g\u200citmodules', 'GITMOD~1'])(
    'is refused in a patch if it is a symbolic link that a file system treats as .gitmodules: %j',
    async (path) => {
      const { status } = await ask('POST', '/diffpatch', { content: newFile(path, '120000'), message: 'x' });

      expect(status).toBe(422);
    },
  );

  it('is refused if a template variable expands to it', async () => {
    const accepted: string[] = [];
    const template = await forge.makeRepository(owner, { auto_init: true, template: true });
    for (const [path, text] of [
      ['.gitea/template', '**'],
      [`\${REPO_DESCRIPTION}/config`, 'x'],
    ]) {
      const file = { content: Buffer.from(text ?? '').toString('base64'), message: 'x' };
      expect((await ask('POST', `/contents/${path}`, file, template)).status).toBe(201);
    }
    for (const description of spellings) {
      const name = freshName('made');
      const body = { owner: owner.name, name, description, git_content: true };
      await ask('POST', '/generate', body, template);
      const tree = (await ask('GET', '/git/trees/main?recursive=true', undefined, `${owner.name}/${name}`))
        .json?.tree;
      const found = (tree ?? []).map(({ path }: { path: string }) => path.split('/')[0]);
      if (found.includes(description)) accepted.push(description);
    }

    expect(accepted).toEqual([]);
  });

  it.each(['', '.wiki'])('is refused in a push to %j', async (suffix) => {
    const name = await forge.makeRepository(owner, { auto_init: true });
    const page = { title: 'Home', content_base64: content };
    expect((await ask('POST', '/wiki/new', page, name)).status).toBe(201);
    const work = await clone(`${name}${suffix}`);
    const accepted: string[] = [];
    // Git itself checks these paths. Only some are pushed, because a push takes much longer than a request.
    for (const path of ['.GIT/config', 'deep/.g\u200cit', 'git~1', '.git. /x']) {
      const commit = await commitAt(work, path);
      const pushed = await work
        .git('push', '--quiet', 'origin', `${commit}:refs/heads/x`)
        .then(() => 'taken')
        .catch((error: Error) => error.message);
      if (!/hasDotgit/.test(pushed)) accepted.push(path);
    }

    expect(accepted).toEqual([]);
  });

  it('is refused in a repository to adopt, which is left unchanged', async () => {
    const folder = join(data, 'repositories', owner.name, 'old.git');
    mkdirSync(join(data, 'repositories', owner.name), { recursive: true });
    execFileSync('git', ['init', '-q', '--bare', folder]);
    const commit = await commitAt({ folder }, 'x/.g\u200cit/config');
    execFileSync('git', ['update-ref', 'refs/heads/main', commit], { cwd: folder });
    const adopt = () => forge.ask('POST', `/admin/unadopted/${owner.name}/old`, { as: forge.adminToken });

    const refused = await adopt();
    execFileSync('git', ['update-ref', '-d', 'refs/heads/main'], { cwd: folder });

    expect([refused.status, refused.json.message]).toEqual([422, expect.stringContaining('hasDotgit')]);
    expect((await adopt()).status).toBe(204);
  });
});
