import { operations } from '../contract/operations.ts';
import { text } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** What one commit changes, as text. */
export const commitDiff = defineFact({
  name: 'commit_diff',
  meaning:
    'What a commit changes against its first parent, as a unified diff without the content of binary files. `sha` is the id of a commit, a branch or a tag.',
  shows: 'repository',
  visibleTo: 'code',
  shape: text,
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'sha',
  requests: 1,
  example: 'commit_diff("main").contains("+++ b/CHANGELOG.md")',
  ask: ({ client, subject }, sha = '') =>
    client.call(operations.getCommitDiff, {
      params: { ...repositoryParams(subject), sha, diffType: 'diff' },
    }),
});
