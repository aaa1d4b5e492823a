import { operations } from '../contract/operations.ts';
import { PullRequest } from '../contract/resources/pulls.ts';
import { defineFact } from './fact.ts';
import { indexParams, narrowPull } from './where.ts';

/** The current state of the pull request, with the numbers of added and deleted lines. */
export const pullRequest = defineFact({
  name: 'pull_request',
  meaning:
    'The current state of the pull request, with the numbers of added and deleted lines. `pull_request.mergeable` and `pull_request.behind` are facts of their own, read when an expression names them. Of the repository of a fork, rules see what it is called and of what kind it is.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: PullRequest,
  of: ['pull_request', 'notification'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: '!pull_request.draft && pull_request.additions + pull_request.deletions > 500',
  ask: ({ client, subject }) => client.call(operations.getPull, { params: indexParams(subject) }),
  narrow: narrowPull,
  narrowsForAll: true,
});
