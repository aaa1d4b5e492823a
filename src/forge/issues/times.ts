import { loadUsers } from '../accounts/users-rows.ts';
import { canSee, reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, forbiddenInSilence, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { IssueRow, Seconds, UserRow } from '../platform/rows.ts';
import { parseTimestamp, secondsOf, toInstant } from '../platform/time.ts';
import { touchIssue } from './changes.ts';
import { loadHomes, type OwnedRepository, toIssuesById } from './issues-rows.ts';
import { recordEvent } from './timeline-rows.ts';
import { hasTracker, type TrackedTimeRow } from './times-rows.ts';

const disabled = 'time tracking disabled';

/**
 * Returns whether the caller may track time: the author, assignees and writers may, or everyone if the repository
 * allows it.
 */
function mayTrack(call: TimeWrite, issue: IssueRow): boolean {
  const { internal_tracker } = settingsOf(call.repository);
  if (internal_tracker.allow_only_contributors_to_track_time === false) return true;
  if (reaches(call.permission, 'write') || issue.poster_id === call.caller.id) return true;
  const sql = 'SELECT 1 AS one FROM assignees WHERE issue_id = ? AND user_id = ?';
  return call.context.db.get(sql, issue.id, call.caller.id) !== undefined;
}

type TimeWrite = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly params: { readonly index: number };
};

function findTrackable(call: TimeWrite, form: 'error' | 'capital'): IssueRow {
  const issue = findIssue(call);
  if (!hasTracker(call.repository)) throw new ForgeProblem(400, disabled, form);
  if (!mayTrack(call, issue)) throw forbiddenInSilence();
  return issue;
}

type TimeQuery = { readonly user?: string | undefined } & TimeSpan;
type TimeSpan = { readonly since?: string | undefined; readonly before?: string | undefined };
type TimeListing = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

/**
 * Returns the id of the account whose times are listed, 0 for all accounts. Callers without write access see only their
 * own times.
 */
function whose(call: TimeListing, name: string | undefined): number {
  const wanted = name?.trim() ? found(userNamed(call.context.db, name.trim()), 'user does not exist').id : 0;
  if (wanted === call.caller.id || reaches(call.permission, 'write')) return wanted;
  if (wanted !== 0) throw new ForgeProblem(403, 'query by user not allowed; not enough rights');
  return call.caller.id;
}

type TimeFilter = { readonly issueId?: number; readonly repositoryId?: number; readonly userId?: number };

/** Returns one page of entries in creation order, and the total count. */
function select(context: ForgeContext, filter: TimeFilter, span: TimeSpan, page: PageRange | undefined) {
  const bounds = { since: parseTimestamp(span.since) ?? 0, before: parseTimestamp(span.before) ?? 0 };
  const conditions = [
    ['issue_id = ?', filter.issueId],
    ['repo_id = ?', filter.repositoryId],
    ['user_id = ?', filter.userId],
    ['created_at >= ?', bounds.since],
    ['created_at <= ?', bounds.before],
  ].filter((pair): pair is [string, number] => Boolean(pair[1]));
  const where = ['is_deleted = 0', ...conditions.map(([sql]) => sql)].join(' AND ');
  const values = conditions.map(([, value]) => value);
  const counted = context.db.get<{ count: number }>(
    `SELECT count(*) AS count FROM tracked_times WHERE ${where}`,
    ...values,
  );
  const rows = context.db.all<TrackedTimeRow>(
    `SELECT * FROM tracked_times WHERE ${where} ORDER BY id LIMIT ? OFFSET ?`,
    ...values,
    page?.limit ?? -1,
    page?.offset ?? 0,
  );
  return { rows, total: counted?.count ?? 0 };
}

/** Returns entries as the API shows them, without those in repositories that the viewer cannot read. */
function toTimes(context: ForgeContext, times: readonly TrackedTimeRow[], viewer: UserRow) {
  const { db } = context;
  const homes = new Map(
    [
      ...loadHomes(
        context,
        times.map(({ repo_id }) => repo_id),
      ),
    ].filter(([, home]) => isReadable(context, home, viewer)),
  );
  const issues = db.all<IssueRow>(
    'SELECT * FROM issues WHERE id IN (SELECT value FROM json_each(?))',
    JSON.stringify([...new Set(times.map(({ issue_id }) => issue_id))]),
  );
  const shapes = toIssuesById(context, issues, { homes, viewer });
  const users = loadUsers(
    context,
    times.map(({ user_id }) => user_id),
  );
  return times.flatMap((time) => {
    const issue = shapes.get(time.issue_id);
    return issue ? [{ ...toBare(time, users.get(time.user_id)), issue }] : [];
  });
}

function isReadable({ db }: ForgeContext, { repository, owner }: OwnedRepository, viewer: UserRow): boolean {
  return canSee(db, viewer, repository, owner);
}

function toBare(time: TrackedTimeRow, user: UserRow | undefined) {
  return {
    id: time.id,
    created: toInstant(time.created_at),
    time: time.time,
    user_id: time.user_id,
    user_name: user?.name ?? 'Ghost',
    issue_id: time.issue_id,
  };
}

/**
 * Returns the account for which time is added. An administrator may name an account; for other callers the field is
 * ignored.
 */
