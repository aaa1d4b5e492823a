import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { settingsOf } from '../core/repository-settings.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';

type PullBase = Pick<RepositoryTarget, 'repository' | 'owner'>;

/** The repository that a fork was made of, where it takes pull requests; else the repository itself, where that does. */
export function findPullBase({ db }: ForgeContext, own: PullBase): PullBase | undefined {
  const source = db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', own.repository.fork_id);
  const owner = source && db.get<UserRow>('SELECT * FROM users WHERE id = ?', source.owner_id);
  if (source && owner && settingsOf(source).has_pull_requests) return { repository: source, owner };
  return settingsOf(own.repository).has_pull_requests ? own : undefined;
}
