import { findIssue } from '../access/find-issue.ts';
import { permissionOf, reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, forbiddenInSilence } from '../core/errors.ts';
import type { IssueRow } from '../core/issue-rows.ts';
import type { Seconds, UserRow } from '../core/rows.ts';
import { secondsOf, toInstant } from '../core/time.ts';
import { recordEvent } from '../events/timeline.ts';
import { defineHandlers } from '../http/handler.ts';
import { loadHomes } from '../views/issue-lists.ts';
import { durationInWords } from '../views/timeline.ts';
import { hasTracker } from './trackers.ts';

type StopwatchRow = {
  readonly id: number;
  readonly issue_id: number;
  readonly user_id: number;
  readonly created_at: Seconds;
};

type StopwatchPlace = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly params: { readonly index: number };
};

/** Returns the issue whose time a writer measures; a bare 403 for all others, and where no time is tracked. */
function findMeasured(place: StopwatchPlace): IssueRow {
  const issue = findIssue(place);
  if (!reaches(place.permission, 'write') || !hasTracker(place.repository)) throw forbiddenInSilence();
  return issue;
}

function runningWatch({ db }: ForgeContext, user: UserRow): StopwatchRow | undefined {
  return db.get<StopwatchRow>('SELECT * FROM stopwatches WHERE user_id = ?', user.id);
}

/** Removes a stopwatch and adds its time to the issue that it ran for. */
function finishStopwatch(context: ForgeContext, watch: StopwatchRow, user: UserRow): void {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const seconds = Math.max(0, now - watch.created_at);
  const { lastId } = db.run(
    `INSERT INTO tracked_times (issue_id, repo_id, user_id, time, created_at)
       SELECT id, repo_id, ?, ?, ? FROM issues WHERE id = ?`,
    user.id,
    seconds,
    now,
    watch.issue_id,
  );
  const event = { type: 'stop_tracking', body: `|${seconds}`, refers: { time: lastId } };
  recordEvent(context, { issueId: watch.issue_id, actor: user }, event);
  db.run('DELETE FROM stopwatches WHERE id = ?', watch.id);
}

/** Ends the stopwatch that an account runs for an issue, if it does: the issue is closed. */
export function stopWithIssue(context: ForgeContext, issueId: number, user: UserRow): void {
  const watch = runningWatch(context, user);
  if (watch?.issue_id === issueId) finishStopwatch(context, watch, user);
}

/** Handlers for stopwatches. An account has one at most: starting another one ends it. Hooks hear nothing of them. */
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
      // What the caller can no longer read is counted and not shown.
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
