import { accountByEmail } from '../accounts/users-rows.ts';
import { emitPull, type PullContext } from '../hooks/events.ts';
import { recordEvent, type TimelineReferences } from '../issues/timeline-rows.ts';
import { notifyPersons } from '../notifications/notifications-service.ts';
import { permissionOf, reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { FoundPull } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { TeamRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { reachesUnit } from './allowlists.ts';
import { findBranchRule } from './protections-service.ts';
import { lastOpinion, type ReviewRow, readReview } from './reviews-rows.ts';
import { isOfficial, restoreOfficial } from './reviews-service.ts';

/** Reviewers that a caller names. */
export type NamedReviewers = {
  readonly reviewers?: readonly string[] | undefined;
  readonly team_reviewers?: readonly string[] | undefined;
};
export type Reviewers = { readonly people: readonly UserRow[]; readonly teams: readonly TeamRow[] };

/**
 * Returns the named reviewers, by name or e-mail address, or ends the request with 404. A person's repository has no
 * teams.
 */
export function findReviewers(context: ForgeContext, owner: UserRow, named: NamedReviewers): Reviewers {
  const { db } = context;
  const people = (named.reviewers ?? []).map((name) =>
    found(name.includes('@') ? accountByEmail(db, name) : userNamed(db, name), `user doesn't exist: ${name}`),
  );
  if (owner.type !== 'organization') return { people, teams: [] };
  const teams = (named.team_reviewers ?? []).map((name) => {
    const sql = 'SELECT * FROM teams WHERE org_id = ? AND lower_name = ?';
    return found(db.get<TeamRow>(sql, owner.id, name.toLowerCase()), `team doesn't exist: ${name}`);
  });
  return { people, teams };
}

/**
 * Ends the request with 422 if this account cannot be a reviewer, or if the actor may not choose reviewers. The actor's
 * own role in the repository counts, not the rights of a site administrator.
 */
export function guardRequest(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  user: UserRow,
): void {
  const { db } = context;
  const { repository, owner } = place;
  if (user.type === 'organization') throw invalid('an organization cannot review');
  if (permissionOf(db, user, repository, owner, 'pulls') === 'none')
    throw invalid(`${user.name} cannot read the pull request`);
  if (user.id === both.issue.poster_id) throw invalid('the author cannot review');
  if (!mayChoose(context, place, both)) throw invalid('you may not choose reviewers');
}

/** Requests a review from an account and sends the webhook. Returns undefined if a review is already requested. */
export function requestReview(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  user: UserRow,
): ReviewRow | undefined {
  guardRequest(context, place, both, user);
  return askForReview(context, place, both, user);
}

/** Like `requestReview`, but checks neither the actor nor the account. */
export function askForReview(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  user: UserRow,
): ReviewRow | undefined {
  const { db } = context;
  const last = lastOpinion(db, both.issue.id, user.id);
  if (last?.type === 'REQUEST_REVIEW') return undefined;
  if (last && both.issue.is_closed === 1)
    throw new ForgeProblem(403, 'a closed pull request needs no review');
  const official = isOfficial(context, place, both.pull, user);
  // A new review is requested, so the account's earlier reviews no longer count.
  if (official) {
    db.run('UPDATE reviews SET official = 0 WHERE issue_id = ? AND reviewer_id = ?', both.issue.id, user.id);
  }
  const review = insertRequest(context, both, { reviewerId: user.id, official });
  recordRequest(context, place, both, { assignee: user.id, review: review.id });
  emitRequest(context, place, both, { user, action: 'review_requested' });
  return review;
}

/** Withdraws the review request to an account; does nothing if there is none. */
export function cancelRequest(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  user: UserRow,
): void {
  const { db } = context;
  const last = lastOpinion(db, both.issue.id, user.id);
  const isOwn = last?.type === 'REQUEST_REVIEW' && user.id === place.actor.id;
  if (user.type === 'organization') throw invalid('an organization cannot review');
  if (!isOwn && !mayChoose(context, place, both)) throw invalid('you may not remove reviewers');
  if (last?.type !== 'REQUEST_REVIEW') return;
  db.run('DELETE FROM reviews WHERE id = ?', last.id);
  if (isOfficial(context, place, both.pull, user)) restoreOfficial(db, both.issue.id, user.id);
  recordRequest(context, place, both, { assignee: user.id, isRemoved: true });
  emitRequest(context, place, both, { user, action: 'review_request_removed' });
}

/**
 * Requests a review from a team; every member except the author is notified. Returns undefined if a review is already
 * requested.
 */
export function requestTeamReview(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  team: TeamRow,
): ReviewRow | undefined {
  if (place.repository.is_private === 1 && !hasRepository(context, team, place.repository.id)) {
    throw invalid(`the team ${team.name} cannot read the pull request`);
  }
  if (!mayChoose(context, place, both)) throw invalid('you may not choose reviewers');
  return askTeamForReview(context, place, both, team);
}

/** Like `requestTeamReview`, but checks neither the actor nor the team. */
export function askTeamForReview(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  team: TeamRow,
): ReviewRow | undefined {
  const { db } = context;
  if (findTeamRequest(context, both, team)) return undefined;
  const official = isOfficialTeam(context, both, team) || isOfficial(context, place, both.pull, place.actor);
  const review = insertRequest(context, both, { teamId: team.id, official });
  recordRequest(context, place, both, { assigneeTeam: team.id, review: review.id });
  const members = db.all<UserRow>(
    'SELECT u.* FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ? AND u.id <> ? ORDER BY u.id',
    team.id,
    both.issue.poster_id,
  );
  for (const user of members) emitRequest(context, place, both, { user, action: 'review_requested' });
  return review;
}

/** Withdraws the review request to a team; no notification is sent. */
export function cancelTeamRequest(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  team: TeamRow,
): void {
  if (!mayChoose(context, place, both)) throw invalid('you may not remove reviewers');
  const request = findTeamRequest(context, both, team);
  if (request === undefined) return;
  context.db.run('DELETE FROM reviews WHERE id = ?', request.id);
  recordRequest(context, place, both, { assigneeTeam: team.id, isRemoved: true });
}

function recordRequest(
  context: ForgeContext,
  { actor }: PullContext,
  { issue }: FoundPull,
  refers: TimelineReferences,
): void {
  recordEvent(context, { issueId: issue.id, actor }, { type: 'review_request', refers });
}

function invalid(reason: string): ForgeProblem {
  return new ForgeProblem(422, `not a valid review request: ${reason}`);
}

/**
 * Returns whether the actor may request reviews: the author, the owner, collaborators, and organization members whose
 * team can read the pull request.
 */
function mayChoose({ db }: ForgeContext, { repository, actor }: PullContext, { issue }: FoundPull): boolean {
  if (repository.archived_at > 0) return false;
  if (actor.id === issue.poster_id || actor.id === repository.owner_id) return true;
  const sql = `SELECT 1 AS one FROM collaborators WHERE repo_id = ?1 AND user_id = ?2
    UNION SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = ?2 AND m.org_id = ?3 AND ${reachesUnit('pulls')}
      AND (t.includes_all_repositories = 1
        OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = ?1)) LIMIT 1`;
  return db.get(sql, repository.id, actor.id, repository.owner_id) !== undefined;
}

function hasRepository({ db }: ForgeContext, team: TeamRow, repositoryId: number): boolean {
  if (team.includes_all_repositories === 1) return true;
  const sql = 'SELECT 1 AS one FROM team_repositories WHERE team_id = ? AND repo_id = ?';
  return db.get(sql, team.id, repositoryId) !== undefined;
}

function isOfficialTeam({ db }: ForgeContext, { pull }: FoundPull, team: TeamRow): boolean {
  const rule = findBranchRule(db, pull.repo_id, pull.base_branch);
  if (!rule) return false;
  if (rule.enable_approvals_whitelist) return rule.teams.approvals.includes(team.id);
  // The cast is safe: `teams.ts` writes this column.
  const units = JSON.parse(team.units_map) as Record<string, string>;
  const isWhole = Object.keys(units).length === 0 || reaches(team.permission, 'admin');
  const held = isWhole ? team.permission : units['repo.code'];
  return held === 'write' || held === 'admin' || held === 'owner';
}

function findTeamRequest({ db }: ForgeContext, { issue }: FoundPull, team: TeamRow): ReviewRow | undefined {
  const sql = 'SELECT * FROM reviews WHERE issue_id = ? AND team_id = ? ORDER BY id DESC LIMIT 1';
  return db.get<ReviewRow>(sql, issue.id, team.id);
}

function insertRequest(
  { db, clock }: ForgeContext,
  { issue }: FoundPull,
  given: { readonly reviewerId?: number; readonly teamId?: number; readonly official: boolean },
): ReviewRow {
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO reviews (issue_id, reviewer_id, team_id, type, official, created_at, updated_at)
     VALUES (?, ?, ?, 'REQUEST_REVIEW', ?, ?, ?)`,
    issue.id,
    given.reviewerId,
    given.teamId,
    given.official,
    now,
    now,
  );
  return readReview(db, lastId);
}

function emitRequest(
  context: ForgeContext,
  place: PullContext,
  { issue }: FoundPull,
  {
    user,
    action,
  }: { readonly user: UserRow; readonly action: 'review_requested' | 'review_request_removed' },
): void {
  const event = { type: 'pull_request_review_request', action, requestedReviewer: user };
  emitPull(context, place, issue.id, event);
  if (action === 'review_requested')
    notifyPersons(context, { ...place, issueId: issue.id, receivers: [user] });
}
