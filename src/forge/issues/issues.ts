import type { operations } from '../../contract/operations.ts';
import { emitIssue, type IssueScene } from '../hooks/events.ts';
import { recordActivity } from '../notifications/activities-service.ts';
import { notifyOpened } from '../notifications/notifications-service.ts';
import {
  permissionOf,
  reaches,
  readableCondition,
  requireUnblocked,
} from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type HandlerCall } from '../platform/http/handler.ts';
import type { IssueRow, UserRow } from '../platform/rows.ts';
import { parseTimestamp, toEndOfDay, toInstant } from '../platform/time.ts';
import {
  attachAssignees,
  changeAssignees,
  changeBody,
  changeDueDate,
  changeMilestone,
  changeRef,
  changeState,
  changeTitle,
  emitAssignees,
  findAssignees,
  hasMilestone,
  insertIssue,
  noteReferences,
  readIssueRow,
  recordMilestone,
  touchIssue,
} from './changes.ts';
import { loadHomes, toIssue, toIssues, toIssuesById } from './issues-rows.ts';
import {
  type IssueCondition,
  kindCondition,
  listIssueRows,
  maxPinned,
  requireAuthorOrWriter,
  splitList,
  textCondition,
} from './issues-service.ts';
import { attachLabels, findLabels } from './labels-service.ts';
import { recordEvent } from './timeline-rows.ts';

type IssueTarget = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };
type IssueText = {
  readonly title: string;
  readonly body?: string | undefined;
  readonly ref?: string | undefined;
  readonly assignee?: string | undefined;
  readonly assignees?: readonly string[] | undefined;
  readonly due_date?: string | undefined;
  readonly milestone?: number | undefined;
  readonly labels?: readonly number[] | undefined;
  readonly closed?: boolean | undefined;
};

/** Opens an issue and sends the webhooks, in Gitea's order: opened, labels, milestone, each assignee, closed. */
function openIssue(place: IssueTarget, text: IssueText): IssueRow {
  const { context, repository, caller } = place;
  // Fields that require write access are silently dropped for other callers.
  const given: IssueText = reaches(place.permission, 'write')
    ? text
    : { title: text.title, body: text.body, ref: text.ref };
  const names = [...(given.assignees ?? []), ...(given.assignee ? [given.assignee] : [])];
  const assignees = findAssignees(context, place, names);
  requireUnblocked(context.db, caller, [repository.owner_id]);
  const milestoneId =
    given.milestone && hasMilestone(context, repository, given.milestone) ? given.milestone : undefined;
  const issue = insertIssue(context, {
    repository,
    poster: caller,
    title: given.title,
    body: given.body,
    ref: given.ref,
    milestoneId,
    dueAt: parseTimestamp(given.due_date),
  });
  const scene: IssueScene = { ...place, actor: caller, issueId: issue.id };
  const labels = findLabels(context, place, given.labels ?? []);
  if (milestoneId) recordMilestone(context, scene, { from: 0, to: milestoneId });
  attachLabels(context, scene, labels);
  noteReferences(context, scene);
  attachAssignees(context, scene, assignees);
  const told = {
    repositoryId: repository.id,
    actorId: caller.id,
    content: `${issue.number}|${issue.title}`,
  };
  recordActivity(context, { ...told, type: 'create_issue' });
  emitIssue(context, scene, { action: 'opened' });
  notifyOpened(context, scene);
  if (labels.length > 0) emitIssue(context, scene, { topic: 'label', action: 'label_updated' });
  if (milestoneId) emitIssue(context, scene, { topic: 'milestone', action: 'milestoned' });
  emitAssignees(context, scene, assignees);
  if (given.closed) changeState(context, scene, 'closed');
  return readIssueRow(context, issue.id);
}

type IssueEdit = Omit<IssueText, 'title' | 'labels' | 'closed'> & {
  readonly title?: string | undefined;
  readonly state?: string | undefined;
  readonly unset_due_date?: boolean | undefined;
  readonly content_version?: number | undefined;
};

