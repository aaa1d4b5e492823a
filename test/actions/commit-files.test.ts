import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clashingPaths, commitFiles, pathProblem } from '../../src/actions/commit-files.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { gitBlobId } from '../../src/facts/contents.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const tip = 'a'.repeat(40);
const mebibyte = 1_048_576;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const idOf = (text: string): string => gitBlobId(Buffer.from(text));

/** Facts of a repository whose branches have these files. */
const factsOf = (files: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) =>
  makeFacts(
    {
      repository: { id: 1, name: 'site', default_branch: 'main' },
      named_branch: { main: { commit: tip }, gone: null },
      file_at: Object.fromEntries(
        Object.entries({ 'a.txt': null, 'b.txt': null, ...files }).map(([path, text]) => [
          `${tip}:${path}`,
          text,
        ]),
      ),
      ...more,
    },
    { subject: { kind: 'repository' } },
  );

const plan = (given: Parameters<typeof commitFiles.plan>[0], facts = factsOf({}), context = makeContext()) =>
  commitFiles.plan(given, facts, context);

describe('commit-files plans', () => {
  it('files that are absent or differ, but not files that are equal', async () => {
    const facts = factsOf({ 'b.txt': 'old', 'c.txt': 'same' });
    const changes = await plan(
      {
        files: [
          { path: 'a.txt', content: 'new' },
          { path: 'b.txt', content: 'new' },
          { path: 'c.txt', content: 'same' },
        ],
      },
      facts,
    );

    expect(changes.map(({ target, before, after, already }) => ({ target, before, after, already }))).toEqual(
      [
        { target: 'file:main:a.txt', before: null, after: { sha: idOf('new'), size: 3 } },
        {
          target: 'file:main:b.txt',
          before: { sha: idOf('old'), size: 3 },
          after: { sha: idOf('new'), size: 3 },
        },
        {
          target: 'file:main:c.txt',
          before: { sha: idOf('same'), size: 4 },
          after: { sha: idOf('same'), size: 4 },
          already: true,
        },
      ],
    );
    const open = changes.filter(({ already }) => !already);
    expect(await commitFiles.join?.(open, facts)).toEqual({
      params: { owner: 'acme', repo: 'site' },
      body: {
        branch: 'main',
        message: 'Keep files as the rule tidy declares them',
        files: [
          { operation: 'create', path: 'a.txt', content: base64('new') },
          { operation: 'update', path: 'b.txt', content: base64('new'), sha: idOf('old') },
        ],
      },
    });
    expect(new Set(open.map(({ joins }) => joins)).size).toBe(1);
  });

  it.each([
    ['an unprotected branch', {}, 0],
    ['a protected branch that this account may push to', { protected: true, can_push: true }, 0],
    [
      'a branch that a rule of the same run may have to open',
      { protected: true, can_push: false },
      undefined,
    ],
  ])('a commit to %s at its stage: before protections that may forbid the commit', async (_, more, stage) => {
    const facts = factsOf({}, { named_branch: { main: { commit: tip, ...more } } });

    const changes = await plan({ files: [{ path: 'a.txt', content: 'x' }] }, facts);

    expect(changes.map((change) => change.stage)).toEqual([stage]);
  });

  it('nothing while its condition does not hold', async () => {
    expect(await plan({ files: [{ path: 'a.txt', content: 'x' }], when: false })).toEqual([]);
  });

  it('the bytes of a file of another repository', async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);
    const file_of = {
      'acme/templates:logo.png@main': {
        path: 'logo.png',
        type: 'file',
        size: 4,
        base64: bytes.toString('base64'),
      },
    };
    const files = [{ path: 'a.txt', from: 'acme/templates:logo.png@main' }];

    const [change] = await plan({ files }, factsOf({}, { file_of }));

    expect(change?.input.body).toMatchObject({ files: [{ content: bytes.toString('base64') }] });
    expect(change?.value).toBe(gitBlobId(bytes));
  });

  it.each([
    ['is absent', null, /no file acme\/x:y that this account can read/],
    ['is a directory', { path: 'y', type: 'dir', size: 0, base64: null }, /not a file but a dir/],
    [
      'is above the limit of the forge',
      { path: 'y', type: 'file', size: 9e9, base64: null },
      /9000000000 bytes/,
    ],
    [
      'is above 1 MiB',
      { path: 'y', type: 'file', size: mebibyte + 1, base64: Buffer.alloc(mebibyte + 1).toString('base64') },
      /1048577 bytes; the maximum per file is 1048576/,
    ],
    ['is stored in LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n', /LFS/],
  ])('nothing if the other file %s', async (_, found, why) => {
    const facts = factsOf({}, { file_of: { 'acme/x:y': found } });

    await expect(plan({ files: [{ path: 'a.txt', from: 'acme/x:y' }] }, facts)).rejects.toThrow(why);
  });

  it('nothing above the size limit of a file or of a commit', async () => {
    const text = 'x'.repeat(mebibyte);
    const files = (count: number, more = '') =>
      Array.from({ length: count }, (_, at) => ({ path: `${at}`, content: text + more }));

    await expect(plan({ files: files(1, 'y') })).rejects.toThrow(/the maximum per file is 1048576/);
    await expect(plan({ files: files(5) })).rejects.toThrow(/the maximum per commit is 4194304/);
  });

  it.each(['organization', 'repository'] as const)(
    'nothing for rules of the %s, and then reads no file',
    async (level) => {
      const facts = factsOf({}, { file_of: { 'evil/secret:key': 'secret' } });

      await expect(
        plan({ files: [{ path: 'a.txt', from: 'evil/secret:key' }] }, facts, makeContext({ level })),
      ).rejects.toThrow('only rules of the operator');
      expect(facts.asked).toEqual([]);
    },
  );

  it.each([
    ['the branch does not exist', { branch: 'gone' }, {}, 'there is no branch gone'],
    ['a directory has this path', {}, { 'a.txt': { type: 'dir', sha: '', size: 0 } }, 'a.txt is a dir there'],
    [
      'a link has this path',
      {},
      { 'a.txt': { type: 'symlink', sha: 'ab', size: 3 } },
      'a.txt is a symlink there',
    ],
  ])('a refusal if %s', async (_, more, files, why) => {
    const changes = await plan({ ...more, files: [{ path: 'a.txt', content: 'x' }] }, factsOf(files));

    expect(changes.map(({ waits }) => waits)).toEqual([{ why, polls: false }]);
  });

  it('a change that explains a refusal by a protected branch', async () => {
    const named_branch = { main: { commit: tip, protected: true, can_push: false } };
    const [change] = await plan({ files: [{ path: 'a.txt', content: 'x' }] }, factsOf({}, { named_branch }));

    expect(change).toMatchObject({
      forbidden: expect.stringContaining('main is protected'),
      reason: expect.stringContaining('protected against pushes of this account'),
    });
  });

  it('ids in the object format of the repository', async () => {
    const long = 'b'.repeat(64);
    const facts = factsOf(
      {},
      { named_branch: { main: { commit: long } }, file_at: { [`${long}:a.txt`]: null } },
    );

    const [change] = await plan({ files: [{ path: 'a.txt', content: '' }] }, facts);

    // The id of the empty file in a SHA-256 repository.
    expect(change?.value).toBe('473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813');
  });
});

