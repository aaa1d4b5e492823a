import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { pullsAs } from '../row-fields.ts';
import { flag, inRepository, int, text } from '../shape.ts';

/** Operations on the two branches of a pull request: their diff, and updating the head branch. */
export const pullBranchOperations = {
  getPullDiff: defineOperation({
    id: 'pull.diff',
    meaning:
      'Returns the changes of a pull request as text: one `diff`, or a `patch` with one mail per commit.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/pulls/{index}.{diffType}',
    ...pullsAs('reader'),
    params: z.object({ ...inRepository, index: int, diffType: z.enum(['diff', 'patch']) }),
    query: z.object({ binary: flag.optional() }),
    success: 200,
    response: text,
    media: 'text',
    errors: [404],
    source: 'routers/api/v1/repo/pull.go DownloadPullDiffOrPatch',
  }),
  updatePull: defineOperation({
    id: 'pull.update',
    meaning: 'Updates the head branch with the base branch, by a merge or (`style=rebase`) by a rebase.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/pulls/{index}/update',
    ...pullsAs('reader'),
    params: z.object({ ...inRepository, index: int }),
    query: z.object({ style: text.optional() }),
    success: 200,
    errors: [403, 404, 409, 422],
    baseline: { 'head already up to date': 500 },
    source: 'routers/api/v1/repo/pull.go UpdatePullRequest; services/pull/update.go',
  }),
} as const;
