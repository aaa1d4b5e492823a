import { operations } from '../contract/operations.ts';
import { Repository } from '../contract/resources/repositories.ts';
import { defineFact } from './fact.ts';
import { narrowRepository, repositoryParams } from './where.ts';

export const repository = defineFact({
  name: 'repository',
  meaning:
    'The current state of the repository. Of the parent of a fork, rules see what it is called and of what kind it is.',
  shows: 'repository',
  visibleTo: 'repository',
  shape: Repository,
  of: ['repository', 'pull_request', 'issue', 'branch', 'milestone', 'notification', 'runner'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: '!repository.archived && repository.default_branch == "main"',
  ask: ({ client, subject }) => client.call(operations.getRepository, { params: repositoryParams(subject) }),
  narrow: (value) => narrowRepository(value),
  narrowsForAll: true,
});
