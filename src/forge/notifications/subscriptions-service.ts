import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';

/** Makes an account a watcher of a repository. */
export function watchRepository(context: ForgeContext, userId: number, repositoryId: number): void {
  context.db.run(
    'INSERT INTO watches (user_id, repo_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    userId,
    repositoryId,
    secondsOf(context.clock()),
  );
}

/** Reverts `watchRepository`. */
export function unwatchRepository({ db }: ForgeContext, userId: number, repositoryId: number): void {
  db.run('DELETE FROM watches WHERE user_id = ? AND repo_id = ?', userId, repositoryId);
}

/** Returns whether an account watches a repository. */
export function isWatching({ db }: ForgeContext, userId: number, repositoryId: number): boolean {
  const sql = 'SELECT 1 AS one FROM watches WHERE user_id = ? AND repo_id = ?';
  return db.get(sql, userId, repositoryId) !== undefined;
}

/**
 * Returns whether an account is subscribed to an issue: by its explicit choice, or because it watches the repository,
 * wrote the issue or commented on it.
 */
export function isSubscribedToIssue(context: ForgeContext, userId: number, issue: IssueRow): boolean {
  const { db } = context;
  const said = db.get<{ is_watching: number }>(
    'SELECT is_watching FROM issue_watches WHERE issue_id = ? AND user_id = ?',
    issue.id,
    userId,
  );
  if (said) return said.is_watching === 1;
  if (userId === issue.poster_id || isWatching(context, userId, issue.repo_id)) return true;
  const sql = 'SELECT 1 AS one FROM comments WHERE issue_id = ? AND poster_id = ? LIMIT 1';
  return db.get(sql, issue.id, userId) !== undefined;
}

/** Stores an account's explicit subscription choice for an issue. */
export function setIssueSubscription(
  { db }: ForgeContext,
  userId: number,
  issueId: number,
  wanted: boolean,
): void {
  db.run(
    `INSERT INTO issue_watches (issue_id, user_id, is_watching) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET is_watching = excluded.is_watching`,
    issueId,
    userId,
    wanted,
  );
}
