import { emitComment } from '../hooks/events.ts';
import { takeCommentId } from '../issues/timeline-rows.ts';
import { numberedContent, recordActivity } from '../notifications/activities-service.ts';
import { notifyActivity } from '../notifications/notifications-service.ts';
import { permissionOf, reaches } from '../platform/access/permissions.ts';
import { type FoundPull, findPull, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { findMergeBase } from '../platform/git/history.ts';
import { cleanTreePath, isObjectId } from '../platform/git/names.ts';
import { readCommit } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { IssueRow, PullRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import {
  cancelRequest,
  cancelTeamRequest,
  findReviewers,
  type NamedReviewers,
  requestReview,
  requestTeamReview,
} from './review-requests.ts';
import {
  mayKnow,
  type ReviewCommentRow,
  type ReviewRow,
  readReview,
  toReviewComments,
  toReviews,
} from './reviews-rows.ts';
import {
  isOfficial,
  isOtherChange,
  type Opinion,
  openDraft,
  recordDismissal,
  recordReview,
  removeReview,
  setDismissed,
} from './reviews-service.ts';

/** A line comment with its git data, ready to be stored. */
type DraftComment = LineOfFile & {
  readonly body: string;
  readonly commitId: string;
  readonly hunk: string;
};

/** Returns a comment with the commit that last changed its line, and with the diff hunk up to that line. */
async function prepareComment(
  context: ForgeContext,
  pull: PullRow,
  given: LineOfFile & { readonly body: string; readonly commitId: string },
): Promise<DraftComment> {
  const git = context.git.open(pull.repo_id);
  const author = await findAuthorCommit(git, given.commitId || pull.head_sha, given);
  const ends = { base: pull.merge_base, head: pull.head_sha };
  return { ...given, commitId: author ?? pull.head_sha, hunk: await cutHunk(git, ends, given) };
}

/** Stores a comment as part of a review. */
function insertComment(
  { db, clock }: ForgeContext,
  reviewId: number,
  given: DraftComment & { readonly repositoryId: number; readonly poster: UserRow },
): ReviewCommentRow {
  const now = secondsOf(clock());
  const id = takeCommentId(db);
  db.run(
    `INSERT INTO review_comments (id, review_id, repo_id, poster_id, body, path, line, commit_id, diff_hunk, created_at,
       updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    reviewId,
    given.repositoryId,
    given.poster.id,
    given.body,
    given.path,
    given.line,
    given.commitId,
    given.hunk,
    now,
    now,
  );
  return found(db.get<ReviewCommentRow>('SELECT * FROM review_comments WHERE id = ?', id));
}

/** Maximum lines of a hunk that are kept, up to and including the commented one, as in Gitea. */
const maxLines = 4;

/** A line of a file: of the new file, or of the old one if negative. */
type LineOfFile = { readonly path: string; readonly line: number };

/** Returns the commit that last changed a line, as seen from `head`; undefined if the line does not exist. */
async function findAuthorCommit(
  git: GitRepository,
  head: string,
  { path, line }: LineOfFile,
): Promise<string | undefined> {
  if (line <= 0 || path === '' || !isObjectId(head)) return undefined;
  const { code, stdout } = await git.git.run(
    ['blame', '--porcelain', '-L', `${line},${line}`, head, '--', path],
    { folder: git.folder, expect: [0, 1, 128] },
  );
  return code === 0 ? /^[0-9a-f]+/.exec(stdout.toString('latin1'))?.[0] : undefined;
}

/** Returns the diff hunk that ends with a line, with its `@@` header; empty if the line is not in the diff. */
async function cutHunk(
  git: GitRepository,
  { base, head }: { readonly base: string; readonly head: string },
  place: LineOfFile,
): Promise<string> {
  // A path outside the tree, for example an absolute one, is in no diff, and git would fail.
  if (place.path === '' || cleanTreePath(place.path) !== place.path || place.line === 0) return '';
  const { stdout } = await git.git.run(
    ['diff-tree', '-p', '-r', '--no-renames', base, head, '--', place.path],
    { folder: git.folder },
  );
  return cutAround(stdout.toString('utf8').split('\n'), place.line);
}

/** Returns the part of a hunk that ends with a line, from the unified diff of one file. */
function cutAround(lines: readonly string[], line: number): string {
  let [old, now] = [0, 0];
  let seen: { text: string; old: number; now: number }[] = [];
  for (const text of lines) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (header) {
      [old, now] = [Number(header[1]), Number(header[2])];
      seen = [];
      continue;
    }
    const sign = text[0];
    if (now === 0 && old === 0) continue;
    if (sign !== ' ' && sign !== '+' && sign !== '-') continue;
    seen.push({ text, old, now });
    const isMeant = line > 0 ? sign !== '-' && now === line : sign !== '+' && old === -line;
    if (isMeant) return write(seen.slice(-maxLines));
    if (sign !== '+') old += 1;
    if (sign !== '-') now += 1;
  }
  return '';
}

function write(kept: readonly { text: string; old: number; now: number }[]): string {
  const [first] = kept;
  if (!first) return '';
  const count = (other: string) => kept.filter(({ text }) => text[0] !== other).length;
  const header = `@@ -${first.old},${count('+')} +${first.now},${count('-')} @@`;
  return [header, ...kept.map(({ text }) => text)].join('\n');
}

type ReviewTarget = RepositoryTarget & { readonly context: ForgeContext };
type ReviewRequest = ReviewTarget & { readonly caller: UserRow | undefined };
type Doing = ReviewTarget & { readonly caller: UserRow };
type AtReview = { readonly params: { readonly index: number; readonly id: number } };

export const reviewHandlers = defineHandlers({
  listReviews(call) {
    const { context, caller, page, reply } = call;
    const { issue } = findPull(context, call, call.params.index);
    const count = 'SELECT count(*) AS count FROM reviews WHERE issue_id = ?';
    reply.total(context.db.get<{ count: number }>(count, issue.id)?.count ?? 0);
    const rows = context.db.all<ReviewRow>(
      'SELECT * FROM reviews WHERE issue_id = ? ORDER BY created_at, id LIMIT ? OFFSET ?',
      issue.id,
      page.limit,
      page.offset,
    );
    const known = rows.filter((review) => mayKnow(review, caller));
    return toReviews(context, known, issue, { ...call, viewer: caller });
  },

  getReview(call) {
    const { review, both } = findReview(call);
    return show(call, review, both);
  },

  listReviewComments(call) {
    const { context, caller } = call;
    const { review, both } = findReview(call);
    const sql = 'SELECT * FROM review_comments WHERE review_id = ? ORDER BY id';
    const rows = context.db.all<ReviewCommentRow>(sql, review.id);
    return toReviewComments(context, rows, both.issue, { ...call, viewer: caller });
  },

  async createReview(call) {
    const { context, caller, params, body } = call;
    const comments = body.comments ?? [];
    const type = readEvent(findPull(context, call, params.index), caller, {
      event: body.event,
      body: body.body,
      hasComments: comments.length > 0,
    });
    // Excludes pushes, so that staleness is determined for the same head for which the review is stored.
    return await context.git.exclusively(call.repository.id, 'pulls', async () => {
      const both = findPull(context, call, params.index);
      const commitId = body.commit_id || both.pull.head_sha;
      const drafts = await Promise.all(
        comments.map((comment) =>
          prepareComment(context, both.pull, {
            path: comment.path ?? '',
            body: comment.body ?? '',
            line: comment.old_position ? -comment.old_position : (comment.new_position ?? 0),
            commitId,
          }),
        ),
      );
      const isStale = isVote(type) && (await isStaleAtBirth(context, both, commitId));
      const opinion = { type, body: body.body ?? '', commitId, isStale };
      return context.db.transaction(() => {
        const draftId = drafts.length === 0 ? 0 : openDraft(context, both.issue.id, caller, commitId);
        const author = { repositoryId: call.repository.id, poster: caller };
        for (const draft of drafts) insertComment(context, draftId, { ...draft, ...author });
        return show(call, record(call, both, opinion), both);
      });
    });
  },

  submitReview(call) {
    const { context, caller, body } = call;
    return context.db.transaction(() => {
      const { review, both } = findReview(call);
      if (review.type !== 'PENDING') throw new ForgeProblem(422, 'only a pending review can be submitted');
      // Line comments do not count here, as in Gitea: a comment review needs a body.
      const said = { event: body.event, body: body.body, hasComments: false };
      const type = readEvent(both, caller, said);
      if (type === 'PENDING') throw new ForgeProblem(422, 'review stay pending');
      const opinion = { type, body: body.body ?? '', commitId: both.pull.head_sha, isStale: false };
      return show(call, record(call, both, opinion), both);
    });
  },

  deleteReview(call) {
    const { context, caller } = call;
    const { review } = findReview(call);
    if (caller.is_admin === 0 && caller.id !== review.reviewer_id) {
      throw new ForgeProblem(403, 'no permission to delete comment');
    }
    // Gitea responds with 500 in this case.
    if (review.type === 'REQUEST_REVIEW')
      throw new ForgeProblem(400, 'a review request is withdrawn, not deleted');
    context.db.transaction(() => removeReview(context, review));
    return undefined;
  },

  dismissReview(call) {
    const { context, body } = call;
    return context.db.transaction(() => {
      const { review, both } = findVote(call);
      setDismissed(context, [review], true, body.message ?? '');
      if (body.priors) {
        const sql = 'SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ? AND dismissed = 0';
        const priors = context.db.all<ReviewRow>(sql, review.issue_id, review.reviewer_id);
        setDismissed(context, priors, true, body.message ?? '');
      }
      const scene = { ...call, actor: call.caller, issueId: both.issue.id };
      recordDismissal(context, scene, review.id, body.message ?? '');
      notifyActivity(context, scene);
      // No webhook is sent, but a merge may have been waiting for the dismissal.
      context.wakeMerges(call.repository.id);
      return show(call, readReview(context.db, review.id), both);
    });
  },

  undismissReview(call) {
    const { context } = call;
    return context.db.transaction(() => {
      const { review, both } = findVote(call);
      setDismissed(context, [review], false);
      return show(call, readReview(context.db, review.id), both);
    });
  },
});

function isVote(type: ReviewRow['type']): boolean {
  return type === 'APPROVED' || type === 'REQUEST_CHANGES';
}

/** Returns the review type of a caller's `event`, or ends the request with 422 if it is not allowed. */
function readEvent(
  { issue }: FoundPull,
  caller: UserRow,
  said: { event?: string | undefined; body?: string | undefined; hasComments: boolean },
): Opinion['type'] {
  const known = ['APPROVED', 'REQUEST_CHANGES', 'COMMENT'] as const;
  const type = known.find((word) => word === said.event) ?? 'PENDING';
  const hasBody = (said.body ?? '').trim() !== '';
  if (isVote(type) && caller.id === issue.poster_id) {
    throw new ForgeProblem(422, `${type === 'APPROVED' ? 'approve' : 'reject'} your own pull is not allowed`);
  }
  const needsBody = type === 'REQUEST_CHANGES' || type === 'PENDING';
  if (needsBody && !hasBody) throw new ForgeProblem(422, `review event ${said.event ?? ''} requires a body`);
  if (type === 'COMMENT' && !hasBody && !said.hasComments) {
    throw new ForgeProblem(422, 'review event COMMENT requires a body or a comment');
  }
  return type;
}

function record({ context, repository, owner, caller }: Doing, both: FoundPull, opinion: Opinion): ReviewRow {
  if (isVote(opinion.type) && both.issue.is_closed === 1) {
    throw new ForgeProblem(422, "can't submit review for a closed or merged PR");
  }
  const review = recordReview(context, { repository, owner, actor: caller }, both, opinion);
  if (review.type !== 'PENDING') noteReview(context, both, review, caller);
  return review;
}

/** Records each line comment as an activity, and the review itself unless it has no other content. */
function noteReview(context: ForgeContext, { issue }: FoundPull, review: ReviewRow, reviewer: UserRow): void {
  const told = { repositoryId: issue.repo_id, actorId: reviewer.id };
  const firstLine = (text: string) => numberedContent(issue.number, text.split('\n')[0] ?? '');
  const sql = 'SELECT * FROM review_comments WHERE review_id = ? ORDER BY id';
  for (const comment of context.db.all<ReviewCommentRow>(sql, review.id)) {
    recordActivity(context, { ...told, type: 'comment_pull', content: firstLine(comment.body) });
  }
  if (review.type === 'COMMENT' && review.body.trim() === '') return;
  const types = { APPROVED: 'approve_pull_request', REQUEST_CHANGES: 'reject_pull_request' } as const;
  const type =
    review.type === 'APPROVED' || review.type === 'REQUEST_CHANGES' ? types[review.type] : 'comment_pull';
  recordActivity(context, { ...told, type, content: firstLine(review.body) });
}

/**
 * Returns whether a new review of an older commit is stale from the start, because the change was different at that
 * commit.
 */
async function isStaleAtBirth(
  context: ForgeContext,
  { pull }: FoundPull,
  commitId: string,
): Promise<boolean> {
  if (commitId === pull.head_sha) return false;
  const git = context.git.open(pull.repo_id);
  // Gitea responds with 500 for an unknown commit.
  const commit = isObjectId(commitId) ? await readCommit(git, commitId) : undefined;
  const seen = found(commit, `commit does not exist [sha: ${commitId}]`).id;
  const mergeBase = await findMergeBase(git, pull.base_sha, pull.head_sha);
  return await isOtherChange(git, { before: seen, after: pull.head_sha, mergeBase });
}

function findReview(call: ReviewRequest & AtReview): {
  readonly review: ReviewRow;
  readonly both: FoundPull;
} {
  const both = findPull(call.context, call, call.params.index);
  const review = readReview(call.context.db, call.params.id);
  if (review.issue_id !== both.issue.id || !mayKnow(review, call.caller)) {
    throw new ForgeProblem(404, 'not found');
  }
  return { review, both };
}

/** Returns the review to dismiss. Only approvals and rejections of an open pull request can be dismissed. */
function findVote(call: ReviewRequest & AtReview): { readonly review: ReviewRow; readonly both: FoundPull } {
  const { review, both } = findReview(call);
  if (!isVote(review.type)) {
    throw new ForgeProblem(403, 'only an approval or a request for changes can be dismissed');
  }
  if (both.issue.is_closed === 1) throw new ForgeProblem(403, 'the pull request is closed or merged');
  return { review, both };
}

function show(call: ReviewRequest, review: ReviewRow, { issue }: FoundPull) {
  return found(toReviews(call.context, [review], issue, { ...call, viewer: call.caller })[0]);
}

type ReviewersRequest = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly index: number };
};

/** Handlers for requesting reviews and withdrawing requests. */
export const requestedReviewerHandlers = defineHandlers({
  requestReviews(call) {
    const { context, caller, repository, owner, body } = call;
    const { both, reviewers } = findRequested(call, body);
    const place = { repository, owner, actor: caller };
    // One by one, as in Gitea: requests made before a refusal are kept.
    const { transaction } = context.db;
    const made = [
      ...reviewers.people.map((user) => transaction(() => requestReview(context, place, both, user))),
      ...reviewers.teams.map((team) => transaction(() => requestTeamReview(context, place, both, team))),
    ].filter((review) => review !== undefined);
    return toReviews(context, made, both.issue, { ...call, viewer: caller });
  },

  cancelReviewRequests(call) {
    const { context, caller, repository, owner, body } = call;
    const { both, reviewers } = findRequested(call, body);
    const place = { repository, owner, actor: caller };
    const { transaction } = context.db;
    for (const user of reviewers.people) transaction(() => cancelRequest(context, place, both, user));
    for (const team of reviewers.teams) transaction(() => cancelTeamRequest(context, place, both, team));
    return undefined;
  },
});

function findRequested(call: ReviewersRequest, named: NamedReviewers) {
  const both = findPull(call.context, call, call.params.index);
  return { both, reviewers: findReviewers(call.context, call.owner, named) };
}

/**
 * Returns a review comment with its pull request. Ends the request with 400 for a plain comment, and with 404 if there
 * is none.
 */
function findReviewComment(
  { db }: ForgeContext,
  { repository }: RepositoryTarget,
  id: number,
): { readonly comment: ReviewCommentRow; readonly issue: IssueRow; readonly pull: PullRow } {
  const sql = 'SELECT * FROM review_comments WHERE id = ? AND repo_id = ?';
  const comment = db.get<ReviewCommentRow>(sql, id, repository.id);
  if (!comment) {
    const plain = db.get('SELECT 1 AS one FROM comments WHERE id = ? AND repo_id = ?', id, repository.id);
    if (plain) throw new ForgeProblem(400, 'comment is not a review comment');
    throw new ForgeProblem(404, `comment does not exist [id: ${id}]`);
  }
  const { issue_id } = readReview(db, comment.review_id);
  return {
    comment,
    issue: found(db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', issue_id)),
    pull: found(db.get<PullRow>('SELECT * FROM pulls WHERE issue_id = ?', issue_id)),
  };
}

/**
 * Marks a conversation as resolved or unresolved. Allowed for the author of the pull request, accounts with write
 * access, and accounts whose review counts.
 */
function setResolved(
  context: ForgeContext,
  place: RepositoryTarget & { readonly caller: UserRow },
  id: number,
  isResolved: boolean,
): void {
  const { db } = context;
  const { repository, owner, caller } = place;
  const { comment, issue, pull } = findReviewComment(context, place, id);
  const isAllowed =
    caller.id === issue.poster_id ||
    reaches(permissionOf(db, caller, repository, owner, 'pulls'), 'write') ||
    isOfficial(context, place, pull, caller);
  if (!isAllowed) throw new ForgeProblem(403, 'user should have permission to resolve comment');
  const resolver = isResolved ? (comment.resolver_id ?? caller.id) : undefined;
  db.run('UPDATE review_comments SET resolver_id = ? WHERE id = ?', resolver, comment.id);
}

/** Handlers for line conversations: resolving them, and replying. */
export const reviewCommentHandlers = defineHandlers({
  resolveReviewComment(call) {
    setResolved(call.context, call, call.params.id, true);
    return undefined;
  },

  unresolveReviewComment(call) {
    setResolved(call.context, call, call.params.id, false);
    return undefined;
  },

  async replyToReviewComment(call) {
    const { context, caller, repository, owner, params, body } = call;
    const { comment: parent, issue, pull } = findReviewComment(context, call, params.id);
    if (issue.number !== params.index) throw new ForgeProblem(404, 'not found');
    const { path, line, commit_id: commitId } = parent;
    const draft = await prepareComment(context, pull, { path, line, commitId, body: body.body });
    return context.db.transaction(() => {
      const author = { repositoryId: repository.id, poster: caller };
      const kept = { commitId, hunk: parent.diff_hunk };
      const comment = insertComment(context, parent.review_id, { ...draft, ...kept, ...author });
      const told = { ...comment, issue_id: issue.id, content_version: 0 };
      const scene = { repository, owner, actor: caller, issueId: issue.id };
      emitComment(context, scene, { comment: told, action: 'created' });
      return found(toReviewComments(context, [comment], issue, { ...call, viewer: caller })[0]);
    });
  },
});
