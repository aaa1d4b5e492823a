import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listChanges, listTouched } from '../../../../src/forge/platform/git/changes.ts';
import { instantOf } from '../../../../src/forge/platform/git/commit.ts';
import {
  findMergeBase,
  isAncestor,
  lastCommits,
  listCommits,
} from '../../../../src/forge/platform/git/history.ts';
import { mergeTrees, takeRef } from '../../../../src/forge/platform/git/merge.ts';
import {
  hasNoBranch,
  listBranchNames,
  listRefs,
  moveRefs,
  readBranch,
  resolveRef,
} from '../../../../src/forge/platform/git/refs.ts';
import type { CopyPermit } from '../../../../src/forge/platform/git/repository.ts';
import { createGitStore, type GitStore } from '../../../../src/forge/platform/git/store.ts';
import { findEntry, readBlob, readTree } from '../../../../src/forge/platform/git/tree.ts';

let folder: string;
let store: GitStore;
const person = { name: 'Ada', email: 'ada@example.org', seconds: 1_700_000_000, zone: '+0200' };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-git-'));
  store = createGitStore(folder);
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Commits texts to a branch, on top of its head or of the given parent. Null deletes a file. */
async function commit(
  id: number,
  branch: string,
  files: Record<string, string | null>,
  from?: string,
): Promise<string> {
  const head = (await readBranch(store.open(id), branch))?.id;
  const edits = Object.entries(files).map(([path, text]) => ({
    path,
    content: text === null ? undefined : Buffer.from(text),
  }));
  const parent = head ?? from;
  return await store.commitFiles(id, {
    branch,
    before: head,
    parent,
    message: `change ${Object.keys(files).join(', ')}\n`,
    author: person,
    committer: person,
    edits,
  });
}

let lastId = 0;
async function makeRepository(objectFormat: 'sha1' | 'sha256' = 'sha1'): Promise<number> {
  lastId += 1;
  await store.create(lastId, { defaultBranch: 'main', objectFormat });
  return lastId;
}

describe.each(['sha1', 'sha256'] as const)('a %s repository', (objectFormat) => {
  test('is empty until something is committed, and then resolves branch, tag and commit id', async () => {
    const id = await makeRepository(objectFormat);
    const repository = store.open(id);
    expect(await hasNoBranch(repository)).toBe(true);
    expect(await resolveRef(repository, 'main')).toBeUndefined();

    const head = await commit(id, 'main', { 'a.txt': 'one\n' });
    await moveRefs(repository, [{ name: 'refs/tags/v1', before: undefined, after: head }]);

    expect(head).toHaveLength(objectFormat === 'sha1' ? 40 : 64);
    expect(await hasNoBranch(repository)).toBe(false);
    expect((await resolveRef(repository, 'main'))?.kind).toBe('branch');
    expect((await resolveRef(repository, 'v1'))?.kind).toBe('tag');
    expect(await resolveRef(repository, head.slice(0, 9))).toMatchObject({
      kind: 'commit',
      commit: { id: head },
    });
    expect((await listRefs(repository)).map((ref) => ref.name)).toEqual(['refs/heads/main', 'refs/tags/v1']);
  });

  test('reads trees and blobs through the reader process', async () => {
    const id = await makeRepository(objectFormat);
    const head = await commit(id, 'main', { 'b/c/d "quoted" ä.txt': 'deep', a: 'top', 'b.txt': '' });
    const repository = store.open(id);

    const names = (await readTree(repository, head))?.map(({ name, kind }) => `${name} ${kind}`);
    const deep = await findEntry(repository, head, 'b/c/d "quoted" ä.txt');

    expect(names).toEqual(['a file', 'b.txt file', 'b dir']);
    expect((await readBlob(repository, deep?.id ?? ''))?.content?.toString()).toBe('deep');
    expect(await readBlob(repository, deep?.id ?? '', 3)).toEqual({ size: 4, content: undefined });
    expect(await findEntry(repository, head, 'a/below-a-file')).toBeUndefined();
  });
});

test('refuses a commit to a branch that another writer moved', async () => {
  const id = await makeRepository();
  const first = await commit(id, 'main', { a: '1' });
  await commit(id, 'main', { a: '2' });

  const late = store.commitFiles(id, {
    branch: 'main',
    before: first,
    parent: first,
    message: 'late',
    author: person,
    committer: person,
    edits: [{ path: 'b', content: Buffer.from('x') }],
  });

  await expect(late).rejects.toMatchObject({ code: 'forge-conflict' });
  expect((await listRefs(store.open(id), ['refs'])).map((ref) => ref.name)).toEqual(['refs/heads/main']);
});

