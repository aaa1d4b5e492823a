import { permissionOf, readableCondition } from './access.ts';
import type { ForgeContext } from './context.ts';
import { ForgeProblem, found } from './errors.ts';
import { defineHandlers, type Reply, type RepositoryTarget } from './handler.ts';
import { toInstant } from './instants.ts';
import { findIssue } from './issue-labels.ts';
import { userNamed } from './lookup.ts';
import type { Page } from './paging.ts';
import { toRepository } from './resources/repository.ts';
import { loadUsers, toUser } from './resources/user.ts';
import type { RepositoryRow, UserRow } from './rows.ts';
import { hearsOfIssue, isWatching, sayAboutIssue, unwatchRepository, watchRepository } from './watches.ts';

type Place = RepositoryTarget & { readonly context: ForgeContext };

function apiOf({ context, owner, repository }: Place): string {
  return `${context.rootUrl()}/api/v1/repos/${owner.name}/${repository.name}`;
}

function toWatchInfo(call: Place) {
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

type Listing = { readonly context: ForgeContext; readonly page: Page; readonly reply: Reply };

/** `from` ends in a condition; its rows are accounts `u`. */
function listAccounts(call: Listing, from: string, id: number, viewer: UserRow | undefined) {
  const { context, page, reply } = call;
  reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, id)?.count ?? 0);
  const rows = context.db.all<UserRow>(
    `SELECT u.* ${from} ORDER BY u.id LIMIT ? OFFSET ?`,
    id,
    page.limit,
    page.offset,
  );
  return rows.map((row) => toUser(context, row, viewer));
}

/** Private repositories are shown to their watcher alone; what a watcher can read no longer is left out. */
function listWatched({ context, page, reply }: Listing, watcher: UserRow, viewer: UserRow) {
  const readable = readableCondition(watcher);
  const isOwn = watcher.id === viewer.id;
  const from = `FROM watches w JOIN repositories r ON r.id = w.repo_id JOIN users o ON o.id = r.owner_id
    WHERE w.user_id = ? AND ${isOwn ? '' : 'r.is_private = 0 AND '}${readable.sql}`;
  const values = [watcher.id, ...readable.values];
  reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
  const rows = context.db.all<RepositoryRow>(
    `SELECT r.* ${from} ORDER BY w.id LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  const owners = loadUsers(
    context,
    rows.map(({ owner_id }) => owner_id),
  );
  return rows.flatMap((repository) => {
    const owner = owners.get(repository.owner_id);
    if (!owner) return [];
    // Permissions are those of the watcher, whoever asks.
    const permission = permissionOf(context.db, watcher, repository, owner);
    return [toRepository(context, repository, { owner, viewer, permission })];
  });
}

type Saying = Place & {
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
  if (hearsOfIssue(context, user.id, issue) === wanted) reply.status(200);
  else sayAboutIssue(context, user.id, issue.id, wanted);
  return undefined;
}

const isActive = 'u.is_active = 1 AND u.prohibit_login = 0';

/** What answers for watched repositories and subscribed issues. Hooks hear nothing of them. */
export const subscriptionHandlers = defineHandlers({
  getSubscription(call) {
    found(isWatching(call.context, call.caller.id, call.repository.id) ? call : undefined);
    return toWatchInfo(call);
  },

  watch(call) {
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

  listOwnSubscriptions: (call) => listWatched(call, call.caller, call.caller),
  listSubscriptions: (call) => listWatched(call, call.account, call.caller),

  listIssueSubscribers: (call) =>
    listAccounts(
      call,
      `FROM issue_watches w JOIN users u ON u.id = w.user_id WHERE w.issue_id = ? AND w.is_watching = 1 AND ${isActive}`,
      findIssue(call).id,
      call.caller,
    ),

  checkIssueSubscription(call) {
    const issue = findIssue(call);
    const subscribed = hearsOfIssue(call.context, call.caller.id, issue);
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
