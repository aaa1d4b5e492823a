import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, organizationAs, repositoryAs, siteAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, pages, resource, text } from '../shape.ts';

export const Hook = resource(
  { id: int },
  {
    type: text,
    /** Absent on Forgejo and before 1.26. */
    name: text,
    active: flag,
    /**
     * Event names as the forge stores them, in no particular order; the list cannot be sent back unchanged (see
     * `events/hook-events.ts`).
     */
    events: z.array(text),
    branch_filter: text,
    /** Always empty from 1.27 on; the value cannot be read back. */
    authorization_header: text,
    config: z.record(text, text),
    created_at: instant,
    updated_at: instant,
  },
);
export type Hook = z.output<typeof Hook>;

/** Body that creates a hook; the hook is inactive unless `active` is true. */
const CreateHook = z.strictObject({
  type: text,
  /** Contains `url`, `content_type` (json or form) and `secret`. */
  config: z.record(text, text),
  events: z.array(text).optional(),
  active: flag.optional(),
  branch_filter: text.optional(),
  authorization_header: text.optional(),
  name: text.optional(),
});

/**
 * Not a merge patch: an absent `events` becomes push only, an absent `branch_filter` or `authorization_header` is
 * cleared, and `config.secret` never changes. Always send `events`, `branch_filter` and `authorization_header`
 * together.
 */
const EditHookOption = CreateHook.omit({ type: true }).partial();

const atHook = z.object({ ...inRepository, id: int });

export const hookOperations = {
  listHooks: defineOperation({
    id: 'hook.list',
    meaning: 'Lists the hooks of a repository.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/hooks',
    ...repositoryAs('admin'),
    query: z.object(pages),
    success: 200,
    response: list(Hook),
    errors: [403, 404],
    paging: 'count',
    source: 'routers/api/v1/repo/hook.go ListHooks',
  }),
  getHook: defineOperation({
    id: 'hook.get',
    meaning: 'Returns a hook of a repository.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/hooks/{id}',
    ...repositoryAs('admin'),
    params: atHook,
    success: 200,
    response: Hook,
    errors: [403, 404],
    source: 'routers/api/v1/repo/hook.go GetHook',
  }),
  createHook: defineOperation({
    id: 'hook.create',
    meaning: 'Creates a hook; inactive unless `active` is true, push only unless `events` names more.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/hooks',
    ...repositoryAs('admin'),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 404, 422],
    source: 'routers/api/v1/repo/hook.go CreateHook',
  }),
  editHook: defineOperation({
    id: 'hook.edit',
    meaning:
      'Updates a hook. Not a merge patch: absent events, branch_filter and authorization_header are reset.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/hooks/{id}',
    ...repositoryAs('admin'),
    params: atHook,
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    source: 'routers/api/v1/utils/hook.go editHook',
  }),
  deleteHook: defineOperation({
    id: 'hook.delete',
    meaning: 'Deletes a hook with its queued deliveries.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/hooks/{id}',
    ...repositoryAs('admin'),
    params: atHook,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/repo/hook.go DeleteHook',
  }),
  testHook: defineOperation({
    id: 'hook.test',
    meaning: 'Queues a push delivery of the head of `ref`; 204 says only "queued".',
    method: 'POST',
    path: '/repos/{owner}/{repo}/hooks/{id}/tests',
    ...repositoryAs('admin'),
    params: atHook,
    query: z.object({ ref: text.optional() }),
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/repo/hook.go TestHook',
  }),
} as const;

/**
 * Hooks above repository level: hooks of an account or an organization receive the events of all its repositories,
 * hooks of the instance those of every repository.
 */
