import type { Database } from '../core/database.ts';
import { found } from '../core/errors.ts';
import type { ReviewRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';

/** Returns a review by id, or ends the request with 404. */
export function readReview(db: Database, id: number): ReviewRow {
  return found(
    db.get<ReviewRow>('SELECT * FROM reviews WHERE id = ?', id),
    `review does not exist [id: ${id}]`,
  );
}

/** Returns whether a caller may know of a review: a draft is its author's and the site administrator's. */
export function mayKnow(review: ReviewRow, caller: UserRow | undefined): boolean {
  if (review.type !== 'PENDING') return true;
  return caller !== undefined && (caller.is_admin === 1 || caller.id === review.reviewer_id);
}

/** Returns the draft that an account has on a pull request. */
export function findDraft(db: Database, issueId: number, user: UserRow): ReviewRow | undefined {
  const sql = `SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ? AND type = 'PENDING' ORDER BY id LIMIT 1`;
  return db.get<ReviewRow>(sql, issueId, user.id);
}

/** Returns what an account last said or was asked on a pull request; plain comments do not count. */
export function lastOpinion(db: Database, issueId: number, userId: number): ReviewRow | undefined {
  const sql = `SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ?
    AND type IN ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW') ORDER BY id DESC LIMIT 1`;
  return db.get<ReviewRow>(sql, issueId, userId);
}
