import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { flag, instant, int, list, pages, resource, text } from '../shape.ts';

/** An OAuth2 application, to which users sign in with their forge account. */
export const OAuth2Application = resource(
  { id: int, name: text },
  {
    client_id: text,
    /** Present only in responses to create and edit, each of which generates a new secret; otherwise empty. */
    client_secret: text,
    confidential_client: flag,
    skip_secondary_authorization: flag,
    redirect_uris: z.array(text),
    created: instant,
  },
);
export type OAuth2Application = z.output<typeof OAuth2Application>;

export const CreateOAuth2Application = z.strictObject({
  name: text,
  /** http or https URLs, at least one; compared exactly at sign-in. */
  redirect_uris: z.array(text),
  /** Default false: a public client, which must use PKCE. */
  confidential_client: flag.optional(),
  skip_secondary_authorization: flag.optional(),
});
export type CreateOAuth2Application = z.output<typeof CreateOAuth2Application>;

const atApplication = z.object({ id: int });

export const oauth2Operations = {
  createOAuth2Application: defineOperation({
    id: 'oauth2.create',
    meaning: 'Registers an OAuth2 application of the caller; only this answer contains its secret.',
    method: 'POST',
    path: '/user/applications/oauth2',
    ...callerAs('self'),
    body: CreateOAuth2Application,
    success: 201,
    response: OAuth2Application,
    errors: [400, 403, 422],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/app.go CreateOauth2Application',
  }),
  listOAuth2Applications: defineOperation({
    id: 'oauth2.list',
    meaning: "Lists the caller's OAuth2 applications, without their secrets.",
    method: 'GET',
    path: '/user/applications/oauth2',
    ...callerAs('self'),
    query: z.object(pages),
    success: 200,
    response: list(OAuth2Application),
    errors: [403],
    publicOnly: 'closed',
    paging: 'count',
    source: 'routers/api/v1/user/app.go ListOauth2Applications',
  }),
  getOAuth2Application: defineOperation({
    id: 'oauth2.get',
    meaning: 'Returns an OAuth2 application of the caller, without its secret.',
    method: 'GET',
    path: '/user/applications/oauth2/{id}',
    ...callerAs('self'),
    params: atApplication,
    success: 200,
    response: OAuth2Application,
    errors: [403, 404],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/app.go GetOauth2Application',
  }),
  editOAuth2Application: defineOperation({
    id: 'oauth2.edit',
    meaning: 'Replaces the settings of an OAuth2 application and gives it a new secret.',
    method: 'PATCH',
    path: '/user/applications/oauth2/{id}',
    ...callerAs('self'),
    params: atApplication,
    body: CreateOAuth2Application,
    success: 200,
    response: OAuth2Application,
    errors: [400, 403, 404, 422],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/app.go UpdateOauth2Application',
  }),
  deleteOAuth2Application: defineOperation({
    id: 'oauth2.delete',
    meaning: 'Deletes an OAuth2 application with all its grants.',
    method: 'DELETE',
    path: '/user/applications/oauth2/{id}',
    ...callerAs('self'),
    params: atApplication,
    success: 204,
    errors: [403, 404],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/app.go DeleteOauth2Application',
  }),
} as const;
