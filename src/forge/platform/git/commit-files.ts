import { randomUUID } from 'node:crypto';
import { ReeveError } from '../../../platform/errors.ts';
import { formatSignature, type Signature } from './commit.ts';
import { cleanTreePath, cleanWritePath, isRefName } from './names.ts';
import { moveRefs } from './refs.ts';
import type { GitRepository } from './repository.ts';

/** The edit of one path in a commit. Without content, the path is removed. */
export type FileEdit = {
  readonly path: string;
  readonly content: Buffer | undefined;
  /** Mode of the file in the tree; default: a file that is not executable. */
  readonly mode?: '100644' | '100755';
};

export type FileCommit = {
  /** Short name of the branch that moves to the new commit. */
  readonly branch: string;
  /** Expected current commit of the branch; the move is refused if it differs. Undefined for a new branch. */
  readonly before?: string | undefined;
  /** The commit's parent; undefined creates a root commit. */
  readonly parent?: string | undefined;
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
  readonly edits: readonly FileEdit[];
};

/**
 * Commits edits and moves the branch, without a work tree. Returns the commit's id. Throws `forge-conflict` if another
 * request moved the branch in the meantime.
 */
export async function commitFiles(repository: GitRepository, commit: FileCommit): Promise<string> {
  if (!isRefName(commit.branch))
    throw new ReeveError('git-failed', `"${commit.branch}" is not a branch name`);
  // `fast-import` writes the new commit to a temporary ref; the branch itself moves only by compare-and-swap.
  const temporary = `refs/reeve/${randomUUID()}`;
  const { stdout } = await repository.git.run(['fast-import', '--quiet', '--force', '--date-format=raw'], {
    folder: repository.folder,
    input: streamOf(commit, temporary),
  });
  const id = stdout.toString('latin1').trim();
  const isMoved = await moveRefs(repository, [
    { name: `refs/heads/${commit.branch}`, before: commit.before, after: id },
    { name: temporary, before: id, after: undefined },
  ]);
  if (isMoved) return id;
  await moveRefs(repository, [{ name: temporary, before: id, after: undefined }]);
  throw new ReeveError('forge-conflict', `the branch ${commit.branch} was moved by another writer`);
}

function streamOf(commit: FileCommit, ref: string): Buffer {
  const parts: (Buffer | string)[] = [
    `commit ${ref}\nmark :1\n`,
    `author ${formatSignature(commit.author)}\ncommitter ${formatSignature(commit.committer)}\n`,
    ...dataOf(Buffer.from(commit.message)),
  ];
  if (commit.parent !== undefined) parts.push(`from ${commit.parent}\n`);
  for (const { path, content, mode = '100644' } of commit.edits) {
    // An existing path may be removed even if its name could not be written.
    const clean = content === undefined ? cleanTreePath(path) : cleanWritePath(path);
    if (!clean) throw new ReeveError('git-failed', `"${path}" is not a file path`);
    if (content === undefined) parts.push(`D ${quotePath(clean)}\n`);
    else parts.push(`M ${mode} inline ${quotePath(clean)}\n`, ...dataOf(content));
  }
  parts.push('\nget-mark :1\n');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function dataOf(content: Buffer): (Buffer | string)[] {
  return [`data ${content.length}\n`, content, '\n'];
}

function quotePath(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
