import { ForgeProblem } from '../core/errors.ts';
import type { FileEdit } from '../git/commit-files.ts';
import { cleanTreePath } from '../git/names.ts';
import type { GitRepository } from '../git/repository.ts';
import { findEntry, type TreeEntry } from '../git/tree.ts';

/** What a caller wants done to one path. */
export type FileEditRequest = {
  /** `upload` writes over what is there without asking what it was; `rename` keeps the content. */
  readonly kind: 'create' | 'update' | 'upload' | 'rename' | 'delete';
  readonly path: string;
  readonly content?: Buffer;
  /** The path the file has now, where it moves. */
  readonly from?: string | undefined;
  /** Id of the content that the caller has seen. */
  readonly sha?: string | undefined;
};

/**
 * Returns the edits of a commit that does what was asked, or ends the request where the tree of `commitId` (undefined:
 * nothing there yet) does not allow it.
 */
export async function planEdit(
  git: GitRepository,
  commitId: string | undefined,
  request: FileEditRequest,
): Promise<FileEdit[]> {
  const { kind, path, content } = request;
  const from = request.from === undefined ? path : cleanTreePath(request.from);
  if (!from) throw new ForgeProblem(422, `path contains a malformed path component [path: ${request.from}]`);
  const old = await findBefore(git, commitId, { ...request, from });
  if (kind === 'delete') return [{ path, content: undefined }];
  const isNew = kind === 'create' || from !== path;
  if (commitId !== undefined) await guardTarget(git, commitId, path, isNew);
  const mode = old?.mode === '100755' ? '100755' : '100644';
  const kept = kind === 'rename' && old ? (await git.objects.read(old.id))?.content : content;
  const write = { path, content: kept ?? Buffer.alloc(0), mode } as const;
  return from === path ? [write] : [{ path: from, content: undefined }, write];
}

/** Returns what is at the path before; an upload takes whatever that is, and nothing too. */
async function findBefore(
  git: GitRepository,
  commitId: string | undefined,
  { kind, from, sha }: FileEditRequest & { readonly from: string },
): Promise<TreeEntry | undefined> {
  if (kind === 'create' || commitId === undefined) {
    return kind === 'create' || kind === 'upload' ? undefined : await findOld(git, commitId, from, sha);
  }
  if (kind === 'upload' && !sha) return await findEntry(git, commitId, from);
  return await findOld(git, commitId, from, sha);
}

async function findOld(
  git: GitRepository,
  commitId: string | undefined,
  path: string,
  sha: string | undefined,
): Promise<TreeEntry> {
  const entry = commitId === undefined ? undefined : await findEntry(git, commitId, path);
  if (entry === undefined) throw new ForgeProblem(404, `repository file does not exist [path: ${path}]`);
  if (entry.id !== sha) {
    throw new ForgeProblem(422, `sha does not match [given: ${sha}, expected: ${entry.id}]`);
  }
  return entry;
}

/** No part of the way may be a file, and the end must be a file that may be written over, or nothing. */
async function guardTarget(
  git: GitRepository,
  commitId: string,
  path: string,
  isNew: boolean,
): Promise<void> {
  const segments = path.split('/');
  for (let count = 1; count <= segments.length; count += 1) {
    const part = segments.slice(0, count).join('/');
    const entry = await findEntry(git, commitId, part);
    if (entry === undefined) return;
    const isEnd = count === segments.length;
    if (!isEnd && entry.kind !== 'dir') {
      throw new ForgeProblem(422, `a file exists where a directory is needed [path: ${part}]`);
    }
    if (isEnd && entry.kind !== 'file') {
      throw new ForgeProblem(422, `a ${entry.kind} exists where the file shall be [path: ${part}]`);
    }
    if (isEnd && isNew) throw new ForgeProblem(422, `repository file already exists [path: ${part}]`);
  }
}
