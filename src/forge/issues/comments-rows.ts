import { loadUsers, toUser } from '../accounts/users-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, Seconds } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';
import { loadAttachments, toAttachment } from './attachments-rows.ts';
import { type IssuePlace, issueAddress } from './issues-rows.ts';

/** A comment on an issue or pull request. */
export type CommentRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly issue_id: number;
  readonly poster_id: number;
  readonly body: string;
  readonly content_version: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/**
 * Returns a comment as the API shows it. It has a URL for issues and one for pull requests; the one that does not apply
 * is empty.
 */
export function toComment(context: ForgeContext, comment: CommentRow, issue: IssueRow, place: IssuePlace) {
  const [shape] = toComments(context, [comment], issue, place);
  if (!shape) throw new TypeError('expected one comment for one row');
  return shape;
}

/** Returns comments of one issue in the order given. */
export function toComments(
  context: ForgeContext,
  comments: readonly CommentRow[],
  issue: IssueRow,
  place: IssuePlace,
) {
  const users = loadUsers(
    context,
    comments.map((comment) => comment.poster_id),
  );
  const attachments = loadAttachments(
    context,
    'comment',
    comments.map((comment) => comment.id),
  );
  const address = issueAddress(context, issue, place);
  return comments.map((comment) => {
    const user = users.get(comment.poster_id);
    return {
      id: comment.id,
      html_url: `${address}#issuecomment-${comment.id}`,
      pull_request_url: issue.is_pull ? address : '',
      issue_url: issue.is_pull ? '' : address,
      user: user ? toUser(context, user, undefined) : null,
      original_author: '',
      original_author_id: 0,
      body: comment.body,
      assets: (attachments.get(comment.id) ?? []).map((row) => toAttachment(context, row)),
      created_at: toInstant(comment.created_at),
      updated_at: toInstant(comment.updated_at),
    };
  });
}
