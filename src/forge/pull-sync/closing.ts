import type { ForgeContext } from '../core/context.ts';
import type { PullRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { numberedContent, recordActivity } from '../events/activities.ts';
import { emitPull, type PullContext } from '../events/pull-events.ts';
import { recordEvent } from '../events/timeline.ts';
import { notifyActivity } from '../notify/threads.ts';
import { isBlocked } from '../protections/blockers.ts';

/** Closes a pull request because a branch of it is gone, and tells; one that waits for an open issue stays open. */
export function closePull(context: ForgeContext, place: PullContext, pull: PullRow): void {
  context.db.transaction(() => {
    if (isBlocked(context, place.repository, pull.issue_id)) return;
    closeIssue(context, pull);
    recordEvent(context, { issueId: pull.issue_id, actor: place.actor }, { type: 'close' });
    const told = {
      repositoryId: pull.repo_id,
      actorId: place.actor.id,
      content: numberedContent(pull.number, ''),
    };
    recordActivity(context, { ...told, type: 'close_pull_request' });
    emitClosed(context, place, pull);
  });
}

/** Records that a pull request is merged; `emitClosed` is for afterwards. */
export function markMerged(
  context: ForgeContext,
  pull: PullRow,
  merge: { readonly commit: string; readonly base: string; readonly merger: UserRow },
): void {
  context.db.transaction(() => {
    context.db.run(
      'UPDATE pulls SET is_merged = 1, merged_commit_sha = ?, merged_at = ?, merger_id = ?, base_sha = ? WHERE id = ?',
      merge.commit,
      secondsOf(context.clock()),
      merge.merger.id,
      merge.base,
      pull.id,
    );
    closeIssue(context, pull);
    recordEvent(context, { issueId: pull.issue_id, actor: merge.merger }, { type: 'merge_pull' });
    const issue = context.db.get<{ title: string }>('SELECT title FROM issues WHERE id = ?', pull.issue_id);
    recordActivity(context, {
      repositoryId: pull.repo_id,
      actorId: merge.merger.id,
      type: 'merge_pull_request',
      content: `${pull.number}|${issue?.title ?? ''}`,
    });
  });
}

function closeIssue({ db, clock }: ForgeContext, pull: PullRow): void {
  const now = secondsOf(clock());
  db.run(
    'UPDATE issues SET is_closed = 1, closed_at = ?, updated_at = ? WHERE id = ?',
    now,
    now,
    pull.issue_id,
  );
}

/** Sends events and notifications that a pull request is closed, merged or not. */
export function emitClosed(context: ForgeContext, place: PullContext, pull: PullRow): void {
  emitPull(context, place, pull.issue_id, { type: 'pull_request', action: 'closed' });
  notifyActivity(context, { ...place, issueId: pull.issue_id });
}
