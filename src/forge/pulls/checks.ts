import type { ForgeContext } from '../platform/context.ts';
import { listChanges } from '../platform/git/changes.ts';
import { findMergeBase } from '../platform/git/history.ts';
import { mergeTrees } from '../platform/git/merge.ts';
import { readBranch } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { PullRow } from '../platform/rows.ts';

/** Data of a pull request that git computes. */
type Inspection = Pick<PullRow, 'merge_base' | 'additions' | 'deletions' | 'changed_files'> & {
  readonly status: 'mergeable' | 'conflict';
};

/**
 * Returns the changes of a pull request from `head` into `base` and whether it can be merged. Both commits are in the
 * base's repository. Without a common history, the base itself serves as the merge base, and a merge is impossible.
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

const checking = /* sql */ `
FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.status = 'checking' AND i.is_closed = 0`;

/**
 * Checks all pending pull requests in the background, so that a push to the target branch of hundreds of pull requests
 * gets its response at once. Until checked, a pull request is not mergeable, as in Gitea.
 */
export function scheduleChecks(context: ForgeContext): void {
  context.background.add(async () => {
    for (const { id } of context.db.all<{ id: number }>(`SELECT p.id ${checking}`)) {
      context.background.add(() => checkPull(context, id));
    }
  });
}

/**
 * Computes merge base, size and conflicts of one pending pull request, so that a request for this pull request need not
 * wait for the checks of the others.
 */
export async function checkPull(context: ForgeContext, id: number): Promise<void> {
  const { db, git } = context;
  const find = (): PullRow | undefined => db.get<PullRow>(`SELECT p.* ${checking} AND p.id = ?`, id);
  const repositoryId = find()?.repo_id;
  if (repositoryId === undefined) return;
  await git.exclusively(repositoryId, 'pulls', async () => {
    const pull = find();
    const base = pull && (await readBranch(git.open(pull.repo_id), pull.base_branch));
    if (!base) return;
    const seen = await inspectPull(git.open(pull.repo_id), base.id, pull.head_sha);
    db.run(
      `UPDATE pulls SET base_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?, status = ?
       WHERE id = ? AND head_sha = ?`,
      base.id,
      seen.merge_base,
      seen.additions,
      seen.deletions,
      seen.changed_files,
      seen.status,
      id,
      pull.head_sha,
    );
  });
}
