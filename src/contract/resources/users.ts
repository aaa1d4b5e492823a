import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { accountAs, callerAs, siteAs } from '../row-fields.ts';
import { flag, instant, int, list, pages, resource, text } from '../shape.ts';

export const User = resource(
  { id: int, login: text },
  {
    username: text,
    active: flag,
    avatar_url: text,
    created: instant,
    description: text,
    email: text,
    followers_count: int,
    following_count: int,
    full_name: text,
    html_url: text,
    is_admin: flag,
    language: text,
    last_login: instant,
    location: text,
    login_name: text,
    prohibit_login: flag,
    restricted: flag,
    source_id: int,
    starred_repos_count: int,
    visibility: z.enum(['public', 'limited', 'private']),
    website: text,
  },
);
export type User = z.output<typeof User>;

export const Organization = resource(
  { id: int, name: text },
  {
    username: text,
    avatar_url: text,
    description: text,
    email: text,
    full_name: text,
    location: text,
    repo_admin_change_team_access: flag,
    visibility: text,
    website: text,
  },
);
export type Organization = z.output<typeof Organization>;

export const Team = resource(
  { id: int, name: text },
  {
    can_create_org_repo: flag,
    description: text,
    includes_all_repositories: flag,
    organization: Organization,
    permission: z.enum(['none', 'read', 'write', 'admin', 'owner']),
    units: z.array(text),
    units_map: z.record(text, text),
    visibility: text,
  },
);
export type Team = z.output<typeof Team>;

/** A personal access token; `sha1` is the token itself, present only in the response that creates it. */
const AccessToken = resource(
  { id: int, name: text },
  { scopes: z.array(text), sha1: text, token_last_eight: text, created_at: instant, last_used_at: instant },
);

export const CreateOrganization = z.strictObject({
  username: text,
  full_name: text.optional(),
  description: text.optional(),
  email: text.optional(),
  location: text.optional(),
  website: text.optional(),
  visibility: text.optional(),
  repo_admin_change_team_access: flag.optional(),
});
export type CreateOrganization = z.output<typeof CreateOrganization>;

/** The token that authenticates the request, as returned by `GET /token`. */
const CurrentToken = resource(
  { id: int, name: text },
  {
    scopes: z.array(text),
    created_at: instant,
    last_used_at: instant,
    user: resource({ id: int, login: text }, {}),
  },
);

export const userOperations = {
  getSelf: defineOperation({
    id: 'user.get-self',
    meaning: 'Returns the account of the credential, with its private members.',
    method: 'GET',
    path: '/user',
    ...callerAs('self'),
    success: 200,
    response: User,
    errors: [],
    publicOnly: 'public-account',
    source: 'routers/api/v1/user/user.go GetAuthenticatedUser',
  }),
  getUser: defineOperation({
    id: 'user.get',
    meaning: 'Returns an account.',
    method: 'GET',
    path: '/users/{username}',
    ...accountAs('anyone'),
    success: 200,
    response: User,
    errors: [404],
    source: 'routers/api/v1/user/user.go GetInfo',
  }),
  createUser: defineOperation({
    id: 'admin.create-user',
    meaning: 'Creates an account.',
    method: 'POST',
    path: '/admin/users',
    ...siteAs('site'),
    body: z.strictObject({
      username: text,
      email: text,
      password: text.optional(),
      full_name: text.optional(),
      must_change_password: flag.optional(),
      restricted: flag.optional(),
      visibility: text.optional(),
    }),
    success: 201,
    response: User,
    errors: [400, 403, 422],
    source: 'routers/api/v1/admin/user.go CreateUser',
  }),
  createToken: defineOperation({
    id: 'user.create-token',
    meaning: 'Creates a personal access token; Basic credentials only.',
    method: 'POST',
    path: '/users/{username}/tokens',
    ...accountAs('self'),
    roleFirst: true,
    passwordOnly: true,
    body: z.strictObject({ name: text, scopes: z.array(text).optional() }),
    success: 201,
    response: AccessToken,
    errors: [400, 401, 403],
    source: 'routers/api/v1/user/app.go CreateAccessToken',
  }),
  listTokens: defineOperation({
    id: 'user.list-tokens',
    meaning: 'Lists the personal access tokens of an account, without their values; Basic credentials only.',
    method: 'GET',
    path: '/users/{username}/tokens',
    ...accountAs('self'),
    roleFirst: true,
    passwordOnly: true,
    query: z.object(pages),
    success: 200,
    response: list(AccessToken),
    errors: [401, 403],
    paging: 'count',
    source: 'routers/api/v1/user/app.go ListAccessTokens',
  }),
  deleteToken: defineOperation({
    id: 'user.delete-token',
    meaning: 'Deletes a personal access token, by id or name; Basic credentials only.',
    method: 'DELETE',
    path: '/users/{username}/tokens/{token}',
    ...accountAs('self'),
    roleFirst: true,
    passwordOnly: true,
    params: z.object({ username: text, token: text }),
    success: 204,
    errors: [401, 403, 404],
    source: 'routers/api/v1/user/app.go DeleteAccessToken',
  }),
  getCurrentToken: defineOperation({
    id: 'token.get',
    meaning: 'Returns the token in the Authorization header of the request; 404 for any other credential.',
    method: 'GET',
    path: '/token',
    ...callerAs('self'),
    scopes: [],
    success: 200,
    response: CurrentToken,
    errors: [404],
    source: 'routers/api/v1/token/token.go GetCurrentToken',
  }),
  deleteCurrentToken: defineOperation({
    id: 'token.delete',
    meaning: 'Deletes the token of the request.',
    method: 'DELETE',
    path: '/token',
    ...callerAs('self'),
    scopes: [],
    success: 204,
    errors: [404],
    source: 'routers/api/v1/token/token.go DeleteCurrentToken',
  }),
} as const;
