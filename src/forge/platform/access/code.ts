import type { ForgeContext } from '../context.ts';
import type { Database } from '../database.ts';
import { ForgeProblem } from '../errors.ts';
import type { CopyPermit } from '../git/repository.ts';
import type { Permission, RepositoryRow, UserRow } from '../rows.ts';
import { permissionOf, reaches } from './permissions.ts';

/**
 * An account by its id. For the caller's account, `is_public_only` keeps the token's restriction to public resources.
 */
type Account = Pick<UserRow, 'id' | 'is_public_only'>;

/**
 * Returns an account's current permission for the code of a repository, after reading account and repository again. A
 * deleted account, or one that may not sign in, has the permission of an anonymous caller.
 */
export function codePermission(
  db: Database,
  account: Account | undefined,
  repositoryId: number | null,
): Permission {
  const repository = db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repositoryId);
  const owner = repository && db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  if (!repository || !owner) return 'none';
  // The placeholder of deleted accounts has a negative id.
  const row = account && db.get<UserRow>('SELECT * FROM users WHERE id = ? AND id > 0', account.id);
  const isUsable = row?.is_active === 1 && row.prohibit_login === 0;
  const user = isUsable ? { ...row, is_public_only: account?.is_public_only } : undefined;
  return permissionOf(db, user, repository, owner, 'code');
}

/** Returns whether an account may currently write the code of a repository. */
export function mayWriteCode(
  db: Database,
  account: Account | undefined,
  repositoryId: number | null,
): boolean {
  return reaches(codePermission(db, account, repositoryId), 'write');
}

/** Returns whether an account may currently read the code of a repository. */
export function mayReadCode(
  db: Database,
  account: Account | undefined,
  repositoryId: number | null,
): boolean {
  return reaches(codePermission(db, account, repositoryId), 'read');
}

/**
 * Returns a permit to show the code of a repository to these accounts elsewhere, or to copy it to another repository,
 * if each account may currently read the code; undefined otherwise. Every function that takes objects from one
 * repository to another requires this permit.
 */
export function permitCopy(
  { db }: Pick<ForgeContext, 'db'>,
  accounts: readonly (Account | undefined)[],
  repositoryId: number,
): CopyPermit | undefined {
  const isAllowed = accounts.length > 0 && accounts.every((one) => mayReadCode(db, one, repositoryId));
  // The only place that creates a permit.
  return isAllowed ? ({ from: repositoryId } as CopyPermit) : undefined;
}

/** Returns the permit of `permitCopy` for one account, or ends the request as if the code did not exist. */
export function requireCopy(
  context: Pick<ForgeContext, 'db'>,
  account: Account | undefined,
  repositoryId: number,
): CopyPermit {
  const permit = permitCopy(context, [account], repositoryId);
  if (!permit) throw new ForgeProblem(404, 'not found');
  return permit;
}
