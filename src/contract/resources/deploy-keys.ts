import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';

/** An SSH public key with read or write access to one repository. Other repositories may have the same key. */
export const DeployKey = resource(
  { id: int },
  {
    /** Id of the public key, which all repositories with this key share. */
    key_id: int,
    /** The key in the one-line OpenSSH format. */
    key: text,
    url: text,
    title: text,
    /** `SHA256:` and base64 without padding. */
    fingerprint: text,
    created_at: instant,
    read_only: flag,
    /**
     * Present only for the owner and site administrators; absent in the response of `create`. Its `permissions` are
     * those of the key.
     */
    repository: Repository,
  },
);
export type DeployKey = z.output<typeof DeployKey>;

const path = '/repos/{owner}/{repo}/keys';
const atId = z.object({ ...inRepository, id: int });
const inFile = 'routers/api/v1/repo/key.go';

export const deployKeyOperations = {
  listDeployKeys: defineOperation({
    id: 'deploy-key.list',
    meaning: 'Lists the deploy keys of a repository.',
    method: 'GET',
    path,
    ...repositoryAs('admin'),
    query: z.object({ ...pages, key_id: int.optional(), fingerprint: text.optional() }),
    success: 200,
    response: list(DeployKey),
    errors: [403, 404],
    paging: 'count',
    source: `${inFile} ListDeployKeys`,
  }),
  getDeployKey: defineOperation({
    id: 'deploy-key.get',
    meaning: 'Returns a deploy key of a repository.',
    method: 'GET',
    path: `${path}/{id}`,
    ...repositoryAs('admin'),
    params: atId,
    success: 200,
    response: DeployKey,
    errors: [403, 404],
    source: `${inFile} GetDeployKey`,
  }),
  createDeployKey: defineOperation({
    id: 'deploy-key.create',
    meaning:
      'Adds a public key to a repository. 422 for what is not an accepted key, for a key or title that the repository has, and for the key of an account.',
    method: 'POST',
    path,
    ...repositoryAs('admin'),
    body: z.strictObject({ title: text, key: text, read_only: flag.optional() }),
    success: 201,
    response: DeployKey,
    errors: [403, 404, 422],
    source: `${inFile} CreateDeployKey`,
  }),
  deleteDeployKey: defineOperation({
    id: 'deploy-key.delete',
    meaning: 'Removes a key from a repository; success also for a key that does not exist.',
    method: 'DELETE',
    path: `${path}/{id}`,
    ...repositoryAs('admin'),
    params: atId,
    success: 204,
    errors: [403, 404],
    baseline: { 'a key of another repository': 500 },
    source: `${inFile} DeleteDeploykey`,
  }),
} as const;
