import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObjectId } from './names.ts';
import type { GitRepository } from './repository.ts';

/** Gitea's: context lines match whatever their spaces, and added lines lose trailing ones. */
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
 * Returns the tree of a commit with a patch applied, without a work tree; undefined where git refuses the patch: it
 * conflicts, is none, leaves the tree (`..`), or writes what a file system takes for `.git`, as the configuration asks.
 */
export async function applyPatch(
  repository: GitRepository,
  commitId: string,
  patch: string,
): Promise<string | undefined> {
  if (!isObjectId(commitId)) throw new TypeError(`"${commitId}" is no object id`);
  const { folder, git } = repository;
  // An index of its own: several patches may be applied at the same time, and a bare repository has none.
  const index = join(folder, `reeve-index-${randomUUID()}`);
  const inIndex = { folder, environment: { GIT_INDEX_FILE: index } };
  try {
    // 128: the commit has such a path already, from before it was adopted.
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
