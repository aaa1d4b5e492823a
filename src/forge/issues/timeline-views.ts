import { toTeam } from '../accounts/teams-rows.ts';
import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { canSee } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { IssueRow, TeamRow, UserRow } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';
import { type CommentRow, toComment } from './comments-rows.ts';
import { type IssuePlace, issueAddress, loadHomes, toIssue, toIssuesById } from './issues-rows.ts';
import { type LabelRow, toLabel } from './labels-rows.ts';
import { type MilestoneRow, toMilestone } from './milestones-rows.ts';
import type { TimelineReferences, TimelineRow } from './timeline-rows.ts';
import type { TrackedTimeRow } from './times-rows.ts';

/** A timeline row, or a comment in the same form. */
export type TimelineEntryRow = TimelineRow & { readonly updated_at: number };

type Referring = { readonly row: TimelineEntryRow; readonly refers: TimelineReferences };

/**
 * Returns timeline entries of one issue in the given order, without entries that are deleted or hidden from the viewer.
 */
export function toTimeline(
  context: ForgeContext,
  rows: readonly TimelineEntryRow[],
  issue: IssueRow,
  place: IssuePlace,
) {
  // The cast is safe: `recordEvent` writes this column.
  const entries = rows.map((row) => ({ row, refers: JSON.parse(row.refers) as TimelineReferences }));
  const found = loadReferences(context, entries, issue, place);
  const address = issueAddress(context, issue, place);
  return entries.flatMap(({ row, refers }) => {
    // An entry that refers to an issue the viewer cannot read is omitted; an entry from a deleted issue is kept without
    // the reference.
    if (refers.refIssue !== undefined && found.hidden.has(refers.refIssue)) return [];
    const userOf = (id: number | undefined) => {
      const user = id === undefined ? undefined : found.users.get(id);
      return user ? toUser(context, user, undefined) : null;
    };
    const milestoneOf = (id: number | undefined) => {
      const milestone = id === undefined ? undefined : found.milestones.get(id);
      return milestone ? toMilestone(milestone) : null;
    };
    const label = refers.label === undefined ? undefined : found.labels.get(refers.label);
    const team = refers.assigneeTeam === undefined ? undefined : found.teams.get(refers.assigneeTeam);
    const entry = {
      id: row.id,
      type: row.type,
      html_url: `${address}#issuecomment-${row.id}`,
      pull_request_url: issue.is_pull ? address : '',
      issue_url: issue.is_pull ? '' : address,
      user: userOf(row.poster_id),
      body: bodyOf(row),
      created_at: toInstant(row.created_at),
      updated_at: toInstant(row.updated_at),
      old_project_id: 0,
      project_id: 0,
      old_milestone: milestoneOf(refers.oldMilestone),
      milestone: milestoneOf(refers.milestone),
      tracked_time: refers.time === undefined ? null : (found.times.get(refers.time) ?? null),
      old_title: refers.oldTitle ?? '',
      new_title: refers.newTitle ?? '',
      old_ref: refers.oldRef ?? '',
      new_ref: refers.newRef ?? '',
      ref_issue: refers.refIssue === undefined ? null : (found.issues.get(refers.refIssue) ?? null),
      ref_comment: refers.refComment === undefined ? null : (found.comments.get(refers.refComment) ?? null),
      ref_action: refers.refAction ?? 'none',
      ref_commit_sha: refers.refCommit ?? '',
      review_id: refers.review ?? 0,
      label: label ? toLabel(context, label, place) : null,
      assignee: userOf(refers.assignee),
      assignee_team: team ? toTeam(context, team) : null,
      removed_assignee: refers.isRemoved ?? false,
      resolve_doer: null,
      dependent_issue: refers.dependency === undefined ? null : (found.issues.get(refers.dependency) ?? null),
    };
    return [entry];
  });
}

/** Returns the body of an entry; tracked times are formatted as hours and minutes. */
function bodyOf({ type, body }: TimelineEntryRow): string {
  const isTime = ['add_time_manual', 'delete_time_manual', 'stop_tracking'].includes(type);
  return isTime && body.startsWith('|') ? durationInWords(Number(body.slice(1))) : body;
}

