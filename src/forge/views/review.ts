import type { ForgeContext } from '../core/context.ts';
import type { IssueRow, ReviewCommentRow, ReviewRow } from '../core/issue-rows.ts';
import type { TeamRow, UserRow } from '../core/rows.ts';
import { toInstant } from '../core/time.ts';
import { type IssuePlace, issueAddress } from './issue.ts';
import { toTeam } from './team.ts';
import { loadUsers, toUser } from './user.ts';

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
    // A request has no place in the discussion.
    html_url: review.comment_id === 0 ? '' : `${address}#issuecomment-${review.comment_id}`,
    pull_request_url: address,
  }));
}

/** Returns the comments of reviews on lines as the API shows them. */
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
