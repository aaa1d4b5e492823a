import { settingsOf } from '../platform/repository-settings.ts';
import type { Bit, RepositoryRow, Seconds } from '../platform/rows.ts';

/** Time tracked on an issue; a deleted entry is kept, marked as deleted. */
export type TrackedTimeRow = {
  readonly id: number;
  readonly issue_id: number;
  readonly repo_id: number;
  readonly user_id: number;
  /** Duration in seconds. */
  readonly time: number;
  readonly is_deleted: Bit;
  readonly created_at: Seconds;
};

/** Returns whether time is tracked in a repository; without an internal issue tracker, the default (true) applies. */
export function hasTracker(repository: RepositoryRow): boolean {
  const { has_issues, external_tracker, internal_tracker } = settingsOf(repository);
  return !has_issues || external_tracker !== undefined || internal_tracker.enable_time_tracker !== false;
}