/** Formats a duration as hours and minutes, or as seconds if it is less than a minute. */
export function durationInWords(seconds: number): string {
  const count = (value: number, name: string) =>
    value > 0 ? [`${value} ${name}${value === 1 ? '' : 's'}`] : [];
  const words = [
    ...count(Math.floor(seconds / 3600), 'hour'),
    ...count(Math.floor(seconds / 60) % 60, 'minute'),
  ];
  return (words.length > 0 ? words : count(seconds, 'second')).join(' ');
}

function loadReferences(
  context: ForgeContext,
  entries: readonly Referring[],
  issue: IssueRow,
  place: IssuePlace,
) {
  const { db } = context;
  const idsOf = (...names: (keyof TimelineReferences)[]): number[] =>
    entries.flatMap(({ refers }) =>
      names.map((name) => refers[name]).filter((id): id is number => typeof id === 'number'),
    );
  const rowsOf = <Row extends { readonly id: number }>(
    table: string,
    ...names: (keyof TimelineReferences)[]
  ) => {
    const sql = `SELECT * FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`;
    const ids = idsOf(...names);
    const rows = ids.length === 0 ? [] : db.all<Row>(sql, JSON.stringify(ids));
    return new Map(rows.map((row) => [row.id, row]));
  };
  const posters = entries.map(({ row }) => row.poster_id);
  return {
    users: loadUsers(context, [...posters, ...idsOf('assignee')]),
    labels: rowsOf<LabelRow>('labels', 'label'),
    milestones: rowsOf<MilestoneRow>('milestones', 'milestone', 'oldMilestone'),
    teams: rowsOf<TeamRow>('teams', 'assigneeTeam'),
    times: toEntryTimes(context, [...rowsOf<TrackedTimeRow>('tracked_times', 'time').values()], issue, place),
    ...toOtherIssues(context, {
      issues: [...rowsOf<IssueRow>('issues', 'dependency', 'refIssue').values()],
      comments: [...rowsOf<CommentRow>('comments', 'refComment').values()],
      viewer: place.viewer,
    }),
  };
}

function toEntryTimes(
  context: ForgeContext,
  times: readonly TrackedTimeRow[],
  issue: IssueRow,
  place: IssuePlace,
) {
  const users = loadUsers(
    context,
    times.map(({ user_id }) => user_id),
  );
  const shape = times.length === 0 ? null : toIssue(context, issue, place);
  const shown = times.map((time) => ({
    id: time.id,
    created: toInstant(time.created_at),
    time: time.time,
    user_id: time.user_id,
    user_name: users.get(time.user_id)?.name ?? 'Ghost',
    issue_id: time.issue_id,
    issue: shape,
  }));
  return new Map(shown.map((time) => [time.id, time]));
}

/**
 * Returns the other issues to which entries refer, and comments on them. Gitea shows dependencies in every repository;
 * this forge hides those that the viewer cannot read.
 */
function toOtherIssues(
  context: ForgeContext,
  given: {
    readonly issues: readonly IssueRow[];
    readonly comments: readonly CommentRow[];
    readonly viewer: UserRow | undefined;
  },
) {
  const { issues, comments, viewer } = given;
  const homes = loadHomes(
    context,
    issues.map(({ repo_id }) => repo_id),
  );
  const readable = new Map(
    [...homes].filter(([, { repository, owner }]) => canSee(context.db, viewer, repository, owner)),
  );
  const shown = comments.flatMap((comment) => {
    const issue = issues.find(({ id }) => id === comment.issue_id);
    const home = issue && readable.get(issue.repo_id);
    return home ? [toComment(context, comment, issue, { ...home, viewer })] : [];
  });
  return {
    issues: toIssuesById(context, issues, { homes: readable, viewer }),
    hidden: new Set(issues.filter(({ repo_id }) => !readable.has(repo_id)).map(({ id }) => id)),
    comments: new Map(shown.map((comment) => [comment.id, comment])),
  };
}
