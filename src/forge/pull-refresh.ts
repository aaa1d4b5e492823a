import type { ForgeContext } from './context.ts';
import { findMergeCommit, isAncestor } from './git/history.ts';
import { takeRef } from './git/merge.ts';
import { moveRefs, readBranch, readRef } from './git/refs.ts';
import type { GitRepository } from './git/repository.ts';
import { secondsOf } from './instants.ts';
import { emitPull, type PullPlace } from './pull-events.ts';
import { inspectPull } from './pull-inspection.ts';
import type { PullRow, RepositoryRow, UserRow } from './rows.ts';
import { settingsOf } from './settings.ts';

/**
 * Brings the open pull requests that touch a branch, as head or as base, in line with where the branches are now. It
 * reads branches, not what a push said: whoever comes last sees all, so pushes at the same time end in the same state.
 */
export async function refreshPulls(
  context: ForgeContext,
  branch: { repositoryId: number; name: string },
  actor: UserRow,
): Promise<void> {
  const pulls = context.db.all<Pick<PullRow, 'id' | 'repo_id'>>(
    `SELECT p.id, p.repo_id FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE i.is_closed = 0 AND ((p.head_repo_id = ?1 AND p.head_branch = ?2) OR (p.repo_id = ?1 AND p.base_branch = ?2))
     ORDER BY p.id`,
    branch.repositoryId,
    branch.name,
  );
  for (const { id, repo_id } of pulls) {
    await context.git.exclusively(repo_id, 'pulls', () => refreshPull(context, id, actor));
  }
}

async function refreshPull(context: ForgeContext, id: number, actor: UserRow): Promise<void> {
  const { db, git } = context;
  const pull = db.get<PullRow & { is_closed: number }>(
    'SELECT p.*, i.is_closed FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.id = ?',
    id,
  );
  const place = pull && placeOf(context, pull.repo_id, actor);
  if (!pull || !place || pull.is_closed === 1) return;
  const baseGit = git.open(pull.repo_id);
  const headGit = pull.head_repo_id === null ? undefined : git.open(pull.head_repo_id);
  const base = await readBranch(baseGit, pull.base_branch);
  const head = headGit && (await readBranch(headGit, pull.head_branch));
  if (!base || !head) {
    db.run('UPDATE pulls SET is_head_gone = ? WHERE id = ?', head === undefined, id);
    closePull(context, place, pull);
    return;
  }
  if (head.id === pull.head_sha && base.id === pull.base_sha) return;
  if (head.id !== pull.head_sha) await keepHead(baseGit, headGit, pull);
  if (await wasMergedByHand(place.repository, baseGit, pull, { base: base.id, head: head.id })) {
    const commit = (await findMergeCommit(baseGit, head.id, base.id)) ?? head.id;
    db.transaction(() => {
      markMerged(context, pull, { commit, base: base.id, merger: actor });
      tellClosed(context, place, pull);
    });
    return;
  }
  const seen = await inspectPull(baseGit, base.id, head.id);
  db.transaction(() => {
    db.run(
      `UPDATE pulls SET head_sha = ?, base_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?,
         status = 'checking' WHERE id = ?`,
      head.id,
      base.id,
      seen.merge_base,
      seen.additions,
      seen.deletions,
      seen.changed_files,
      id,
    );
    if (head.id !== pull.head_sha) {
      db.run('UPDATE issues SET updated_at = ? WHERE id = ?', secondsOf(context.clock()), pull.issue_id);
      const heads = { before: pull.head_sha, after: head.id };
      emitPull(context, place, pull.issue_id, {
        type: 'pull_request_sync',
        action: 'synchronized',
        ...heads,
      });
    }
    // Told before it is known, as on the baseline, where the check for conflicts runs after the event.
    db.run('UPDATE pulls SET status = ? WHERE id = ?', seen.status, id);
  });
}

/** Keeps the head commit in the base repository, under the name by which everybody can fetch it. */
export async function keepHead(
  base: GitRepository,
  head: GitRepository,
  pull: Pick<PullRow, 'number' | 'head_branch'>,
): Promise<void> {
  const target = `refs/pull/${pull.number}/head`;
  const source = `refs/heads/${pull.head_branch}`;
  if (base.id !== head.id) {
    await takeRef(base, head, { source, target });
    return;
  }
  const [before, after] = [await readRef(base, target), await readRef(head, source)];
  if (after !== undefined && after !== before) await moveRefs(base, [{ name: target, before, after }]);
}

/** Only where the repository asks for it: a head that became part of the base was merged outside of the forge. */
async function wasMergedByHand(
  repository: RepositoryRow,
  git: GitRepository,
  pull: PullRow,
  { base, head }: { base: string; head: string },
): Promise<boolean> {
  if (!settingsOf(repository).autodetect_manual_merge || pull.merge_base === head) return false;
  return await isAncestor(git, head, base);
}

/** Returns where a pull request stands, or undefined when its repository is gone. */
export function placeOf(context: ForgeContext, repositoryId: number, actor: UserRow): PullPlace | undefined {
  const repository = context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repositoryId);
  const owner =
    repository && context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  return repository && owner && { repository, owner, actor };
}

function closePull(context: ForgeContext, place: PullPlace, pull: PullRow): void {
  const now = secondsOf(context.clock());
  context.db.transaction(() => {
    context.db.run(
      'UPDATE issues SET is_closed = 1, closed_at = ?, updated_at = ? WHERE id = ?',
      now,
      now,
      pull.issue_id,
    );
    tellClosed(context, place, pull);
  });
}

/** Records that a pull request is merged; `tellClosed` is for afterwards. */
export function markMerged(
  { db, clock }: ForgeContext,
  pull: PullRow,
  merge: { readonly commit: string; readonly base: string; readonly merger: UserRow },
): void {
  const now = secondsOf(clock());
  db.transaction(() => {
    db.run(
      'UPDATE pulls SET is_merged = 1, merged_commit_sha = ?, merged_at = ?, merger_id = ?, base_sha = ? WHERE id = ?',
      merge.commit,
      now,
      merge.merger.id,
      merge.base,
      pull.id,
    );
    db.run(
      'UPDATE issues SET is_closed = 1, closed_at = ?, updated_at = ? WHERE id = ?',
      now,
      now,
      pull.issue_id,
    );
  });
}

/** Tells hooks that a pull request is closed, merged or not. */
export function tellClosed(context: ForgeContext, place: PullPlace, pull: PullRow): void {
  emitPull(context, place, pull.issue_id, { type: 'pull_request', action: 'closed' });
}