function editIssue(place: IssueTarget, issue: IssueRow, edit: IssueEdit): IssueRow {
  const { context } = place;
  const scene: IssueScene = { ...place, actor: place.caller, issueId: issue.id };
  if (edit.title) changeTitle(context, scene, edit.title);
  if (edit.body !== undefined) changeBody(context, scene, edit.body, edit.content_version);
  if (edit.ref !== undefined) changeRef(context, scene, edit.ref);
  if (reaches(place.permission, 'write')) editAsWriter(place, scene, edit);
  if (edit.state !== undefined) {
    if (isMerged(context, issue)) throw new ForgeProblem(412, 'cannot change state of a merged pull request');
    changeState(context, scene, edit.state);
  }
  return readIssueRow(context, issue.id);
}

function editAsWriter(place: IssueTarget, scene: IssueScene, edit: IssueEdit): void {
  const { context } = place;
  if (edit.unset_due_date) changeDueDate(context, scene, 0);
  else if (edit.due_date !== undefined) changeDueDate(context, scene, parseTimestamp(edit.due_date) ?? 0);
  if (edit.assignees !== undefined || edit.assignee !== undefined) {
    const names = [...(edit.assignees ?? []), ...(edit.assignee ? [edit.assignee] : [])];
    changeAssignees(context, scene, findAssignees(context, place, names));
  }
  if (edit.milestone !== undefined) changeMilestone(context, scene, edit.milestone);
}

function isMerged(context: ForgeContext, issue: IssueRow): boolean {
  const sql = 'SELECT 1 AS one FROM pulls WHERE issue_id = ? AND is_merged = 1';
  return issue.is_pull === 1 && context.db.get(sql, issue.id) !== undefined;
}

/** Handlers for issues, and for operations that pull requests share with them. */
export const issueHandlers = defineHandlers({
  listIssues(call) {
    const { context, reply, page, caller } = call;
    const { rows, total } = listIssueRows(context, call, call.query, page);
    reply.total(total);
    return toIssues(context, rows, { ...call, viewer: caller });
  },

  getIssue: (call) => toIssue(call.context, findIssue(call), { ...call, viewer: call.caller }),

  createIssue(call) {
    const issue = call.context.db.transaction(() => openIssue(call, call.body));
    return toIssue(call.context, issue, { ...call, viewer: call.caller });
  },

  editIssue(call) {
    const issue = call.context.db.transaction(() => {
      const found = findIssue(call);
      requireAuthorOrWriter(call, call.caller, found.poster_id);
      return editIssue(call, found, call.body);
    });
    return toIssue(call.context, issue, { ...call, viewer: call.caller });
  },
});

type ModerationTarget = RepositoryTarget & { readonly context: ForgeContext };
type AtIssue = ModerationTarget & {
  readonly caller: UserRow;
  readonly params: { readonly index: number };
};

function setLock(call: AtIssue, isLocked: 0 | 1, reason = ''): undefined {
  const { context, caller } = call;
  context.db.transaction(() => {
    const issue = findIssue(call);
    if (issue.is_locked === isLocked) return;
    context.db.run('UPDATE issues SET is_locked = ? WHERE id = ?', isLocked, issue.id);
    touchIssue(context, issue.id);
    const type = isLocked ? 'lock' : 'unlock';
    recordEvent(context, { issueId: issue.id, actor: caller }, { type, body: reason });
  });
  return undefined;
}

function pin({ db }: ForgeContext, issue: IssueRow): void {
  if (issue.pin_order > 0) throw new ForgeProblem(409, 'the issue is pinned already');
  const held = db.get<{ count: number; last: number }>(
    `SELECT count(*) AS count, coalesce(max(pin_order), 0) AS last FROM issues
     WHERE repo_id = ? AND is_pull = ? AND pin_order > 0`,
    issue.repo_id,
    issue.is_pull,
  );
  if ((held?.count ?? 0) >= maxPinned)
    throw new ForgeProblem(400, 'You have reached the max number of pinned Issues');
  db.run('UPDATE issues SET pin_order = ? WHERE id = ?', (held?.last ?? 0) + 1, issue.id);
}

