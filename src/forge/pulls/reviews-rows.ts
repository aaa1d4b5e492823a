import { toTeam } from '../accounts/teams-rows.ts';
import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { type IssuePlace, issueAddress } from '../issues/issues-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { found } from '../platform/errors.ts';
import type { Bit, IssueRow, Seconds, TeamRow, UserRow } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';

/** A review of a pull request, or a review request. */
export type ReviewRow = {
  readonly id: number;
  readonly issue_id: number;
  /** Account of the reviewer; null for a request to a team. */
  readonly reviewer_id: number | null;
  readonly team_id: number | null;
  readonly type: 'PENDING' | 'COMMENT' | 'APPROVED' | 'REQUEST_CHANGES' | 'REQUEST_REVIEW';
  readonly body: string;
  readonly commit_id: string;
  readonly official: Bit;
  readonly stale: Bit;
  readonly dismissed: Bit;
  /** Message of the last dismissal. */
  readonly dismissal: string;
  /** Id of the review as a comment, which determines its position in the discussion; 0 for a request. */
  readonly comment_id: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** A line comment; a negative line number is a line of the old file. */
export type ReviewCommentRow = {
  readonly id: number;
  readonly review_id: number;
  readonly repo_id: number;
  readonly poster_id: number;
  readonly body: string;
  readonly path: string;
  readonly line: number;
  readonly commit_id: string;
  readonly diff_hunk: string;
  readonly resolver_id: number | null;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** Returns reviews of one pull request as the API shows them, in the order given. */
export function toReviews(
  context: ForgeContext,
  reviews: readonly ReviewRow[],
  issue: IssueRow,
  place: IssuePlace,
) {
  const users = loadUsers(context, idsOf(reviews.map((review) => review.reviewer_id)));
  const counts = countComments(context, reviews);
  const address = issueAddress(context, issue, place);
  return reviews.map((review) => ({
    id: review.id,
    user: shapeOf(context, users, review.reviewer_id, place.viewer),
    team: review.team_id === null ? null : findTeamRow(context, review.team_id),
    state: review.type,
    body: review.body,
    commit_id: review.commit_id,
    stale: review.stale === 1,
    official: review.official === 1,
    dismissed: review.dismissed === 1,
    comments_count: counts.get(review.id) ?? 0,
    submitted_at: toInstant(review.created_at),
    updated_at: toInstant(review.updated_at),
    // A request has no position in the discussion.
    html_url: review.comment_id === 0 ? '' : `${address}#issuecomment-${review.comment_id}`,
    pull_request_url: address,
  }));
}

/** Returns line comments of reviews as the API shows them. */
export function toReviewComments(
  context: ForgeContext,
  comments: readonly ReviewCommentRow[],
  issue: IssueRow,
  place: IssuePlace,
) {
  const people = comments.flatMap(({ poster_id, resolver_id }) => [poster_id, resolver_id]);
  const users = loadUsers(context, idsOf(people));
  const address = issueAddress(context, issue, place);
  return comments.map((comment) => ({
    id: comment.id,
    body: comment.body,
    user: shapeOf(context, users, comment.poster_id, place.viewer),
    resolver: shapeOf(context, users, comment.resolver_id, place.viewer),
    pull_request_review_id: comment.review_id,
    created_at: toInstant(comment.created_at),
    updated_at: toInstant(comment.updated_at),
    path: comment.path,
    commit_id: comment.commit_id,
    original_commit_id: '',
    diff_hunk: comment.diff_hunk,
    position: Math.max(0, comment.line),
    original_position: Math.max(0, -comment.line),
    html_url: `${address}#issuecomment-${comment.id}`,
    pull_request_url: address,
  }));
}

function idsOf(ids: readonly (number | null)[]): number[] {
  return ids.filter((id) => id !== null);
}

function shapeOf(
  context: ForgeContext,
  users: ReadonlyMap<number, UserRow>,
  id: number | null,
  viewer: UserRow | undefined,
) {
  const user = id === null ? undefined : users.get(id);
  return user ? toUser(context, user, viewer) : null;
}

function findTeamRow(context: ForgeContext, id: number) {
  const team = context.db.get<TeamRow>('SELECT * FROM teams WHERE id = ?', id);
  return team ? toTeam(context, team) : null;
}

function countComments({ db }: ForgeContext, reviews: readonly ReviewRow[]): ReadonlyMap<number, number> {
  const rows = db.all<{ id: number; count: number }>(
    `SELECT review_id AS id, count(*) AS count FROM review_comments
     WHERE review_id IN (SELECT value FROM json_each(?)) GROUP BY review_id`,
    JSON.stringify(reviews.map(({ id }) => id)),
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Returns a review by id, or ends the request with 404. */
export function readReview(db: Database, id: number): ReviewRow {
  return found(
    db.get<ReviewRow>('SELECT * FROM reviews WHERE id = ?', id),
    `review does not exist [id: ${id}]`,
  );
}

/** Returns whether a caller may see a review: a draft is visible only to its author and to site administrators. */
export function mayKnow(review: ReviewRow, caller: UserRow | undefined): boolean {
  if (review.type !== 'PENDING') return true;
  return caller !== undefined && (caller.is_admin === 1 || caller.id === review.reviewer_id);
}

/** Returns an account's draft review of a pull request. */
export function findDraft(db: Database, issueId: number, user: UserRow): ReviewRow | undefined {
  const sql = `SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ? AND type = 'PENDING' ORDER BY id LIMIT 1`;
  return db.get<ReviewRow>(sql, issueId, user.id);
}

/** Returns an account's latest review or review request on a pull request; plain comments do not count. */
export function lastOpinion(db: Database, issueId: number, userId: number): ReviewRow | undefined {
  const sql = `SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ?
    AND type IN ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW') ORDER BY id DESC LIMIT 1`;
  return db.get<ReviewRow>(sql, issueId, userId);
}
