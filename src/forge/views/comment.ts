import type { ForgeContext } from '../core/context.ts';
import type { CommentRow, IssueRow } from '../core/issue-rows.ts';
import { toInstant } from '../core/time.ts';
import { loadAttachments, toAttachment } from './attachment.ts';
import { type IssuePlace, issueAddress } from './issue.ts';
import { loadUsers, toUser } from './user.ts';

/** Returns a comment as the API shows it; of its two addresses the one of the other kind is empty. */
export function toComment(context: ForgeContext, comment: CommentRow, issue: IssueRow, place: IssuePlace) {
  const [shape] = toComments(context, [comment], issue, place);
  if (!shape) throw new TypeError('one row gives one comment');
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
