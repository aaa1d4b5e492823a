import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, inRepository, int, resource, text } from '../shape.ts';
import { CommitEntry } from './branches.ts';

/** A git object with the bytes of a file. `content` is null above the forge's limit. */
const Blob = resource(
  { sha: text },
  { size: int, encoding: text, content: text, url: text, lfs_oid: text, lfs_size: int },
);

export const commitOperations = {
  getCommit: defineOperation({
    id: 'commit.get',
    meaning: 'Returns a commit by its id, or by a branch or tag; `false` omits optional parts.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/git/commits/{sha}',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, sha: text }),
    query: z.object({ stat: flag.optional(), verification: flag.optional(), files: flag.optional() }),
    success: 200,
    response: CommitEntry,
    errors: [404, 422],
    source: 'routers/api/v1/repo/commits.go GetSingleCommit',
  }),
  getCommitDiff: defineOperation({
    id: 'commit.diff',
    meaning:
      'Returns what a commit changes against its first parent as text, a `diff` without the content of binary files or a `patch` in the form of mails. The `diff` of a first commit begins with the commit. The name of a branch or tag that contains a dot is not found.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/git/commits/{sha}.{diffType}',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, sha: text, diffType: z.enum(['diff', 'patch']) }),
    success: 200,
    response: text,
    media: 'text',
    errors: [404],
    source: 'routers/api/v1/repo/commits.go DownloadCommitDiffOrPatch; modules/git/diff.go GetRawDiff',
  }),
  getBlob: defineOperation({
    id: 'blob.get',
    meaning:
      'Returns the bytes of a file by the id of its object, in whatever commit it is; `content` is base64.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/git/blobs/{sha}',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, sha: text }),
    success: 200,
    response: Blob,
    errors: [400, 404],
    source: 'routers/api/v1/repo/blob.go GetBlob',
  }),
} as const;
