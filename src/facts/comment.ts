import { operations } from '../contract/operations.ts';
import { Comment } from '../contract/resources/comments.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

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
