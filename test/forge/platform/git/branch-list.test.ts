import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listBranchNames, moveRefs } from '../../../../src/forge/platform/git/refs.ts';
import type { GitRepository } from '../../../../src/forge/platform/git/repository.ts';
import { createGitStore, type GitStore } from '../../../../src/forge/platform/git/store.ts';

const person = { name: 'Ada', email: 'ada@example.org', seconds: 1_700_000_000, zone: '+0000' };

describe('the branch list', () => {
  let folder: string;
  let store: GitStore;
  let lastId = 0;
  let repository: GitRepository;
  let head: string;
  /** Number of git commands started. */
  let runs: number;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'branches-'));
    store = createGitStore(folder);
  });
  afterAll(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    lastId += 1;
    await store.create(lastId, { defaultBranch: 'main' });
    const edits = [{ path: 'a.txt', content: Buffer.from('a') }];
    const commit = { branch: 'main', message: 'x', author: person, committer: person, edits };
    head = await store.commitFiles(lastId, commit);
    const opened = store.open(lastId);
    runs = 0;
    repository = {
      ...opened,
      git: {
        ...opened.git,
        run(args, options) {
          runs += 1;
          return opened.git.run(args, options);
        },
      },
    };
    await create('topic/one');
    age();
  });

  const create = (name: string) =>
    moveRefs(store.open(lastId), [{ name: `refs/heads/${name}`, before: undefined, after: head }]);
  const list = () => listBranchNames(repository);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository.folder, stdio: 'pipe' });

  /**
   * Makes written refs look old, each time with a different time, because a list of recently written refs is not
   * cached.
   */
  let instant = 1_700_000_000;
  function age(): void {
    instant += 1;
    for (const path of ['refs/heads', 'refs/heads/topic', 'packed-refs']) {
      const whole = join(repository.folder, path);
      if (statSync(whole, { throwIfNoEntry: false })) utimesSync(whole, instant, instant);
    }
  }

  it('is cached while no ref is written', async () => {
    const seen = [await list(), await list(), await list()];

    expect(seen).toEqual(Array(3).fill(['main', 'topic/one']));
    expect(runs).toBe(1);
  });

  it('is not cached right after refs were written', async () => {
    await create('fresh');

    const seen = [await list(), await list()];

    expect(seen).toEqual(Array(2).fill(['fresh', 'main', 'topic/one']));
    expect(runs).toBe(2);
  });

  it.each([
    ['a branch is created', () => create('new'), ['main', 'new', 'topic/one']],
    ['a branch in a folder is created', () => create('topic/two'), ['main', 'topic/one', 'topic/two']],
    ['a branch in a new folder is created', () => create('a/b/c'), ['a/b/c', 'main', 'topic/one']],
    [
      'another program deletes a branch',
      async () => git('update-ref', '-d', 'refs/heads/topic/one'),
      ['main'],
    ],
    [
      'another program moves a branch to a later commit',
      async () => {
        const date = '2033-01-01T00:00:00Z';
        const as = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
        const env = { ...process.env, GIT_COMMITTER_DATE: date };
        const made = execFileSync('git', [...as, 'commit-tree', '-m', 'y', '-p', head, `${head}^{tree}`], {
          cwd: repository.folder,
          env,
        });
        git('update-ref', 'refs/heads/topic/one', made.toString().trim());
      },
      ['topic/one', 'main'],
    ],
  ])('is read again when %s', async (_, change, expected) => {
    await list();
    await change();

    expect(await list()).toEqual(expected);
    expect(runs).toBe(2);
  });

  it('is read again when only packed refs change', async () => {
    git('pack-refs', '--all');
    age();
    const before = await list();
    const packed = join(repository.folder, 'packed-refs');
    const lines = readFileSync(packed, 'utf8').split('\n');
    writeFileSync(`${packed}.new`, lines.filter((line) => !line.endsWith('topic/one')).join('\n'));
    renameSync(`${packed}.new`, packed);

    expect([before, await list()]).toEqual([['main', 'topic/one'], ['main']]);
  });

  it('is not cached if a branch is a symbolic ref', async () => {
    git('symbolic-ref', 'refs/heads/alias', 'refs/tags/v1');
    git('update-ref', 'refs/tags/v1', head);
    age();
    const before = await list();
    git('update-ref', '-d', 'refs/tags/v1');

    expect([before, await list()]).toEqual([
      ['alias', 'main', 'topic/one'],
      ['main', 'topic/one'],
    ]);
  });
});
