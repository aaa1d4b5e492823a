import { posix } from 'node:path';
import type { ForgeContext } from '../core/context.ts';
import type { Database } from '../core/database.ts';
import { secondsOf, toInstant } from '../core/time.ts';

/** A path that one account works on, with the name of that account; null where it is gone. */
export type LfsLockRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly owner_id: number | null;
  readonly path: string;
  readonly created_at: number;
  readonly owner: string | null;
};

const locks = /* sql */ `
SELECT l.id, l.repo_id, l.owner_id, l.path, l.created_at, u.name AS owner FROM lfs_locks l LEFT JOIN users u ON u.id = l.owner_id`;

/** Returns a lock as the API of Git LFS shows it. */
export function toLfsLock({ id, path, created_at, owner }: LfsLockRow) {
  return { id: String(id), path, locked_at: toInstant(created_at), owner: { name: owner ?? 'Ghost' } };
}

/** Returns a path below the root of a repository in its plain form. */
function cleanLockPath(path: string): string {
  return (
    posix
      .normalize(`/${path}`)
      .replace(/(?<=.)\/$/, '')
      .slice(1) || (path === '' ? '' : '.')
  );
}

/** Returns the locks of a repository, the oldest first; `limit` 0 means all. */
export function listLfsLocks(
  db: Database,
  repositoryId: number,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly LfsLockRow[] {
  return db.all<LfsLockRow>(
    `${locks} WHERE l.repo_id = ? ORDER BY l.id LIMIT ? OFFSET ?`,
    repositoryId,
    limit === 0 ? -1 : limit,
    offset,
  );
}

export function findLfsLock(db: Database, repositoryId: number, id: number): LfsLockRow | undefined {
  return db.get<LfsLockRow>(`${locks} WHERE l.repo_id = ? AND l.id = ?`, repositoryId, id);
}

/** Returns the lock of a path, whatever its case. */
export function findLfsLockOfPath(db: Database, repositoryId: number, path: string): LfsLockRow | undefined {
  const lower = cleanLockPath(path).toLowerCase();
  return db.get<LfsLockRow>(`${locks} WHERE l.repo_id = ? AND l.lower_path = ?`, repositoryId, lower);
}

/** Locks a path; returns the lock, and whether it is new. */
export function createLfsLock(
  { db, clock }: ForgeContext,
  wanted: { readonly repositoryId: number; readonly ownerId: number; readonly path: string },
): { readonly lock: LfsLockRow; readonly isNew: boolean } {
  const path = cleanLockPath(wanted.path);
  const { changes } = db.run(
    `INSERT INTO lfs_locks (repo_id, owner_id, path, lower_path, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (repo_id, lower_path) DO NOTHING`,
    wanted.repositoryId,
    wanted.ownerId,
    path,
    path.toLowerCase(),
    secondsOf(clock()),
  );
  const lock = findLfsLockOfPath(db, wanted.repositoryId, path);
  if (!lock) throw new TypeError('the lock that was inserted is not there');
  return { lock, isNew: changes === 1 };
}

export function deleteLfsLock(db: Database, id: number): void {
  db.run('DELETE FROM lfs_locks WHERE id = ?', id);
}
