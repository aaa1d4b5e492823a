import type { Operation } from '../../../contract/operation.ts';
import type { Database } from '../database.ts';
import { ForgeProblem } from '../errors.ts';
import type { IssueRow, Permission, RepositoryRow, UserRow } from '../rows.ts';

/** A part of a repository with its own access level. */
export type Unit = 'code' | 'issues' | 'pulls' | 'wiki' | 'releases';
const units: readonly Unit[] = ['code', 'issues', 'pulls', 'wiki', 'releases'];

/** Every unit name in a team's `units` and `units_map`, in Gitea's order. */
export const unitNames = [
  'repo.code',
  'repo.issues',
  'repo.pulls',
  'repo.releases',
  'repo.wiki',
  'repo.ext_wiki',
  'repo.ext_issues',
  'repo.projects',
  'repo.packages',
  'repo.actions',
] as const;

/**
 * Returns the unit whose permission applies to a repository operation; undefined if the permission for the whole
 * repository applies. `isPull`: the number in the path is a pull request's.
 */
export function unitOf({ target }: Operation, isPull: boolean): Unit | undefined {
  if (target === 'issues-or-pulls') return isPull ? 'pulls' : 'issues';
  return units.find((unit) => unit === target);
}

const ladder: readonly Permission[] = ['none', 'read', 'write', 'admin', 'owner'];

/** Returns whether a held permission includes a needed one. */
export function reaches(held: Permission, needed: Permission): boolean {
  return ladder.indexOf(held) >= ladder.indexOf(needed);
}

const rank = (column: string) =>
  `CASE ${column} WHEN 'read' THEN 1 WHEN 'write' THEN 2 WHEN 'admin' THEN 3 WHEN 'owner' THEN 4 ELSE 0 END`;

/** A team with administrator access has the rights of an owner, as in Gitea. */
const ofTeam = (rest: string) => `CASE WHEN t.permission IN ('admin', 'owner') THEN 4 ELSE ${rest} END`;
/** A team without per-unit permissions has the team's permission in every unit. */
const inUnit = `CASE WHEN t.units_map = '{}' THEN ${rank('t.permission')}
  ELSE ${rank(`json_extract(t.units_map, '$."repo.' || :unit || '"')`)} END`;
const inAnyUnit = `CASE WHEN EXISTS (SELECT 1 FROM json_each(t.units_map) WHERE value <> 'none') THEN 1
  ELSE ${rank('t.permission')} END`;

const ranksOfMember = /* sql */ `
SELECT coalesce(max(whole), 0) AS whole, coalesce(max(unit), 0) AS unit, coalesce(max(any_unit), 0) AS any_unit,
  coalesce(max(stated), 0) AS stated FROM (
  SELECT ${rank('permission')} AS whole, ${rank('permission')} AS unit, ${rank('permission')} AS any_unit,
    ${rank('permission')} AS stated
  FROM collaborators WHERE repo_id = :repository AND user_id = :user
  UNION ALL
  SELECT ${ofTeam(rank('t.permission'))}, ${ofTeam(inUnit)}, ${ofTeam(inAnyUnit)}, ${ofTeam('0')}
  FROM team_members m JOIN teams t ON t.id = m.team_id
  WHERE m.user_id = :user AND m.org_id = :owner AND (t.includes_all_repositories = 1
    OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = :repository))
)`
  .replaceAll(':repository', '?1')
  .replaceAll(':user', '?2')
  .replaceAll(':owner', '?3')
  .replaceAll(':unit', '?4');

type Ranks = {
  readonly whole: number;
  readonly unit: number;
  readonly any_unit: number;
  readonly stated: number;
};

/**
 * Returns an account's permission for a repository, or for one unit of it; `undefined` means an anonymous caller. An
 * administrator of the repository is an administrator of every unit.
 */
export function permissionOf(
  db: Database,
  user: UserRow | undefined,
  repository: RepositoryRow,
  owner: UserRow,
  unit?: Unit,
): Permission {
  return highest(db, { user, repository, owner, unit }, (row) => (unit ? row.unit : row.whole));
}

/**
 * Returns the permission that the forge states for an account: as in Gitea 1.27, teams without administrator access do
 * not count, although their members have access to units.
 */
export function statedPermissionOf(
  db: Database,
  user: UserRow,
  repository: RepositoryRow,
  owner: UserRow,
): Permission {
  return highest(db, { user, repository, owner }, ({ stated }) => stated);
}

type Place = {
  readonly user: UserRow | undefined;
  readonly repository: RepositoryRow;
  readonly owner: UserRow;
  readonly unit?: Unit | undefined;
};

function highest(
  db: Database,
  { user, repository, owner, unit }: Place,
  rankIn: (row: Ranks) => number,
): Permission {
  if (user?.is_public_only && !isPublic(repository, owner)) return 'none';
  if (user && (user.is_admin || user.id === owner.id)) return 'owner';
  const open = isReadableByAll(db, user, repository, owner);
  if (!user) return open ? 'read' : 'none';
  const row = db.get<Ranks>(ranksOfMember, repository.id, user.id, owner.id, unit ?? '');
  const granted = (row && ladder[rankIn(row)]) ?? 'none';
  return granted === 'none' && open ? 'read' : granted;
}

/** Returns whether an account can read any part of a repository; for other accounts the repository does not exist. */
export function canSee(
  db: Database,
  user: UserRow | undefined,
  repository: RepositoryRow,
  owner: UserRow,
): boolean {
  if (user?.is_public_only && !isPublic(repository, owner)) return false;
  if (user && (user.is_admin || user.id === owner.id)) return true;
  if (isReadableByAll(db, user, repository, owner)) return true;
  if (!user) return false;
  const row = db.get<Ranks>(ranksOfMember, repository.id, user.id, owner.id, '');
  return row !== undefined && Math.max(row.whole, row.any_unit) > 0;
}

