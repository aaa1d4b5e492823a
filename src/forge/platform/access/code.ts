import type { ForgeContext } from '../context.ts';
import type { Database } from '../database.ts';
import { ForgeProblem } from '../errors.ts';
import type { CopyPermit } from '../git/repository.ts';
import type { Permission, RepositoryRow, UserRow } from '../rows.ts';
import { permissionOf, reaches } from './permissions.ts';

/** An account by its id; a caller keeps the limit of a token for public resources. */
type Account = Pick<UserRow, 'id' | 'is_public_only'>;

/**
 * Returns what an account may do with the code of a repository now: both are read again. An account that is gone or must not sign
 * in may do what an anonymous caller may.
 */
export function codePermission(
  db: Database,
  account: Account | undefined,
  repositoryId: number | null,
): Permission {
  const repository = db.get<RepositoryRow>('SELECT * FROM repositories WHERE id = ?', repositoryId);
  const owner = repository && db.get<UserRow>('SELECT * FROM users WHERE id = ?', repository.owner_id);
  if (!repository || !owner) return 'none';
  // What is left of an account that is gone has a negative id.
  const row = account && db.get<UserRow>('SELECT * FROM users WHERE id = ? AND id > 0', account.id);
  const isUsable = row?.is_active === 1 && row.prohibit_login === 0;
  const user = isUsable ? { ...row, is_public_only: account?.is_public_only } : undefined;
  return permissionOf(db, user, repository, owner, 'code');
}

/** Returns whether an account may write the code of a repository now. */
export function mayWriteCode(
  db: Database,
  account: Account | undefined,
  repositoryId: number | null,
): boolean {
  return reaches(codePermission(db, account, repositoryId), 'write');
}

/** Returns whether an account may read the code of a repository now. */
export function mayReadCode(
  db: Database,
  account: Account | undefined,
  repositoryId: number | null,
): boolean {
  return reaches(codePermission(db, account, repositoryId), 'read');
}

/**
 * Allows code to be shown or copied outside of its repository for these accounts, if each of them may read it now; undefined
 * otherwise. Every function that takes objects from a repository to another place asks for what this returns.
 */
export function permitCopy(
  { db }: Pick<ForgeContext, 'db'>,
  accounts: readonly (Account | undefined)[],
  repositoryId: number,
): CopyPermit | undefined {
  const isAllowed = accounts.length > 0 && accounts.every((one) => mayReadCode(db, one, repositoryId));
  // The only place that makes one.
  return isAllowed ? ({ from: repositoryId } as CopyPermit) : undefined;
}

/** Returns the same, or ends the request as if the code were not there. */
export function requireCopy(
  context: Pick<ForgeContext, 'db'>,
  account: Account | undefined,
  repositoryId: number,
): CopyPermit {
  const permit = permitCopy(context, [account], repositoryId);
  if (!permit) throw new ForgeProblem(404, 'not found');
  return permit;
}
