import type { ForgeContext } from '../core/context.ts';
import type { PullRow } from '../core/issue-rows.ts';
import { readBranch } from '../git/refs.ts';
import { inspectPull } from './inspection.ts';

const checking = /* sql */ `
FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.status = 'checking' AND i.is_closed = 0`;

/**
 * Checks all pull requests that wait for it, in the background: a push to a branch that hundreds of them aim at is
 * answered at once, and until then they are not mergeable, as on Gitea.
 */
export function scheduleChecks(context: ForgeContext): void {
  context.background.add(async () => {
    for (const { id } of context.db.all<{ id: number }>(`SELECT p.id ${checking}`)) {
      context.background.add(() => checkPull(context, id));
    }
  });
}

/**
 * Finds out merge base, size and conflicts of a pull request that waits for it. A request for one pull request need not wait
 * for the rest.
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
