import type { Database } from '../core/database.ts';
import type { RefChange } from '../git/refs.ts';

/** Returns whether a tag has a release, a draft too. */
export function hasRelease(db: Database, repositoryId: number, tag: string): boolean {
  const sql = 'SELECT 1 AS one FROM releases WHERE repo_id = ? AND lower_tag = ?';
  return db.get(sql, repositoryId, tag.toLowerCase()) !== undefined;
}

/** A release whose tag goes becomes a draft, and a draft whose tag is pushed is published; no event tells of either. */
export function followTag(db: Database, repositoryId: number, { ref, after }: RefChange): void {
  const tag = ref.replace(/^refs\/tags\//, '');
  const sql = 'UPDATE releases SET is_draft = ? WHERE repo_id = ? AND lower_tag = ?';
  db.run(sql, after === undefined, repositoryId, tag.toLowerCase());
}
