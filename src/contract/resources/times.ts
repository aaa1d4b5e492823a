import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Issue } from './issues.ts';

/** Time somebody spent on an issue or pull request. */
export const TrackedTime = resource(
  { id: int },
  {
    /** When the entry was made, or the instant its author gave. */
    created: instant,
    /** Seconds. */
    time: int,
    /** Deprecated: `user_name` says who. */
    user_id: int,
    user_name: text,
    /** Deprecated: `issue` says which. */
    issue_id: int,
    issue: Issue,
  },
);
export type TrackedTime = z.output<typeof TrackedTime>;

const atIndex = z.object({ ...inRepository, index: int });

/** Both bounds are inclusive and about `created`. */
const narrowed = { ...pages, since: instant.optional(), before: instant.optional() };

/** Tracked times: who worked how long on what. */
export const timeOperations = {
  listTimes: defineOperation({
    id: 'issue.list-times',
    meaning:
      'The times tracked on an issue; who cannot write sees their own alone, and asking for those of another `user` is 403.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/times',
    params: atIndex,
    query: z.object({ ...narrowed, user: text.optional() }),
    success: 200,
    response: list(TrackedTime),
    errors: [403, 404, 422],
    access: 'signed-in',
    scopes: ['issue'],
    paging: 'count',
    source: 'routers/api/v1/repo/issue_tracked_time.go ListTrackedTimes',
  }),
  addTime: defineOperation({
    id: 'issue.add-time',
    meaning:
      'Tracks time on an issue; an administrator may say for whom. 400 where the tracker is off, a bare 403 where only contributors may track.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{index}/times',
    params: atIndex,
    body: z.strictObject({
      /** Seconds; zero is refused. */
      time: int,
      created: instant.optional(),
      user_name: text.optional(),
    }),
    success: 200,
    response: TrackedTime,
    errors: [400, 403, 404, 422],
    access: 'signed-in',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_tracked_time.go AddTime',
  }),
  resetTimes: defineOperation({
    id: 'issue.reset-times',
    meaning: "Removes all of the caller's times on an issue; 404 where there are none.",
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/times',
    params: atIndex,
    success: 204,
    errors: [400, 403, 404],
    access: 'signed-in',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_tracked_time.go ResetIssueTime',
  }),
  deleteTime: defineOperation({
    id: 'issue.delete-time',
    meaning: "Removes one entry; somebody else's is for the site administrator alone.",
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/times/{id}',
    params: z.object({ ...inRepository, index: int, id: int }),
    success: 204,
    errors: [400, 403, 404],
    access: 'signed-in',
    scopes: ['issue'],
    source: 'routers/api/v1/repo/issue_tracked_time.go DeleteTime',
  }),
  listRepositoryTimes: defineOperation({
    id: 'repository.list-times',
    meaning: 'The times tracked in a repository; who cannot write sees their own alone.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/times',
    params: z.object(inRepository),
    query: z.object({ ...narrowed, user: text.optional() }),
    success: 200,
    response: list(TrackedTime),
    errors: [400, 403, 404, 422],
    access: 'signed-in',
    scopes: ['repository'],
    paging: 'count',
    source: 'routers/api/v1/repo/issue_tracked_time.go ListTrackedTimesByRepository',
  }),
  listTimesOfUser: defineOperation({
    id: 'repository.list-times-of-user',
    meaning: "One account's times in a repository, all at once; others' are for administrators. Deprecated.",
    method: 'GET',
    path: '/repos/{owner}/{repo}/times/{user}',
    params: z.object({ ...inRepository, user: text }),
    success: 200,
    response: list(TrackedTime),
    errors: [400, 403, 404],
    access: 'signed-in',
    scopes: ['repository'],
    source: 'routers/api/v1/repo/issue_tracked_time.go ListTrackedTimesByUser',
  }),
  listOwnTimes: defineOperation({
    id: 'user.list-times',
    meaning: "The caller's times in all repositories.",
    method: 'GET',
    path: '/user/times',
    params: z.object({}),
    query: z.object(narrowed),
    success: 200,
    response: list(TrackedTime),
    errors: [403, 422],
    access: 'self',
    scopes: ['user'],
    paging: 'count',
    source: 'routers/api/v1/repo/issue_tracked_time.go ListMyTrackedTimes',
  }),
} as const;
