import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { emitComment, emitIssue, type IssueScene } from '../hooks/events.ts';
import { reaches } from '../platform/access/permissions.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { Upload } from '../platform/http/body.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { type AttachmentRow, loadAttachments, toAttachment } from './attachments-rows.ts';
import { readIssueRow } from './changes.ts';
import type { CommentRow } from './comments-rows.ts';

/** Limits of attachments: Gitea's file types, but smaller sizes, because files pass through memory. */
const attachmentLimits = {
  maxMiB: 25,
  maxFiles: 5,
  types:
    '.avif,.cpuprofile,.csv,.dmp,.docx,.fodg,.fodp,.fods,.fodt,.gif,.gz,.jpeg,.jpg,.json,.jsonc,.log,.md,.mov,.mp4,' +
    '.odf,.odg,.odp,.ods,.odt,.patch,.pdf,.png,.pptx,.svg,.tgz,.txt,.webm,.webp,.xls,.xlsx,.zip',
};
const allowed = new Set(attachmentLimits.types.split(','));

type AttachmentTarget = RepositoryTarget & { readonly context: ForgeContext };
type OnIssue = AttachmentTarget & { readonly params: { readonly index: number } };
type OnComment = AttachmentTarget & { readonly params: { readonly id: number } };
type AttachmentHolder = { readonly issue: IssueRow; readonly comment?: CommentRow };

function guardEnabled({ context }: AttachmentTarget): void {
  if (!context.features.attachments) throw new ForgeProblem(404, 'not found');
}

function issueOf(call: OnIssue): AttachmentHolder {
  guardEnabled(call);
  return { issue: findIssue(call) };
}

/** Returns the comment in the path; undefined if issues (or, for a pull request, pull requests) are disabled. */
function commentOf(call: OnComment): Required<AttachmentHolder> | undefined {
  guardEnabled(call);
  const { context, repository, params } = call;
  const sql = 'SELECT * FROM comments WHERE id = ? AND repo_id = ?';
  const comment = found(
    context.db.get<CommentRow>(sql, params.id, repository.id),
    'no matching issue comment found',
  );
  const issue = readIssueRow(context, comment.issue_id);
  const { has_issues, has_pull_requests } = settingsOf(repository);
  return (issue.is_pull ? has_pull_requests : has_issues) ? { issue, comment } : undefined;
}

/**
 * Ends the request if the caller may not change the files. Authors and writers may change the files of an issue.
 * Administrators and authors with write access may change the files of a comment.
 */
function guardChange(
  call: AttachmentTarget & { readonly caller: UserRow },
  { issue, comment }: AttachmentHolder,
): void {
  const { caller, permission } = call;
  const isAdministrator = reaches(permission, 'admin');
  const mayChange = comment
    ? (caller.id === comment.poster_id || isAdministrator) && reaches(permission, 'write')
    : caller.id === issue.poster_id || reaches(permission, 'write');
  if (!mayChange)
    throw new ForgeProblem(403, 'user should have permission to edit the issue or comment of the file');
}

function findAttachment(
  { context, repository }: AttachmentTarget,
  { issue, comment }: AttachmentHolder,
  id: number,
): AttachmentRow {
  const attachment = context.db.get<AttachmentRow>(
    'SELECT * FROM attachments WHERE id = ? AND repo_id = ? AND issue_id = ?',
    id,
    repository.id,
    issue.id,
  );
  // Files of an issue's comments are also reachable through the issue, as in Gitea.
  const isIts = comment === undefined || attachment?.comment_id === comment.id;
  return found(isIts ? attachment : undefined, 'no such attachment');
}

function guardName(name: string): void {
  if (allowed.has(extname(name).toLowerCase())) return;
  throw new ForgeProblem(
    422,
    'This file cannot be uploaded or modified due to a forbidden file extension or type.',
  );
}

type AttachmentWrite = AttachmentTarget & { readonly caller: UserRow };

