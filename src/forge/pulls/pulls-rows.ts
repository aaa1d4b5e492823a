import { toTeams } from '../accounts/teams-rows.ts';
import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { type IssuePlace, issueAddress, toIssues } from '../issues/issues-rows.ts';
import { permissionOf, reaches } from '../platform/access/permissions.ts';
import type { FoundPull } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, PullRow, RepositoryRow, TeamRow, UserRow } from '../platform/rows.ts';
import { toInstantOrNull } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';

type RepositoryShape = ReturnType<typeof toRepository>;

const noTeams: ReturnType<typeof reviewTeamsOf> | null = null;
const noMerger: ReturnType<typeof toUser> | null = null;

type PullBranch = { readonly name: string; readonly sha: string; readonly repositoryId: number };

/** Returns a pull request as the API shows it, given its issue side. */
export function toPull(context: ForgeContext, issue: IssueRow, place: IssuePlace) {
  const pull = context.db.get<PullRow>('SELECT * FROM pulls WHERE issue_id = ?', issue.id);
  if (!pull) throw new TypeError(`issue ${issue.id} has no pull request`);
  const [shape] = toPulls(context, [{ issue, pull }], place);
  if (!shape) throw new TypeError('expected one pull request for one row');
  const { additions, deletions, changed_files, merger_id } = pull;
  const merger = merger_id === null ? undefined : loadUsers(context, [merger_id]).get(merger_id);
  // The response for a single pull request has empty lists where a list of pull requests has null.
  return {
    ...shape,
    assignees: shape.assignees ?? [],
    merged_by: merger ? toUser(context, merger, undefined) : null,
    requested_reviewers: reviewersOf(context, issue.id),
    requested_reviewers_teams: reviewTeamsOf(context, issue.id),
    additions,
    deletions,
    changed_files,
  };
}

/**
 * Returns pull requests of one repository, in the given order, as a list shows them: without line counts and the
 * merging account.
 */
export function toPulls(context: ForgeContext, pulls: readonly FoundPull[], place: IssuePlace) {
  const issues = toIssues(
    context,
    pulls.map(({ issue }) => issue),
    place,
  );
  const repositoryOf = createRepositoryShapes(context, place);
  const reviews = loadReviewSummaries(
    context,
    pulls.map(({ issue }) => issue.id),
  );
  return pulls.flatMap(({ issue, pull }, index) => {
    const shape = issues[index];
    return shape ? [toShape({ context, issue, pull, place, shape, repositoryOf, reviews })] : [];
  });
}

function toShape(given: {
  context: ForgeContext;
  issue: IssueRow;
  pull: PullRow;
  place: IssuePlace;
  shape: ReturnType<typeof toIssues>[number];
  repositoryOf: (id: number | null) => RepositoryShape | null;
  reviews: ReadonlyMap<number, ReviewSummary>;
}) {
  const { context, issue, pull, place, shape, repositoryOf } = given;
  const address = issueAddress(context, issue, place);
  const isDraft = shape.pull_request?.draft === true;
  const summary = given.reviews.get(issue.id);
  return {
    id: pull.id,
    // The web URL, whereas the `url` of an issue is its API URL.
    url: address,
    number: pull.number,
    user: shape.user,
    title: shape.title,
    body: shape.body,
    labels: shape.labels,
    milestone: shape.milestone,
    assignee: shape.assignee,
    assignees: shape.assignees,
    requested_reviewers: summary?.reviewers ?? null,
    // Lists never include teams.
    requested_reviewers_teams: noTeams,
    state: shape.state,
    draft: isDraft,
    is_locked: shape.is_locked,
    comments: shape.comments,
    // Counts reviews, not line comments. Builds of Gitea without GOEXPERIMENT=jsonv2 omit 0.
    review_comments: summary?.count ?? 0,
    html_url: address,
    diff_url: `${address}.diff`,
    patch_url: `${address}.patch`,
    // A merged pull request keeps its previous value, as in Gitea.
    mergeable: pull.status === 'mergeable' && !isDraft,
    merged: pull.is_merged === 1,
    merged_at: toInstantOrNull(pull.merged_at),
    merge_commit_sha: pull.is_merged === 1 ? pull.merged_commit_sha : null,
    merged_by: noMerger,
    allow_maintainer_edit: pull.allow_maintainer_edit === 1,
    base: toBranch({ name: pull.base_branch, sha: pull.base_sha, repositoryId: pull.repo_id }, repositoryOf),
    head: toHead(pull, repositoryOf),
    merge_base: pull.merge_base,
    due_date: shape.due_date,
    created_at: shape.created_at,
    updated_at: shape.updated_at,
    closed_at: shape.closed_at,
    pin_order: shape.pin_order,
    content_version: shape.content_version,
  };
}

