import type { ForgeContext } from './context.ts';

/** Removes the folders of repositories whose rows are gone; a trigger notes them. */
export async function sweepFolders({ db, git }: Pick<ForgeContext, 'db' | 'git'>): Promise<void> {
  const sql = 'SELECT repo_id FROM folder_trash WHERE repo_id NOT IN (SELECT id FROM repositories)';
  for (const { repo_id } of db.all<{ repo_id: number }>(sql)) {
    await git.remove(repo_id);
    db.run('DELETE FROM folder_trash WHERE repo_id = ?', repo_id);
  }
}
