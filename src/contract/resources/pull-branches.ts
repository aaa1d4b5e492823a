import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs, pullsAs } from '../row-fields.ts';
import { flag, inRepository, int, resource, text } from '../shape.ts';

/** Operations that compare or update a branch with its base, for a pull request or for a fork. */
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
  mergeUpstream: defineOperation({
    id: 'branch.merge-upstream',
    meaning:
      'Brings a branch of a fork up to date with the branch of the same name, or the default branch, of the repository that it comes from. 400 where the branches have diverged and `ff_only` is set; 409 where they conflict.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/merge-upstream',
    ...codeAs('writer'),
    body: z.strictObject({ branch: text.optional(), ff_only: flag.optional() }),
    success: 200,
    /** `up-to-date`, `fast-forward` or `merge`. */
    response: resource({ merge_type: text }, {}),
    errors: [400, 403, 404, 409, 423],
    archived: 'before-role',
    baseline: { 'a repository that is no fork': 500, conflict: 500 },
    source: 'routers/api/v1/repo/branch.go MergeUpstream',
  }),
} as const;
