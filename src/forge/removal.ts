import type { ForgeContext } from './context.ts';
import { announceRepository } from './new-repository.ts';
import type { RepositoryRow, UserRow } from './rows.ts';

/** Removes a repository with everything in it, and tells the hooks that are left. */
export function removeRepository(
  context: ForgeContext,
  news: { repository: RepositoryRow; owner: UserRow; actor: UserRow },
): void {
  const { repository } = news;
  context.db.transaction(() => {
    announceRepository(context, { ...news, action: 'deleted' });
    context.db.run('DELETE FROM repositories WHERE id = ?', repository.id);
    context.db.afterCommit(() => context.git.remove(repository.id));
  });
}
