import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { cleanTreePath, cleanWritePath, isRefName } from '../../../../src/forge/platform/git/names.ts';
import { listRefs, moveRefs, readBranch, resolveRef } from '../../../../src/forge/platform/git/refs.ts';
import { createGitStore, type GitStore } from '../../../../src/forge/platform/git/store.ts';
import { isDotGit } from '../../../../src/patterns/dot-git.ts';

function gitTakes(name: string): boolean {
  try {
    execFileSync('git', ['check-ref-format', '--branch', name], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH },
    });
    return true;
  } catch {
    return false;
  }
}

const person = { name: 'Ada', email: 'ada@example.org', seconds: 1, zone: '+0000' };
const open: { store: GitStore; folder: string }[] = [];
afterEach(() => {
  for (const { store, folder } of open.splice(0)) {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function makeStore(): Promise<GitStore> {
  const folder = mkdtempSync(join(tmpdir(), 'names-'));
  const store = createGitStore(folder);
  open.push({ store, folder });
  await store.create(1, { defaultBranch: 'main' });
  return store;
}

describe('a ref name', () => {
  test('is never accepted if git itself refuses it', () => {
    const piece = fc.constantFrom(
      'a',
      'ä',
      '.',
      '..',
      '/',
      '-',
      '@',
      '{',
      '~',
      '^',
      ':',
      '?',
      '*',
      '[',
      '\\',
      ' ',
      '.lock',
      '\n',
      '\x7f',
    );
    const names = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));

    fc.assert(
      fc.property(names, (name) => {
        if (isRefName(name)) expect(gitTakes(name)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test.each(['main', 'a/b', 'v1.0', 'ümläut', '#1', 'a-b', 'feature/x.y', 'x@y', '%2F'])(
    'may be %s',
    (name) => {
      expect([isRefName(name), gitTakes(name)]).toEqual([true, true]);
    },
  );

  test.each(['', '-', '--all', '@', 'HEAD', 'a..b', '../a', 'a\0b', 'a\nb', 'x'.repeat(300), '\ud800'])(
    'may not be %j',
    (name) => {
      expect(isRefName(name)).toBe(false);
    },
  );
});

describe('a path in a tree', () => {
  test.each([
    ['a/b', 'a/b'],
    ['/a//b/', 'a/b'],
    ['./a/./b', 'a/b'],
    ['', ''],
    ['a\nb', 'a\nb'],
    ['-x', '-x'],
    ['..', undefined],
    ['a/../b', undefined],
    ['.git', undefined],
    ['a/.Git/b', undefined],
    ['a\0b', undefined],
    ['x'.repeat(256), undefined],
    ['\udc00', undefined],
  ])('%j is normalized to %j', (path, clean) => {
    expect(cleanTreePath(path)).toBe(clean);
  });
});

describe('a path to write', () => {
  test.each([
    ['git~1/x', undefined],
    ['a/GIT~1', undefined],
    ['.g\u200cit/x', undefined],
    ['\ufeff.git', undefined],
    ['.git /x', undefined],
    ['.git...', undefined],
    ['.git::$DATA/x', undefined],
    ['a\\.git/x', undefined],
    ['git~2/x', 'git~2/x'],
    ['.gitignore', '.gitignore'],
    ['.github/x', '.github/x'],
    ['agit~1', 'agit~1'],
    ['a.git', 'a.git'],
  ])('A6: %j is normalized to %j', (path, clean) => {
    expect(cleanWritePath(path)).toBe(clean);
  });

  test('A6: has no segment that git treats as `.git`', async () => {
    const piece = fc.constantFrom(
      ...['.git', '.GiT', 'git~1', 'GIT~1', '.g', 'it', 'g', 'i', 't', '.', ' ', ':', '\\', '~1', 'x'],
      ...['\u200b', '\u200c', '\u200f', '\u202a', '\u206f', '\ufeff', 'ı', 'İ'],
    );
    const names = fc.sample(
      fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
      2_000,
    );
    const unique = [...new Set(names)].filter((name) => name !== '.' && name !== '..');
    const refused = await namesRefusedByFsck(unique);

    expect(unique.filter(isDotGit)).toEqual(unique.filter((name) => refused.has(name)));
    // The names are random, so the number of refused ones differs between runs.
    expect(refused.size).toBeGreaterThan(20);
    expect(unique.length - refused.size).toBeGreaterThan(50);
  });
});

/** Writes a tree for each name and returns the names that `git fsck` reports as hasDotgit. */
async function namesRefusedByFsck(names: readonly string[]): Promise<ReadonlySet<string>> {
  const store = await makeStore();
  const { git, folder } = store.open(1);
  const blob = await git.run(['hash-object', '-w', '--stdin'], { folder, input: 'x' });
  const id = blob.stdout.toString().trim();
  const input = names.map((name) => `100644 blob ${id}\t${name}\0\0`).join('');
  const trees = await git.run(['mktree', '--batch', '-z'], { folder, input });
  const byTree = new Map(
    trees.stdout
      .toString()
      .trim()
      .split('\n')
      .map((tree, at) => [tree, names[at] ?? '']),
  );
  // Uses a child process instead of the forge's git runner, which keeps only the beginning of git's output.
  const { stderr } = spawnSync('git', ['--git-dir', folder, 'fsck', '--no-dangling'], { encoding: 'utf8' });
  const reported = stderr.matchAll(/in tree ([0-9a-f]+): hasDotgit/g);
  return new Set([...reported].map(([, tree = '']) => byTree.get(tree) ?? ''));
}

describe('the git program', () => {
  test("does not inherit the forge's environment", async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      GIT_DIR: '/nonexistent',
      GIT_AUTHOR_NAME: 'Mallory',
      GIT_CONFIG_COUNT: '1',
    });
    try {
      const store = await makeStore();
      const edits = [{ path: 'a', content: Buffer.from('x') }];
      await store.commitFiles(1, {
        branch: 'main',
        message: 'm\n',
        author: person,
        committer: person,
        edits,
      });

      expect((await readBranch(store.open(1), 'main'))?.author.name).toBe('Ada');
    } finally {
      for (const name of ['GIT_DIR', 'GIT_AUTHOR_NAME', 'GIT_CONFIG_COUNT']) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  test('keeps hostile author names, messages and paths inside their fields', async () => {
    const store = await makeStore();
    const hostile = { name: 'A <x>\ncommitter Z', email: 'a@b>\n', seconds: 1, zone: '+0000' };
    const edits = [{ path: 'q"\\\nD a', content: Buffer.from('data 1\nM 644') }];

    const id = await store.commitFiles(1, {
      branch: 'main',
      message: 'one\n\nD a\nfrom x\n',
      author: hostile,
      committer: person,
      edits,
    });

    const commit = await readBranch(store.open(1), 'main');
    expect(commit).toMatchObject({ id, message: 'one\n\nD a\nfrom x\n', committer: person, parents: [] });
    expect(commit?.author).toMatchObject({ name: 'A xcommitter Z', email: 'a@b' });
  });

  test.each([
    'main\nrefs/heads/other',
    '--help',
    'HEAD',
    'HEAD~1',
    ':/x',
    '@{-1}',
    'main^{tree}',
    'main:a',
    'x\0',
  ])('resolves no ref for %j', async (word) => {
    const store = await makeStore();
    const edits = [{ path: 'a', content: Buffer.from('x') }];
    await store.commitFiles(1, { branch: 'main', message: 'm\n', author: person, committer: person, edits });

    expect(await resolveRef(store.open(1), word)).toBeUndefined();
  });

  test('moves no ref if its name contains a second command', async () => {
    const store = await makeStore();
    const name = 'refs/heads/x 1\ndelete refs/heads/main';

    await expect(
      moveRefs(store.open(1), [{ name, before: undefined, after: '1'.repeat(40) }]),
    ).rejects.toThrow('is not a ref name');
    expect(await listRefs(store.open(1))).toEqual([]);
  });
});