async function attach(
  call: AttachmentWrite & {
    readonly query: { readonly name?: string | undefined };
    upload(): Promise<Upload>;
  },
  holder: AttachmentHolder,
) {
  const { context, repository, caller } = call;
  guardChange(call, holder);
  const { name: ownName, bytes } = await call.upload();
  const name = call.query.name || ownName;
  guardName(name);
  if (bytes.length > attachmentLimits.maxMiB * 1024 * 1024) {
    throw new ForgeProblem(413, `attachment exceeds limit ${attachmentLimits.maxMiB} MiB`);
  }
  const uuid = randomUUID();
  return context.attachments.keep(uuid, bytes, () => {
    const { lastId } = context.db.run(
      `INSERT INTO attachments (uuid, repo_id, issue_id, comment_id, uploader_id, name, size, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      uuid,
      repository.id,
      holder.issue.id,
      holder.comment?.id,
      caller.id,
      name,
      bytes.length,
      secondsOf(context.clock()),
    );
    emitEdited(call, holder);
    return toAttachment(context, found(context.db.get('SELECT * FROM attachments WHERE id = ?', lastId)));
  });
}

/** Emits an edit of the issue or comment: a new file counts as an edit, even though the text is unchanged. */
function emitEdited(call: AttachmentWrite, { issue, comment }: AttachmentHolder): void {
  const { context, repository, owner, caller } = call;
  const now = secondsOf(context.clock());
  const scene: IssueScene = { repository, owner, actor: caller, issueId: issue.id };
  if (comment) {
    context.db.run('UPDATE comments SET updated_at = ? WHERE id = ?', now, comment.id);
    const edited = { ...comment, updated_at: now };
    emitComment(context, scene, { comment: edited, action: 'edited', changes: { body: comment.body } });
    return;
  }
  context.db.run(
    'UPDATE issues SET content_version = content_version + 1, updated_at = ? WHERE id = ?',
    now,
    issue.id,
  );
  emitIssue(context, scene, { action: 'edited', changes: { body: issue.body } });
}

function rename(
  call: AttachmentWrite,
  holder: AttachmentHolder,
  { id, name }: { id: number; name: string | undefined },
) {
  guardChange(call, holder);
  const attachment = findAttachment(call, holder, id);
  const renamed = { ...attachment, name: name || attachment.name };
  guardName(renamed.name);
  call.context.db.run('UPDATE attachments SET name = ? WHERE id = ?', renamed.name, attachment.id);
  return toAttachment(call.context, renamed);
}

function remove(call: AttachmentWrite, holder: AttachmentHolder, id: number): undefined {
  guardChange(call, holder);
  const { db, attachments } = call.context;
  db.run('DELETE FROM attachments WHERE id = ?', findAttachment(call, holder, id).id);
  attachments.sweep();
  return undefined;
}

/**
 * Returns the comment whose files are changed, or ends the request with 404 if its unit (issues or pull requests) is
 * disabled. Reads return no body in this case.
 */
const writable = (holder: Required<AttachmentHolder> | undefined) => found(holder);

/** Gitea's response if the unit of a comment is disabled: 200 without a body, which no operation describes. */
const nothing = undefined as never;

/** Handlers for files on issues and comments. */
export const attachmentHandlers = defineHandlers({
  getAttachmentSettings: ({ context }) => ({
    enabled: context.features.attachments,
    allowed_types: attachmentLimits.types,
    max_files: attachmentLimits.maxFiles,
    max_size: attachmentLimits.maxMiB,
  }),

  listIssueAttachments(call) {
    const { issue } = issueOf(call);
    const rows = loadAttachments(call.context, 'issue', [issue.id]).get(issue.id) ?? [];
    return rows.map((row) => toAttachment(call.context, row));
  },

  getIssueAttachment: (call) =>
    toAttachment(call.context, findAttachment(call, issueOf(call), call.params.attachment_id)),

  createIssueAttachment: (call) => attach(call, issueOf(call)),

  editIssueAttachment: (call) =>
    rename(call, issueOf(call), { id: call.params.attachment_id, name: call.body.name }),

  deleteIssueAttachment: (call) => remove(call, issueOf(call), call.params.attachment_id),

  listCommentAttachments(call) {
    const holder = commentOf(call);
    if (!holder) return nothing;
    const { id } = holder.comment;
    const rows = loadAttachments(call.context, 'comment', [id]).get(id) ?? [];
    return rows.map((row) => toAttachment(call.context, row));
  },

  getCommentAttachment(call) {
    const holder = commentOf(call);
    if (!holder) return nothing;
    return toAttachment(call.context, findAttachment(call, holder, call.params.attachment_id));
  },

  createCommentAttachment: (call) => attach(call, writable(commentOf(call))),

  editCommentAttachment: (call) =>
    rename(call, writable(commentOf(call)), { id: call.params.attachment_id, name: call.body.name }),

  deleteCommentAttachment: (call) => remove(call, writable(commentOf(call)), call.params.attachment_id),
});
