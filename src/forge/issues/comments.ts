import { emitComment, type IssueScene } from '../hooks/events.ts';
import { numberedContent, recordActivity } from '../notifications/activities-service.ts';
import { notifyActivity } from '../notifications/notifications-service.ts';
import { permissionOf, reaches, requireUnblockedIn } from '../platform/access/permissions.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { parseTimestamp, secondsOf } from '../platform/time.ts';
import { readIssueRow } from './changes.ts';
import { type CommentRow, toComment, toComments } from './comments-rows.ts';
import { neuterReferences, recordReferences } from './cross-references.ts';
import { requireAuthorOrWriter } from './issues-service.ts';

type CommentTarget = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly id: number };
};

/** Returns the comment in the path, with its issue. */
function findComment({ context, repository, params }: CommentTarget) {
  const sql = 'SELECT * FROM comments WHERE id = ? AND repo_id = ?';
  const comment = found(context.db.get<CommentRow>(sql, params.id, repository.id));
  return { comment, issue: readIssueRow(context, comment.issue_id) };
}

function sceneOf(place: RepositoryTarget & { readonly caller: UserRow }, issueId: number): IssueScene {
  return { repository: place.repository, owner: place.owner, actor: place.caller, issueId };
}

/** Returns a comment without its files, as Gitea shows a single comment. */
function withoutAssets(comment: ReturnType<typeof toComment>): ReturnType<typeof toComment> {
  return { ...comment, assets: [] };
}

/** Handlers for comments on issues and pull requests. */
export const commentHandlers = defineHandlers({
  listComments(call) {
    const { context, query, reply } = call;
    const issue = findIssue(call);
    const rows = context.db.all<CommentRow>(
      `SELECT * FROM comments WHERE issue_id = ? AND updated_at >= ? AND updated_at <= ? ORDER BY created_at, id`,
      issue.id,
      parseTimestamp(query.since) ?? 0,
      parseTimestamp(query.before) ?? Number.MAX_SAFE_INTEGER,
    );
    reply.total(rows.length);
    return toComments(context, rows, issue, { ...call, viewer: call.caller });
  },

  createComment(call) {
    const { context, caller, body } = call;
    const { db, clock } = context;
    return db.transaction(() => {
      const issue = findIssue(call);
      if (issue.is_locked && !reaches(call.permission, 'write'))
        throw new ForgeProblem(403, 'the issue is locked');
      requireUnblockedIn(db, sceneOf(call, issue.id), issue);
      const now = secondsOf(clock());
      const { lastId } = db.run(
        `INSERT INTO comments (repo_id, issue_id, poster_id, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
        issue.repo_id,
        issue.id,
        caller.id,
        body.body,
        now,
        now,
      );
      db.run('UPDATE issues SET updated_at = ? WHERE id = ?', now, issue.id);
      const comment = found(db.get<CommentRow>('SELECT * FROM comments WHERE id = ?', lastId));
      recordReferences(context, sceneOf(call, issue.id), { markdown: comment.body, commentId: comment.id });
      recordActivity(context, {
        repositoryId: issue.repo_id,
        actorId: caller.id,
        type: issue.is_pull ? 'comment_pull' : 'comment_issue',
        content: numberedContent(issue.number, comment.body),
        commentId: comment.id,
      });
      emitComment(context, sceneOf(call, issue.id), { comment, action: 'created' });
      notifyActivity(context, { ...sceneOf(call, issue.id), text: comment.body });
      return toComment(context, comment, readIssueRow(context, issue.id), { ...call, viewer: caller });
    });
  },

  getComment(call) {
    const { comment, issue } = findComment(call);
    return withoutAssets(toComment(call.context, comment, issue, { ...call, viewer: call.caller }));
  },

  editComment: (call) => editText(call, call.body.body),
  deleteComment: (call) => removeComment(call),
  editIssueComment: (call) => editText(call, call.body.body),
  deleteIssueComment: (call) => removeComment(call),

  listRepositoryComments({ context, repository, owner, caller, query, page, reply }) {
    const { db } = context;
    const canRead = (unit: 'issues' | 'pulls') =>
      permissionOf(db, caller, repository, owner, unit) !== 'none' && isOn(repository, unit);
    const kinds = [...(canRead('issues') ? [0] : []), ...(canRead('pulls') ? [1] : [])];
    if (kinds.length === 0) throw new ForgeProblem(404, 'not found');
    const from = `FROM comments c JOIN issues i ON i.id = c.issue_id WHERE c.repo_id = ?
      AND i.is_pull IN (${kinds.join(', ')}) AND c.updated_at >= ? AND c.updated_at <= ?`;
    const values = [
      repository.id,
      parseTimestamp(query.since) ?? 0,
      parseTimestamp(query.before) ?? Number.MAX_SAFE_INTEGER,
    ];
    reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
    const rows = db.all<CommentRow>(
      `SELECT c.* ${from} ORDER BY c.created_at, c.id LIMIT ? OFFSET ?`,
      ...values,
      page.limit,
      page.offset,
    );
    return rows.map((row) =>
      toComment(context, row, readIssueRow(context, row.issue_id), { repository, owner, viewer: caller }),
    );
  },
});

function isOn(repository: RepositoryRow, unit: 'issues' | 'pulls'): boolean {
  const { has_issues, has_pull_requests } = settingsOf(repository);
  return unit === 'issues' ? has_issues : has_pull_requests;
}

type CommentWrite = CommentTarget & { readonly caller: UserRow };

function editText(call: CommentWrite, text: string) {
  const { context, caller } = call;
  return context.db.transaction(() => {
    const { comment, issue } = findComment(call);
    requireAuthorOrWriter(call, caller, comment.poster_id);
    const edited = { ...comment, body: text, updated_at: secondsOf(context.clock()) };
    if (text !== comment.body) {
      requireUnblockedIn(context.db, sceneOf(call, issue.id), issue);
      context.db.run(
        'UPDATE comments SET body = ?, content_version = content_version + 1, updated_at = ? WHERE id = ?',
        edited.body,
        edited.updated_at,
        comment.id,
      );
      recordReferences(context, sceneOf(call, issue.id), { markdown: edited.body, commentId: comment.id });
      const changes = { body: comment.body };
      emitComment(context, sceneOf(call, issue.id), { comment: edited, action: 'edited', changes });
    }
    return withoutAssets(toComment(context, edited, issue, { ...call, viewer: caller }));
  });
}

function removeComment(call: CommentWrite): undefined {
  const { context, caller } = call;
  context.db.transaction(() => {
    const { comment, issue } = findComment(call);
    requireAuthorOrWriter(call, caller, comment.poster_id);
    context.db.run('DELETE FROM comments WHERE id = ?', comment.id);
    neuterReferences(context, issue.id, comment.id);
    emitComment(context, sceneOf(call, issue.id), { comment, action: 'deleted' });
  });
  return undefined;
}
