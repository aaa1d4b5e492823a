import { ReeveError } from '../../platform/errors.ts';
import { emitPull, type PullContext } from '../hooks/events.ts';
import { recordEvent, takeCommentId } from '../issues/timeline-rows.ts';
import { notifyActivity } from '../notifications/notifications-service.ts';
import type { FoundPull } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { PullRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { findBranchRule, isOfficialReviewer } from './protections-service.ts';
import { findDraft, type ReviewRow, readReview } from './reviews-rows.ts';

/** The content of a review. */
export type Opinion = {
  readonly type: Exclude<ReviewRow['type'], 'REQUEST_REVIEW'>;
  readonly body: string;
  readonly commitId: string;
  readonly isStale: boolean;
};

type ReviewedRepository = { readonly repository: RepositoryRow; readonly owner: UserRow };

const eventTypes: Readonly<Partial<Record<ReviewRow['type'], string>>> = {
  APPROVED: 'pull_request_review_approved',
  REQUEST_CHANGES: 'pull_request_review_rejected',
  COMMENT: 'pull_request_review_comment',
};

/** Returns whether a review by this account counts for the current base branch of the pull request. */
export function isOfficial(
  { db }: ForgeContext,
  place: ReviewedRepository,
  pull: PullRow,
  user: UserRow,
): boolean {
  const rule = findBranchRule(db, pull.repo_id, pull.base_branch);
  return isOfficialReviewer({ ...place, db }, rule, user);
}

/**
 * Records a review, from the account's draft if there is one, and sends the webhook; a draft sends no event. An
 * approval or rejection supersedes the account's earlier ones and fulfils the requests to the account or to a team it
 * belongs to; a comment fulfils only the requests to the account. As in Gitea, earlier ones are marked as dismissed
 * only if there was no draft. Runs inside the caller's transaction.
 */
export function recordReview(
  context: ForgeContext,
  place: PullContext,
  both: FoundPull,
  opinion: Opinion,
): ReviewRow {
  const { db } = context;
  const { actor } = place;
  const isVote = opinion.type === 'APPROVED' || opinion.type === 'REQUEST_CHANGES';
  const issueId = both.issue.id;
  if (isVote) {
    db.run('UPDATE reviews SET official = 0 WHERE issue_id = ? AND reviewer_id = ?', issueId, actor.id);
  }
  const official = isVote && isOfficial(context, place, both.pull, actor);
  const draft = findDraft(db, issueId, actor);
  if (opinion.type !== 'PENDING') answerRequests(db, issueId, actor, isVote);
  const id = draft
    ? submitDraft(context, draft, opinion, official)
    : insertReview(context, issueId, { ...opinion, reviewer: actor, official, isVote });
  db.run('UPDATE issues SET updated_at = ? WHERE id = ?', secondsOf(context.clock()), issueId);
  const review = readReview(db, id);
  if (opinion.type !== 'PENDING') {
    const entry = { id: review.comment_id, type: 'review', body: opinion.body, refers: { review: id } };
    recordEvent(context, { issueId, actor }, entry);
  }
  const type = eventTypes[opinion.type];
  if (type !== undefined) {
    const said = { type, content: opinion.body };
    emitPull(context, place, issueId, { type, action: 'reviewed', requestedReviewer: actor, review: said });
    notifyActivity(context, { ...place, issueId, text: opinion.body });
  }
  return review;
}

function answerRequests(db: Database, issueId: number, user: UserRow, isVote: boolean): void {
  const asked = `DELETE FROM reviews WHERE issue_id = ? AND type = 'REQUEST_REVIEW'`;
  db.run(`${asked} AND reviewer_id = ?`, issueId, user.id);
  if (!isVote) return;
  db.run(`${asked} AND team_id IN (SELECT team_id FROM team_members WHERE user_id = ?)`, issueId, user.id);
}

function submitDraft(
  { db, clock }: ForgeContext,
  draft: ReviewRow,
  opinion: Opinion,
  official: boolean,
): number {
  db.run(
    `UPDATE reviews SET type = ?, body = ?, commit_id = ?, stale = ?, official = ?, comment_id = ?, updated_at = ?
     WHERE id = ?`,
    opinion.type,
    opinion.body,
    opinion.commitId,
    opinion.isStale,
    official,
    draft.comment_id || takeCommentId(db),
    secondsOf(clock()),
    draft.id,
  );
  return draft.id;
}

function insertReview(
  { db, clock }: ForgeContext,
  issueId: number,
  given: Opinion & { readonly reviewer: UserRow; readonly official: boolean; readonly isVote: boolean },
): number {
  const now = secondsOf(clock());
  if (given.isVote) {
    db.run(
      `UPDATE reviews SET dismissed = 1, updated_at = ? WHERE issue_id = ? AND reviewer_id = ? AND dismissed = 0
         AND type IN ('APPROVED', 'REQUEST_CHANGES')`,
      now,
      issueId,
      given.reviewer.id,
    );
  }
  const { lastId } = db.run(
    `INSERT INTO reviews (issue_id, reviewer_id, type, body, commit_id, stale, official, comment_id, created_at,
       updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    issueId,
    given.reviewer.id,
    given.type,
    given.body,
    given.commitId,
    given.isStale,
    given.official,
    takeCommentId(db),
    now,
    now,
  );
  return lastId;
}

/**
 * Returns the id of the account's draft on a pull request, which is created if there is none. Line comments belong to
 * it.
 */
export function openDraft(
  { db, clock }: ForgeContext,
  issueId: number,
  user: UserRow,
  commitId: string,
): number {
  const draft = findDraft(db, issueId, user);
  if (draft) return draft.id;
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO reviews (issue_id, reviewer_id, type, commit_id, created_at, updated_at)
     VALUES (?, ?, 'PENDING', ?, ?, ?)`,
    issueId,
    user.id,
    commitId,
    now,
    now,
  );
  return lastId;
}

/**
 * Marks approvals and rejections as dismissed, or reverts that. A review already in the wanted state is left unchanged.
 */
export function setDismissed(
  { db, clock }: ForgeContext,
  reviews: readonly ReviewRow[],
  dismissed: boolean,
  message = '',
): void {
  for (const review of reviews) {
    if (review.type !== 'APPROVED' && review.type !== 'REQUEST_CHANGES') continue;
    if ((review.dismissed === 1) === dismissed) continue;
    const sql = 'UPDATE reviews SET dismissed = ?, dismissal = ?, updated_at = ? WHERE id = ?';
    db.run(sql, dismissed, message, secondsOf(clock()), review.id);
  }
}

/** Records in the timeline that a review is dismissed. */
export function recordDismissal(
  context: ForgeContext,
  scene: { readonly issueId: number; readonly actor: UserRow },
  reviewId: number,
  message: string,
): void {
  recordEvent(context, scene, { type: 'dismiss_review', body: message, refers: { review: reviewId } });
}

/**
 * Updates the reviews after the head moved. If the change itself differs, all reviews become stale except those of the
 * new head, and the approvals are dismissed if the base's rule requires it. No webhook is sent.
 */
export function followHeadWithReviews(
  context: ForgeContext,
  pull: PullRow,
  {
    head,
    isOtherChange,
    actor,
  }: { readonly head: string; readonly isOtherChange: boolean; readonly actor: UserRow },
): void {
  const { db } = context;
  if (isOtherChange) {
    db.run('UPDATE reviews SET stale = 1 WHERE issue_id = ?', pull.issue_id);
    if (findBranchRule(db, pull.repo_id, pull.base_branch)?.dismiss_stale_approvals) {
      const sql = `SELECT * FROM reviews WHERE issue_id = ? AND type = 'APPROVED' AND dismissed = 0`;
      const approvals = db.all<ReviewRow>(sql, pull.issue_id);
      const message =
        'New commits pushed, approval review dismissed automatically according to repository settings';
      setDismissed(context, approvals, true, message);
      for (const { id } of approvals)
        recordDismissal(context, { issueId: pull.issue_id, actor }, id, message);
    }
  }
  db.run('UPDATE reviews SET stale = 0 WHERE issue_id = ? AND commit_id = ?', pull.issue_id, head);
}

/** Returns whether a pull request has reviews that a push could make stale. */
export function hasReviews(db: Database, issueId: number): boolean {
  return db.get('SELECT 1 AS one FROM reviews WHERE issue_id = ? LIMIT 1', issueId) !== undefined;
}

/** Recomputes which votes count after a change of the base branch. Only the last vote of each account can count. */
export function recountOfficial(context: ForgeContext, place: ReviewedRepository, issueId: number): void {
  const { db } = context;
  const votes = `issue_id = ? AND type IN ('APPROVED', 'REQUEST_CHANGES')`;
  db.run(`UPDATE reviews SET official = 0 WHERE ${votes}`, issueId);
  const pull = db.get<PullRow>('SELECT * FROM pulls WHERE issue_id = ?', issueId);
  const latest = db.all<ReviewRow>(
    `SELECT * FROM reviews WHERE id IN (SELECT max(id) FROM reviews WHERE ${votes} GROUP BY reviewer_id)`,
    issueId,
  );
  for (const review of latest) {
    const user = db.get<UserRow>('SELECT * FROM users WHERE id = ?', review.reviewer_id);
    if (!pull || !user || !isOfficial(context, place, pull, user)) continue;
    db.run('UPDATE reviews SET official = 1 WHERE id = ?', review.id);
  }
}

/** Removes a review with its comments. If it counted, the account's previous vote counts again. */
export function removeReview({ db }: ForgeContext, review: ReviewRow): void {
  db.run('DELETE FROM reviews WHERE id = ?', review.id);
  db.run(
    `DELETE FROM timeline WHERE issue_id = ? AND type = 'dismiss_review' AND json_extract(refers, '$.review') = ?`,
    review.issue_id,
    review.id,
  );
  if (review.official === 1 && review.reviewer_id !== null)
    restoreOfficial(db, review.issue_id, review.reviewer_id);
}

/** Makes the account's last vote or request count again. */
export function restoreOfficial(db: Database, issueId: number, userId: number): void {
  db.run(
    `UPDATE reviews SET official = 1 WHERE id = (SELECT max(id) FROM reviews WHERE issue_id = ? AND reviewer_id = ?
       AND type IN ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW'))`,
    issueId,
    userId,
  );
}

type HeadMove = {
  readonly before: string;
  readonly after: string;
  /** Merge base of the base branch and the head; undefined without a common history. */
  readonly mergeBase: string | undefined;
};

/**
 * Returns whether reviews of one head of a pull request are stale at another head. The decision is Gitea's: by the
 * combined diff of the new head against the old head and the merge base (`services/pull/pull.go`,
 * checkIfPRContentChanged). A file counts if the new head differs from both. A reverted change is therefore no change,
 * and a file of the pull request that the base changed is one. Without a common history, nothing counts. If git cannot
 * compare the commits, they count as changed.
 */
export async function isOtherChange(
  git: GitRepository,
  { before, after, mergeBase }: HeadMove,
): Promise<boolean> {
  if (mergeBase === undefined) return false;
  let isOther = false;
  try {
    await git.git.run(['diff', '--name-only', '-z', after, before, mergeBase, '--'], {
      folder: git.folder,
      // Git is stopped after the first output, because one changed file is enough.
      onOutput(piece) {
        isOther ||= piece.length > 0;
        return !isOther;
      },
    });
    return isOther;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'git-failed') return true;
    throw error;
  }
}
