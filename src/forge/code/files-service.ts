import { posix } from 'node:path';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { CommitData } from '../platform/git/commit.ts';
import { lastCommits } from '../platform/git/history.ts';
import { cleanTreePath, isObjectId } from '../platform/git/names.ts';
import { readBranch, readCommit, readTag } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry, type TreeEntry } from '../platform/git/tree.ts';
import type { RepositoryRow } from '../platform/rows.ts';
import type { ServedFile } from './serve-file.ts';

/** A location in the files of a repository: a commit, and a path in its tree as the caller wrote it. */
export type TreePlace = { readonly commit: CommitData; readonly path: string };

/**
 * Returns the location of a path that may begin with a branch, a tag or a full commit id; any other path refers to the
 * default branch. `ref` is prepended to the path. Ends the request with 404 for an unknown commit.
 */
export async function findTreePlace(
  git: GitRepository,
  repository: RepositoryRow,
  { path, ref }: { readonly path: string; readonly ref?: string | undefined },
): Promise<TreePlace> {
  if (repository.is_empty) throw new ForgeProblem(404, 'repository is empty');
  const segments = posix.join(ref?.trim() || '', path).split('/');
  for (const read of [readBranch, readTag]) {
    for (let count = 1; count <= segments.length; count += 1) {
      const commit = await read(git, segments.slice(0, count).join('/'));
      if (commit) return { commit, path: segments.slice(count).join('/') };
    }
  }
  const [first = ''] = segments;
  const [id, rest] = isObjectId(first) ? [first, segments.slice(1).join('/')] : [undefined, path];
  const commit = id
    ? await readCommit(git, `${id}^{commit}`)
    : await readBranch(git, repository.default_branch);
  return { commit: found(commit, 'unable to find a git ref'), path: rest };
}

/** Returns the location of an address such as `branch/main/README.md`; 404 for an unknown branch, tag or commit. */
export async function findAddress(
  git: GitRepository,
  kind: string,
  path: string,
): Promise<TreePlace & { readonly ref: string }> {
  const segments = path.split('/');
  const readCommitOf = async (one: GitRepository, name: string) =>
    /^[0-9a-f]{7,64}$/i.test(name) ? await readCommit(one, `${name}^{commit}`) : undefined;
  const read = { branch: readBranch, tag: readTag, commit: readCommitOf }[kind] ?? readCommitOf;
  const most = kind === 'commit' ? 1 : segments.length;
  for (let count = 1; count <= most; count += 1) {
    const ref = segments.slice(0, count).join('/');
    const commit = await read(git, ref);
    if (commit) return { commit, ref, path: segments.slice(count).join('/') };
  }
  throw new ForgeProblem(404, 'not found');
}

/** Returns the file at a location, ready to send; 404 for folders, submodules and paths that do not exist. */
export async function findServedFile(
  git: GitRepository,
  { commit, path }: TreePlace,
): Promise<Omit<ServedFile, 'isPublic'> & { readonly entry: TreeEntry }> {
  const clean = cleanTreePath(path);
  const entry = clean ? await findEntry(git, commit.id, clean) : undefined;
  if (!clean || (entry?.kind !== 'file' && entry?.kind !== 'symlink'))
    throw new ForgeProblem(404, 'not found');
  const folder = clean.slice(0, Math.max(0, clean.length - entry.name.length - 1));
  const last = (await lastCommits(git, commit.id, folder, [entry.name])).get(entry.name) ?? commit;
  const size = (await git.objects.info(entry.id))?.size ?? 0;
  return { entry, id: entry.id, size, name: entry.name, modifiedAt: last.committer.seconds };
}
