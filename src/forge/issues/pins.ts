import { findIssue } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { IssueRow } from '../platform/rows.ts';
import { toPull } from '../pulls/pulls-rows.ts';
import { maxPinned } from './issues-service.ts';

/** Handlers for pinned issues and pull requests, and their order. */
export const pinHandlers = defineHandlers({
  movePin(call) {
    const { context, params } = call;
    const to = params.position;
    context.db.transaction(() => {
      const issue = findIssue(call);
      // Gitea and Forgejo respond with 500 for a position below 1.
      if (to < 1) throw new ForgeProblem(422, "the position can't be lower than 1");
      const from = found(issue.pin_order > 0 ? issue.pin_order : undefined, 'the issue is not pinned');
      if (from === to) return;
      const [step, low, high] = from > to ? [1, to, from - 1] : [-1, from + 1, to];
      context.db.run(
        `UPDATE issues SET pin_order = pin_order + ?
         WHERE repo_id = ? AND is_pull = ? AND pin_order > 0 AND pin_order BETWEEN ? AND ?`,
        step,
        issue.repo_id,
        issue.is_pull,
        low,
        high,
      );
      context.db.run('UPDATE issues SET pin_order = ? WHERE id = ?', to, issue.id);
    });
    return undefined;
  },

  listPinnedPulls(call) {
    const { context, repository, caller } = call;
    if (repository.is_empty === 1) throw new ForgeProblem(404, 'not found');
    const rows = context.db.all<IssueRow>(
      'SELECT * FROM issues WHERE repo_id = ? AND is_pull = 1 AND pin_order > 0 ORDER BY pin_order',
      repository.id,
    );
    return rows.map((row) => toPull(context, row, { ...call, viewer: caller }));
  },

  getPinAllowance: ({ context, repository }) => ({
    issues: countPinned(context, repository.id, 0) < maxPinned,
    pull_requests: countPinned(context, repository.id, 1) < maxPinned,
  }),
});

function countPinned({ db }: ForgeContext, repositoryId: number, isPull: 0 | 1): number {
  const sql = 'SELECT count(*) AS count FROM issues WHERE repo_id = ? AND is_pull = ? AND pin_order > 0';
  return db.get<{ count: number }>(sql, repositoryId, isPull)?.count ?? 0;
}
