import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, issuesAs, repositoryAs } from '../row-fields.ts';
import { inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Issue } from './issues.ts';

/** Time that a user has spent on an issue or pull request. */
export const TrackedTime = resource(
  { id: int },
  {
    /** Creation time of the entry, or the time that its author gave. */
    created: instant,
    /** Duration in seconds. */
    time: int,
    /** Deprecated; use `user_name`. */
    user_id: int,
    user_name: text,
    /** Deprecated; use `issue`. */
    issue_id: int,
    issue: Issue,
  },
);
export type TrackedTime = z.output<typeof TrackedTime>;

const atIndex = z.object({ ...inRepository, index: int });

/** Both bounds are inclusive and refer to `created`. */
const narrowed = { ...pages, since: instant.optional(), before: instant.optional() };

/** Tracked times. */
export const timeOperations = {
  listTimes: defineOperation({
    id: 'issue.list-times',
    meaning:
      'Lists the times tracked on an issue; callers without write access see only their own, and get 403 for another `user`.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/times',
    ...issuesAs('signed-in'),
    params: atIndex,
    query: z.object({ ...narrowed, user: text.optional() }),
    success: 200,
    response: list(TrackedTime),
    errors: [403, 404, 422],
    paging: 'count',
    source: 'routers/api/v1/repo/issue_tracked_time.go ListTrackedTimes',
  }),
  addTime: defineOperation({
    id: 'issue.add-time',
    meaning:
      'Adds tracked time to an issue; an administrator may name another account. 400 if time tracking is disabled, a bare 403 if only contributors may track.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/times',
    ...issuesAs('signed-in'),
    params: atIndex,
    body: z.strictObject({
      /** Duration in seconds; zero is refused. */
      time: int,
      created: instant.optional(),
      user_name: text.optional(),
    }),
    success: 200,
    response: TrackedTime,
    errors: [400, 403, 404, 422],
    source: 'routers/api/v1/repo/issue_tracked_time.go AddTime',
  }),
  resetTimes: defineOperation({
    id: 'issue.reset-times',
    meaning: "Deletes all of the caller's times on an issue; 404 if there are none.",
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/times',
    ...issuesAs('signed-in'),
    params: atIndex,
    success: 204,
    errors: [400, 403, 404],
    source: 'routers/api/v1/repo/issue_tracked_time.go ResetIssueTime',
  }),
  deleteTime: defineOperation({
    id: 'issue.delete-time',
    meaning: 'Deletes an entry; those of other accounts only as site administrator.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/times/{id}',
    ...issuesAs('signed-in'),
    params: z.object({ ...inRepository, index: int, id: int }),
    success: 204,
    errors: [400, 403, 404],
    source: 'routers/api/v1/repo/issue_tracked_time.go DeleteTime',
  }),
  listRepositoryTimes: defineOperation({
    id: 'repository.list-times',
    meaning: 'Lists the times tracked in a repository; callers without write access see only their own.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/times',
    ...repositoryAs('signed-in'),
    query: z.object({ ...narrowed, user: text.optional() }),
    success: 200,
    response: list(TrackedTime),
    errors: [400, 403, 404, 422],
    paging: 'count',
    source: 'routers/api/v1/repo/issue_tracked_time.go ListTrackedTimesByRepository',
  }),
  listTimesOfUser: defineOperation({
    id: 'repository.list-times-of-user',
    meaning:
      "Lists one account's times in a repository, unpaged; those of others only for administrators. Deprecated.",
    method: 'GET',
    path: '/repos/{owner}/{repo}/times/{user}',
    ...repositoryAs('signed-in'),
    params: z.object({ ...inRepository, user: text }),
    success: 200,
    response: list(TrackedTime),
    errors: [400, 403, 404],
    source: 'routers/api/v1/repo/issue_tracked_time.go ListTrackedTimesByUser',
  }),
  listOwnTimes: defineOperation({
    id: 'user.list-times',
    meaning: "Lists the caller's times in all repositories.",
    method: 'GET',
    path: '/user/times',
    ...callerAs('self'),
    query: z.object(narrowed),
    success: 200,
    response: list(TrackedTime),
    errors: [403, 422],
    publicOnly: 'closed',
    paging: 'count',
    source: 'routers/api/v1/repo/issue_tracked_time.go ListMyTrackedTimes',
  }),
} as const;
