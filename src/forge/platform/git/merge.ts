import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { formatDate, type Signature } from './commit.ts';
import { isObjectId } from './names.ts';
import { assertPermitted, type CopyPermit, type GitRepository } from './repository.ts';

/** Returns the merged tree of two commits; undefined if they conflict or share no history. */
export async function mergeTrees(
  repository: GitRepository,
  ours: string,
  theirs: string,
): Promise<string | undefined> {
  requireIds(ours, theirs);
  // 128: unrelated histories, which git refuses to merge.
  const { code, stdout } = await repository.git.run(
    ['merge-tree', '--write-tree', '--no-messages', ours, theirs],
    { folder: repository.folder, expect: [0, 1, 128] },
  );
  return code === 0 ? stdout.toString('latin1').trim().split('\n')[0] : undefined;
}

/** Writes a commit for a tree, without moving a ref. Returns the commit's id. */
export async function commitTree(
  repository: GitRepository,
  tree: string,
  options: {
    parents: readonly string[];
    message: string;
    author: Signature;
    committer: Signature;
  },
): Promise<string> {
  requireIds(tree, ...options.parents);
  const { author, committer } = options;
  const { stdout } = await repository.git.run(
    ['commit-tree', ...options.parents.flatMap((id) => ['-p', id]), '-F', '-', tree],
    {
      folder: repository.folder,
      input: options.message,
      environment: {
        GIT_AUTHOR_NAME: author.name,
        GIT_AUTHOR_EMAIL: author.email,
        GIT_AUTHOR_DATE: formatDate(author),
        GIT_COMMITTER_NAME: committer.name,
        GIT_COMMITTER_EMAIL: committer.email,
        GIT_COMMITTER_DATE: formatDate(committer),
      },
    },
  );
  return stdout.toString('latin1').trim();
}

/** Fetches a branch of another local repository, with its history, into a ref of this repository. */
export async function takeRef(
  repository: GitRepository,
  from: GitRepository,
  { source, target, permit }: { source: string; target: string; permit: CopyPermit },
): Promise<void> {
  assertPermitted(permit, from.id);
  const common = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
  await repository.git.run(['fetch', ...common, '--', from.folder, `+${source}:${target}`], {
    folder: repository.folder,
  });
}

/** Copies a tree with everything below it, but no commit, into another local repository. */
export async function copyTree(
  from: GitRepository,
  to: GitRepository,
  { tree, permit }: { tree: string; permit: CopyPermit },
): Promise<void> {
  assertPermitted(permit, from.id);
  requireIds(tree);
  await from.git.run(['pack-objects', '--quiet', '--revs', `${to.folder}/objects/pack/pack`], {
    folder: from.folder,
    input: `${tree}\n`,
  });
}

function requireIds(...ids: readonly string[]): void {
  for (const id of ids) if (!isObjectId(id)) throw new TypeError(`"${id}" is not an object id`);
}

/**
 * Gitea's options for `git apply`: white space in context lines is ignored, and added lines lose trailing white space.
 */
const options = [
  '--index',
  '--recount',
  '--cached',
  '--ignore-whitespace',
  '--whitespace=fix',
  '--binary',
  '-3',
];

/**
 * Returns the tree of a commit with a patch applied, without a work tree. Undefined if git refuses the patch: it
 * conflicts, is malformed, leaves the tree (`..`), or writes a path that a file system treats as `.git` (the git
 * configuration forbids such paths).
 */
export async function applyPatch(
  repository: GitRepository,
  commitId: string,
  patch: string,
): Promise<string | undefined> {
  if (!isObjectId(commitId)) throw new TypeError(`"${commitId}" is not an object id`);
  const { folder, git } = repository;
  // A separate index, because several patches may be applied at the same time and a bare repository has no index.
  const index = join(folder, `reeve-index-${randomUUID()}`);
  const inIndex = { folder, environment: { GIT_INDEX_FILE: index } };
  try {
    // 128: the commit contains a path treated as `.git`, from before the repository was adopted.
    const read = await git.run(['read-tree', commitId], { ...inIndex, expect: [0, 128] });
    if (read.code !== 0) return undefined;
    const { code } = await git.run(['apply', ...options, '-'], {
      ...inIndex,
      input: patch,
      expect: [0, 1, 128],
    });
    if (code !== 0) return undefined;
    const { stdout } = await git.run(['write-tree'], inIndex);
    return stdout.toString('latin1').trim();
  } finally {
    for (const file of [index, `${index}.lock`]) await rm(file, { force: true });
  }
}
