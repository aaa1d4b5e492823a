import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { accountAs, callerAs, issuesAs, repositoryAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Repository } from './repositories.ts';
import { User } from './users.ts';

/**
 * The caller's subscription to a repository or issue. `created_at` is the creation time of the repository or issue, not
 * of the subscription.
 */
const WatchInfo = resource(
  { subscribed: flag },
  { ignored: flag, reason: z.unknown(), created_at: instant, url: text, repository_url: text },
);

const atIndex = { ...inRepository, index: int };

/** Subscriptions: watched repositories and subscribed issues. */
export const subscriptionOperations = {
  getSubscription: defineOperation({
    id: 'repository.get-subscription',
    meaning: 'Returns whether the caller watches a repository; 404 if not.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/subscription',
    ...repositoryAs('signed-in'),
    success: 200,
    response: WatchInfo,
    errors: [404],
    source: 'routers/api/v1/user/watch.go IsWatching',
  }),
  watch: defineOperation({
    id: 'repository.watch',
    meaning: 'Watches a repository as the caller.',
    method: 'PUT',
    path: '/repos/{owner}/{repo}/subscription',
    ...repositoryAs('signed-in'),
    success: 200,
    response: WatchInfo,
    errors: [403, 404],
    source: 'routers/api/v1/user/watch.go Watch',
  }),
  unwatch: defineOperation({
    id: 'repository.unwatch',
    meaning: 'Stops watching a repository; 204 also if the caller did not watch it.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/subscription',
    ...repositoryAs('signed-in'),
    success: 204,
    errors: [404],
    source: 'routers/api/v1/user/watch.go Unwatch',
  }),
  listSubscribers: defineOperation({
    id: 'repository.list-subscribers',
    meaning: 'Lists the accounts that watch a repository.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/subscribers',
    ...repositoryAs('reader'),
    query: z.object(pages),
    success: 200,
    response: list(User),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/repo/subscriber.go ListSubscribers',
  }),
  listOwnSubscriptions: defineOperation({
    id: 'user.list-own-subscriptions',
    meaning: 'Lists the repositories that the caller watches.',
    method: 'GET',
    path: '/user/subscriptions',
    ...callerAs('self'),
    query: z.object(pages),
    success: 200,
    response: list(Repository),
    errors: [],
    publicOnly: 'public-account',
    paging: 'link',
    source: 'routers/api/v1/user/watch.go GetMyWatchedRepos',
  }),
  listSubscriptions: defineOperation({
    id: 'user.list-subscriptions',
    meaning:
      "Lists the repositories that an account watches: public ones of public owners, all readable ones in one's own list.",
    method: 'GET',
    path: '/users/{username}/subscriptions',
    ...accountAs('signed-in'),
    query: z.object(pages),
    success: 200,
    response: list(Repository),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/user/watch.go GetWatchedRepos',
  }),
  listIssueSubscribers: defineOperation({
    id: 'issue.list-subscribers',
    meaning: 'Lists the accounts that subscribed to an issue explicitly, without mere participants.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/subscriptions',
    ...issuesAs('reader'),
    params: z.object(atIndex),
    query: z.object(pages),
    success: 200,
    response: list(User),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/issue_subscription.go GetIssueSubscribers',
  }),
  checkIssueSubscription: defineOperation({
    id: 'issue.check-subscription',
    meaning:
      'Returns whether the caller is subscribed to an issue: explicitly, by watching its repository, or as a participant.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{index}/subscriptions/check',
    ...issuesAs('signed-in'),
    params: z.object(atIndex),
    success: 200,
    response: WatchInfo,
    errors: [404],
    source: 'routers/api/v1/repo/issue_subscription.go CheckIssueSubscription',
  }),
  subscribeIssue: defineOperation({
    id: 'issue.subscribe',
    meaning:
      "Subscribes an account to an issue; 201, or 200 if already subscribed. One's own account, or any for a site administrator.",
    method: 'PUT',
    path: '/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}',
    ...issuesAs('signed-in'),
    params: z.object({ ...atIndex, user: text }),
    success: 201,
    errors: [403, 404],
    source: 'routers/api/v1/repo/issue_subscription.go AddIssueSubscription',
  }),
  unsubscribeIssue: defineOperation({
    id: 'issue.unsubscribe',
    meaning: 'Unsubscribes an account from an issue; 201, or 200 if it was not subscribed.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}',
    ...issuesAs('signed-in'),
    params: z.object({ ...atIndex, user: text }),
    success: 201,
    errors: [403, 404],
    source: 'routers/api/v1/repo/issue_subscription.go DelIssueSubscription',
  }),
} as const;
