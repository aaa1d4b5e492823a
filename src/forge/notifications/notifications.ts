import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { parseTimestamp, secondsOf } from '../platform/time.ts';
import { type NotificationRow, toThreads } from './notifications-rows.ts';

type QueryText = string | undefined;
type NotificationQuery = {
  readonly all?: boolean | undefined;
  readonly 'status-types'?: readonly string[] | undefined;
  readonly 'subject-type'?: readonly string[] | undefined;
  readonly since?: QueryText;
  readonly before?: QueryText;
};
type Whose = { readonly user: UserRow; readonly repositoryId?: number };
type NotificationCondition = { readonly sql: string; readonly values: readonly (string | number)[] };

const statuses = ['unread', 'read', 'pinned'] as const;
const sources = ['issue', 'pull', 'commit', 'repository'] as const;

function statusOf(text: string): (typeof statuses)[number] | undefined {
  return statuses.find((known) => known === text.trim().toLowerCase());
}

/** Returns the condition that a column has one of the given values; no condition if there are none. */
function oneOf(column: string, wanted: readonly string[]): NotificationCondition[] {
  if (wanted.length === 0) return [];
  return [{ sql: `${column} IN (${wanted.map(() => '?').join(', ')})`, values: [...new Set(wanted)] }];
}

function conditionsOf(
  { user, repositoryId }: Whose,
  wanted: NotificationQuery,
  usual: readonly string[],
): NotificationCondition {
  const given = wanted['status-types'] ?? [];
  const asked = (given.length > 0 ? given : usual).flatMap((text) => statusOf(text) ?? []);
  const kinds = (wanted['subject-type'] ?? []).flatMap(
    (text) => sources.find((known) => known === text.toLowerCase()) ?? [],
  );
  const since = parseTimestamp(wanted.since) ?? 0;
  const before = parseTimestamp(wanted.before) ?? 0;
  const conditions: NotificationCondition[] = [
    { sql: 'user_id = ?', values: [user.id] },
    ...(repositoryId === undefined ? [] : [{ sql: 'repo_id = ?', values: [repositoryId] }]),
    ...(wanted.all ? [] : oneOf('status', [...new Set(asked)])),
    ...oneOf('source', [...new Set(kinds)]),
    ...(since === 0 ? [] : [{ sql: 'updated_at >= ?', values: [since] }]),
    ...(before === 0 ? [] : [{ sql: 'updated_at <= ?', values: [before] }]),
  ];
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

type NotificationListing = {
  readonly context: ForgeContext;
  readonly page: PageRange;
  readonly reply: Reply;
};

function listThreads({ context, page, reply }: NotificationListing, whose: Whose, wanted: NotificationQuery) {
  const { db } = context;
  const { sql, values } = conditionsOf(whose, wanted, ['unread', 'pinned']);
  const counted = db.get<{ count: number }>(
    `SELECT count(*) AS count FROM notifications WHERE ${sql}`,
    ...values,
  );
  reply.total(counted?.count ?? 0);
  const rows = db.all<NotificationRow>(
    `SELECT * FROM notifications WHERE ${sql} ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?`,
    ...values,
    page.limit,
    page.offset,
  );
  return toThreads(context, rows);
}

type Marking = {
  readonly all?: boolean | undefined;
  readonly 'status-types'?: readonly string[] | undefined;
  readonly last_read_at?: QueryText;
  readonly 'to-status'?: QueryText;
};

/** Marks all matching threads in one step. Marking counts as a change and moves a thread to the front. */
function markThreads(context: ForgeContext, whose: Whose, marking: Marking) {
  // Parsed here so that a malformed time ends the request with 400.
  parseTimestamp(marking.last_read_at, { status: 400 });
  const wanted = { all: marking.all, 'status-types': marking['status-types'], before: marking.last_read_at };
  const { sql, values } = conditionsOf(whose, wanted, ['unread']);
  const rows = context.db.transaction(() => {
    const ids = context.db.all<{ id: number }>(
      `UPDATE notifications SET status = ?, updated_at = ? WHERE ${sql} RETURNING id`,
      statusOf(marking['to-status'] ?? '') ?? 'read',
      secondsOf(context.clock()),
      ...values,
    );
    return context.db.all<NotificationRow>(
      'SELECT * FROM notifications WHERE id IN (SELECT value FROM json_each(?)) ORDER BY updated_at DESC, id DESC',
      JSON.stringify(ids.map(({ id }) => id)),
    );
  });
  return toThreads(context, rows);
}

/** Returns a thread that the caller may see: their own, or any thread for a site administrator. */
function findThread({ db }: ForgeContext, id: number, caller: UserRow): NotificationRow {
  const row = found(
    db.get<NotificationRow>('SELECT * FROM notifications WHERE id = ?', id),
    'notification does not exist',
  );
  if (row.user_id === caller.id || caller.is_admin) return row;
  throw new ForgeProblem(403, `only user itself and admin are allowed to read/change this thread ${id}`);
}

function only(context: ForgeContext, row: NotificationRow) {
  return found(toThreads(context, [row])[0]);
}

/** Handlers for the caller's notifications. */
export const notificationHandlers = defineHandlers({
  listNotifications: (call) => listThreads(call, { user: call.caller }, call.query),

  markNotifications: ({ context, caller, query }) => markThreads(context, { user: caller }, query),

  countNotifications({ context, caller }) {
    const sql = `SELECT count(*) AS count FROM notifications WHERE user_id = ? AND status = 'unread'`;
    return { new: context.db.get<{ count: number }>(sql, caller.id)?.count ?? 0 };
  },

  getNotification: ({ context, params, caller }) => only(context, findThread(context, params.id, caller)),

  markNotification({ context, params, query, caller }) {
    const { id, user_id } = findThread(context, params.id, caller);
    if (user_id !== caller.id)
      throw new ForgeProblem(403, `Can't change notification of another user: ${id}`);
    const row = context.db.get<NotificationRow>(
      'UPDATE notifications SET status = ?, updated_at = ? WHERE id = ? RETURNING *',
      statusOf(query['to-status'] ?? '') ?? 'read',
      secondsOf(context.clock()),
      id,
    );
    return only(context, found(row));
  },

  listRepositoryNotifications: (call) =>
    listThreads(call, { user: call.caller, repositoryId: call.repository.id }, call.query),

  markRepositoryNotifications: ({ context, caller, repository, query }) =>
    markThreads(context, { user: caller, repositoryId: repository.id }, query),
});
