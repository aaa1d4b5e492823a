import { z } from 'zod';
import { Attachment } from './issues.ts';
import { defineOperation } from './operation.ts';
import { flag, inRepository, int, list, resource, text } from './shape.ts';

/** What may be attached on this forge. */
export const AttachmentSettings = resource(
  { enabled: flag },
  {
    /** File name extensions and media types, separated by commas; empty or one with every kind means all. */
    allowed_types: text,
    /** Files of one issue or comment. */
    max_files: int,
    /** MiB of one file. */
    max_size: int,
  },
);
export type AttachmentSettings = z.output<typeof AttachmentSettings>;

const onIssue = { ...inRepository, index: int };
const onComment = { ...inRepository, id: int };
const EditAttachment = z.strictObject({ name: text.optional() });
/** `name` takes the place of the file's own. */
const naming = z.object({ name: text.optional() });

/** Files on issues and comments. An upload is `multipart/form-data` with the file in the part `attachment`. */
export const attachmentOperations = {
  getAttachmentSettings: defineOperation({
    id: 'instance.attachment-settings',
    meaning: 'Limits of this forge for attachments.',
    method: 'GET',
    path: '/settings/attachment',
    params: z.object({}),
    success: 200,
    response: AttachmentSettings,
    errors: [],
    access: 'anyone',
    scopes: [],
    source: 'routers/api/v1/settings/settings.go GetGeneralAttachmentSettings',
  }),
  listIssueAttachments: defineOperation({
    id: 'issue.list-attachments',
    meaning: 'The files attached to an issue itself, not those of its comments.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/assets',
    params: z.object(onIssue),
    success: 200,
    response: list(Attachment),
    errors: [404],
    access: 'reader',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_attachment.go ListIssueAttachments',
  }),
  getIssueAttachment: defineOperation({
    id: 'issue.get-attachment',
    meaning: 'One file attached to an issue.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}',
    params: z.object({ ...onIssue, attachment_id: int }),
    success: 200,
    response: Attachment,
    errors: [404],
    access: 'reader',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_attachment.go GetIssueAttachment',
  }),
  createIssueAttachment: defineOperation({
    id: 'issue.create-attachment',
    meaning: 'Attaches a file to an issue; its author and writers may. Emits `edited` of the issue.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/assets',
    params: z.object(onIssue),
    query: naming,
    upload: 'attachment',
    success: 201,
    response: Attachment,
    errors: [400, 403, 404, 413, 422, 423],
    access: 'author',
    scopes: ['issue'],
    baseline: { 'no file': 500 },
    source: 'routers/api/v1/repo/issue_attachment.go CreateIssueAttachment',
  }),
  editIssueAttachment: defineOperation({
    id: 'issue.edit-attachment',
    meaning: 'Renames a file attached to an issue; 201.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}',
    params: z.object({ ...onIssue, attachment_id: int }),
    body: EditAttachment,
    success: 201,
    response: Attachment,
    errors: [403, 404, 422, 423],
    access: 'author',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_attachment.go EditIssueAttachment',
  }),
  deleteIssueAttachment: defineOperation({
    id: 'issue.delete-attachment',
    meaning: 'Removes a file from an issue.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}',
    params: z.object({ ...onIssue, attachment_id: int }),
    success: 204,
    errors: [403, 404, 423],
    access: 'author',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_attachment.go DeleteIssueAttachment',
  }),
  listCommentAttachments: defineOperation({
    id: 'comment.list-attachments',
    meaning: 'The files attached to a comment; 200 without a body where its kind of issue is unreadable.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets',
    params: z.object(onComment),
    success: 200,
    response: list(Attachment),
    errors: [404],
    access: 'reader',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_comment_attachment.go ListIssueCommentAttachments',
  }),
  getCommentAttachment: defineOperation({
    id: 'comment.get-attachment',
    meaning: 'One file attached to a comment; 200 without a body where its kind of issue is unreadable.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}',
    params: z.object({ ...onComment, attachment_id: int }),
    success: 200,
    response: Attachment,
    errors: [404],
    access: 'reader',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_comment_attachment.go GetIssueCommentAttachment',
  }),
  createCommentAttachment: defineOperation({
    id: 'comment.create-attachment',
    meaning:
      'Attaches a file to a comment; its author, if a writer, and administrators may. Emits `edited` of the comment.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets',
    params: z.object(onComment),
    query: naming,
    upload: 'attachment',
    success: 201,
    response: Attachment,
    errors: [400, 403, 404, 413, 422, 423],
    access: 'author',
    scopes: ['issue'],
    baseline: { 'no file': 500 },
    source: 'routers/api/v1/repo/issue_comment_attachment.go CreateIssueCommentAttachment',
  }),
  editCommentAttachment: defineOperation({
    id: 'comment.edit-attachment',
    meaning: 'Renames a file attached to a comment; 201.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}',
    params: z.object({ ...onComment, attachment_id: int }),
    body: EditAttachment,
    success: 201,
    response: Attachment,
    errors: [403, 404, 422, 423],
    access: 'author',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_comment_attachment.go EditIssueCommentAttachment',
  }),
  deleteCommentAttachment: defineOperation({
    id: 'comment.delete-attachment',
    meaning: 'Removes a file from a comment.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}',
    params: z.object({ ...onComment, attachment_id: int }),
    success: 204,
    errors: [403, 404, 423],
    access: 'author',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_comment_attachment.go DeleteIssueCommentAttachment',
  }),
} as const;
