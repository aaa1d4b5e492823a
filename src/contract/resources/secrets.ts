import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, organizationAs, repositoryAs } from '../row-fields.ts';
import { inRepository, instant, list, pages, resource, text } from '../shape.ts';

/** An Actions secret, without its value, which no operation returns. Names are in upper case. */
const ActionSecret = resource(
  { name: text },
  {
    /** Absent on Forgejo. */
    description: text,
    created_at: instant,
  },
);

/** Letters, digits and `_`, not starting with a digit, `GITEA_` or `GITHUB_`, and not `CI`. */
const secretname = text;
const SecretValue = z.strictObject({ data: text, description: text.optional() });

const listRow = {
  method: 'GET',
  query: z.object(pages),
  success: 200,
  response: list(ActionSecret),
  paging: 'link',
} as const;
const putRow = { method: 'PUT', body: SecretValue, success: 201 } as const;
const deleteRow = { method: 'DELETE', success: 204 } as const;
const ofSelf = { ...callerAs('self'), params: z.object({ secretname }), publicOnly: 'closed' } as const;

/** Secrets of an organization, a repository and an account: written and listed by name, but never read back. */
export const secretOperations = {
  listOrganizationSecrets: defineOperation({
    id: 'organization-secret.list',
    meaning: 'Lists the secrets of an organization by name, without their values.',
    path: '/orgs/{org}/actions/secrets',
    ...organizationAs('owner'),
    ...listRow,
    errors: [403, 404],
    source: 'routers/api/v1/org/action.go ListActionsSecrets',
  }),
  putOrganizationSecret: defineOperation({
    id: 'organization-secret.put',
    meaning: 'Creates a secret of an organization (201), or gives it another value (204).',
    path: '/orgs/{org}/actions/secrets/{secretname}',
    ...organizationAs('owner'),
    params: z.object({ org: text, secretname }),
    ...putRow,
    errors: [400, 403, 404, 422],
    source: 'routers/api/v1/org/action.go CreateOrUpdateSecret',
  }),
  deleteOrganizationSecret: defineOperation({
    id: 'organization-secret.delete',
    meaning: 'Deletes a secret of an organization.',
    path: '/orgs/{org}/actions/secrets/{secretname}',
    ...organizationAs('owner'),
    params: z.object({ org: text, secretname }),
    ...deleteRow,
    errors: [403, 404],
    source: 'routers/api/v1/org/action.go DeleteSecret',
  }),
  listRepositorySecrets: defineOperation({
    id: 'repository-secret.list',
    meaning: 'Lists the secrets of a repository by name, without their values.',
    path: '/repos/{owner}/{repo}/actions/secrets',
    ...repositoryAs('owner'),
    ...listRow,
    errors: [403, 404],
    source: 'routers/api/v1/repo/action.go ListActionsSecrets',
  }),
  putRepositorySecret: defineOperation({
    id: 'repository-secret.put',
    meaning: 'Creates a secret of a repository (201), or gives it another value (204).',
    path: '/repos/{owner}/{repo}/actions/secrets/{secretname}',
    ...repositoryAs('owner'),
    params: z.object({ ...inRepository, secretname }),
    ...putRow,
    errors: [400, 403, 404, 422],
    source: 'routers/api/v1/repo/action.go CreateOrUpdateSecret',
  }),
  deleteRepositorySecret: defineOperation({
    id: 'repository-secret.delete',
    meaning: 'Deletes a secret of a repository.',
    path: '/repos/{owner}/{repo}/actions/secrets/{secretname}',
    ...repositoryAs('owner'),
    params: z.object({ ...inRepository, secretname }),
    ...deleteRow,
    errors: [403, 404],
    source: 'routers/api/v1/repo/action.go DeleteSecret',
  }),
  putUserSecret: defineOperation({
    id: 'user-secret.put',
    meaning: 'Creates a secret of the caller (201), or gives it another value (204).',
    path: '/user/actions/secrets/{secretname}',
    ...ofSelf,
    ...putRow,
    errors: [400, 422],
    source: 'routers/api/v1/user/action.go CreateOrUpdateSecret',
  }),
  deleteUserSecret: defineOperation({
    id: 'user-secret.delete',
    meaning: 'Deletes a secret of the caller.',
    path: '/user/actions/secrets/{secretname}',
    ...ofSelf,
    ...deleteRow,
    errors: [404],
    source: 'routers/api/v1/user/action.go DeleteSecret',
  }),
} as const;
