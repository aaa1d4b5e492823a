import { operations } from '../../contract/operations.ts';
import { asWritten } from '../../contract/written-texts.ts';
import { emitIssue, type IssueScene } from '../hooks/events.ts';
import { numberedContent, recordActivity } from '../notifications/activities-service.ts';
import { notifyActivity, notifyPersons } from '../notifications/notifications-service.ts';
import {
  permissionOf,
  reaches,
  requireUnblocked,
  requireUnblockedIn,
  type Unit,
} from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import type { IssueRow, RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { followReopened } from '../pulls/refresh.ts';
import { recordReferences } from './cross-references.ts';
import { refuseBlocked } from './dependencies-service.ts';
import { isDraftTitle } from './issues-rows.ts';
import { stopWithIssue } from './stopwatches-service.ts';
import { recordEvent } from './timeline-rows.ts';

/**
 * The functions below each make one change to an issue or pull request and emit its webhook. They run inside the
 * caller's transaction; if the issue is already in the desired state, they change nothing and send no event.
 */

type NewIssue = {
  readonly repository: RepositoryRow;
  readonly poster: UserRow;
  readonly title: string;
  readonly body?: string | undefined;
  readonly ref?: string | undefined;
  readonly isPull?: boolean;
  readonly milestoneId?: number | undefined;
  readonly dueAt?: Seconds | undefined;
};

/** Inserts an issue, or the issue side of a pull request, under the next number; returns its row. Emits nothing. */
export function insertIssue(context: ForgeContext, issue: NewIssue): IssueRow {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const next = found(
    db.get<{ number: number }>(
      'UPDATE repositories SET last_index = last_index + 1, updated_at = ? WHERE id = ? RETURNING last_index AS number',
      now,
      issue.repository.id,
    ),
  );
  const { lastId } = db.run(
    `INSERT INTO issues (repo_id, number, is_pull, poster_id, title, body, ref, milestone_id, due_at, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    issue.repository.id,
    next.number,
    issue.isPull ?? false,
    issue.poster.id,
    asWritten(operations.createIssue, 'title', issue.title),
    issue.body ?? '',
    issue.ref ?? '',
    issue.milestoneId,
    issue.dueAt ?? 0,
    now,
    now,
  );
  return readIssueRow(context, lastId);
}

export function readIssueRow(context: ForgeContext, id: number): IssueRow {
  return found(context.db.get<IssueRow>('SELECT * FROM issues WHERE id = ?', id));
}

/** Marks an issue as updated without changing any of its other columns. */
export function touchIssue(context: ForgeContext, id: number): void {
  update(context, id, {});
}

type Writable =
  | 'title'
  | 'body'
  | 'ref'
  | 'milestone_id'
  | 'due_at'
  | 'is_closed'
  | 'closed_at'
  | 'content_version';

function update(
  context: ForgeContext,
  id: number,
  values: { readonly [Name in Writable]?: string | number | null },
): void {
  const columns = Object.keys(values).map((name) => `${name} = ?, `);
  context.db.run(
    `UPDATE issues SET ${columns.join('')}updated_at = ? WHERE id = ?`,
    ...Object.values(values),
    secondsOf(context.clock()),
    id,
  );
}

/** Records in the timelines of other issues that the title or body of an issue refers to them. */
export function noteReferences(context: ForgeContext, scene: IssueScene): void {
  const { title, body } = readIssueRow(context, scene.issueId);
  recordReferences(context, scene, { plain: title, markdown: body });
}

/** Changes the title; webhooks receive `edited` with the old title. */
export function changeTitle(context: ForgeContext, scene: IssueScene, given: string): void {
  const issue = readIssueRow(context, scene.issueId);
  const title = asWritten(operations.editIssue, 'title', given);
  const { title: from } = issue;
  if (title === from) return;
  requireUnblockedIn(context.db, scene, issue);
  update(context, scene.issueId, { title });
  recordEvent(context, scene, { type: 'change_title', refers: { oldTitle: from, newTitle: title } });
  noteReferences(context, scene);
  emitIssue(context, scene, { action: 'edited', changes: { title: from } });
  const { is_pull } = readIssueRow(context, scene.issueId);
  // Watchers are notified now, because they were not notified of the draft.
  if (is_pull && isDraftTitle(from) && !isDraftTitle(title)) notifyActivity(context, scene);
}

/** Changes the body. Ends the request with 409 if `version` is not the current version. */
export function changeBody(
  context: ForgeContext,
  scene: IssueScene,
  body: string,
  version: number | undefined,
): void {
  const issue = readIssueRow(context, scene.issueId);
  const { body: from, content_version } = issue;
  if (body !== from) requireUnblockedIn(context.db, scene, issue);
  if (version !== undefined && version !== content_version) {
    throw new ForgeProblem(409, 'the content was changed by another request in the meantime');
  }
  if (body === from) return;
  update(context, scene.issueId, { body, content_version: content_version + 1 });
  noteReferences(context, scene);
  emitIssue(context, scene, { action: 'edited', changes: { body: from } });
}

/** Changes the ref of an issue. No webhook is sent. */
export function changeRef(context: ForgeContext, scene: IssueScene, ref: string): void {
  const { ref: from } = readIssueRow(context, scene.issueId);
  if (ref === from) return;
  update(context, scene.issueId, { ref });
  const refers = { oldRef: withoutPrefix(from), newRef: withoutPrefix(ref) };
  recordEvent(context, scene, { type: 'change_issue_ref', refers });
}

/** Changes the due date; 0 removes it. No webhook is sent. */
export function changeDueDate(context: ForgeContext, scene: IssueScene, dueAt: Seconds): void {
  const { due_at: from } = readIssueRow(context, scene.issueId);
  if (dueAt === from) return;
  update(context, scene.issueId, { due_at: dueAt });
  const [before, after] = [deadlineDay(from), deadlineDay(dueAt)];
  if (dueAt === 0) recordEvent(context, scene, { type: 'removed_deadline', body: before });
  else if (from === 0) recordEvent(context, scene, { type: 'added_deadline', body: after });
  else recordEvent(context, scene, { type: 'modified_deadline', body: `${after}|${before}` });
}

function deadlineDay(seconds: Seconds): string {
  return toInstant(seconds).slice(0, 10);
}

function withoutPrefix(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/**
 * Opens or closes an issue. Ends the request with 412 for any other state, and when closing an issue that an open one
 * blocks. `commitId` is the commit that caused the change.
 */
export function changeState(
  context: ForgeContext,
  scene: IssueScene,
  state: string,
  commitId?: string,
): void {
  if (state !== 'open' && state !== 'closed') throw new ForgeProblem(412, `unknown state: ${state}`);
  const isClosed = state === 'closed' ? 1 : 0;
  if (readIssueRow(context, scene.issueId).is_closed === isClosed) return;
  if (isClosed) refuseBlocked(context, scene.repository, scene.issueId);
  const closedAt = isClosed ? secondsOf(context.clock()) : 0;
  update(context, scene.issueId, { is_closed: isClosed, closed_at: closedAt });
  recordEvent(context, scene, { type: isClosed ? 'close' : 'reopen' });
  noteState(context, scene, isClosed ? 'close' : 'reopen');
  if (isClosed) stopWithIssue(context, scene.issueId, scene.actor);
  emitIssue(context, scene, { action: isClosed ? 'closed' : 'reopened', commitId });
  notifyActivity(context, scene);
  if (!isClosed) followReopened(context, scene.issueId, scene.actor);
}

function noteState(context: ForgeContext, scene: IssueScene, change: 'close' | 'reopen'): void {
  const issue = readIssueRow(context, scene.issueId);
  recordActivity(context, {
    repositoryId: issue.repo_id,
    actorId: scene.actor.id,
    type: `${change}_${issue.is_pull ? 'pull_request' : 'issue'}`,
    content: numberedContent(issue.number, ''),
  });
}

/** Sets the milestone; 0 removes it. Ends the request with 404 for a milestone of another repository. */
export function changeMilestone(context: ForgeContext, scene: IssueScene, milestoneId: number): void {
  const { milestone_id: from } = readIssueRow(context, scene.issueId);
  if ((from ?? 0) === milestoneId) return;
  if (milestoneId !== 0 && !hasMilestone(context, scene.repository, milestoneId)) {
    throw new ForgeProblem(404, 'milestone does not exist');
  }
  update(context, scene.issueId, { milestone_id: milestoneId === 0 ? null : milestoneId });
  recordMilestone(context, scene, { from: from ?? 0, to: milestoneId });
  const action = milestoneId === 0 ? 'demilestoned' : 'milestoned';
  emitIssue(context, scene, { topic: 'milestone', action });
}

/** Records in the timeline that the milestone of an issue changed; 0 stands for no milestone. */
export function recordMilestone(
  context: ForgeContext,
  scene: IssueScene,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  recordEvent(context, scene, { type: 'milestone', refers: { oldMilestone: from, milestone: to } });
}

/** Returns whether a milestone belongs to the repository. */
export function hasMilestone(context: ForgeContext, repository: RepositoryRow, id: number): boolean {
  const sql = 'SELECT 1 AS one FROM milestones WHERE id = ? AND repo_id = ?';
  return context.db.get(sql, id, repository.id) !== undefined;
}

/**
 * Returns the accounts with these names. Ends the request with 422 for an unknown account or an account without access
 * to the repository, and with 403 for an account that blocks the caller.
 */
export function findAssignees(
  context: ForgeContext,
  place: { readonly repository: RepositoryRow; readonly owner: UserRow; readonly caller: UserRow },
  names: readonly string[],
): readonly UserRow[] {
  return [...new Set(names.map((name) => name.toLowerCase()))].map((name) => {
    const user = userNamed(context.db, name);
    if (user?.type !== 'user') throw new ForgeProblem(422, `assignee does not exist: [name: ${name}]`);
    if (!mayBeAssigned(context, place, user)) {
      throw new ForgeProblem(422, `user ${user.name} cannot be assigned in this repository`);
    }
    requireUnblocked(context.db, place.caller, [user.id]);
    return user;
  });
}

/** Returns whether an account can be assigned: it must be able to read pull requests or to write any unit. */
function mayBeAssigned(
  { db }: ForgeContext,
  { repository, owner }: { readonly repository: RepositoryRow; readonly owner: UserRow },
  user: UserRow,
): boolean {
  const reaching = (unit: Unit, permission: 'read' | 'write') =>
    reaches(permissionOf(db, user, repository, owner, unit), permission);
  const units: readonly Unit[] = ['code', 'issues', 'pulls', 'wiki'];
  return reaching('pulls', 'read') || units.some((unit) => reaching(unit, 'write'));
}

/** Adds assignees to an issue; `emitAssignees` sends the webhooks and notifications. */
export function attachAssignees(context: ForgeContext, scene: IssueScene, users: readonly UserRow[]): void {
  for (const { id } of users) {
    context.db.run('INSERT INTO assignees (issue_id, user_id) VALUES (?, ?)', scene.issueId, id);
    recordEvent(context, scene, { type: 'assignees', refers: { assignee: id } });
  }
}

/** Emits one webhook for each assignee of a new issue, and notifies each assignee. */
export function emitAssignees(context: ForgeContext, scene: IssueScene, users: readonly UserRow[]): void {
  for (const user of users) {
    emitIssue(context, scene, { topic: 'assign', action: 'assigned' });
    notifyPersons(context, { ...scene, receivers: [user] });
  }
}

/**
 * Replaces the assignees; then sends one webhook for each removed and each added assignee, all with the resulting list.
 */
export function changeAssignees(context: ForgeContext, scene: IssueScene, wanted: readonly UserRow[]): void {
  const { db } = context;
  const held = db.all<{ user_id: number }>('SELECT user_id FROM assignees WHERE issue_id = ?', scene.issueId);
  const wantedIds = new Set(wanted.map((user) => user.id));
  const going = held.filter((row) => !wantedIds.has(row.user_id));
  const heldIds = new Set(held.map((row) => row.user_id));
  const coming = wanted.filter(({ id }) => !heldIds.has(id));
  if (going.length + coming.length === 0) return;
  for (const { user_id } of going) {
    db.run('DELETE FROM assignees WHERE issue_id = ? AND user_id = ?', scene.issueId, user_id);
    recordEvent(context, scene, { type: 'assignees', refers: { assignee: user_id, isRemoved: true } });
  }
  attachAssignees(context, scene, coming);
  update(context, scene.issueId, {});
  for (const _one of going) emitIssue(context, scene, { topic: 'assign', action: 'unassigned' });
  emitAssignees(context, scene, coming);
}
