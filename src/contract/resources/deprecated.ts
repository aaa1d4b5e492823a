import { defineOperation } from '../operation.ts';
import { organizationAs } from '../row-fields.ts';
import { CreateRepository, Repository } from './repositories.ts';

/** Older paths of operations that have another one. */
export const deprecatedOperations = {
  createOrgRepository: defineOperation({
    id: 'organization.create-repository-deprecated',
    meaning: 'Deprecated: creates a repository in an organization, like `/orgs/{org}/repos`.',
    method: 'POST',
    path: '/org/{org}/repos',
    ...organizationAs('signed-in'),
    scopes: ['organization', 'repository'],
    body: CreateRepository,
    success: 201,
    response: Repository,
    errors: [400, 403, 404, 409, 422],
    source: 'routers/api/v1/repo/repo.go CreateOrgRepoDeprecated',
  }),
} as const;