describe('a file that the forge stores in another form', () => {
  const files = [{ path: 'a.txt', content: 'large' }];
  const answer = (sha: string) => ({ files: [{ path: 'a.txt', sha }], commit: { sha: tip } });

  it.each([
    ['as a Git LFS pointer', true],
    ['as something else', false],
  ])('stored %s is not committed again', async (_, isPointer) => {
    const memory = createActionMemory();
    const context = makeContext({ memory });
    const [change] = await plan({ files }, factsOf({}), context);
    if (change === undefined) throw new Error('nothing planned');
    const sha = isPointer ? pointerOf('large') : idOf('other text');

    const why = commitFiles.confirm?.(change, answer(sha));
    expect(why).toEqual(isPointer ? undefined : expect.stringContaining('differs from what was sent'));
    if (isPointer) await commitFiles.remember?.(change, answer(sha), context);
    else expect(await commitFiles.learn?.(change, answer(sha), context)).toBe(true);

    const live = { 'a.txt': { type: 'file', sha, size: 130 } };
    expect(await plan({ files }, factsOf(live), context)).toMatchObject([{ already: true }]);
    // If a person commits something else, the file is still replaced.
    const other = { 'a.txt': { type: 'file', sha: idOf('other'), size: 5 } };
    expect((await plan({ files }, factsOf(other), context))[0]?.already).toBeUndefined();
    // A pointer that the forge did not store for this content does not count as equal.
    expect((await plan({ files }, factsOf(live)))[0]?.already).toBeUndefined();
  });
});

