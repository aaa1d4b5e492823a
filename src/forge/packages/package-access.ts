import type { Actor } from '../access/actor.ts';
import { isVisible, reaches } from '../access/permissions.ts';
import { isPublicOnly } from '../access/scopes.ts';
import type { Database } from '../core/database.ts';
import type { Permission, UserRow } from '../core/rows.ts';

type TeamAccess = { readonly permission: Permission; readonly unit: Permission | null };

/**
 * Returns what a caller may do with the packages of an account. Those of an organization are for its teams: with the access of
 * the team, or of its unit of packages; everybody who sees an account may read them.
 */
function packageAccess(db: Database, owner: UserRow, user: UserRow | undefined): Permission {
  if (user?.is_admin || user?.id === owner.id) return 'owner';
  const open: Permission = isVisible(db, owner, user) ? 'read' : 'none';
  if (owner.type !== 'organization') return openToAll(owner, user) ? 'read' : 'none';
  if (!user) return open;
  const teams = db.all<TeamAccess>(
    `SELECT t.permission, json_extract(t.units_map, '$."repo.packages"') AS unit
     FROM team_members m JOIN teams t ON t.id = m.team_id WHERE m.user_id = ? AND m.org_id = ?`,
    user.id,
    owner.id,
  );
  const held = teams.flatMap(({ permission, unit }) => [permission, unit ?? 'none']);
  const levels = ['owner', 'admin', 'write', 'read'] as const;
  return levels.find((level) => held.some((one) => reaches(one, level))) ?? open;
}

/** Packages of a person with a private account are for that person alone, even if others see the account. */
function openToAll(owner: UserRow, user: UserRow | undefined): boolean {
  return owner.visibility === 'public' || (owner.visibility === 'limited' && user !== undefined);
}

/** Returns whether a caller may do this with the packages of an account, also with a token for public resources. */
export function mayUsePackages(db: Database, owner: UserRow, actor: Actor, level: 'read' | 'write'): boolean {
  if (isPublicOnly(actor.scopes) && owner.visibility !== 'public') return false;
  return reaches(packageAccess(db, owner, actor.user), level);
}
