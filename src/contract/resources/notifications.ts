import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs, repositoryAs } from '../row-fields.ts';
import { flag, instant, int, list, pages, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';

/** The subject of a thread. */
const NotificationSubject = resource(
  { type: z.enum(['Issue', 'Pull', 'Commit', 'Repository']) },
  {
    title: text,
    /** API URL of an issue or pull request; web URL of a commit; relative web path of a repository. */
    url: text,
    html_url: text,
    /** Empty if there are no comments. */
    latest_comment_url: text,
    latest_comment_html_url: text,
    /** open, closed or merged; empty for a commit or repository. */
    state: text,
  },
);

/** An account's notification thread about one subject: unread, read or pinned. */
export const NotificationThread = resource(
  { id: int },
  {
    /** Has no `permissions`; null, like `subject`, if the account can no longer read the repository. */
    repository: Repository,
    subject: NotificationSubject,
    /** Also false for a pinned thread. */
    unread: flag,
    pinned: flag,
    updated_at: instant,
    url: text,
  },
);
export type NotificationThread = z.output<typeof NotificationThread>;

/** unread, read or pinned. Unknown values are ignored; without a known value, threads of every status match. */
const statuses = { all: flag.optional(), 'status-types': z.array(text).optional() };
const narrowed = z.object({
  ...pages,
  ...statuses,
  /** issue, pull, commit or repository. */
  'subject-type': z.array(text).optional(),
  /** Inclusive. */
  since: instant.optional(),
  /** Inclusive. */
  before: instant.optional(),
});
const marked = z.object({
  ...statuses,
  /** Selects only threads that changed at or before this time. */
  last_read_at: instant.optional(),
  /** read (default), unread or pinned; any other value means read. */
  'to-status': text.optional(),
});

/**
 * The caller's notifications. Responses with status 205 have bodies that many clients drop (for example `fetch`): read
 * the list again instead.
 */
export const notificationOperations = {
  listNotifications: defineOperation({
    id: 'notification.list',
    meaning: 'Lists the threads of the caller, last changed first; by default unread and pinned ones.',
    method: 'GET',
    path: '/notifications',
    ...callerAs('self'),
    scopes: ['notification'],
    query: narrowed,
    success: 200,
    response: list(NotificationThread),
    errors: [422],
    publicOnly: 'closed',
    paging: 'link',
    source: 'routers/api/v1/notify/user.go ListNotifications',
  }),
  markNotifications: defineOperation({
    id: 'notification.mark-all',
    meaning: 'Marks threads of the caller, by default the unread ones; 205 with the changed threads.',
    method: 'PUT',
    path: '/notifications',
    ...callerAs('self'),
    scopes: ['notification'],
    query: marked,
    success: 205,
    response: list(NotificationThread),
    errors: [400],
    publicOnly: 'closed',
    source: 'routers/api/v1/notify/user.go ReadNotifications',
  }),
  countNotifications: defineOperation({
    id: 'notification.count',
    meaning: 'Counts the unread threads of the caller.',
    method: 'GET',
    path: '/notifications/new',
    ...callerAs('self'),
    scopes: ['notification'],
    success: 200,
    response: z.object({ new: int }),
    errors: [],
    publicOnly: 'closed',
    source: 'routers/api/v1/notify/notifications.go NewAvailable',
  }),
  getNotification: defineOperation({
    id: 'notification.get',
    meaning: 'Returns a thread of the caller; any thread for a site administrator.',
    method: 'GET',
    path: '/notifications/threads/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    scopes: ['notification'],
    success: 200,
    response: NotificationThread,
    errors: [403, 404],
    publicOnly: 'closed',
    source: 'routers/api/v1/notify/threads.go GetThread',
  }),
  markNotification: defineOperation({
    id: 'notification.mark',
    meaning: 'Marks one thread of the caller, by default as read (`to-status`); 205 with the thread.',
    method: 'PATCH',
    path: '/notifications/threads/{id}',
    ...callerAs('self'),
    params: z.object({ id: int }),
    scopes: ['notification'],
    query: z.object({ 'to-status': text.optional() }),
    success: 205,
    response: NotificationThread,
    errors: [403, 404],
    publicOnly: 'closed',
    baseline: { 'a site administrator marks a thread of another account': 500 },
    source: 'routers/api/v1/notify/threads.go ReadThread',
  }),
  listRepositoryNotifications: defineOperation({
    id: 'repository.list-notifications',
    meaning: "Lists the caller's threads of one repository, last changed first.",
    method: 'GET',
    path: '/repos/{owner}/{repo}/notifications',
    ...repositoryAs('signed-in'),
    scopes: ['notification'],
    query: narrowed,
    success: 200,
    response: list(NotificationThread),
    errors: [404, 422],
    paging: 'link',
    source: 'routers/api/v1/notify/repo.go ListRepoNotifications',
  }),
  markRepositoryNotifications: defineOperation({
    id: 'repository.mark-notifications',
    meaning: "Marks the caller's threads of one repository; 205 with the changed threads.",
    method: 'PUT',
    path: '/repos/{owner}/{repo}/notifications',
    ...repositoryAs('signed-in'),
    scopes: ['notification'],
    query: marked,
    success: 205,
    response: list(NotificationThread),
    errors: [400, 404],
    source: 'routers/api/v1/notify/repo.go ReadRepoNotifications',
  }),
} as const;
