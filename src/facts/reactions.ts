import { operations } from '../contract/operations.ts';
import { Reaction } from '../contract/resources/reactions.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { indexParams, repositoryParams } from './where.ts';

/** The reactions to the comment of the event; without a comment, to the issue or pull request. */
export const reactions = defineFact({
  name: 'reactions',
  meaning:
    'The reactions to the comment that the event is about; without a comment, to the issue or pull request.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(Reaction),
  of: ['issue', 'pull_request'],
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
