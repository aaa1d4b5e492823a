import { recordEvent } from '../issues/timeline-rows.ts';
import { isBlockedBy, isOrganizationMember } from '../platform/access/permissions.ts';
import { accountNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { toUser } from './users-rows.ts';

type BlockListing = { readonly context: ForgeContext; readonly page: PageRange; readonly reply: Reply };

/** Lists blocked accounts as the blocking account sees them. */
function listBlocked({ context, page, reply }: BlockListing, blocker: UserRow) {
  const from = 'FROM blocks b JOIN users u ON u.id = b.blocked_id WHERE b.blocker_id = ?';
  const count = context.db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, blocker.id);
  reply.total(count?.count ?? 0);
  const rows = context.db.all<UserRow>(
    `SELECT u.* ${from} ORDER BY b.id LIMIT ? OFFSET ?`,
    blocker.id,
    page.limit,
    page.offset,
  );
  return rows.map((row) => toUser(context, row, blocker));
}

type BlockCall = {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly params: { readonly username: string };
};

function findBlock({ db }: ForgeContext, blocker: UserRow, blocked: UserRow) {
  const sql = 'SELECT id FROM blocks WHERE blocker_id = ? AND blocked_id = ?';
  return db.get<{ id: number }>(sql, blocker.id, blocked.id);
}

function checkBlocked({ context, caller, params }: BlockCall, blocker: UserRow): undefined {
  const account = accountNamed(context.db, params.username, caller);
  if (!findBlock(context, blocker, account)) throw new ForgeProblem(404, '', 'empty');
  return undefined;
}

const longestNote = 1000;

function block(
  call: BlockCall & { readonly query: { readonly note?: string | undefined } },
  blocker: UserRow,
) {
  const { context, caller, params, query } = call;
  const { db, clock } = context;
  const account = accountNamed(db, params.username, caller);
  if (account.type === 'organization') throw new ForgeProblem(400, 'cannot block an organization');
  const isMember = blocker.type === 'organization' && isOrganizationMember(db, blocker, account);
  // An administrator can be blocked; the block takes effect when they lose the role.
  if (
    account.id === blocker.id ||
    account.id === caller.id ||
    isMember ||
    findBlock(context, blocker, account)
  )
    throw new ForgeProblem(400, 'cannot block the user');
  db.transaction(() => {
    separate(context, blocker, account);
    separate(context, account, blocker);
    db.run(
      'INSERT INTO blocks (blocker_id, blocked_id, note, created_at) VALUES (?, ?, ?, ?)',
      blocker.id,
      account.id,
      (query.note ?? '').slice(0, longestNote),
      secondsOf(clock()),
    );
  });
  return undefined;
}

function unblock({ context, caller, params }: BlockCall, blocker: UserRow): undefined {
  const { db } = context;
  const account = accountNamed(db, params.username, caller);
  if (account.type === 'organization') throw new ForgeProblem(400, 'cannot block an organization');
  if (account.id === caller.id || !isBlockedBy(db, account, [blocker.id]))
    throw new ForgeProblem(400, 'cannot unblock the user');
  db.run('DELETE FROM blocks WHERE blocker_id = ? AND blocked_id = ?', blocker.id, account.id);
  return undefined;
}

/** Removes all relations of account `one` to account `other` and its repositories. */
function separate(context: ForgeContext, one: UserRow, other: UserRow): void {
  const { db } = context;
  const ofOther = 'repo_id IN (SELECT id FROM repositories WHERE owner_id = ?)';
  db.run('DELETE FROM follows WHERE follower_id = ? AND followed_id = ?', one.id, other.id);
  db.run(`DELETE FROM stars WHERE user_id = ? AND ${ofOther}`, one.id, other.id);
  db.run(`DELETE FROM watches WHERE user_id = ? AND ${ofOther}`, one.id, other.id);
  db.run(`DELETE FROM collaborators WHERE user_id = ? AND ${ofOther}`, one.id, other.id);
  db.run('DELETE FROM transfers WHERE doer_id = ? AND recipient_id = ?', one.id, other.id);
  const assigned = db.all<{ issue_id: number }>(
    `SELECT a.issue_id FROM assignees a JOIN issues i ON i.id = a.issue_id JOIN repositories r ON r.id = i.repo_id
     WHERE a.user_id = ? AND r.owner_id = ? ORDER BY a.issue_id`,
    one.id,
    other.id,
  );
  for (const { issue_id: issueId } of assigned) {
    db.run('DELETE FROM assignees WHERE issue_id = ? AND user_id = ?', issueId, one.id);
    const refers = { assignee: one.id, isRemoved: true } as const;
    recordEvent(context, { issueId, actor: one }, { type: 'assignees', refers });
  }
}

/** Handlers for blocked accounts. */
export const blockHandlers = defineHandlers({
  listBlockedUsers: (call) => listBlocked(call, call.caller),
  checkUserBlock: (call) => checkBlocked(call, call.caller),
  blockUser: (call) => block(call, call.caller),
  unblockUser: (call) => unblock(call, call.caller),
  listOrganizationBlocks: (call) => listBlocked(call, call.organization),
  checkOrganizationBlock: (call) => checkBlocked(call, call.organization),
  blockInOrganization: (call) => block(call, call.organization),
  unblockInOrganization: (call) => unblock(call, call.organization),
});
