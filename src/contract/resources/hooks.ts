import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, pages, resource, text } from '../shape.ts';

export const Hook = resource(
  { id: int },
  {
    type: text,
    /** Absent on Forgejo and before 1.26. */
    name: text,
    active: flag,
    /** Event names as the forge stores them, in no order; the answer cannot be sent back unchanged (see the families). */
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

/** Body that creates a hook; inactive unless `active` is true. */
export const CreateHook = z.strictObject({
  type: text,
  /** `url`, `content_type` (json or form), `secret`. */
  config: z.record(text, text),
  events: z.array(text).optional(),
  active: flag.optional(),
  branch_filter: text.optional(),
  authorization_header: text.optional(),
  name: text.optional(),
});

/**
 * No merge patch: an absent `events` becomes push only, an absent `branch_filter` or `authorization_header` is cleared,
 * `config.secret` is never changed. Always send the three together.
 */
export const EditHookOption = CreateHook.omit({ type: true }).partial();

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
