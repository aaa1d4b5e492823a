import { openDatabase } from '../../../src/forge/platform/database.ts';

/** How much there is to sweep over. */
export type Size = {
  readonly repositories: number;
  readonly notifications: number;
  readonly runners: number;
};

/**
 * Fills the database of a forge that does not run: repositories that the first account owns and has starred, each with
 * the tag protection that the rule wants; unread notifications of open issues; runners of the account, all online. With
 * SQL alone: what is measured is asking, not making.
 */
export function fillForSweeps(file: string, size: Size): void {
  const db = openDatabase(file);
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
  const at = '1700000000';
  db.transaction(() => {
    db.run(
      `INSERT INTO repositories (owner_id, name, lower_name, created_at, updated_at)
       ${numbers} SELECT 1, 'r' || i, 'r' || i, ${at}, ${at} FROM n`,
      size.repositories,
    );
    db.run(`INSERT INTO stars (user_id, repo_id, created_at) SELECT 1, id, ${at} FROM repositories`);
    db.run(
      `INSERT INTO tag_protections (repo_id, name_pattern, created_at, updated_at)
       SELECT id, 'v*', ${at}, ${at} FROM repositories`,
    );
    db.run(
      `INSERT INTO issues (repo_id, number, is_pull, poster_id, title, body, created_at, updated_at)
       ${numbers} SELECT (SELECT min(id) FROM repositories), i, 0, 1, 'issue ' || i, '', ${at} + i, ${at} + i FROM n`,
      size.notifications,
    );
    db.run(
      `INSERT INTO notifications (user_id, repo_id, source, issue_id, created_at, updated_at)
       SELECT 1, repo_id, 'issue', id, created_at, updated_at FROM issues`,
    );
    db.run(
      `INSERT INTO runners (owner_id, name, last_online_at, created_at)
       ${numbers} SELECT 1, 'runner ' || i, 253402300799, ${at} FROM n`,
      size.runners,
    );
  });
  db.close();
}
