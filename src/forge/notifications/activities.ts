import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { type CommentRow, toComment } from '../issues/comments-rows.ts';
import {
  isOrganizationMember,
  permissionOf,
  readableCondition,
  type Unit,
} from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { IssueRow, RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import type { ActivityRow } from './activities-service.ts';

type FeedCondition = { readonly sql: string; readonly values: readonly (string | number)[] };

const all: FeedCondition = { sql: '1', values: [] };

function both(...conditions: readonly FeedCondition[]): FeedCondition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Returns whether an account shows its activities to a caller. */
function showsActivities(account: UserRow, caller: UserRow | undefined): boolean {
  if (!account.keep_activity_private) return true;
  return caller !== undefined && (caller.is_admin === 1 || caller.id === account.id);
}

/**
 * Returns the condition for activities of accounts `p` that are visible to the caller, in repositories `r` of owners
 * `o` that the caller can read.
 */
function visibleTo(caller: UserRow | undefined): FeedCondition {
  const readable = readableCondition(caller);
  if (caller?.is_admin && !caller.is_public_only) return readable;
  const seen = caller && !caller.is_public_only ? `('public', 'limited')` : `('public')`;
  const shown = `(p.keep_activity_private = 0 AND p.visibility IN ${seen}) OR p.id = ?`;
  return both(readable, { sql: shown, values: [caller?.id ?? 0] });
}

const dayLength = 86_400;

function ofDate(date: string | undefined): FeedCondition {
  const start = /^\d{4}-\d\d-\d\d$/.test(date ?? '') ? Date.parse(`${date}T00:00:00Z`) / 1000 : Number.NaN;
  if (Number.isNaN(start)) return all;
  return { sql: 'a.created_at >= ? AND a.created_at < ?', values: [start, start + dayLength] };
}

const publicOnly: FeedCondition = { sql: 'r.is_private = 0', values: [] };

type FeedCall = {
  readonly context: ForgeContext;
  readonly caller: UserRow | undefined;
  readonly query: { readonly date?: string | undefined };
  readonly page: PageRange;
  readonly reply: Reply;
};

const places = `JOIN repositories r ON r.id = a.repo_id JOIN users o ON o.id = r.owner_id JOIN users p ON p.id = a.actor_id`;
const ofReceiver = `FROM activity_receivers f JOIN activities a ON a.id = f.activity_id ${places}`;

/**
 * Returns a page of a feed. `from` selects the activities `a`; `receiver` is the account whose feed contains them, by
 * default the acting account.
 */
function listFeed(call: FeedCall, from: string, where: FeedCondition, receiver?: UserRow) {
  const { context, caller, query, page, reply } = call;
  const { sql, values } = both(where, visibleTo(caller), ofDate(query.date));
  const count = context.db.get<{ count: number }>(`SELECT count(*) AS count ${from} WHERE ${sql}`, ...values);
  reply.total(count?.count ?? 0);
  const rows = context.db.all<ActivityRow>(
    `SELECT a.* ${from} WHERE ${sql} ORDER BY a.id DESC LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  return toActivities(context, rows, caller, receiver);
}

/** Returns the repository unit to which an activity belongs. */
function unitOfActivity({ type }: ActivityRow): Unit | undefined {
  if (/pull/.test(type)) return 'pulls';
  if (/issue/.test(type)) return 'issues';
  return /commit|tag|branch/.test(type) ? 'code' : type === 'publish_release' ? 'releases' : undefined;
}

/**
 * Returns activities as the API shows them. A caller with access to one unit of a repository sees only the activities
 * of that unit.
 */
function toActivities(
  context: ForgeContext,
  rows: readonly ActivityRow[],
  caller: UserRow | undefined,
  receiver: UserRow | undefined,
) {
  const { db } = context;
  const repositories = loadRepositories(context, rows);
  const ids = [...repositories.values()].map(({ owner_id }) => owner_id);
  const users = loadUsers(context, [...ids, ...rows.map(({ actor_id }) => actor_id)]);
  return rows.flatMap((row) => {
    const repository = repositories.get(row.repo_id);
    const owner = repository && users.get(repository.owner_id);
    const actor = users.get(row.actor_id);
    if (!owner || !actor) return [];
    const unit = unitOfActivity(row);
    if (unit && permissionOf(db, caller, repository, owner, unit) === 'none') return [];
    const permission = permissionOf(db, caller, repository, owner);
    const comment = commentOf(context, row, { repository, owner, viewer: caller });
    return [
      {
        id: row.id,
        user_id: receiver?.id ?? row.actor_id,
        op_type: row.type,
        act_user_id: row.actor_id,
        act_user: toUser(context, actor, caller),
        repo_id: row.repo_id,
        repo: toRepository(context, repository, { owner, viewer: caller, permission }),
        comment_id: comment?.id ?? 0,
        comment: comment ?? null,
        ref_name: row.ref,
        is_private: repository.is_private === 1,
        content: row.content,
        created: toInstant(row.created_at),
      },
    ];
  });
}

function loadRepositories({ db }: ForgeContext, rows: readonly ActivityRow[]) {
  const ids = JSON.stringify([...new Set(rows.map(({ repo_id }) => repo_id))]);
  const sql = 'SELECT * FROM repositories WHERE id IN (SELECT value FROM json_each(?))';
  return new Map(db.all<RepositoryRow>(sql, ids).map((row) => [row.id, row]));
}

/** Returns the comment of an activity; a deleted comment is omitted. */
function commentOf(
  context: ForgeContext,
  { comment_id, repo_id }: ActivityRow,
  place: {
    readonly repository: RepositoryRow;
    readonly owner: UserRow;
    readonly viewer: UserRow | undefined;
  },
) {
  if (comment_id === 0) return undefined;
  const { db } = context;
  const comment = db.get<CommentRow>(
    'SELECT * FROM comments WHERE id = ? AND repo_id = ?',
    comment_id,
    repo_id,
  );
  const issue = comment && db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', comment.issue_id);
  return issue && toComment(context, comment, issue, place);
}

const heatmapDays = 366 + 7;
const quarter = 900;

/** Handlers for feeds and heat maps. */
export const feedHandlers = defineHandlers({
  listUserActivities(call) {
    const { account, caller, query } = call;
    const isOwn = caller !== undefined && (caller.is_admin === 1 || caller.id === account.id);
    const seesPrivate = isOwn && !caller.is_public_only;
    const where = both(
      { sql: 'f.user_id = ?', values: [account.id] },
      query['only-performed-by'] ? { sql: 'a.actor_id = ?', values: [account.id] } : all,
      seesPrivate ? all : publicOnly,
    );
    return listFeed(call, ofReceiver, where, account);
  },

  listOrganizationActivities(call) {
    const { context, organization, caller } = call;
    const isMember =
      caller !== undefined &&
      !caller.is_public_only &&
      (caller.is_admin === 1 || isOrganizationMember(context.db, organization, caller));
    const where = both({ sql: 'f.user_id = ?', values: [organization.id] }, isMember ? all : publicOnly);
    return listFeed(call, ofReceiver, where, organization);
  },

  listTeamActivities(call) {
    const { team, organization } = call;
    const where = both(
      { sql: 'f.user_id = ? AND r.owner_id = ?', values: [organization.id, organization.id] },
      team.includes_all_repositories
        ? all
        : {
            sql: 'EXISTS (SELECT 1 FROM team_repositories t WHERE t.team_id = ? AND t.repo_id = r.id)',
            values: [team.id],
          },
    );
    return listFeed(call, ofReceiver, where, organization);
  },

  listRepositoryActivities(call) {
    const where = { sql: 'a.repo_id = ?', values: [call.repository.id] };
    return listFeed(call, `FROM activities a ${places}`, where);
  },

  getHeatmap({ context, account, caller }) {
    if (!showsActivities(account, caller)) return [];
    const since = secondsOf(context.clock()) - heatmapDays * dayLength;
    const { sql, values } = both(
      { sql: 'f.user_id = ? AND a.created_at > ?', values: [account.id, since] },
      account.type === 'organization' ? all : { sql: 'a.actor_id = ?', values: [account.id] },
      visibleTo(caller),
    );
    return context.db.all<{ timestamp: number; contributions: number }>(
      `SELECT a.created_at / ${quarter} * ${quarter} AS timestamp, count(*) AS contributions ${ofReceiver}
       WHERE ${sql} GROUP BY timestamp ORDER BY timestamp`,
      ...values,
    );
  },
});
