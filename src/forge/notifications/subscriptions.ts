import { toUser } from '../accounts/users-rows.ts';
import { requireUnblocked } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';
import { listMarked } from '../repositories/marked.ts';
import {
  isSubscribedToIssue,
  isWatching,
  setIssueSubscription,
  unwatchRepository,
  watchRepository,
} from './subscriptions-service.ts';

type SubscriptionTarget = RepositoryTarget & { readonly context: ForgeContext };

function apiOf({ context, owner, repository }: SubscriptionTarget): string {
  return `${context.rootUrl()}/api/v1/repos/${owner.name}/${repository.name}`;
}

function toWatchInfo(call: SubscriptionTarget) {
  const api = apiOf(call);
  return {
    subscribed: true,
    ignored: false,
    reason: null,
    created_at: toInstant(call.repository.created_at),
    url: `${api}/subscription`,
    repository_url: api,
  };
}

type SubscriptionListing = {
  readonly context: ForgeContext;
  readonly page: PageRange;
  readonly reply: Reply;
};

/**
 * Returns a page of the accounts `u` that `given` selects; `given` must end in a condition. Accounts hidden from the
 * viewer are omitted.
 */
function listAccounts(call: SubscriptionListing, given: string, id: number, viewer: UserRow | undefined) {
  const { context, page, reply } = call;
  const from = `${given} AND ${isShownTo(viewer)}`;
  reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, id)?.count ?? 0);
  const rows = context.db.all<UserRow>(
    `SELECT u.* ${from} ORDER BY u.id LIMIT ? OFFSET ?`,
    id,
    page.limit,
    page.offset,
  );
  return rows.map((row) => toUser(context, row, viewer));
}

function isShownTo(viewer: UserRow | undefined): string {
  if (!viewer || viewer.is_public_only) return `u.visibility = 'public'`;
  return viewer.is_admin ? '1' : `(u.visibility <> 'private' OR u.id = ${viewer.id})`;
}

type Saying = SubscriptionTarget & {
  readonly caller: UserRow;
  readonly params: { readonly index: number; readonly user: string };
  readonly reply: Reply;
};

function say(call: Saying, wanted: boolean): undefined {
  const { context, params, caller, reply } = call;
  const issue = findIssue(call);
  const user = found(userNamed(context.db, params.user));
  if (user.id !== caller.id && !caller.is_admin) {
    throw new ForgeProblem(403, `${caller.name} is not permitted to change subscriptions for ${user.name}`);
  }
  if (isSubscribedToIssue(context, user.id, issue) === wanted) reply.status(200);
  else setIssueSubscription(context, user.id, issue.id, wanted);
  return undefined;
}

const isActive = 'u.is_active = 1 AND u.prohibit_login = 0';

/** Handlers for watched repositories and issue subscriptions. They send no webhooks. */
export const subscriptionHandlers = defineHandlers({
  getSubscription(call) {
    found(isWatching(call.context, call.caller.id, call.repository.id) ? call : undefined);
    return toWatchInfo(call);
  },

  watch(call) {
    requireUnblocked(call.context.db, call.caller, [call.repository.owner_id]);
    watchRepository(call.context, call.caller.id, call.repository.id);
    return toWatchInfo(call);
  },

  unwatch({ context, caller, repository }) {
    unwatchRepository(context, caller.id, repository.id);
    return undefined;
  },

  listSubscribers: (call) =>
    listAccounts(
      call,
      'FROM watches w JOIN users u ON u.id = w.user_id WHERE w.repo_id = ?',
      call.repository.id,
      call.caller,
    ),

  listOwnSubscriptions: (call) => listMarked(call, 'watches', call.caller),
  listSubscriptions: (call) => listMarked(call, 'watches', call.account),

  listIssueSubscribers: (call) =>
    listAccounts(
      call,
      `FROM issue_watches w JOIN users u ON u.id = w.user_id WHERE w.issue_id = ? AND w.is_watching = 1 AND ${isActive}`,
      findIssue(call).id,
      call.caller,
    ),

  checkIssueSubscription(call) {
    const issue = findIssue(call);
    const subscribed = isSubscribedToIssue(call.context, call.caller.id, issue);
    const api = apiOf(call);
    return {
      subscribed,
      ignored: !subscribed,
      reason: null,
      created_at: toInstant(issue.created_at),
      url: `${api}/issues/${issue.number}/subscriptions`,
      repository_url: api,
    };
  },

  subscribeIssue: (call) => say(call, true),
  unsubscribeIssue: (call) => say(call, false),
});
