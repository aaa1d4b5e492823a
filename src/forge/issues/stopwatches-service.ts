import type { ForgeContext } from '../platform/context.ts';
import type { Seconds, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { recordEvent } from './timeline-rows.ts';

export type StopwatchRow = {
  readonly id: number;
  readonly issue_id: number;
  readonly user_id: number;
  readonly created_at: Seconds;
};

export function runningWatch({ db }: ForgeContext, user: UserRow): StopwatchRow | undefined {
  return db.get<StopwatchRow>('SELECT * FROM stopwatches WHERE user_id = ?', user.id);
}

/** Removes a stopwatch and adds its time to the issue. */
export function finishStopwatch(context: ForgeContext, watch: StopwatchRow, user: UserRow): void {
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

/** Stops the account's stopwatch if it is running for an issue that is being closed. */
export function stopWithIssue(context: ForgeContext, issueId: number, user: UserRow): void {
  const watch = runningWatch(context, user);
  if (watch?.issue_id === issueId) finishStopwatch(context, watch, user);
}
