import type { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { Attachment } from '../contract/resources/issues.ts';
import { list, text } from '../contract/shape.ts';
import { comment as commentRow } from './comment.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { indexParams, repositoryParams } from './where.ts';

const Attached = Attachment.extend({ on: text });
type Attached = z.output<typeof Attached>;

/** The files attached to the issue or pull request, and to the comment that the event is about. */
export const attachments = defineFact({
  name: 'attachments',
  meaning:
    'The files attached to the issue or pull request (`on` is "issue"), and, if the event is about a comment, those attached to that comment (`on` is "comment"). In a facts file, names are enough.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Attached),
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'attachments.exists(a, a.name.glob("*.{log,txt}"))',
  complete: (written) =>
    Array.isArray(written)
      ? written.map((one, place) =>
          typeof one === 'string' ? { id: place + 1, name: one, on: 'issue' } : { on: 'issue', ...one },
        )
      : written,
  async ask(context) {
    const [ofIssue, ofComment] = await Promise.all([onIssue(context), onComment(context)]);
    return [...ofIssue, ...ofComment];
  },
});

async function onIssue({ client, subject }: AskContext): Promise<readonly Attached[]> {
  const found = await client.call(operations.listIssueAttachments, { params: indexParams(subject) });
  return found.map((one) => ({ ...one, on: 'issue' }));
}

/** A comment lists its files; each is requested separately, so that a deleted one is not counted. */
async function onComment({ client, subject, ask }: AskContext): Promise<readonly Attached[]> {
  if (subject.comment === undefined) return [];
  const id = subject.comment;
  const { assets } = await ask(requestOf(commentRow));
  const found = await Promise.all(
    assets.map((asset) =>
      client.call(operations.getCommentAttachment, {
        params: { ...repositoryParams(subject), id, attachment_id: asset.id },
      }),
    ),
  );
  return found.map((one) => ({ ...one, on: 'comment' }));
}
