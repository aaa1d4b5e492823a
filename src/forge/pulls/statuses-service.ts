import type { Database } from '../platform/database.ts';
import type { Seconds } from '../platform/rows.ts';

/** A commit status reported by a check. */
export type StatusRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly sha: string;
  /** Sequence number within the commit, used as the API's id. */
  readonly number: number;
  /** The state as reported, not validated. */
  readonly state: string;
  readonly target_url: string;
  readonly description: string;
  readonly context: string;
  readonly creator_id: number;
  readonly created_at: Seconds;
};

const newest = /* sql */ `
SELECT max(number) FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2 GROUP BY context ORDER BY max(number) DESC`;

/**
 * Returns the newest status of each context of a commit. `page` selects a page of them, ordered by age; without it, all
 * are returned.
 */
export function latestStatuses(
  db: Database,
  repositoryId: number,
  sha: string,
  page: { readonly limit: number; readonly offset: number } = { limit: -1, offset: 0 },
): readonly StatusRow[] {
  return db.all<StatusRow>(
    `SELECT * FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2 AND number IN (${newest} LIMIT ?3 OFFSET ?4)
     ORDER BY id`,
    repositoryId,
    sha,
    page.limit,
    page.offset,
  );
}

/** Returns the combined state: `failure` if any status failed, `success` if all passed, otherwise `pending`. */
export function combineStates(states: readonly string[]): 'failure' | 'success' | 'pending' {
  if (states.some((state) => ['error', 'failure', 'warning'].includes(state))) return 'failure';
  const passed = states.filter((state) => state === 'success' || state === 'skipped');
  return states.length > 0 && passed.length === states.length ? 'success' : 'pending';
}
