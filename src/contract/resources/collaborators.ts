import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { inRepository, list, pages, resource, text } from '../shape.ts';
import { User } from './users.ts';

/** Accounts with access to one repository. */
export const collaboratorOperations = {
  listCollaborators: defineOperation({
    id: 'collaborator.list',
    meaning: 'Lists the collaborators of a repository.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators',
    ...repositoryAs('signed-in'),
    query: z.object(pages),
    success: 200,
    response: list(User),
    errors: [403, 404],
    paging: 'count',
    source: 'routers/api/v1/repo/collaborators.go ListCollaborators',
  }),
  putCollaborator: defineOperation({
    id: 'collaborator.put',
    meaning: 'Adds a collaborator, or changes its access.',
    method: 'PUT',
    path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
    ...repositoryAs('admin'),
    params: z.object({ ...inRepository, collaborator: text }),
    body: z.strictObject({ permission: z.enum(['read', 'write', 'admin']).optional() }),
    success: 204,
    errors: [403, 404, 422],
    source: 'routers/api/v1/repo/collaborators.go AddOrUpdateCollaborator',
  }),
  getPermission: defineOperation({
    id: 'collaborator.permission',
    meaning: "Returns an account's access to a repository; one's own, or any for an administrator.",
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators/{collaborator}/permission',
    ...repositoryAs('reader'),
    othersAccess: 'admin',
    params: z.object({ ...inRepository, collaborator: text }),
    success: 200,
    response: resource({ permission: text }, { role_name: text, user: User }),
    errors: [403, 404],
    source: 'routers/api/v1/repo/collaborators.go GetRepoPermissions',
  }),
  checkCollaborator: defineOperation({
    id: 'collaborator.check',
    meaning: 'Answers 204 if an account is a collaborator, 404 otherwise.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
    ...repositoryAs('signed-in'),
    params: z.object({ ...inRepository, collaborator: text }),
    success: 204,
    errors: [404, 422],
    source: 'routers/api/v1/repo/collaborators.go IsCollaborator',
  }),
  deleteCollaborator: defineOperation({
    id: 'collaborator.delete',
    meaning: 'Removes a collaborator; 204 also if the account was none.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
    ...repositoryAs('admin'),
    params: z.object({ ...inRepository, collaborator: text }),
    success: 204,
    errors: [403, 404, 422],
    source: 'routers/api/v1/repo/collaborators.go DeleteCollaborator',
  }),
} as const;
