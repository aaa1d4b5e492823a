import { type FoundPull, findPull } from '../access/find-issue.ts';
import { permissionOf } from '../access/permissions.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { PullRow } from '../core/issue-rows.ts';
import { settingsOf } from '../core/repository-settings.ts';
import type { RepositoryRow, Seconds, UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { recordEvent } from '../events/timeline.ts';
import { defineHandlers } from '../http/handler.ts';
import { markIssueRead } from '../notify/threads.ts';
import { refuseBlocked } from '../protections/blockers.ts';
import { guardMerger } from '../protections/merge-enforcement.ts';
import { checkPull } from '../pull-sync/checks.ts';
import {
  guardMerge,
  type MergeOptions,
  type MergeTarget,
  mergeMessage,
  performMerge,
  readMerge,
} from './merge.ts';
import type { MergeStyle } from './merge-commits.ts';

/** A merge that waits for the conditions of its pull request. */
type ScheduledMergeRow = {
  readonly pull_id: number;
  readonly doer_id: number;
  readonly style: MergeStyle;
  readonly message: string;
  readonly deletes_branch: number;
  readonly created_at: Seconds;
};

const scheduledOf = (context: ForgeContext, pullId: number) =>
  context.db.get<ScheduledMergeRow>('SELECT * FROM scheduled_merges WHERE pull_id = ?', pullId);

/**
 * Merges a pull request as soon as its conditions are met, soon if they are already. What no check changes is refused as for a
 * merge: the permission, drafts, conflicts, open dependencies.
 */
export async function scheduleMerge(
  place: MergeTarget,
  number: number,
  style: MergeStyle,
  wish: MergeOptions,
): Promise<void> {
  const { context, repository, caller } = place;
  const { pull: before } = findPull(context, place, number);
  if (before.status === 'checking') await checkPull(context, before.id);
  context.db.transaction(() => {
    const both = guardMerge(place, number, style);
    const { pull, issue } = both;
    if (pull.status === 'conflict') throw new ForgeProblem(405, 'Please try again later');
    refuseBlocked(context, repository, issue.id);
    if (scheduledOf(context, pull.id)) {
      const text = `pull request is already scheduled to auto merge when checks succeed [pull_id: ${pull.id}]`;
      throw new ForgeProblem(409, text);
    }
    const deletesBranch =
      wish.delete_branch_after_merge ?? settingsOf(repository).default_delete_branch_after_merge === true;
    context.db.run(
      `INSERT INTO scheduled_merges (pull_id, doer_id, style, message, deletes_branch, created_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
      pull.id,
      caller.id,
      style,
      mergeMessage(both, style, wish),
      deletesBranch,
      secondsOf(context.clock()),
    );
    recordEvent(context, { issueId: issue.id, actor: caller }, { type: 'pull_scheduled_merge' });
  });
  context.wakeMerges(repository.id);
}

/** The pull request of a scheduled merge, as its doer may see it now; undefined where something of it is gone. */
function findWaiting(context: ForgeContext, pullId: number) {
  const { db } = context;
  const row = scheduledOf(context, pullId);
  const pull = row && db.get<PullRow>('SELECT * FROM pulls WHERE id = ?', pullId);
  const repository = pull && db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', pull.repo_id);
  const owner = repository && db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  const caller = row && db.get<UserRow>('SELECT * FROM users WHERE id = ?', row.doer_id);
  if (!owner || !caller || repository.archived_at > 0) return undefined;
  if (caller.is_active === 0 || caller.prohibit_login === 1) return undefined;
  const permission = permissionOf(db, caller, repository, owner, 'pulls');
  return { row, pull, place: { context, repository, owner, caller, permission } };
}

/** Merges a pull request if its conditions are met now; leaves it scheduled if not. */
async function tryMerge(context: ForgeContext, pullId: number): Promise<void> {
  const before = findWaiting(context, pullId);
  if (before?.pull.status === 'checking') await checkPull(context, pullId);
  const waiting = findWaiting(context, pullId);
  if (!waiting) return;
  const { row, pull, place } = waiting;
  const wish = { message: row.message, delete_branch_after_merge: row.deletes_branch === 1 };
  try {
    await performMerge(place, pull.number, row.style, wish);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    context.log.debug({ pull: pullId, reason: error.message }, 'a scheduled merge waits');
  }
}

/** Looks, in the background, whether merges of a repository that wait can happen now. */
export function tryScheduledMerges(context: ForgeContext, repositoryId: number): void {
  const sql = `SELECT s.pull_id FROM pulls p JOIN scheduled_merges s ON s.pull_id = p.id WHERE p.repo_id = ? ORDER BY p.id`;
  for (const { pull_id } of context.db.all<{ pull_id: number }>(sql, repositoryId))
    context.background.add(() => tryMerge(context, pull_id));
}

/** Looks at the merges of all repositories: their conditions may have been met while the forge was stopped. */
export function resumeScheduledMerges(context: ForgeContext): void {
  const sql = 'SELECT DISTINCT p.repo_id FROM scheduled_merges s JOIN pulls p ON p.id = s.pull_id';
  for (const { repo_id } of context.db.all<{ repo_id: number }>(sql)) tryScheduledMerges(context, repo_id);
}

/** Who scheduled a merge may cancel it, and all who may merge. */
function guardCancel(place: MergeTarget, { pull }: FoundPull, row: ScheduledMergeRow): void {
  if (place.caller.id === row.doer_id) return;
  try {
    guardMerger({ ...place, db: place.context.db }, place.caller, pull.base_branch);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    throw new ForgeProblem(403, 'user has no permission to cancel the scheduled auto merge');
  }
}

/** Handlers for scheduled merges; `mergePull` schedules them. */
export const scheduledMergeHandlers = defineHandlers({
  cancelScheduledMerge(call) {
    const { context, caller, params } = call;
    context.db.transaction(() => {
      const both = findPull(context, call, params.index);
      const row = scheduledOf(context, both.pull.id);
      if (!row) throw new ForgeProblem(404, 'not found');
      guardCancel(call, both, row);
      context.db.run('DELETE FROM scheduled_merges WHERE pull_id = ?', both.pull.id);
      const event = { type: 'pull_cancel_scheduled_merge' };
      recordEvent(context, { issueId: both.issue.id, actor: caller }, event);
    });
    return undefined;
  },

  async mergePull({ params, body, reply, ...place }) {
    const { style, wish } = readMerge(body);
    const { issue } = findPull(place.context, place, params.index);
    markIssueRead(place.context, place.caller.id, issue.id);
    if (!body.merge_when_checks_succeed || style === 'manually-merged')
      return await performMerge(place, params.index, style, wish);
    await scheduleMerge(place, params.index, style, wish);
    reply.status(201);
    return undefined;
  },
});
