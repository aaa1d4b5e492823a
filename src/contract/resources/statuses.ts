import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';
import { User } from './users.ts';

/** A commit status. The field `status` contains the state; `id` is unique within the commit. */
export const CommitStatus = resource(
  { id: int },
  {
    /** pending, success, error, failure, warning, skipped. */
    status: text,
    target_url: text,
    description: text,
    url: text,
    /** Name of the check; the newest status of a context wins. */
    context: text,
    creator: User,
    created_at: instant,
    updated_at: instant,
  },
);
export type CommitStatus = z.output<typeof CommitStatus>;

/** The newest status of each context, and the combined state. `total_count` counts only this page. */
const CombinedStatus = resource(
  { state: text },
  {
    sha: text,
    total_count: int,
    statuses: z.array(CommitStatus),
    repository: Repository,
    commit_url: text,
    url: text,
  },
);

const filters = z.object({
  ...pages,
  /** One of oldest, recentupdate, leastupdate, leastindex, highestindex. */
  sort: text.optional(),
  state: text.optional(),
});

export const statusOperations = {
  createStatus: defineOperation({
    id: 'status.create',
    meaning: 'Creates a status of a commit; requires write access to the code.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/statuses/{sha}',
    ...codeAs('writer'),
    params: z.object({ ...inRepository, sha: text }),
    body: z.strictObject({
      state: text.optional(),
      target_url: text.optional(),
      description: text.optional(),
      context: text.optional(),
    }),
    success: 201,
    response: CommitStatus,
    errors: [403, 404, 422],
    baseline: { 'unknown sha': 500 },
    source: 'routers/api/v1/repo/status.go NewCommitStatus',
  }),
  listStatuses: defineOperation({
    id: 'status.list',
    meaning: 'Lists every status of a commit, given by its full id; empty for an unknown commit.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/statuses/{sha}',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, sha: text }),
    query: filters,
    success: 200,
    response: list(CommitStatus),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/status.go GetCommitStatuses',
  }),
  listStatusesByRef: defineOperation({
    id: 'status.list-by-ref',
    meaning: 'Lists every status of the commit that a branch, tag or id refers to.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/statuses',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, ref: text }),
    query: filters,
    success: 200,
    response: list(CommitStatus),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/status.go GetCommitStatusesByRef',
  }),
  getCombinedStatus: defineOperation({
    id: 'status.combined',
    meaning:
      'Returns the newest status of every context, and the combined state: failure if one failed, success if all succeeded, otherwise pending.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/status',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, ref: text }),
    query: z.object(pages),
    success: 200,
    response: CombinedStatus,
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/status.go GetCombinedCommitStatusByRef',
  }),
} as const;
