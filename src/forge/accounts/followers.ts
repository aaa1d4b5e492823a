import { isBlockedBy, isVisible } from '../platform/access/permissions.ts';
import { accountNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { toUser } from './users-rows.ts';

type FollowListing = {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly page: PageRange;
  readonly reply: Reply;
};

/**
 * Returns the SQL condition for accounts `u` that a caller sees in lists: public and limited accounts, private accounts
 * that follow the caller or share an organization with the caller, and the caller's own organizations.
 */
function listedFor(caller: UserRow): string {
  if (caller.is_public_only) return `u.visibility = 'public'`;
  if (caller.is_admin) return '1';
  if (caller.is_restricted) return `u.visibility = 'public'`;
  return `(u.visibility <> 'private' OR u.id = ${caller.id}
    OR EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = u.id AND x.followed_id = ${caller.id})
    OR EXISTS (SELECT 1 FROM team_members a JOIN team_members b ON b.org_id = a.org_id
      WHERE a.user_id = ${caller.id} AND b.user_id = u.id)
    OR EXISTS (SELECT 1 FROM team_members m WHERE m.user_id = ${caller.id} AND m.org_id = u.id))`;
}

function listFollows({ context, caller, page, reply }: FollowListing, from: string, account: UserRow) {
  const listed = `${from} AND ${listedFor(caller)}`;
  const count = context.db.get<{ count: number }>(`SELECT count(*) AS count ${listed}`, account.id);
  reply.total(count?.count ?? 0);
  const rows = context.db.all<UserRow>(
    `SELECT u.* ${listed} ORDER BY f.id LIMIT ? OFFSET ?`,
    account.id,
    page.limit,
    page.offset,
  );
  return rows.map((row) => toUser(context, row, caller));
}

function followersOf(call: FollowListing, account: UserRow) {
  const from = `FROM follows f JOIN users u ON u.id = f.follower_id WHERE f.followed_id = ? AND u.type = 'user'`;
  return listFollows(call, from, account);
}

function followedBy(call: FollowListing, account: UserRow) {
  const from = 'FROM follows f JOIN users u ON u.id = f.followed_id WHERE f.follower_id = ?';
  return listFollows(call, from, account);
}

function isFollowing({ db }: ForgeContext, follower: UserRow, followed: UserRow): boolean {
  const sql = 'SELECT 1 AS one FROM follows WHERE follower_id = ? AND followed_id = ?';
  return db.get(sql, follower.id, followed.id) !== undefined;
}

/** Handlers for followers. */
export const followerHandlers = defineHandlers({
  listOwnFollowers: (call) => followersOf(call, call.caller),
  listOwnFollowing: (call) => followedBy(call, call.caller),
  listFollowers: (call) => followersOf(call, call.account),
  listFollowing: (call) => followedBy(call, call.account),

  checkOwnFollowing({ context, caller, params }) {
    const account = accountNamed(context.db, params.username, caller);
    found(isFollowing(context, caller, account) ? account : undefined);
    return undefined;
  },

  checkFollowing({ context, caller, account, params }) {
    const target = accountNamed(context.db, params.target, caller);
    found(isFollowing(context, account, target) ? target : undefined);
    return undefined;
  },

  follow({ context, caller, params }) {
    const { db, clock } = context;
    const account = accountNamed(db, params.username, caller);
    if (!isVisible(db, account, caller)) throw new ForgeProblem(404, 'user does not exist');
    if (account.id === caller.id || isFollowing(context, caller, account)) return undefined;
    if (isBlockedBy(db, caller, [account.id]) || isBlockedBy(db, account, [caller.id]))
      throw new ForgeProblem(403, 'user is blocked');
    db.run(
      'INSERT INTO follows (follower_id, followed_id, created_at) VALUES (?, ?, ?)',
      caller.id,
      account.id,
      secondsOf(clock()),
    );
    return undefined;
  },

  unfollow({ context, caller, params }) {
    const account = accountNamed(context.db, params.username, caller);
    const sql = 'DELETE FROM follows WHERE follower_id = ? AND followed_id = ?';
    context.db.run(sql, caller.id, account.id);
    return undefined;
  },
});
