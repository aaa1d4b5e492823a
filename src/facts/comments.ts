import { operations } from '../contract/operations.ts';
import { Comment } from '../contract/resources/comments.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { indexParams } from './where.ts';

/** The comments of the issue or pull request, oldest first. */
export const comments = defineFact({
  name: 'comments',
  meaning: 'The comments of the issue or pull request, oldest first, without line comments on the diff.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Comment),
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'comments.exists(c, c.user.login == "ci" && c.body.startsWith("Coverage"))',
  ask: ({ client, subject }) => client.call(operations.listComments, { params: indexParams(subject) }),
});
