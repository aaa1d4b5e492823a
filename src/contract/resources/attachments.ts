import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, issuesAs } from '../row-fields.ts';
import { flag, inRepository, int, list, resource, text } from '../shape.ts';
import { Attachment } from './issues.ts';

/** Limits of the forge for attachments. */
const AttachmentSettings = resource(
  { enabled: flag },
  {
    /**
     * File name extensions and media types, separated by commas; all types are allowed if the list is empty or has an
     * entry for every type.
     */
    allowed_types: text,
    /** Maximum number of files per issue or comment. */
    max_files: int,
    /** Maximum size of a file in MiB. */
    max_size: int,
  },
);

const onIssue = { ...inRepository, index: int };
const onComment = { ...inRepository, id: int };
const EditAttachment = z.strictObject({ name: text.optional() });
/** `name` replaces the file name. */
const naming = z.object({ name: text.optional() });

/** Files on issues and comments. An upload is `multipart/form-data` with the file in the part `attachment`. */
export const attachmentOperations = {
  getAttachmentSettings: defineOperation({
    id: 'instance.attachment-settings',
    meaning: 'Returns the limits of this forge for attachments.',
    method: 'GET',
    path: '/settings/attachment',
    ...callerAs('anyone'),
    scopes: [],
    success: 200,
    response: AttachmentSettings,
    errors: [],
    source: 'routers/api/v1/settings/settings.go GetGeneralAttachmentSettings',
  }),
  listIssueAttachments: defineOperation({
    id: 'issue.list-attachments',
    meaning: 'Lists the attachments of an issue itself, not those of its comments.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/assets',
    ...issuesAs('reader'),
    params: z.object(onIssue),
    success: 200,
    response: list(Attachment),
    errors: [404],
    source: 'routers/api/v1/repo/issue_attachment.go ListIssueAttachments',
  }),
  getIssueAttachment: defineOperation({
    id: 'issue.get-attachment',
    meaning: 'Returns an attachment of an issue.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}',
    ...issuesAs('reader'),
    params: z.object({ ...onIssue, attachment_id: int }),
    success: 200,
    response: Attachment,
    errors: [404],
    source: 'routers/api/v1/repo/issue_attachment.go GetIssueAttachment',
  }),
  createIssueAttachment: defineOperation({
    id: 'issue.create-attachment',
    meaning: 'Attaches a file to an issue; for its author and for writers. Emits `edited` of the issue.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/assets',
    ...issuesAs('author'),
    params: z.object(onIssue),
    query: naming,
    upload: 'attachment',
    success: 201,
    response: Attachment,
    errors: [400, 403, 404, 413, 422, 423],
    archived: 'after-role',
    baseline: { 'no file': 500 },
    source: 'routers/api/v1/repo/issue_attachment.go CreateIssueAttachment',
  }),
  editIssueAttachment: defineOperation({
    id: 'issue.edit-attachment',
    meaning: 'Renames an attachment of an issue; 201.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}',
    ...issuesAs('author'),
    params: z.object({ ...onIssue, attachment_id: int }),
    body: EditAttachment,
    success: 201,
    response: Attachment,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/issue_attachment.go EditIssueAttachment',
  }),
  deleteIssueAttachment: defineOperation({
    id: 'issue.delete-attachment',
    meaning: 'Deletes an attachment of an issue.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}',
    ...issuesAs('author'),
    params: z.object({ ...onIssue, attachment_id: int }),
    success: 204,
    errors: [403, 404, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/issue_attachment.go DeleteIssueAttachment',
  }),
  listCommentAttachments: defineOperation({
    id: 'comment.list-attachments',
    meaning:
      'Lists the attachments of a comment; 200 without a body if the caller cannot read this kind of issue.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets',
    ...issuesAs('reader'),
    params: z.object(onComment),
    success: 200,
    response: list(Attachment),
    errors: [404],
    source: 'routers/api/v1/repo/issue_comment_attachment.go ListIssueCommentAttachments',
  }),
  getCommentAttachment: defineOperation({
    id: 'comment.get-attachment',
    meaning:
      'Returns an attachment of a comment; 200 without a body if the caller cannot read this kind of issue.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}',
    ...issuesAs('reader'),
    params: z.object({ ...onComment, attachment_id: int }),
    success: 200,
    response: Attachment,
    errors: [404],
    source: 'routers/api/v1/repo/issue_comment_attachment.go GetIssueCommentAttachment',
  }),
  createCommentAttachment: defineOperation({
    id: 'comment.create-attachment',
    meaning:
      'Attaches a file to a comment; for its author, if a writer, and for administrators. Emits `edited` of the comment.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets',
    ...issuesAs('author'),
    params: z.object(onComment),
    query: naming,
    upload: 'attachment',
    success: 201,
    response: Attachment,
    errors: [400, 403, 404, 413, 422, 423],
    archived: 'after-role',
    baseline: { 'no file': 500 },
    source: 'routers/api/v1/repo/issue_comment_attachment.go CreateIssueCommentAttachment',
  }),
  editCommentAttachment: defineOperation({
    id: 'comment.edit-attachment',
    meaning: 'Renames an attachment of a comment; 201.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}',
    ...issuesAs('author'),
    params: z.object({ ...onComment, attachment_id: int }),
    body: EditAttachment,
    success: 201,
    response: Attachment,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/issue_comment_attachment.go EditIssueCommentAttachment',
  }),
  deleteCommentAttachment: defineOperation({
    id: 'comment.delete-attachment',
    meaning: 'Deletes an attachment of a comment.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}',
    ...issuesAs('author'),
    params: z.object({ ...onComment, attachment_id: int }),
    success: 204,
    errors: [403, 404, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/issue_comment_attachment.go DeleteIssueCommentAttachment',
  }),
} as const;
