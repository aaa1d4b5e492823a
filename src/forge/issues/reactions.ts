import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { reaches, requireUnblocked } from '../platform/access/permissions.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { IssueRow, Seconds, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { readIssueRow } from './changes.ts';
import { allowedReactions } from './issues-service.ts';

/** A reaction of an account to an issue, a pull request or a comment. */
type ReactionRow = {
  readonly id: number;
  readonly issue_id: number;
  /** 0 for a reaction to the issue itself. */
  readonly comment_id: number;
  readonly user_id: number;
  readonly content: string;
  readonly created_at: Seconds;
};

/** An issue, or one of its comments. */
type Reactable = { readonly issue: IssueRow; readonly commentId: number; readonly authorId: number };

type ReactionTarget = RepositoryTarget & { readonly context: ForgeContext };
type Reacting = ReactionTarget & {
  readonly caller: UserRow;
  readonly body: { readonly content: string };
  readonly reply: Reply;
};

/**
 * Returns the comment in the path. Issue comments and line comments share one id sequence; comments of a draft review
 * are hidden.
 */
function findReactableComment({
  context,
  repository,
  params,
}: ReactionTarget & { readonly params: { readonly id: number } }): Reactable {
  const row = context.db.get<{ issue_id: number; poster_id: number }>(
    `SELECT issue_id, poster_id FROM comments WHERE id = ?1 AND repo_id = ?2
     UNION ALL SELECT r.issue_id, c.poster_id FROM review_comments c JOIN reviews r ON r.id = c.review_id
       WHERE c.id = ?1 AND c.repo_id = ?2 AND r.type <> 'PENDING'`,
    params.id,
    repository.id,
  );
  const { issue_id, poster_id } = found(row, 'comment does not exist');
  return { issue: readIssueRow(context, issue_id), commentId: params.id, authorId: poster_id };
}

function findReactableIssue(
  call: ReactionTarget & { readonly params: { readonly index: number } },
): Reactable {
  const issue = findIssue(call);
  return { issue, commentId: 0, authorId: issue.poster_id };
}

const ofSubject = 'FROM reactions WHERE issue_id = ? AND comment_id = ?';

function toReactions(context: ForgeContext, rows: readonly ReactionRow[], viewer: UserRow | undefined) {
  const users = loadUsers(
    context,
    rows.map(({ user_id }) => user_id),
  );
  return rows.map((row) => {
    const user = users.get(row.user_id);
    return {
      user: user ? toUser(context, user, viewer) : null,
      content: row.content,
      created_at: toInstant(row.created_at),
    };
  });
}

function refuseLocked({ permission }: ReactionTarget, { issue }: Reactable): void {
  if (issue.is_locked && !reaches(permission, 'write'))
    throw new ForgeProblem(403, 'no permission to change reaction');
}

function react(call: Reacting, find: () => Reactable) {
  const { context, caller, body, reply } = call;
  const { db, clock } = context;
  return db.transaction(() => {
    const subject = find();
    refuseLocked(call, subject);
    const { issue, authorId } = subject;
    requireUnblocked(db, caller, [issue.poster_id, call.repository.owner_id, authorId]);
    if (!allowedReactions.has(body.content))
      throw new ForgeProblem(403, `'${body.content}' is not an allowed reaction`);
    const values = [subject.issue.id, subject.commentId, caller.id, body.content] as const;
    const { changes } = db.run(
      'INSERT OR IGNORE INTO reactions (issue_id, comment_id, user_id, content, created_at) VALUES (?, ?, ?, ?, ?)',
      ...values,
      secondsOf(clock()),
    );
    if (changes === 0) reply.status(200);
    const row = db.get<ReactionRow>(`SELECT * ${ofSubject} AND user_id = ? AND content = ?`, ...values);
    return found(toReactions(context, [found(row)], caller)[0]);
  });
}

/** Removes a reaction of the caller. Without `content`, removes all of the caller's reactions, as in Gitea. */
function unreact(call: Reacting, find: () => Reactable): undefined {
  const { context, caller, body } = call;
  context.db.transaction(() => {
    const subject = find();
    refuseLocked(call, subject);
    context.db.run(
      `DELETE ${ofSubject} AND user_id = ? AND (content = ? OR ? = '')`,
      subject.issue.id,
      subject.commentId,
      caller.id,
      body.content,
      body.content,
    );
  });
  return undefined;
}

/** Handlers for reactions. They send no webhooks, and the issue does not count as updated. */
export const reactionHandlers = defineHandlers({
  listIssueReactions(call) {
    const { context, caller, page, reply } = call;
    const { issue } = findReactableIssue(call);
    const counted = context.db.get<{ count: number }>(`SELECT count(*) AS count ${ofSubject}`, issue.id, 0);
    reply.total(counted?.count ?? 0);
    const rows = context.db.all<ReactionRow>(
      `SELECT * ${ofSubject} ORDER BY created_at, id LIMIT ? OFFSET ?`,
      issue.id,
      0,
      page.limit,
      page.offset,
    );
    return rows.length === 0 ? null : toReactions(context, rows, caller);
  },
  addIssueReaction: (call) => react(call, () => findReactableIssue(call)),
  removeIssueReaction: (call) => unreact(call, () => findReactableIssue(call)),

  listCommentReactions(call) {
    const { context, caller } = call;
    const { issue, commentId } = findReactableComment(call);
    const rows = context.db.all<ReactionRow>(
      `SELECT * ${ofSubject} ORDER BY created_at, id`,
      issue.id,
      commentId,
    );
    return rows.length === 0 ? null : toReactions(context, rows, caller);
  },
  addCommentReaction: (call) => react(call, () => findReactableComment(call)),
  removeCommentReaction: (call) => unreact(call, () => findReactableComment(call)),
});
