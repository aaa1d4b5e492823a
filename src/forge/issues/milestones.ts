import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { parseTimestamp, secondsOf, toEndOfDay } from '../platform/time.ts';
import { type MilestoneRow, toMilestone } from './milestones-rows.ts';

/** Returns a milestone by id, or by title if no id matches. */
function findMilestone({ context, repository, params }: MilestoneTarget): MilestoneRow {
  const { db } = context;
  const byId = 'SELECT * FROM milestones WHERE repo_id = ? AND id = ?';
  const byTitle = 'SELECT * FROM milestones WHERE repo_id = ? AND title = ? ORDER BY id LIMIT 1';
  const row =
    typeof params.id === 'number' ? db.get<MilestoneRow>(byId, repository.id, params.id) : undefined;
  return found(row ?? db.get<MilestoneRow>(byTitle, repository.id, String(params.id)));
}

type MilestoneTarget = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly id: number | string };
};

/** Trims white space as Go does: Unicode white space, including the no-break space. */
function trimTitle(title: string): string {
  const isSpace = (at: number): boolean => /^\p{White_Space}$/u.test(title.charAt(at));
  let [start, end] = [0, title.length];
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return title.slice(start, end);
}

/** Handlers for milestones. */
export const milestoneHandlers = defineHandlers({
  listMilestones({ context, query, repository, page, reply }) {
    const { db } = context;
    const conditions = ['repo_id = ?'];
    const values: (string | number)[] = [repository.id];
    if (query.state !== 'all') {
      conditions.push('is_closed = ?');
      values.push(query.state === 'closed' ? 1 : 0);
    }
    if (query.name) {
      conditions.push('instr(lower(title), lower(?)) > 0');
      values.push(query.name);
    }
    const where = conditions.join(' AND ');
    const sql = `SELECT count(*) AS count FROM milestones WHERE ${where}`;
    reply.total(db.get<{ count: number }>(sql, ...values)?.count ?? 0);
    const rows = db.all<MilestoneRow>(
      `SELECT * FROM milestones WHERE ${where} ORDER BY due_at, title, id LIMIT ? OFFSET ?`,
      ...values,
      page.limit,
      page.offset,
    );
    return rows.map(toMilestone);
  },

  createMilestone({ body, context, repository }) {
    const { db, clock } = context;
    const now = secondsOf(clock());
    const isClosed = body.state === 'closed';
    const { lastId } = db.run(
      `INSERT INTO milestones (repo_id, title, description, is_closed, due_at, closed_at, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      repository.id,
      trimTitle(body.title),
      body.description ?? '',
      isClosed,
      parseTimestamp(body.due_on) ?? 0,
      isClosed ? now : 0,
      now,
      now,
    );
    return toMilestone(found(db.get<MilestoneRow>('SELECT * FROM milestones WHERE id = ?', lastId)));
  },

  getMilestone: (call) => toMilestone(findMilestone(call)),

  editMilestone(call) {
    const { body, context } = call;
    const { db, clock } = context;
    const dueAt = toEndOfDay(parseTimestamp(body.due_on) ?? 0);
    return db.transaction(() => {
      const milestone = findMilestone(call);
      const isClosed = body.state === undefined ? milestone.is_closed === 1 : body.state === 'closed';
      const now = secondsOf(clock());
      const closedAt = milestone.is_closed === 1 ? milestone.closed_at : now;
      db.run(
        `UPDATE milestones SET title = ?, description = ?, is_closed = ?, due_at = ?, closed_at = ?, updated_at = ?
         WHERE id = ?`,
        body.title ? trimTitle(body.title) : milestone.title,
        body.description ?? milestone.description,
        isClosed,
        dueAt,
        isClosed ? closedAt : 0,
        now,
        milestone.id,
      );
      return toMilestone(found(db.get<MilestoneRow>('SELECT * FROM milestones WHERE id = ?', milestone.id)));
    });
  },

  deleteMilestone(call) {
    const { context } = call;
    context.db.run('DELETE FROM milestones WHERE id = ?', findMilestone(call).id);
    return undefined;
  },
});
