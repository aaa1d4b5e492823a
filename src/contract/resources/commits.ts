import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, inRepository, text } from '../shape.ts';
import { CommitEntry } from './branches.ts';

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
} as const;
