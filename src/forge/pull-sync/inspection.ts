import type { PullRow } from '../core/issue-rows.ts';
import { listChanges } from '../git/changes.ts';
import { findMergeBase } from '../git/history.ts';
import { mergeTrees } from '../git/merge.ts';
import type { GitRepository } from '../git/repository.ts';

/** What git says of a pull request. */
type Inspection = Pick<PullRow, 'merge_base' | 'additions' | 'deletions' | 'changed_files'> & {
  readonly status: 'mergeable' | 'conflict';
};

/**
 * Returns what a pull request from `head` into `base` changes and whether it merges. Both commits are in the base's
 * repository. Without a common history the base itself stands for the merge base, and nothing merges.
 */
export async function inspectPull(git: GitRepository, base: string, head: string): Promise<Inspection> {
  const mergeBase = await findMergeBase(git, base, head);
  const from = mergeBase ?? base;
  const changes = from === head ? [] : await listChanges(git, from, head);
  const isForward = mergeBase === base || mergeBase === head;
  const merges = isForward || (mergeBase !== undefined && (await mergeTrees(git, base, head)) !== undefined);
  return {
    merge_base: from,
    additions: changes.reduce((sum, change) => sum + change.additions, 0),
    deletions: changes.reduce((sum, change) => sum + change.deletions, 0),
    changed_files: changes.length,
    status: merges ? 'mergeable' : 'conflict',
  };
}
