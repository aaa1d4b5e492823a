import type { Database } from './database.ts';
import { found } from './errors.ts';

/**
 * Takes the next id of the comments: reviews, their comments and the entries of the timeline
 * are counted with the comments of issues.
 */
export function takeCommentId(db: Database): number {
  db.run(
    `INSERT INTO sqlite_sequence (name, seq) SELECT 'comments', 0
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'comments')`,
  );
  const sql = `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'comments' RETURNING seq`;
  return found(db.get<{ seq: number }>(sql)).seq;
}
