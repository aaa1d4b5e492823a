import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { instant, int, list, pages, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';
import { User } from './users.ts';

/** One version of a package; `id` is the id of the version. */
const Package = resource(
  { id: int, type: text, name: text, version: text },
  {
    owner: User,
    creator: User,
    /** Absent for a package that is not linked to a repository. */
    repository: Repository,
    html_url: text,
    created_at: instant,
  },
);

/** A file of a version with its digests in hex. */
const PackageFile = resource(
  { id: int, name: text },
  { size: int, md5: text, sha1: text, sha256: text, sha512: text },
);

const version = z.object({ owner: text, type: text, name: text, version: text });
const shared = { ...callerAs('signed-in'), scopes: ['package'] } as const;

/**
 * Packages of an account. Files of the type `generic` are uploaded and downloaded under
 * `/api/packages/{owner}/generic/`.
 */
export const packageOperations = {
  listPackages: defineOperation({
    id: 'package.list',
    meaning: 'Lists the versions of the packages of an account, newest first; `q` is a part of a name.',
    method: 'GET',
    path: '/packages/{owner}',
    ...shared,
    params: z.object({ owner: text }),
    query: z.object({ ...pages, type: text.optional(), q: text.optional() }),
    success: 200,
    response: list(Package),
    errors: [403, 404],
    paging: 'link',
    source: 'routers/api/v1/packages/package.go ListPackages',
  }),
  getPackage: defineOperation({
    id: 'package.get',
    meaning: 'Returns a version of a package.',
    method: 'GET',
    path: '/packages/{owner}/{type}/{name}/{version}',
    ...shared,
    params: version,
    success: 200,
    response: Package,
    errors: [403, 404],
    source: 'routers/api/v1/packages/package.go GetPackage',
  }),
  deletePackage: defineOperation({
    id: 'package.delete',
    meaning: 'Deletes a version of a package with its files.',
    method: 'DELETE',
    path: '/packages/{owner}/{type}/{name}/{version}',
    ...shared,
    params: version,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/packages/package.go DeletePackageVersion',
  }),
  listPackageFiles: defineOperation({
    id: 'package.list-files',
    meaning: 'Lists the files of a version with their digests.',
    method: 'GET',
    path: '/packages/{owner}/{type}/{name}/{version}/files',
    ...shared,
    params: version,
    success: 200,
    response: list(PackageFile),
    errors: [403, 404],
    source: 'routers/api/v1/packages/package.go ListPackageFiles',
  }),
} as const;