function isReadableByAll(
  db: Database,
  user: UserRow | undefined,
  repository: RepositoryRow,
  owner: UserRow,
): boolean {
  // A restricted account reads only what an anonymous caller reads. Source: forge `models/perm/access/access.go`.
  if (user?.is_restricted) return isPublic(repository, owner);
  return !repository.is_private && isVisible(db, owner, user);
}

/**
 * Returns whether a repository and its owner are both public. A token for public resources is limited to such
 * repositories.
 */
function isPublic(repository: RepositoryRow, owner: UserRow): boolean {
  return !repository.is_private && owner.visibility === 'public';
}

/** Returns whether an account or organization is visible to a caller. */
export function isVisible(db: Database, subject: UserRow, caller: UserRow | undefined): boolean {
  if (subject.visibility === 'public') return true;
  if (caller?.is_public_only) return caller.id === subject.id;
  if (!caller) return false;
  if (caller.is_admin || caller.id === subject.id) return true;
  if (subject.visibility === 'limited' && !caller.is_restricted) return true;
  return isOrganizationMember(db, subject, caller);
}

/** Returns whether a person is in any team of an organization. */
export function isOrganizationMember(db: Database, organization: UserRow, user: UserRow): boolean {
  const sql = 'SELECT 1 AS one FROM team_members WHERE user_id = ? AND org_id = ? LIMIT 1';
  return db.get(sql, user.id, organization.id) !== undefined;
}

/** Returns whether a person owns an organization, as a member of its Owners team or as a site administrator. */
export function isOrganizationOwner(db: Database, organization: UserRow, user: UserRow): boolean {
  if (user.is_admin) return true;
  const sql = `SELECT 1 AS one FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = ? AND m.org_id = ? AND t.permission = 'owner' LIMIT 1`;
  return db.get(sql, user.id, organization.id) !== undefined;
}

/**
 * Returns whether a person may create repositories in an organization, through one of their teams or as a site
 * administrator.
 */
export function canCreateRepositoryIn(db: Database, organization: UserRow, user: UserRow): boolean {
  if (user.is_admin) return true;
  const sql = `SELECT 1 AS one FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = ? AND m.org_id = ? AND (t.can_create_org_repo = 1 OR t.permission = 'owner') LIMIT 1`;
  return db.get(sql, user.id, organization.id) !== undefined;
}

/** SQL condition for public repositories of public owners; aliases as in `readableCondition`. */
export const publicRepositories = `(r.is_private = 0 AND o.visibility = 'public')`;

/**
 * Returns an SQL condition, with its parameters, for the repositories that a caller can read. The query must name the
 * repository `r` and its owner `o`.
 */
export function readableCondition(caller: UserRow | undefined): {
  readonly sql: string;
  readonly values: number[];
} {
  if (!caller) return { sql: publicRepositories, values: [] };
  if (caller.is_public_only) {
    const { sql, values } = readableCondition({ ...caller, is_public_only: undefined });
    return { sql: `(${publicRepositories} AND ${sql})`, values };
  }
  if (caller.is_admin) return { sql: '1', values: [] };
  const open = caller.is_restricted
    ? publicRepositories
    : `(r.is_private = 0 AND (o.visibility <> 'private' OR EXISTS (
        SELECT 1 FROM team_members v WHERE v.user_id = ? AND v.org_id = o.id)))`;
  const sql = `(${open} OR r.owner_id = ?
    OR EXISTS (SELECT 1 FROM collaborators c WHERE c.repo_id = r.id AND c.user_id = ?)
    OR EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
      WHERE m.user_id = ? AND m.org_id = r.owner_id AND (t.includes_all_repositories = 1
        OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = t.id AND x.repo_id = r.id))))`;
  const { id } = caller;
  return { sql, values: caller.is_restricted ? [id, id, id] : [id, id, id, id] };
}

/**
 * Returns whether any of the given accounts or organizations blocks an account; a site administrator is never blocked.
 */
export function isBlockedBy(db: Database, account: UserRow, blockerIds: readonly number[]): boolean {
  if (account.is_admin) return false;
  const sql =
    'SELECT 1 AS one FROM blocks WHERE blocked_id = ? AND blocker_id IN (SELECT value FROM json_each(?)) LIMIT 1';
  return db.get(sql, account.id, JSON.stringify(blockerIds)) !== undefined;
}

/** Ends the request with 403 if any of the given accounts or organizations blocks an account. */
export function requireUnblocked(db: Database, account: UserRow, blockerIds: readonly number[]): void {
  if (isBlockedBy(db, account, blockerIds)) throw new ForgeProblem(403, 'user is blocked');
}

type BlockScene = { readonly repository: RepositoryRow; readonly owner: UserRow; readonly actor: UserRow };

/**
 * Returns whether the author of an issue or the owner of its repository blocks an account. Always false for
 * administrators of the repository, who may write regardless.
 */
export function isBlockedIn(
  db: Database,
  { repository, owner, actor }: BlockScene,
  issue: Pick<IssueRow, 'poster_id'>,
): boolean {
  if (!isBlockedBy(db, actor, [issue.poster_id, repository.owner_id])) return false;
  return !reaches(permissionOf(db, actor, repository, owner), 'admin');
}

/** Ends the request with 403 if `isBlockedIn` returns true. */
export function requireUnblockedIn(
  db: Database,
  scene: BlockScene,
  issue: Pick<IssueRow, 'poster_id'>,
): void {
  if (isBlockedIn(db, scene, issue)) throw new ForgeProblem(403, 'user is blocked');
}
