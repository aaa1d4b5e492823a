import type { ForgeContext } from './context.ts';
import type { Database } from './database.ts';

/** Work that changes both git and the database. No transaction spans the two: a process may die in between. */
export type JournaledWork = 'creating' | 'pushing';

/** Records that work on a repository begins; returns the id for `endWork`. */
export function beginWork(db: Database, repositoryId: number, work: JournaledWork): number {
  return db.run('INSERT INTO unfinished (repo_id, work) VALUES (?, ?)', repositoryId, work).lastId;
}

/** Records that work has ended, successfully or not. */
export function endWork(db: Database, id: number): void {
  db.run('DELETE FROM unfinished WHERE id = ?', id);
}

/** Records that a repository has been created, including its folder. */
export function endCreation(db: Database, repositoryId: number): void {
  db.run(`DELETE FROM unfinished WHERE repo_id = ? AND work = 'creating'`, repositoryId);
}

/** Removes the folders of repositories whose rows have been deleted; a trigger records their ids. */
export async function sweepFolders({ db, git }: Pick<ForgeContext, 'db' | 'git'>): Promise<void> {
  const sql = 'SELECT repo_id FROM folder_trash WHERE repo_id NOT IN (SELECT id FROM repositories)';
  for (const { repo_id } of db.all<{ repo_id: number }>(sql)) {
    await git.remove(repo_id);
    db.run('DELETE FROM folder_trash WHERE repo_id = ?', repo_id);
  }
}