function trackedFor(call: TimeWrite, name: string | undefined): UserRow {
  const mayName = reaches(call.permission, 'admin');
  return name && mayName ? found(userNamed(call.context.db, name), 'user does not exist') : call.caller;
}

function insertTime(
  call: TimeWrite,
  issue: IssueRow,
  time: { seconds: number; user: UserRow },
): TrackedTimeRow {
  const { db, clock } = call.context;
  const now: Seconds = secondsOf(clock());
  const { lastId } = db.run(
    'INSERT INTO tracked_times (issue_id, repo_id, user_id, time, created_at) VALUES (?, ?, ?, ?, ?)',
    issue.id,
    issue.repo_id,
    time.user.id,
    time.seconds,
    now,
  );
  const event = { type: 'add_time_manual', body: `|${time.seconds}`, refers: { time: lastId } };
  recordEvent(call.context, { issueId: issue.id, actor: time.user }, event);
  touchIssue(call.context, issue.id);
  return found(db.get<TrackedTimeRow>('SELECT * FROM tracked_times WHERE id = ?', lastId));
}

/** Records in the timeline that an account's times on an issue were deleted. */
function recordRemoval(context: ForgeContext, times: readonly TrackedTimeRow[], user: UserRow): void {
  const issueId = times[0]?.issue_id;
  if (issueId === undefined) return;
  const seconds = times.reduce((sum, { time }) => sum + time, 0);
  recordEvent(context, { issueId, actor: user }, { type: 'delete_time_manual', body: `|${seconds}` });
  touchIssue(context, issueId);
}

/** Handlers for tracked times. They send no webhooks. */
export const timeHandlers = defineHandlers({
  listTimes(call) {
    const { context, query, page, reply, repository, caller } = call;
    if (!hasTracker(repository)) throw new ForgeProblem(404, 'timetracker is disabled');
    const issueId = findIssue(call).id;
    const userId = whose(call, query.user);
    const { rows, total } = select(context, { issueId, userId }, query, page);
    reply.total(total);
    return toTimes(context, rows, caller);
  },

  addTime(call) {
    const { context, body, caller } = call;
    const issue = findTrackable(call, 'error');
    if (body.time === 0) throw new ForgeProblem(422, '[Time]: Required');
    const created = parseTimestamp(body.created);
    const user = trackedFor(call, body.user_name);
    const row = context.db.transaction(() => insertTime(call, issue, { seconds: body.time, user }));
    const [shape] = toTimes(context, [row], caller);
    // The time given in the request appears only in this response; the time of creation is stored.
    return { ...found(shape), ...(created === undefined ? {} : { created: toInstant(created) }) };
  },

  resetTimes(call) {
    const { context, caller } = call;
    context.db.transaction(() => {
      const issue = findTrackable(call, 'capital');
      const removed = context.db.all<TrackedTimeRow>(
        'UPDATE tracked_times SET is_deleted = 1 WHERE issue_id = ? AND user_id = ? AND is_deleted = 0 RETURNING *',
        issue.id,
        caller.id,
      );
      if (removed.length === 0) throw new ForgeProblem(404, 'tracked_time does not exist');
      recordRemoval(context, removed, caller);
    });
    return undefined;
  },

  deleteTime(call) {
    const { context, caller, params } = call;
    context.db.transaction(() => {
      const issue = findTrackable(call, 'capital');
      const sql = 'SELECT * FROM tracked_times WHERE id = ? AND issue_id = ? AND is_deleted = 0';
      const time = found(context.db.get<TrackedTimeRow>(sql, params.id, issue.id));
      if (!caller.is_admin && time.user_id !== caller.id) throw forbiddenInSilence();
      context.db.run('UPDATE tracked_times SET is_deleted = 1 WHERE id = ?', time.id);
      // The timeline names the account that tracked the time, not the account that deleted it, as in Gitea.
      recordRemoval(context, [time], loadUsers(context, [time.user_id]).get(time.user_id) ?? caller);
    });
    return undefined;
  },

  listRepositoryTimes(call) {
    const { context, query, page, reply, repository, caller } = call;
    if (!hasTracker(repository)) throw new ForgeProblem(400, disabled);
    const wish: TimeQuery = query;
    const userId = whose(call, wish.user);
    const { rows, total } = select(context, { repositoryId: repository.id, userId }, wish, page);
    reply.total(total);
    return toTimes(context, rows, caller);
  },

  listTimesOfUser(call) {
    const { context, params, repository, permission, caller } = call;
    if (!hasTracker(repository)) throw new ForgeProblem(400, disabled);
    const user = found(userNamed(context.db, params.user), 'user does not exist');
    if (user.id !== caller.id && !reaches(permission, 'admin')) {
      throw new ForgeProblem(403, 'query by user not allowed; not enough rights');
    }
    const filter = { repositoryId: repository.id, userId: user.id };
    return toTimes(context, select(context, filter, {}, undefined).rows, caller);
  },

  listOwnTimes({ context, query, page, reply, caller }) {
    const { rows, total } = select(context, { userId: caller.id }, query, page);
    reply.total(total);
    return toTimes(context, rows, caller);
  },
});
