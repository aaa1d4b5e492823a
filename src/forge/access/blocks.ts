import type { Database } from '../core/database.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { permissionOf, reaches } from './permissions.ts';

/** Returns whether one of the accounts or organizations blocks an account; a site administrator is never blocked. */
export function isBlockedBy(db: Database, account: UserRow, blockerIds: readonly number[]): boolean {
  if (account.is_admin) return false;
  const sql =
    'SELECT 1 AS one FROM blocks WHERE blocked_id = ? AND blocker_id IN (SELECT value FROM json_each(?)) LIMIT 1';
  return db.get(sql, account.id, JSON.stringify(blockerIds)) !== undefined;
}

/** Ends the request with 403 if one of the accounts or organizations blocks an account. */
export function requireUnblocked(db: Database, account: UserRow, blockerIds: readonly number[]): void {
  if (isBlockedBy(db, account, blockerIds)) throw new ForgeProblem(403, 'user is blocked');
}

type BlockScene = { readonly repository: RepositoryRow; readonly owner: UserRow; readonly actor: UserRow };

/**
 * Returns whether the author of an issue or the owner of its repository blocks an account. Administrators of the repository may write
 * anyway.
 */
export function isBlockedIn(
  db: Database,
  { repository, owner, actor }: BlockScene,
  issue: Pick<IssueRow, 'poster_id'>,
): boolean {
  if (!isBlockedBy(db, actor, [issue.poster_id, repository.owner_id])) return false;
  return !reaches(permissionOf(db, actor, repository, owner), 'admin');
}

/** Ends the request with 403 if `isBlockedIn`. */
export function requireUnblockedIn(
  db: Database,
  scene: BlockScene,
  issue: Pick<IssueRow, 'poster_id'>,
): void {
  if (isBlockedIn(db, scene, issue)) throw new ForgeProblem(403, 'user is blocked');
}