export const ownerHookOperations = {
  listUserHooks: defineOperation({
    id: 'user.list-hooks',
    meaning: "Lists the caller's hooks, which receive events of all the caller's repositories.",
    method: 'GET',
    path: '/user/hooks',
    ...callerAs('self'),
    query: z.object(pages),
    success: 200,
    response: list(Hook),
    errors: [403],
    publicOnly: 'closed',
    paging: 'link',
    source: 'routers/api/v1/user/hook.go ListHooks',
  }),
  createUserHook: defineOperation({
    id: 'user.create-hook',
    meaning: "Creates a hook for all of the caller's repositories.",
    method: 'POST',
    path: '/user/hooks',
    ...callerAs('self'),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 422],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/hook.go CreateHook',
  }),
  listOrganizationHooks: defineOperation({
    id: 'organization.list-hooks',
    meaning: 'Lists the hooks of an organization.',
    method: 'GET',
    path: '/orgs/{org}/hooks',
    ...organizationAs('owner'),
    query: z.object(pages),
    success: 200,
    response: list(Hook),
    errors: [403, 404],
    paging: 'link',
    source: 'routers/api/v1/org/hook.go ListHooks',
  }),
  createOrganizationHook: defineOperation({
    id: 'organization.create-hook',
    meaning: 'Creates a hook for all repositories of an organization.',
    method: 'POST',
    path: '/orgs/{org}/hooks',
    ...organizationAs('owner'),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 404, 422],
    source: 'routers/api/v1/org/hook.go CreateHook',
  }),
  getUserHook: defineOperation({
    id: 'user.get-hook',
    meaning: 'Returns a hook of the caller.',
    method: 'GET',
    path: '/user/hooks/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    success: 200,
    response: Hook,
    errors: [403, 404],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/hook.go GetHook',
  }),
  editUserHook: defineOperation({
    id: 'user.edit-hook',
    meaning:
      'Updates a hook of the caller. Not a merge patch: absent events, branch_filter and authorization_header are reset.',
    method: 'PATCH',
    path: '/user/hooks/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/hook.go EditHook',
  }),
  deleteUserHook: defineOperation({
    id: 'user.delete-hook',
    meaning: 'Deletes a hook of the caller with its queued deliveries.',
    method: 'DELETE',
    path: '/user/hooks/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    success: 204,
    errors: [403, 404],
    publicOnly: 'closed',
    source: 'routers/api/v1/user/hook.go DeleteHook',
  }),
  getOrganizationHook: defineOperation({
    id: 'organization.get-hook',
    meaning: 'Returns a hook of an organization.',
    method: 'GET',
    path: '/orgs/{org}/hooks/{id}',
    ...organizationAs('owner'),
    params: z.object({ org: text, id: int }),
    success: 200,
    response: Hook,
    errors: [403, 404],
    source: 'routers/api/v1/org/hook.go GetHook',
  }),
  editOrganizationHook: defineOperation({
    id: 'organization.edit-hook',
    meaning:
      'Updates a hook of an organization. Not a merge patch: absent events, branch_filter and authorization_header are reset.',
    method: 'PATCH',
    path: '/orgs/{org}/hooks/{id}',
    ...organizationAs('owner'),
    params: z.object({ org: text, id: int }),
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    source: 'routers/api/v1/org/hook.go EditHook',
  }),
  deleteOrganizationHook: defineOperation({
    id: 'organization.delete-hook',
    meaning: 'Deletes a hook of an organization with its queued deliveries.',
    method: 'DELETE',
    path: '/orgs/{org}/hooks/{id}',
    ...organizationAs('owner'),
    params: z.object({ org: text, id: int }),
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/org/hook.go DeleteHook',
  }),
  listSystemHooks: defineOperation({
    id: 'admin.list-hooks',
    meaning:
      'Lists the hooks of the instance: system hooks, with `type=default` those that new repositories get, with `all` both.',
    method: 'GET',
    path: '/admin/hooks',
    ...siteAs('site'),
    query: z.object({ type: text.optional(), ...pages }),
    success: 200,
    response: list(Hook),
    errors: [403],
    paging: 'link',
    source: 'routers/api/v1/admin/hooks.go ListHooks',
  }),
  createSystemHook: defineOperation({
    id: 'admin.create-hook',
    meaning:
      'Creates a hook of the instance. `config.is_system_webhook` true: for every repository; otherwise new repositories get a copy.',
    method: 'POST',
    path: '/admin/hooks',
    ...siteAs('site'),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 422],
    source: 'routers/api/v1/admin/hooks.go CreateHook',
  }),
  getSystemHook: defineOperation({
    id: 'admin.get-hook',
    meaning: 'Returns a hook of the instance.',
    method: 'GET',
    path: '/admin/hooks/{id}',
    ...siteAs('site'),
    params: z.object({ id: int }),
    success: 200,
    response: Hook,
    errors: [403, 404],
    source: 'routers/api/v1/admin/hooks.go GetHook',
  }),
  editSystemHook: defineOperation({
    id: 'admin.edit-hook',
    meaning:
      'Updates a hook of the instance. Not a merge patch: absent events, branch_filter and authorization_header are reset.',
    method: 'PATCH',
    path: '/admin/hooks/{id}',
    ...siteAs('site'),
    params: z.object({ id: int }),
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    source: 'routers/api/v1/admin/hooks.go EditHook',
  }),
  deleteSystemHook: defineOperation({
    id: 'admin.delete-hook',
    meaning: 'Deletes a hook of the instance with its queued deliveries.',
    method: 'DELETE',
    path: '/admin/hooks/{id}',
    ...siteAs('site'),
    params: z.object({ id: int }),
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/admin/hooks.go DeleteHook',
  }),
} as const;
