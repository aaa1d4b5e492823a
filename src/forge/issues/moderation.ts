import { findIssue } from '../access/find-issue.ts';
import { reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { parseTimestamp, toEndOfDay, toInstant } from '../core/time.ts';
import { emitIssue } from '../events/issue-events.ts';
import { recordEvent } from '../events/timeline.ts';
import { defineHandlers } from '../http/handler.ts';
import { toIssues } from '../views/issue.ts';
import { changeDueDate, touchIssue } from './changes.ts';

/** Pinned issues, and pinned pull requests, of one repository at most. */
export const maxPinned = 3;

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

/** Handlers for what administrators do to the course of an issue. Of all this hooks hear of the removal alone. */
export const issueModerationHandlers = defineHandlers({
  deleteIssue(call) {
    const { context } = call;
    context.db.transaction(() => {
      const issue = findIssue(call);
      emitIssue(context, { ...call, actor: call.caller, issueId: issue.id }, { action: 'deleted' });
      // The counters of the repository follow changes of state, not removals.
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
    // Gitea tells of a due date that is taken away as of the first second there was.
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
