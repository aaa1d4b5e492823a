import type { ForgeContext } from '../core/context.ts';
import type { TeamRow, UserRow } from '../core/rows.ts';
import { toTeams } from './team.ts';
import { toUser } from './user.ts';

type UserShape = ReturnType<typeof toUser>;

/** What a list of pull requests tells of the reviews of one. */
export type ReviewSummary = {
  /** Null: no account. */
  readonly reviewers: UserShape[] | null;
  readonly count: number;
};

const counted = /* sql */ `r.dismissed = 0 AND r.reviewer_id IS NOT NULL AND r.type IN`;

/**
 * Returns the reviewers of a pull request: accounts that were requested and accounts with a review that is not dismissed, both,
 * as on the baseline, in the order of their last word.
 */
export function reviewersOf(context: ForgeContext, issueId: number): UserShape[] {
  const users = context.db.all<UserRow>(
    `SELECT u.* FROM (SELECT r.reviewer_id, max(r.updated_at) AS at, max(r.id) AS id FROM reviews r WHERE r.issue_id = ?
       AND ${counted} ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW', 'COMMENT') GROUP BY r.reviewer_id) latest
     JOIN users u ON u.id = latest.reviewer_id ORDER BY latest.at, latest.id`,
    issueId,
  );
  return users.map((user) => toUser(context, user, undefined));
}

/** Returns the teams that were asked to review. */
export function reviewTeamsOf(context: ForgeContext, issueId: number) {
  const teams = context.db.all<TeamRow>(
    'SELECT DISTINCT t.* FROM reviews r JOIN teams t ON t.id = r.team_id WHERE r.issue_id = ? ORDER BY r.id',
    issueId,
  );
  return toTeams(context, teams);
}

/** Returns what a list shows of the reviews of pull requests, by the issue's id; plain comments make no reviewer. */
export function loadReviewSummaries(
  context: ForgeContext,
  issueIds: readonly number[],
): ReadonlyMap<number, ReviewSummary> {
  const given = JSON.stringify(issueIds);
  const rows = context.db.all<UserRow & { issue_id: number }>(
    `SELECT u.*, latest.issue_id FROM (SELECT r.issue_id, r.reviewer_id, max(r.updated_at) AS at, max(r.id) AS last
       FROM reviews r WHERE r.issue_id IN (SELECT value FROM json_each(?))
       AND ${counted} ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW') GROUP BY r.issue_id, r.reviewer_id) latest
     JOIN users u ON u.id = latest.reviewer_id ORDER BY latest.at, latest.last`,
    given,
  );
  const counts = context.db.all<{ issue_id: number; count: number }>(
    `SELECT issue_id, count(*) AS count FROM reviews WHERE comment_id > 0
       AND issue_id IN (SELECT value FROM json_each(?)) GROUP BY issue_id`,
    given,
  );
  const countOf = new Map(counts.map((row) => [row.issue_id, row.count]));
  const byIssue = Map.groupBy(rows, (row) => row.issue_id);
  return new Map(
    [...new Set([...countOf.keys(), ...byIssue.keys()])].map((id) => [
      id,
      {
        reviewers: byIssue.get(id)?.map((user) => toUser(context, user, undefined)) ?? null,
        count: countOf.get(id) ?? 0,
      },
    ]),
  );
}
