import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { accountAs, callerAs, siteAs } from '../row-fields.ts';
import { flag, int, list, pages, resource, text } from '../shape.ts';
import { User } from './users.ts';

/** A merge patch of an account; `login_name` is required (any text is accepted for local accounts). */
export const EditUser = z.strictObject({
  login_name: text,
  source_id: int.optional(),
  email: text.optional(),
  full_name: text.optional(),
  /** At least 8 characters. */
  password: text.optional(),
  must_change_password: flag.optional(),
  website: text.optional(),
  location: text.optional(),
  description: text.optional(),
  active: flag.optional(),
  admin: flag.optional(),
  prohibit_login: flag.optional(),
  restricted: flag.optional(),
  /** public, limited or private; empty means unchanged. */
  visibility: text.optional(),
});
export type EditUser = z.output<typeof EditUser>;

/** Operations to search accounts, and to administer them as a site administrator. */
export const accountOperations = {
  searchUsers: defineOperation({
    id: 'user.search',
    meaning:
      'Searches accounts by a part of name, full name or e-mail address, as far as visible to the caller.',
    method: 'GET',
    path: '/users/search',
    ...callerAs('anyone'),
    query: z.object({ q: text.optional(), uid: int.optional(), ...pages }),
    success: 200,
    response: resource({}, { ok: flag, data: z.array(User) }),
    errors: [],
    paging: 'link',
    source: 'routers/api/v1/user/user.go Search',
  }),
  listUsers: defineOperation({
    id: 'admin.list-users',
    meaning: 'Lists every account, by name.',
    method: 'GET',
    path: '/admin/users',
    ...siteAs('site'),
    query: z.object({
      q: text.optional(),
      visibility: text.optional(),
      is_active: flag.optional(),
      is_admin: flag.optional(),
      ...pages,
    }),
    success: 200,
    response: list(User),
    errors: [403, 422],
    paging: 'link',
    source: 'routers/api/v1/admin/user.go SearchUsers',
  }),
  editUser: defineOperation({
    id: 'admin.edit-user',
    meaning: 'Updates an account; absent members are unchanged.',
    method: 'PATCH',
    path: '/admin/users/{username}',
    ...accountAs('site'),
    scopes: ['admin'],
    body: EditUser,
    success: 200,
    response: User,
    errors: [400, 403, 404, 422],
    source: 'routers/api/v1/admin/user.go EditUser',
  }),
  deleteUser: defineOperation({
    id: 'admin.delete-user',
    meaning:
      'Deletes an account that owns no repository and is in no organization; with `purge`, these are deleted too.',
    method: 'DELETE',
    path: '/admin/users/{username}',
    ...accountAs('site'),
    scopes: ['admin'],
    query: z.object({ purge: flag.optional() }),
    success: 204,
    errors: [403, 404, 422],
    source: 'routers/api/v1/admin/user.go DeleteUser',
  }),
  renameUser: defineOperation({
    id: 'admin.rename-user',
    meaning: 'Renames an account; the old name redirects.',
    method: 'POST',
    path: '/admin/users/{username}/rename',
    ...accountAs('site'),
    scopes: ['admin'],
    body: z.strictObject({ new_username: text }),
    success: 204,
    errors: [403, 404, 422],
    source: 'routers/api/v1/admin/user.go RenameUser',
  }),
} as const;
