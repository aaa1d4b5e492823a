import { openDatabase } from '../../../src/forge/platform/database.ts';

/** How large a forge is made. */
export type Size = { readonly repositories: number; readonly issues: number; readonly hooks: number };

/**
 * Fills a forge's database with SQL alone: what is measured is asking, not making. Every row hangs on the accounts and
 * the repository that are there; issues and hooks are spread over the repositories.
 */
export function fillForge(file: string, size: Size): void {
  const db = openDatabase(file);
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)`;
  db.transaction(() => {
    db.run(
      `INSERT INTO repositories (owner_id, name, lower_name, created_at, updated_at)
       ${numbers} SELECT 1, 'filler-' || i, 'filler-' || i, 1700000000, 1700000000 FROM n`,
      size.repositories,
    );
    const first = db.get<{ id: number }>(`SELECT min(id) AS id FROM repositories WHERE name LIKE 'filler-%'`);
    const start = first?.id ?? 1;
    db.run(
      `INSERT INTO issues (repo_id, number, is_pull, poster_id, title, body, created_at, updated_at)
       ${numbers} SELECT CAST(? + (i % ?) AS INTEGER), CAST(1 + i / ? AS INTEGER), 0, 1, 'issue ' || i, 'text of issue ' || i, 1700000000 + i, 1700000000 + i
       FROM n`,
      size.issues,
      start,
      size.repositories,
      size.repositories,
    );
    db.run(
      `INSERT INTO labels (repo_id, name, color, created_at, updated_at)
       ${numbers} SELECT CAST(? + (i % ?) AS INTEGER), 'label-' || CAST(i / ? AS INTEGER), 'ffffff', 1700000000, 1700000000 FROM n`,
      size.repositories * 3,
      start,
      size.repositories,
      size.repositories,
    );
    db.run(
      `INSERT INTO issue_labels (issue_id, label_id)
       SELECT i.id, (SELECT min(l.id) FROM labels l WHERE l.repo_id = i.repo_id) FROM issues i
       WHERE i.title LIKE 'issue %' AND EXISTS (SELECT 1 FROM labels l WHERE l.repo_id = i.repo_id)`,
    );
    db.run(
      `INSERT INTO hooks (repo_id, type, url, content_type, events, is_active, created_at, updated_at)
       ${numbers} SELECT CAST(? + (i % ?) AS INTEGER), 'gitea', 'http://127.0.0.1:9/', 'json', '["push"]', 1, 1700000000, 1700000000 FROM n`,
      size.hooks,
      start,
      size.repositories,
    );
  });
  db.close();
}