test('keeps author, zone and message of a commit', async () => {
  const id = await makeRepository();
  await commit(id, 'main', { a: '1' });

  const head = await readBranch(store.open(id), 'main');

  expect(head).toMatchObject({ author: person, message: 'change a\n', parents: [] });
  expect(instantOf(person)).toBe('2023-11-15T00:13:20+02:00');
});

test('finds the last commit of every entry of a directory in one walk', async () => {
  const id = await makeRepository();
  const one = await commit(id, 'main', { 'docs/a': '1', 'docs/sub/b': '1', top: '1' });
  const two = await commit(id, 'main', { 'docs/sub/b': '2' });
  const three = await commit(id, 'main', { top: '3' });

  const inDocs = await lastCommits(store.open(id), three, 'docs', ['a', 'sub']);
  const before = await lastCommits(store.open(id), one, 'docs', ['a', 'sub']);
  const inRoot = await lastCommits(store.open(id), three, '', ['docs', 'top']);

  expect([inDocs.get('a')?.id, inDocs.get('sub')?.id]).toEqual([one, two]);
  expect([before.get('a')?.id, before.get('sub')?.id]).toEqual([one, one]);
  expect([inRoot.get('docs')?.id, inRoot.get('top')?.id]).toEqual([two, three]);
});

test('lists the changes between two commits, including renames and binary files', async () => {
  const id = await makeRepository();
  const body = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');
  const from = await commit(id, 'main', { old: body, gone: 'x\n', kept: 'a\nb\n' });
  const to = await commit(id, 'main', {
    old: null,
    new: `${body}more\n`,
    gone: null,
    kept: 'a\nc\n',
    bin: '\0\x01',
  });

  const changes = await listChanges(store.open(id), from, to);

  expect(changes).toEqual([
    { path: 'bin', from: undefined, status: 'added', additions: 0, deletions: 0 },
    { path: 'gone', from: undefined, status: 'deleted', additions: 0, deletions: 1 },
    { path: 'kept', from: undefined, status: 'changed', additions: 1, deletions: 1 },
    { path: 'new', from: 'old', status: 'renamed', additions: 1, deletions: 0 },
  ]);
  expect(await listTouched(store.open(id), to)).toEqual({
    added: ['bin', 'new'],
    removed: ['gone', 'old'],
    modified: ['kept'],
  });
  expect((await listTouched(store.open(id), from)).added).toEqual(['gone', 'kept', 'old']);
});

test('finds the merge base, ancestry and whether two commits merge', async () => {
  const id = await makeRepository();
  const base = await commit(id, 'main', { a: '1\n', b: '1\n' });
  const side = await commit(id, 'side', { a: '2\n' }, base);
  const clash = await commit(id, 'clash', { a: '3\n' }, base);
  const calm = await commit(id, 'calm', { b: '4\n' }, base);
  const repository = store.open(id);

  expect(await findMergeBase(repository, side, clash)).toBe(base);
  expect([await isAncestor(repository, base, side), await isAncestor(repository, side, base)]).toEqual([
    true,
    false,
  ]);
  expect(await mergeTrees(repository, side, clash)).toBeUndefined();
  expect(await mergeTrees(repository, side, calm)).toMatch(/^[0-9a-f]{40}$/);
  const commits = await listCommits(repository, { from: base, to: side }, { limit: 10 });
  expect(commits.map((entry) => entry.id)).toEqual([side]);
});

test('fetches a branch of another repository into its own ref', async () => {
  const id = await makeRepository();
  await commit(id, 'main', { a: '1' });
  lastId += 1;
  const fork = lastId;
  await store.copy(id, fork, { from: id } as CopyPermit);
  const head = await commit(fork, 'topic', { b: '1' }, (await readBranch(store.open(fork), 'main'))?.id);

  const permit = { from: fork } as CopyPermit;
  const [source, target] = ['refs/heads/topic', 'refs/pull/1/head'];
  await takeRef(store.open(id), store.open(fork), { source, target, permit });

  expect(await listRefs(store.open(id), ['refs/pull'])).toEqual([{ name: 'refs/pull/1/head', id: head }]);
  expect(await listBranchNames(store.open(id))).toEqual(['main']);
});

test('serves concurrent requests, each with the matching result', async () => {
  const id = await makeRepository();
  const head = await commit(id, 'main', { big: 'x'.repeat(300_000), small: 's' });
  const repository = store.open(id);
  const entries = (await readTree(repository, head)) ?? [];

  const sizes = await Promise.all(
    Array.from({ length: 100 }, (_, round) => readBlob(repository, entries[round % 2]?.id ?? '')),
  );

  expect(new Set(sizes.map((blob) => blob?.content?.length))).toEqual(new Set([300_000, 1]));
  expect(await repository.objects.info('0'.repeat(40))).toBeUndefined();
});