function toBranch(
  { name, sha, repositoryId }: PullBranch,
  repositoryOf: (id: number | null) => RepositoryShape | null,
) {
  return { label: name, ref: name, sha, repo_id: repositoryId, repo: repositoryOf(repositoryId) };
}

function toHead(pull: PullRow, repositoryOf: (id: number | null) => RepositoryShape | null) {
  const repo = repositoryOf(pull.head_repo_id);
  // The ref of the pull request also reaches the commits of a deleted branch, and commits that were pushed for review
  // and never were on a branch.
  const isBranch = pull.flow === 0 && pull.is_head_gone === 0 && repo !== null;
  return {
    label: pull.flow === 0 ? pull.head_branch : '',
    ref: isBranch ? pull.head_branch : `refs/pull/${pull.number}/head`,
    sha: pull.moved_sha || pull.head_sha,
    repo_id: repo === null ? -1 : (pull.head_repo_id ?? -1),
    repo,
  };
}

/**
 * Returns a function that maps a repository id to the repository's API form, which is created once; null for a deleted
 * or unreadable repository.
 */
function createRepositoryShapes(
  context: ForgeContext,
  { repository, owner, viewer }: IssuePlace,
): (id: number | null) => RepositoryShape | null {
  const known = new Map<number, RepositoryShape | null>([
    [repository.id, toRepository(context, repository, { owner, viewer })],
  ]);
  return (id) => {
    if (id === null) return null;
    if (!known.has(id)) known.set(id, findShape(context, id, viewer));
    return known.get(id) ?? null;
  };
}

function findShape(context: ForgeContext, id: number, viewer: UserRow | undefined): RepositoryShape | null {
  const repository = context.db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', id);
  const owner = repository && loadUsers(context, [repository.owner_id]).get(repository.owner_id);
  if (!repository || !owner) return null;
  const isReadable = reaches(permissionOf(context.db, viewer, repository, owner), 'read');
  return isReadable ? toRepository(context, repository, { owner, viewer }) : null;
}

type UserShape = ReturnType<typeof toUser>;

/** Review fields of a pull request in a list. */
type ReviewSummary = {
  /** Reviewers of the pull request; null if there are none. */
  readonly reviewers: UserShape[] | null;
  readonly count: number;
};

const counted = /* sql */ `r.dismissed = 0 AND r.reviewer_id IS NOT NULL AND r.type IN`;

/**
 * Returns the reviewers of a pull request: accounts with a review request or with a review that is not dismissed, as in
 * Gitea, ordered by their latest review or request.
 */
function reviewersOf(context: ForgeContext, issueId: number): UserShape[] {
  const users = context.db.all<UserRow>(
    `SELECT u.* FROM (SELECT r.reviewer_id, max(r.updated_at) AS at, max(r.id) AS id FROM reviews r WHERE r.issue_id = ?
       AND ${counted} ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW', 'COMMENT') GROUP BY r.reviewer_id) latest
     JOIN users u ON u.id = latest.reviewer_id ORDER BY latest.at, latest.id`,
    issueId,
  );
  return users.map((user) => toUser(context, user, undefined));
}

/** Returns the teams with a review request. */
function reviewTeamsOf(context: ForgeContext, issueId: number) {
  const teams = context.db.all<TeamRow>(
    'SELECT DISTINCT t.* FROM reviews r JOIN teams t ON t.id = r.team_id WHERE r.issue_id = ? ORDER BY r.id',
    issueId,
  );
  return toTeams(context, teams);
}

/**
 * Returns the review fields of pull requests in a list, by issue id. A plain comment does not make its author a
 * reviewer.
 */
function loadReviewSummaries(
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
