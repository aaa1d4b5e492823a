import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { accountAs, callerAs } from '../row-fields.ts';
import { flag, instant, int, list, pages, resource, text } from '../shape.ts';

const keyMembers = {
  /** Empty for a primary key. */
  primary_key_id: text,
  /** 16 hexadecimal digits in upper case. */
  key_id: text,
  /** Base64 of the key packet alone, without user ids and subkeys. */
  public_key: text,
  can_sign: flag,
  can_encrypt_comms: flag,
  can_encrypt_storage: flag,
  can_certify: flag,
  /** The account has proved that it can sign with the key. */
  verified: flag,
  /** When the key was added. */
  created_at: instant,
  /** Year one for a key without expiry. */
  expires_at: instant,
};

/** An OpenPGP key. `emails` are the addresses in the key that belong to the account. */
const GpgKey = resource(
  { id: int },
  {
    ...keyMembers,
    emails: z.array(resource({ email: text }, { verified: flag })),
    subkeys: z.array(resource({ id: int }, keyMembers)),
  },
);

const inFile = 'routers/api/v1/user/gpg_key.go';

export const gpgKeyOperations = {
  listOwnGpgKeys: defineOperation({
    id: 'user.list-own-gpg-keys',
    meaning: 'Lists the OpenPGP keys of the caller.',
    method: 'GET',
    path: '/user/gpg_keys',
    ...callerAs('self'),
    query: z.object(pages),
    success: 200,
    response: list(GpgKey),
    errors: [403],
    publicOnly: 'closed',
    paging: 'count',
    source: `${inFile} ListMyGPGKeys`,
  }),
  listGpgKeys: defineOperation({
    id: 'user.list-gpg-keys',
    meaning: 'Lists the OpenPGP keys of an account.',
    method: 'GET',
    path: '/users/{username}/gpg_keys',
    ...accountAs('signed-in'),
    query: z.object(pages),
    success: 200,
    response: list(GpgKey),
    errors: [403, 404],
    paging: 'count',
    source: `${inFile} ListGPGKeys`,
  }),
  getGpgKey: defineOperation({
    id: 'user.get-gpg-key',
    meaning: "Returns an OpenPGP key of the caller's.",
    method: 'GET',
    path: '/user/gpg_keys/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    success: 200,
    response: GpgKey,
    errors: [403, 404],
    publicOnly: 'closed',
    source: `${inFile} GetGPGKey`,
  }),
  createGpgKey: defineOperation({
    id: 'user.create-gpg-key',
    meaning:
      'Adds an OpenPGP key with an address of the caller, or with a signature of the token of `/user/gpg_key_token`. 404 without either; 422 for what is no key and for one that is known. Keys of version 4 with RSA, ECDSA or Ed25519; Gitea accepts DSA and other versions as well, and revoked keys.',
    method: 'POST',
    path: '/user/gpg_keys',
    ...callerAs('self'),
    body: z.strictObject({ armored_public_key: text, armored_signature: text.optional() }),
    success: 201,
    response: GpgKey,
    errors: [403, 404, 422],
    publicOnly: 'closed',
    source: `${inFile} CreateGPGKey`,
  }),
  deleteGpgKey: defineOperation({
    id: 'user.delete-gpg-key',
    meaning: "Deletes an OpenPGP key of the caller's with its subkeys; success also if there is none.",
    method: 'DELETE',
    path: '/user/gpg_keys/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    success: 204,
    errors: [403],
    publicOnly: 'closed',
    source: `${inFile} DeleteGPGKey`,
  }),
  getGpgKeyToken: defineOperation({
    id: 'user.gpg-key-token',
    meaning: 'Returns a text to sign with an OpenPGP key, another one each minute.',
    method: 'GET',
    path: '/user/gpg_key_token',
    ...callerAs('self'),
    success: 200,
    response: text,
    media: 'text',
    errors: [403],
    publicOnly: 'closed',
    source: `${inFile} GetVerificationToken`,
  }),
  verifyGpgKey: defineOperation({
    id: 'user.verify-gpg-key',
    meaning:
      "Marks an OpenPGP key of the caller's as verified, by a signature of the token of this minute or the last.",
    method: 'POST',
    path: '/user/gpg_key_verify',
    ...callerAs('self'),
    body: z.strictObject({ key_id: text, armored_signature: text }),
    success: 200,
    response: GpgKey,
    errors: [403, 404, 422],
    publicOnly: 'closed',
    baseline: { 'unknown key': 500 },
    source: `${inFile} VerifyUserGPGKey`,
  }),
} as const;
