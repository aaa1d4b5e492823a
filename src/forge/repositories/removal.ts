import type { ForgeContext } from '../core/context.ts';
import { sweepFolders } from '../core/folder-trash.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { emitRepository } from './create.ts';

/** Removes a repository with everything in it, and tells the hooks that are left. */
export function removeRepository(
  context: ForgeContext,
  news: { repository: RepositoryRow; owner: UserRow; actor: UserRow },
): void {
  const { repository } = news;
  context.db.transaction(() => {
    emitRepository(context, { ...news, action: 'deleted' });
    context.db.run('DELETE FROM repositories WHERE id = ?', repository.id);
    context.db.afterCommit(() => {
      context.attachments.sweep();
      // Removing waits for git to let go of the folder; the forge waits for work in the background before it closes its database.
      context.background.add(() => sweepFolders(context));
    });
  });
}
