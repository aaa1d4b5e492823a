import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { accountAs, callerAs } from '../row-fields.ts';
import { flag, instant, int, list, pages, resource, text } from '../shape.ts';
import { User } from './users.ts';

/** An SSH public key. `user` and `key_type` are shown only to its owner and to site administrators. */
const PublicKey = resource(
  { id: int },
  {
    /** The key in the one-line OpenSSH format. */
    key: text,
    url: text,
    title: text,
    /** `SHA256:` and base64 without padding. */
    fingerprint: text,
    created_at: instant,
    last_used_at: instant,
    user: User,
    read_only: flag,
    /** `user`, or `deploy` for a deploy key. */
    key_type: text,
  },
);

const NewPublicKey = z.strictObject({ title: text, key: text, read_only: flag.optional() });
const byFingerprint = z.object({ ...pages, fingerprint: text.optional() });
const inFile = 'routers/api/v1/user/key.go';

export const userKeyOperations = {
  listOwnKeys: defineOperation({
    id: 'user.list-own-keys',
    meaning:
      'Lists the public keys of the caller; with `fingerprint` that one key of any account that the caller can see.',
    method: 'GET',
    path: '/user/keys',
    ...callerAs('self'),
    query: byFingerprint,
    success: 200,
    response: list(PublicKey),
    errors: [403],
    publicOnly: 'closed',
    paging: 'link',
    source: `${inFile} ListMyPublicKeys`,
  }),
  getKey: defineOperation({
    id: 'user.get-key',
    meaning:
      'Returns a public key, of any account that the caller can see. Keys of repositories are for administrators; Gitea shows them to all.',
    method: 'GET',
    path: '/user/keys/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    success: 200,
    response: PublicKey,
    errors: [403, 404],
    publicOnly: 'closed',
    source: `${inFile} GetPublicKey`,
  }),
  createKey: defineOperation({
    id: 'user.create-key',
    meaning:
      'Adds a public key to the caller. 422 for what is not an accepted key, for a title that the caller has, and for a key that is known.',
    method: 'POST',
    path: '/user/keys',
    ...callerAs('self'),
    body: NewPublicKey,
    success: 201,
    response: PublicKey,
    errors: [403, 422],
    publicOnly: 'closed',
    source: `${inFile} CreatePublicKey`,
  }),
  deleteKey: defineOperation({
    id: 'user.delete-key',
    meaning: "Deletes a public key of the caller's; a site administrator may delete any.",
    method: 'DELETE',
    path: '/user/keys/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    success: 204,
    errors: [403, 404],
    publicOnly: 'closed',
    source: `${inFile} DeletePublicKey`,
  }),
  listKeys: defineOperation({
    id: 'user.list-keys',
    meaning: 'Lists the public keys of an account.',
    method: 'GET',
    path: '/users/{username}/keys',
    ...accountAs('signed-in'),
    query: byFingerprint,
    success: 200,
    response: list(PublicKey),
    errors: [403, 404],
    paging: 'link',
    source: `${inFile} ListPublicKeys`,
  }),
  createKeyFor: defineOperation({
    id: 'admin.create-key',
    meaning: 'Adds a public key to an account.',
    method: 'POST',
    path: '/admin/users/{username}/keys',
    ...accountAs('site'),
    scopes: ['admin'],
    body: NewPublicKey,
    success: 201,
    response: PublicKey,
    errors: [403, 404, 422],
    source: 'routers/api/v1/admin/user.go CreatePublicKey',
  }),
  deleteKeyOf: defineOperation({
    id: 'admin.delete-key',
    meaning: 'Deletes a public key of an account; 403 for the key of another one.',
    method: 'DELETE',
    path: '/admin/users/{username}/keys/{id}',
    ...accountAs('site'),
    scopes: ['admin'],
    params: z.object({ username: text, id: int }),
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/admin/user.go DeleteUserPublicKey',
  }),
} as const;
