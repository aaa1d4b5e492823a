import { operations } from '../contract/operations.ts';
import { Comment } from '../contract/resources/comments.ts';
import { Reaction } from '../contract/resources/reactions.ts';
import { list } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { ways } from './ways.ts';
import { indexParams, repositoryParams } from './where.ts';

/** The comments of the issue or pull request, oldest first. */
export const comments = defineFact({
  name: 'comments',
  meaning: 'The comments of the issue or pull request, oldest first, without line comments on the diff.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Comment),
  of: ['issue', 'pull_request'],
  changes: [ways.commented],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'comments.exists(c, c.user.login == "ci" && c.body.startsWith("Coverage"))',
  ask: ({ client, subject }) => client.call(operations.listComments, { params: indexParams(subject) }),
});

/** The current state of the comment that the event is about. */
export const comment = defineFact({
  name: 'comment',
  meaning: 'The current state of the comment that the event is about; only for comment events.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Comment,
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'comment.body.startsWith("/label ")',
  ask: ({ client, subject }) => {
    if (subject.comment === undefined) {
      throw new ReeveError('forge-not-found', `this ${subject.kind} event is not about a comment`);
    }
    return client.call(operations.getComment, {
      params: { ...repositoryParams(subject), id: subject.comment },
    });
  },
});

/** The reactions to the comment of the event; without a comment, to the issue or pull request. */
export const reactions = defineFact({
  name: 'reactions',
  meaning:
    'The reactions to the comment that the event is about; without a comment, to the issue or pull request.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Reaction),
  of: ['issue', 'pull_request'],
  changes: [ways.reacted],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'reactions.filter(r, r.content == "+1").size() >= 5',
  async ask({ client, subject }) {
    if (subject.comment !== undefined) {
      const params = { ...repositoryParams(subject), id: subject.comment };
      return client.call(operations.listCommentReactions, { params });
    }
    const found: Reaction[] = [];
    for await (const one of client.items(operations.listIssueReactions, { params: indexParams(subject) }))
      found.push(one);
    return found;
  },
});
