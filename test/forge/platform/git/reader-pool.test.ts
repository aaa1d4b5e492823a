import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGit, type Git } from '../../../../src/forge/platform/git/process.ts';
import { createReaderPool } from '../../../../src/forge/platform/git/reader-pool.ts';
import { readRef } from '../../../../src/forge/platform/git/refs.ts';
import type { CopyPermit } from '../../../../src/forge/platform/git/repository.ts';
import { createGitStore, type GitStore } from '../../../../src/forge/platform/git/store.ts';

const person = { name: 'Ada', email: 'ada@example.org', seconds: 1, zone: '+0000' };
/** Ids of more repositories than the pool has processes. */
const ids = [1, 2, 3, 4, 5, 6, 7, 8];
const maxProcesses = 2;

const permit = { from: 1 } as CopyPermit;

describe('the pool of reader processes', () => {
  let folder: string;
  let store: GitStore;
  let git: Git;
  let alive: number;
  let most: number;
  let started: number;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pool-'));
    store = createGitStore(folder);
    await store.create(1, { defaultBranch: 'main' });
    const edits = [{ path: 'a.txt', content: Buffer.alloc(200_000, 'a') }];
    await store.commitFiles(1, { branch: 'main', message: 'x', author: person, committer: person, edits });
    for (const id of ids.slice(1)) await store.copy(1, id, permit);
    [alive, most, started] = [0, 0, 0];
    git = countProcesses(createGit(join(folder, 'git.config')));
  });
  afterEach(() => {
    store.close();
    git.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function countProcesses(inner: Git): Git {
    return {
      ...inner,
      start(args, options) {
        const child = inner.start(args, options);
        started += 1;
        alive += 1;
        most = Math.max(most, alive);
        // A process counts as ended once it has been signalled, because the time until it exits depends on the machine.
        return Object.assign(Object.create(child), {
          kill() {
            alive -= 1;
            child.kill();
          },
        });
      },
    };
  }

  it('reports the end of each process with the id of its repository', async () => {
    const ended: number[] = [];
    const pool = createReaderPool(git, { maxProcesses: 1, onEnd: (id) => ended.push(id) });
    for (const id of [1, 2, 1]) await pool.of(id, store.open(id).folder).info('HEAD');
    const before = [...ended];
    pool.close();

    expect([before, ended]).toEqual([
      [1, 2],
      [1, 2, 1],
    ]);
  });

  it('D2: responds to every request while more repositories are in use than there are processes', async () => {
    const pool = createReaderPool(git, { maxProcesses });
    const questions = ids.flatMap((id) => [1, 2, 3].map(() => pool.of(id, store.open(id).folder)));

    const objects = await Promise.all(questions.map((reader) => reader.read('main:a.txt')));

    expect(objects.map((object) => object?.size)).toEqual(questions.map(() => 200_000));
    expect(most).toBe(maxProcesses);
    pool.close();
    expect(alive).toBe(0);
  });

  it('D2: keeps a process with a pending request beyond the idle time', async () => {
    const pool = createReaderPool(git, { maxProcesses, idleMs: 1 });
    const reader = pool.of(1, store.open(1).folder);

    for (let round = 0; round < 20; round += 1) {
      expect((await reader.read('main:a.txt'))?.size).toBe(200_000);
    }
    pool.close();
  });

  it('D2: restarts the process of a reader after it ended', async () => {
    const pool = createReaderPool(git, { maxProcesses: 1 });
    const [one, other] = [pool.of(1, store.open(1).folder), pool.of(2, store.open(2).folder)];

    for (const reader of [one, other, one]) expect((await reader.info('main'))?.type).toBe('commit');

    expect([started, most]).toEqual([3, 1]);
    pool.close();
    await expect(one.info('main')).rejects.toThrow('closed');
    expect(alive).toBe(0);
  });

  it('D2: lets a store read sixty repositories at once', async () => {
    const many = Array.from({ length: 60 }, (_, at) => 100 + at);
    for (const id of many) await store.copy(1, id, permit);

    const heads = await Promise.all(many.map((id) => readRef(store.open(id), 'refs/heads/main')));

    expect(new Set(heads).size).toBe(1);
    expect(heads[0]).toMatch(/^[0-9a-f]{40}$/);
  });
});
