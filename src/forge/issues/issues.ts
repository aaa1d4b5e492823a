import { requireUnblocked } from '../access/blocks.ts';
import { findIssue } from '../access/find-issue.ts';
import { reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, forbiddenInSilence } from '../core/errors.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { parseTimestamp } from '../core/time.ts';
import { recordActivity } from '../events/activities.ts';
import { emitIssue, type IssueScene } from '../events/issue-events.ts';
import { defineHandlers } from '../http/handler.ts';
import { notifyOpened } from '../notify/threads.ts';
import { toIssue, toIssues } from '../views/issue.ts';
import { attachLabels, findLabels } from './attached-labels.ts';
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
} from './changes.ts';
import { listIssueRows } from './list.ts';

/** Ends the request with a bare 403 unless the caller wrote the thing or may write to the repository. */
export function requireAuthorOrWriter(target: RepositoryTarget, caller: UserRow, authorId: number): void {
  if (caller.id !== authorId && !reaches(target.permission, 'write')) throw forbiddenInSilence();
}

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

/** Opens an issue and tells the hooks, in Gitea's order: opened, labels, milestone, each assignee, closed. */
function openIssue(place: IssueTarget, text: IssueText): IssueRow {
  const { context, repository, caller } = place;
  // What a caller without write access adds is dropped in silence.
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

/** Handlers for issues, and for what a pull request shares with them. */
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