/** Handlers for moderation of an issue by administrators. Only deletion sends a webhook. */
export const issueModerationHandlers = defineHandlers({
  deleteIssue(call) {
    const { context } = call;
    context.db.transaction(() => {
      const issue = findIssue(call);
      emitIssue(context, { ...call, actor: call.caller, issueId: issue.id }, { action: 'deleted' });
      // Closed first: the counters of the repository follow changes of state, not deletions.
      context.db.run('UPDATE issues SET is_closed = 1 WHERE id = ?', issue.id);
      context.db.run('UPDATE issues SET milestone_id = NULL WHERE id = ?', issue.id);
      context.db.run('DELETE FROM issues WHERE id = ?', issue.id);
    });
    context.attachments.sweep();
    return undefined;
  },

  setIssueDeadline(call) {
    const { context, body, permission, caller } = call;
    const issue = findIssue(call);
    if (!reaches(permission, 'write')) throw new ForgeProblem(403, 'Not repo writer');
    const dueAt = toEndOfDay(parseTimestamp(body.due_date ?? undefined) ?? 0);
    context.db.transaction(() => {
      changeDueDate(context, { ...call, actor: caller, issueId: issue.id }, dueAt);
    });
    // Gitea returns the epoch (1970-01-01T00:00:00Z) for a removed due date.
    return { due_date: toInstant(dueAt) };
  },

  lockIssue: (call) => setLock(call, 1, call.body.lock_reason),
  unlockIssue: (call) => setLock(call, 0),

  pinIssue(call) {
    const { context } = call;
    context.db.transaction(() => {
      const issue = findIssue(call);
      pin(context, issue);
      touchIssue(context, issue.id);
      recordEvent(context, { issueId: issue.id, actor: call.caller }, { type: 'pin' });
    });
    return undefined;
  },

  unpinIssue(call) {
    const { context } = call;
    context.db.transaction(() => {
      const issue = findIssue(call);
      if (issue.pin_order === 0) return;
      context.db.run('UPDATE issues SET pin_order = 0 WHERE id = ?', issue.id);
      touchIssue(context, issue.id);
      recordEvent(context, { issueId: issue.id, actor: call.caller }, { type: 'unpin' });
    });
    return undefined;
  },

  listPinnedIssues(call) {
    const { context, repository, caller } = call;
    const rows = context.db.all<IssueRow>(
      'SELECT * FROM issues WHERE repo_id = ? AND is_pull = 0 AND pin_order > 0 ORDER BY pin_order',
      repository.id,
    );
    return toIssues(context, rows, { ...call, viewer: caller });
  },
});

type IssueSearch = HandlerCall<(typeof operations)['searchIssues']>;

