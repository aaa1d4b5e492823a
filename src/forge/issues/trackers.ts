import { settingsOf } from '../core/repository-settings.ts';
import type { RepositoryRow } from '../core/rows.ts';

/** Returns whether time is tracked in a repository. Without issues of its own it keeps the default: it is. */
export function hasTracker(repository: RepositoryRow): boolean {
  const { has_issues, external_tracker, internal_tracker } = settingsOf(repository);
  return !has_issues || external_tracker !== undefined || internal_tracker.enable_time_tracker !== false;
}
