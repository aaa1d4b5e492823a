import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { list, pages } from '../shape.ts';
import { Repository } from './repositories.ts';
import { User } from './users.ts';

const path = '/repos/{owner}/{repo}';

/** Accounts related to a repository, and the repository's forks. */
export const peopleOperations = {
  listForks: defineOperation({
    id: 'repository.list-forks',
    meaning: 'Lists the forks of a repository that the caller can read.',
    method: 'GET',
    path: `${path}/forks`,
    ...repositoryAs('reader'),
    query: z.object(pages),
    success: 200,
    response: list(Repository),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/fork.go ListForks',
  }),
  listStargazers: defineOperation({
    id: 'repository.list-stargazers',
    meaning: 'Lists the accounts that starred a repository.',
    method: 'GET',
    path: `${path}/stargazers`,
    ...repositoryAs('reader'),
    query: z.object(pages),
    success: 200,
    response: list(User),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/repo/star.go ListStargazers',
  }),
  listAssignees: defineOperation({
    id: 'repository.list-assignees',
    meaning:
      'Lists the accounts that issues can be assigned to, by name, unpaged: who may write, and members of teams that read issues or pull requests.',
    method: 'GET',
    path: `${path}/assignees`,
    ...repositoryAs('signed-in'),
    success: 200,
    response: list(User),
    errors: [404],
    source: 'routers/api/v1/repo/collaborators.go GetAssignees; models/repo/user_repo.go GetRepoAssignees',
  }),
  listReviewers: defineOperation({
    id: 'repository.list-reviewers',
    meaning: 'Lists the accounts that can be asked for reviews, by name, unpaged; for those who may ask.',
    method: 'GET',
    path: `${path}/reviewers`,
    ...repositoryAs('signed-in'),
    success: 200,
    response: list(User),
    errors: [403, 404],
    source: 'routers/api/v1/repo/collaborators.go GetReviewers; services/pull/reviewer.go',
  }),
} as const;