/** Handlers for the search of issues and pull requests in all repositories. */
export const issueSearchHandlers = defineHandlers({
  searchIssues(call) {
    const { context, caller, page, reply } = call;
    const { db } = context;
    const conditions = [readableCondition(caller), ...conditionsOf(call)];
    const values = conditions.flatMap((condition) => condition.values);
    // `search` marks statements that read every issue, because no index finds substrings.
    const from = `/* search */ FROM issues i JOIN repositories r ON r.id = i.repo_id JOIN users o ON o.id = r.owner_id
      WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
    const counted = db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values);
    reply.total(counted?.count ?? 0);
    const sql = `SELECT i.* ${from} ORDER BY i.created_at DESC, i.id DESC LIMIT ? OFFSET ?`;
    const rows = db.all<IssueRow>(sql, ...values, page.limit, page.offset);
    return toReadable(call, rows);
  },
});

/** Returns rows as the API shows them, without those in units that the caller's teams cannot read. */
function toReadable({ context, caller }: IssueSearch, rows: readonly IssueRow[]) {
  const homes = loadHomes(
    context,
    rows.map(({ repo_id }) => repo_id),
  );
  const readable = rows.filter((row) => {
    const home = homes.get(row.repo_id);
    const unit = row.is_pull ? 'pulls' : 'issues';
    return home && permissionOf(context.db, caller, home.repository, home.owner, unit) !== 'none';
  });
  const shapes = toIssuesById(context, readable, { homes, viewer: caller });
  return readable.map(({ id }) => found(shapes.get(id)));
}

function conditionsOf(call: IssueSearch): IssueCondition[] {
  const { context, query } = call;
  const since = parseTimestamp(query.since);
  const before = parseTimestamp(query.before);
  const { state } = query;
  const candidates: (IssueCondition | undefined)[] = [
    ...homeConditions(call),
    state === 'all' ? undefined : { sql: 'i.is_closed = ?', values: [state === 'closed' ? 1 : 0] },
    kindCondition(query.type),
    textCondition(query.q),
    labelCondition(context, query.labels),
    milestoneCondition(context, query.milestones),
    since === undefined ? undefined : { sql: 'i.updated_at >= ?', values: [since] },
    before === undefined ? undefined : { sql: 'i.updated_at <= ?', values: [before] },
    ...personConditions(call),
  ];
  return candidates.filter((condition) => condition !== undefined);
}

/** Returns the conditions for the owner and for the repositories of one of the owner's teams. */
function homeConditions({ context, query }: IssueSearch): IssueCondition[] {
  const { db } = context;
  const { owner: ownerName, team: teamName } = query;
  if (!ownerName) {
    if (!teamName) return [];
    throw new ForgeProblem(400, 'owner organisation is required for filtering on team');
  }
  const owner = userNamed(db, ownerName);
  if (!owner) throw new ForgeProblem(400, `user does not exist [name: ${ownerName}]`);
  const ofOwner = { sql: 'r.owner_id = ?', values: [owner.id] };
  if (!teamName) return [ofOwner];
  const sql = 'SELECT id FROM teams WHERE org_id = ? AND lower_name = ?';
  const team = db.get<{ id: number }>(sql, owner.id, teamName.toLowerCase());
  if (!team) throw new ForgeProblem(400, `team does not exist [org_id ${owner.id}, name: ${teamName}]`);
  const ofTeam = `(EXISTS (SELECT 1 FROM teams w WHERE w.id = ? AND w.includes_all_repositories = 1)
    OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = ? AND x.repo_id = r.id))`;
  return [ofOwner, { sql: ofTeam, values: [team.id, team.id] }];
}

/**
 * Returns the label condition: an issue must have any of the known labels. Unknown names are dropped; if no name is
 * known, there is no condition.
 */
function labelCondition({ db }: ForgeContext, names: string | undefined): IssueCondition | undefined {
  const sql = '/* search */ SELECT id FROM labels WHERE name IN (SELECT value FROM json_each(?))';
  const ids = db.all<{ id: number }>(sql, JSON.stringify(splitList(names))).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  const held = `EXISTS (SELECT 1 FROM issue_labels l WHERE l.issue_id = i.id
    AND l.label_id IN (SELECT value FROM json_each(?)))`;
  return { sql: held, values: [JSON.stringify(ids)] };
}

/** Returns the milestone condition; names are handled as in `labelCondition`. */
function milestoneCondition({ db }: ForgeContext, names: string | undefined): IssueCondition | undefined {
  const sql = '/* search */ SELECT id FROM milestones WHERE title IN (SELECT value FROM json_each(?))';
  const ids = db.all<{ id: number }>(sql, JSON.stringify(splitList(names))).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  return { sql: 'i.milestone_id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(ids)] };
}

const inReviews = (types: string) =>
  `EXISTS (SELECT 1 FROM reviews v WHERE v.issue_id = i.id AND v.reviewer_id = ? AND v.type ${types})`;

function personConditions({ context, query, caller }: IssueSearch): (IssueCondition | undefined)[] {
  const author = query.created_by
    ? found(userNamed(context.db, query.created_by), 'user does not exist')
    : undefined;
  if (!caller) return [author && { sql: 'i.poster_id = ?', values: [author.id] }];
  // A filter for the caller's own issues takes precedence over a filter for another account's issues.
  const poster = query.created ? caller : author;
  const isMine = (wanted: boolean | undefined, sql: string) =>
    wanted ? { sql, values: [caller.id] } : undefined;
  return [
    poster && { sql: 'i.poster_id = ?', values: [poster.id] },
    isMine(query.assigned, 'EXISTS (SELECT 1 FROM assignees a WHERE a.issue_id = i.id AND a.user_id = ?)'),
    query.mentioned ? textCondition(`@${caller.name}`) : undefined,
    isMine(query.review_requested, inReviews("= 'REQUEST_REVIEW'")),
    isMine(query.reviewed, inReviews("IN ('APPROVED', 'REQUEST_CHANGES', 'COMMENT')")),
  ];
}
