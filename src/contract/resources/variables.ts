import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, organizationAs, repositoryAs } from '../row-fields.ts';
import { inRepository, int, list, pages, resource, text } from '../shape.ts';

/** An Actions variable. Names are in upper case; either `owner_id` or `repo_id` is 0. */
const ActionVariable = resource(
  { name: text },
  {
    owner_id: int,
    repo_id: int,
    /** Value of the variable. */
    data: text,
    /** Absent on Forgejo. */
    description: text,
  },
);

/** Letters, digits and `_`, not starting with a digit, `GITEA_` or `GITHUB_`, and not `CI`. */
const variablename = text;
const NewVariable = z.strictObject({ value: text, description: text.optional() });
/** `name` renames the variable. */
const ChangedVariable = z.strictObject({
  name: text.optional(),
  value: text,
  description: text.optional(),
});

const listRow = {
  method: 'GET',
  query: z.object(pages),
  success: 200,
  response: list(ActionVariable),
  paging: 'link',
} as const;
const getRow = { method: 'GET', success: 200, response: ActionVariable } as const;
const postRow = { method: 'POST', body: NewVariable, success: 201 } as const;
const putRow = { method: 'PUT', body: ChangedVariable, success: 204 } as const;
const deleteRow = { method: 'DELETE', success: 204 } as const;
const ofSelf = { ...callerAs('self'), publicOnly: 'closed' } as const;

/** Variables of an organization, a repository and an account. */
export const variableOperations = {
  listOrganizationVariables: defineOperation({
    id: 'organization-variable.list',
    meaning: 'Lists the variables of an organization by name.',
    path: '/orgs/{org}/actions/variables',
    ...organizationAs('owner'),
    ...listRow,
    errors: [403, 404],
    source: 'routers/api/v1/org/action.go ListVariables',
  }),
  getOrganizationVariable: defineOperation({
    id: 'organization-variable.get',
    meaning: 'Returns a variable of an organization.',
    path: '/orgs/{org}/actions/variables/{variablename}',
    ...organizationAs('owner'),
    params: z.object({ org: text, variablename }),
    ...getRow,
    errors: [403, 404],
    source: 'routers/api/v1/org/action.go GetVariable',
  }),
  createOrganizationVariable: defineOperation({
    id: 'organization-variable.create',
    meaning: 'Creates a variable of an organization; 204 on Forgejo.',
    path: '/orgs/{org}/actions/variables/{variablename}',
    ...organizationAs('owner'),
    params: z.object({ org: text, variablename }),
    ...postRow,
    errors: [400, 403, 404, 409, 422],
    source: 'routers/api/v1/org/action.go CreateVariable',
  }),
  editOrganizationVariable: defineOperation({
    id: 'organization-variable.edit',
    meaning: 'Gives a variable of an organization another value, and with `name` another name.',
    path: '/orgs/{org}/actions/variables/{variablename}',
    ...organizationAs('owner'),
    params: z.object({ org: text, variablename }),
    ...putRow,
    errors: [400, 403, 404, 409, 422],
    baseline: { 'name is taken': 500 },
    source: 'routers/api/v1/org/action.go UpdateVariable',
  }),
  deleteOrganizationVariable: defineOperation({
    id: 'organization-variable.delete',
    meaning: 'Deletes a variable of an organization.',
    path: '/orgs/{org}/actions/variables/{variablename}',
    ...organizationAs('owner'),
    params: z.object({ org: text, variablename }),
    ...deleteRow,
    errors: [403, 404],
    source: 'routers/api/v1/org/action.go DeleteVariable',
  }),
  listRepositoryVariables: defineOperation({
    id: 'repository-variable.list',
    meaning: 'Lists the variables of a repository by name.',
    path: '/repos/{owner}/{repo}/actions/variables',
    ...repositoryAs('owner'),
    ...listRow,
    errors: [403, 404],
    source: 'routers/api/v1/repo/action.go ListVariables',
  }),
  getRepositoryVariable: defineOperation({
    id: 'repository-variable.get',
    meaning: 'Returns a variable of a repository.',
    path: '/repos/{owner}/{repo}/actions/variables/{variablename}',
    ...repositoryAs('owner'),
    params: z.object({ ...inRepository, variablename }),
    ...getRow,
    errors: [403, 404],
    source: 'routers/api/v1/repo/action.go GetVariable',
  }),
  createRepositoryVariable: defineOperation({
    id: 'repository-variable.create',
    meaning: 'Creates a variable of a repository; 204 on Forgejo.',
    path: '/repos/{owner}/{repo}/actions/variables/{variablename}',
    ...repositoryAs('owner'),
    params: z.object({ ...inRepository, variablename }),
    ...postRow,
    errors: [400, 403, 404, 409, 422],
    source: 'routers/api/v1/repo/action.go CreateVariable',
  }),
  editRepositoryVariable: defineOperation({
    id: 'repository-variable.edit',
    meaning: 'Gives a variable of a repository another value, and with `name` another name.',
    path: '/repos/{owner}/{repo}/actions/variables/{variablename}',
    ...repositoryAs('owner'),
    params: z.object({ ...inRepository, variablename }),
    ...putRow,
    errors: [400, 403, 404, 409, 422],
    baseline: { 'name is taken': 500 },
    source: 'routers/api/v1/repo/action.go UpdateVariable',
  }),
  deleteRepositoryVariable: defineOperation({
    id: 'repository-variable.delete',
    meaning: 'Deletes a variable of a repository.',
    path: '/repos/{owner}/{repo}/actions/variables/{variablename}',
    ...repositoryAs('owner'),
    params: z.object({ ...inRepository, variablename }),
    ...deleteRow,
    errors: [403, 404],
    source: 'routers/api/v1/repo/action.go DeleteVariable',
  }),
  listUserVariables: defineOperation({
    id: 'user-variable.list',
    meaning: 'Lists the variables of the caller by name.',
    path: '/user/actions/variables',
    ...ofSelf,
    ...listRow,
    errors: [],
    source: 'routers/api/v1/user/action.go ListVariables',
  }),
  getUserVariable: defineOperation({
    id: 'user-variable.get',
    meaning: 'Returns a variable of the caller.',
    path: '/user/actions/variables/{variablename}',
    ...ofSelf,
    params: z.object({ variablename }),
    ...getRow,
    errors: [404],
    source: 'routers/api/v1/user/action.go GetVariable',
  }),
  createUserVariable: defineOperation({
    id: 'user-variable.create',
    meaning: 'Creates a variable of the caller; 204 on Forgejo.',
    path: '/user/actions/variables/{variablename}',
    ...ofSelf,
    params: z.object({ variablename }),
    ...postRow,
    errors: [400, 409, 422],
    source: 'routers/api/v1/user/action.go CreateVariable',
  }),
  editUserVariable: defineOperation({
    id: 'user-variable.edit',
    meaning: 'Gives a variable of the caller another value, and with `name` another name.',
    path: '/user/actions/variables/{variablename}',
    ...ofSelf,
    params: z.object({ variablename }),
    ...putRow,
    errors: [400, 404, 409, 422],
    baseline: { 'name is taken': 500 },
    source: 'routers/api/v1/user/action.go UpdateVariable',
  }),
  deleteUserVariable: defineOperation({
    id: 'user-variable.delete',
    meaning: 'Deletes a variable of the caller.',
    path: '/user/actions/variables/{variablename}',
    ...ofSelf,
    params: z.object({ variablename }),
    ...deleteRow,
    errors: [404],
    source: 'routers/api/v1/user/action.go DeleteVariable',
  }),
} as const;