describe('the path of a file', () => {
  it.each([
    'a',
    'docs/ä b.md',
    '.gitea/workflows/ci.yml',
    '.gitignore',
    '.github/x',
    'a..b',
    '@types/x',
    'x.git',
  ])('may be %j', (path) => {
    expect(pathProblem(path)).toBeUndefined();
  });

  it.each([
    ...[
      '',
      '/a',
      'a/',
      'a//b',
      '..',
      'a/../b',
      './a',
      'a/.',
      '.git',
      '.git/config',
      'a/.GIT/hooks/x',
      'git~1/config',
    ],
    ...[
      '.git./config',
      '.git /x',
      '.g\u200cit/config',
      '.git::$INDEX_ALLOCATION/x',
      'a\\b',
      'a\nb',
      'a\0b',
      '\ud800',
    ],
    ...['x'.repeat(256), 'x/'.repeat(600)],
  ])('may not be %j', (path) => {
    expect(pathProblem(path)).toEqual(expect.any(String));
  });

  it('may be given only once, and not as a directory of another path', () => {
    expect(clashingPaths(['a', 'b', 'a', 'c', 'c/d', 'cd'])).toEqual([2, 3]);
  });
});

describe('commit-files at load', () => {
  const problems = (files: readonly object[]) =>
    commitFiles.examine?.({ files } as never).map(({ path, message }) => `${path.join('.')}: ${message}`) ??
    [];

  it('refuses invalid paths, invalid sources, and inserted text in workflows', () => {
    expect(
      problems([
        { path: '../x', content: '' },
        { path: 'a', from: 'templates:a' },
        { path: '.gitea/workflows/ci.yml', content: 'run: echo ${{ event.issue.title }}' },
        { path: '.gitea/workflows/cd.yml', content: 'run: echo $${{ secrets.X }}' },
      ]),
    ).toEqual([
      expect.stringMatching(/^files\.0\.path: /),
      expect.stringMatching(/^files\.1\.from: name the file as owner\/repo:path@ref/),
      expect.stringMatching(/^files\.2\.content: .*workflow/),
    ]);
  });

  it.each([
    [{ path: 'a' }],
    [{ path: 'a', content: '', from: 'a/b:c' }],
    [{ path: 'a', content: 'x', mode: '100755' }],
  ])('refuses %j', (file) => {
    expect(commitFiles.arguments.safeParse({ files: [file] }).success).toBe(false);
  });

  it.each(['a..b', 'refs/heads/main', 'a b', 'a:b', 'a^'])('refuses the branch %j', (branch) => {
    const given = { branch, files: [{ path: 'a', content: '' }] };
    expect(commitFiles.arguments.safeParse(given).success).toBe(false);
  });
});

function pointerOf(text: string): string {
  const oid = createHash('sha256').update(text).digest('hex');
  return idOf(`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${text.length}\n`);
}
