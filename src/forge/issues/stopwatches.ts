import { permissionOf, reaches } from '../platform/access/permissions.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, forbiddenInSilence } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { IssueRow, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { loadHomes } from './issues-rows.ts';
import { finishStopwatch, runningWatch, type StopwatchRow } from './stopwatches-service.ts';
import { recordEvent } from './timeline-rows.ts';
import { durationInWords } from './timeline-views.ts';
import { hasTracker } from './times-rows.ts';

type StopwatchPlace = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly params: { readonly index: number };
};

/**
 * Returns the issue whose time the caller tracks. Ends the request with a bare 403 if the caller has no write access or
 * time tracking is disabled.
 */
function findMeasured(place: StopwatchPlace): IssueRow {
  const issue = findIssue(place);
  if (!reaches(place.permission, 'write') || !hasTracker(place.repository)) throw forbiddenInSilence();
  return issue;
}

/** Handlers for stopwatches. An account has at most one: starting another stops it. They send no webhooks. */
export const stopwatchHandlers = defineHandlers({
  startStopwatch(call) {
    const { context, caller } = call;
    context.db.transaction(() => {
      const issue = findMeasured(call);
      const other = runningWatch(context, caller);
      if (other?.issue_id === issue.id)
        throw new ForgeProblem(409, 'cannot start a stopwatch again if it already exists');
      if (other) finishStopwatch(context, other, caller);
      const sql = 'INSERT INTO stopwatches (issue_id, user_id, created_at) VALUES (?, ?, ?)';
      context.db.run(sql, issue.id, caller.id, secondsOf(context.clock()));
      recordEvent(context, { issueId: issue.id, actor: caller }, { type: 'start_tracking' });
    });
    return undefined;
  },

  stopStopwatch(call) {
    const { context, caller } = call;
    context.db.transaction(() => {
      const issue = findMeasured(call);
      const watch = runningWatch(context, caller);
      if (watch?.issue_id !== issue.id) throw new ForgeProblem(409, 'cannot stop a non-existent stopwatch');
      finishStopwatch(context, watch, caller);
    });
    return undefined;
  },

  deleteStopwatch(call) {
    const { context, caller } = call;
    context.db.transaction(() => {
      const issue = findMeasured(call);
      const sql = 'DELETE FROM stopwatches WHERE user_id = ? AND issue_id = ?';
      const { changes } = context.db.run(sql, caller.id, issue.id);
      if (changes === 0) throw new ForgeProblem(409, 'cannot cancel a non-existent stopwatch');
      recordEvent(context, { issueId: issue.id, actor: caller }, { type: 'cancel_tracking' });
    });
    return undefined;
  },

  listStopwatches({ context, caller, page, reply }) {
    const { db } = context;
    const watches = db.all<StopwatchRow & Pick<IssueRow, 'repo_id' | 'number' | 'title' | 'is_pull'>>(
      `SELECT s.*, i.repo_id, i.number, i.title, i.is_pull FROM stopwatches s JOIN issues i ON i.id = s.issue_id
         WHERE s.user_id = ? ORDER BY s.id`,
      caller.id,
    );
    reply.total(watches.length);
    const homes = loadHomes(
      context,
      watches.map(({ repo_id }) => repo_id),
    );
    return watches.slice(page.offset, page.offset + page.limit).flatMap((watch) => {
      const home = homes.get(watch.repo_id);
      const unit = watch.is_pull ? 'pulls' : 'issues';
      // Issues that the caller can no longer read are counted but not shown.
      if (!home || permissionOf(db, caller, home.repository, home.owner, unit) === 'none') return [];
      const seconds = Math.max(0, secondsOf(context.clock()) - watch.created_at);
      const shape = {
        created: toInstant(watch.created_at),
        seconds,
        duration: durationInWords(seconds),
        issue_index: watch.number,
        issue_title: watch.title,
        repo_owner_name: home.owner.name,
        repo_name: home.repository.name,
      };
      return [shape];
    });
  },
});
