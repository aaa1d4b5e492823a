import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { RepositoryRow } from '../platform/rows.ts';

/**
 * Returns whether a repository allows dependencies between issues; without an internal issue tracker, the default
 * (true) applies.
 */
export function hasDependencies(repository: RepositoryRow): boolean {
  const { has_issues, external_tracker, internal_tracker } = settingsOf(repository);
  if (!has_issues || external_tracker) return true;
  return internal_tracker.enable_issue_dependencies !== false;
}

/** Returns whether an issue or pull request is blocked by another one that is open. */
export function isBlocked({ db }: ForgeContext, repository: RepositoryRow, issueId: number): boolean {
  const sql = `SELECT 1 AS one FROM dependencies d JOIN issues i ON i.id = d.blocker_id
    WHERE d.issue_id = ? AND i.is_closed = 0 LIMIT 1`;
  return hasDependencies(repository) && db.get(sql, issueId) !== undefined;
}

/** Ends the request with 412 if an issue cannot be closed because it is blocked. */
export function refuseBlocked(context: ForgeContext, repository: RepositoryRow, issueId: number): void {
  if (!isBlocked(context, repository, issueId)) return;
  throw new ForgeProblem(
    412,
    'cannot close this issue or pull request because it still has open dependencies',
  );
}
