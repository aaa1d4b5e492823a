import { found } from './errors.ts';
import { defineHandlers } from './handler.ts';
import { parseInstant, secondsOf } from './instants.ts';
import { toMilestone } from './resources/milestone.ts';
import type { MilestoneRow } from './rows.ts';

/** What answers for milestones. */
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
      `SELECT * FROM milestones WHERE ${where} ORDER BY due_at = 0, due_at, title, id LIMIT ? OFFSET ?`,
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
      body.title,
      body.description ?? '',
      isClosed,
      parseInstant(body.due_on) ?? 0,
      isClosed ? now : 0,
      now,
      now,
    );
    return toMilestone(found(db.get<MilestoneRow>('SELECT * FROM milestones WHERE id = ?', lastId)));
  },
});
