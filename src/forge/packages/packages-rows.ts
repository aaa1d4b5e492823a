import { loadUsers, toOrganization, toUser } from '../accounts/users-rows.ts';
import type { Actor } from '../platform/access/actor.ts';
import { isVisible, reaches } from '../platform/access/permissions.ts';
import { isPublicOnly } from '../platform/access/scopes.ts';
import type { ReceivedFile } from '../platform/attachment-store.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { Permission, Seconds, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';

/** A version with the name and type of its package. */
export type PackageVersionRow = {
  readonly id: number;
  readonly package_id: number;
  readonly type: string;
  readonly name: string;
  readonly lower_name: string;
  readonly version: string;
  readonly lower_version: string;
  readonly creator_id: number | null;
  readonly created_at: Seconds;
};

/** A file of a version; its bytes are in the attachment store under `uuid`. */
export type PackageFileRow = ReceivedFile & {
  readonly id: number;
  readonly uuid: string;
  readonly version_id: number;
  readonly name: string;
  readonly created_at: Seconds;
};

/** A package name and version from a path, in any letter case. */
export type PackageName = { readonly type: string; readonly name: string; readonly version: string };

export const versionColumns = 'v.*, p.type, p.name, p.lower_name';
export const versionTables = 'package_versions v JOIN packages p ON p.id = v.package_id';

/** Returns a version of a package of an account, or undefined. */
export function findVersion(
  db: Database,
  owner: UserRow,
  { type, name, version }: PackageName,
): PackageVersionRow | undefined {
  return db.get<PackageVersionRow>(
    `SELECT ${versionColumns} FROM ${versionTables}
     WHERE p.owner_id = ? AND p.type = ? AND p.lower_name = ? AND v.lower_version = ?`,
    owner.id,
    type,
    name.toLowerCase(),
    version.toLowerCase(),
  );
}

/** Returns the files of a version, sorted by name. */
export function packageFilesOf(db: Database, version: PackageVersionRow): readonly PackageFileRow[] {
  return db.all<PackageFileRow>(
    'SELECT * FROM package_files WHERE version_id = ? ORDER BY lower_name',
    version.id,
  );
}

export function findPackageFile(
  db: Database,
  version: PackageVersionRow,
  name: string,
): PackageFileRow | undefined {
  const sql = 'SELECT * FROM package_files WHERE version_id = ? AND lower_name = ?';
  return db.get<PackageFileRow>(sql, version.id, name.toLowerCase());
}

/** Returns versions of one account as the API shows them, in the given order. */
export function toPackages(
  context: ForgeContext,
  owner: UserRow,
  rows: readonly PackageVersionRow[],
  viewer: UserRow | undefined,
) {
  const creators = loadUsers(
    context,
    rows.flatMap(({ creator_id }) => creator_id ?? []),
  );
  return rows.map((row) => {
    const creator = row.creator_id === null ? undefined : creators.get(row.creator_id);
    const path = [row.type, row.lower_name, row.lower_version].map(encodeURIComponent).join('/');
    return {
      id: row.id,
      owner: toUser(context, owner, viewer),
      repository: null,
      creator: creator ? toUser(context, creator, viewer) : null,
      type: row.type,
      name: row.name,
      version: row.version,
      html_url: `${context.rootUrl()}/${owner.name}/-/packages/${path}`,
      created_at: toInstant(row.created_at),
    };
  });
}

type Package = { readonly owner: UserRow; readonly actor: UserRow };

/**
 * Adds a file to a version, creating the version if it does not exist. Ends the request with 409 if the file already
 * exists.
 */
export function insertFile(
  context: ForgeContext,
  { owner, actor }: Package,
  named: PackageName,
  file: ReceivedFile & { readonly uuid: string; readonly name: string },
): void {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const known = findVersion(db, owner, named);
  const version = known ?? insertVersion(db, { owner, actor }, named, now);
  if (findPackageFile(db, version, file.name)) throw new ForgeProblem(409, 'package file already exists');
  db.run(
    `INSERT INTO package_files (uuid, version_id, name, lower_name, size, md5, sha1, sha256, sha512, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    file.uuid,
    version.id,
    file.name,
    file.name.toLowerCase(),
    file.size,
    file.md5,
    file.sha1,
    file.sha256,
    file.sha512,
    now,
  );
  if (!known) emitPackage(context, { owner, actor }, version, 'created');
}

function insertVersion(
  db: Database,
  { owner, actor }: Package,
  named: PackageName,
  now: Seconds,
): PackageVersionRow {
  db.run(
    'INSERT INTO packages (owner_id, type, name, lower_name) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    owner.id,
    named.type,
    named.name,
    named.name.toLowerCase(),
  );
  db.run(
    `INSERT INTO package_versions (package_id, owner_id, creator_id, version, lower_version, created_at)
     SELECT id, owner_id, ?, ?, ?, ? FROM packages WHERE owner_id = ? AND type = ? AND lower_name = ?`,
    actor.id,
    named.version,
    named.version.toLowerCase(),
    now,
    owner.id,
    named.type,
    named.name.toLowerCase(),
  );
  const row = findVersion(db, owner, named);
  if (!row) throw new TypeError('the inserted version is missing');
  return row;
}

/** Removes a version with its files. */
export function removeVersion(
  context: ForgeContext,
  { owner, actor }: Package,
  row: PackageVersionRow,
): void {
  context.db.transaction(() => {
    emitPackage(context, { owner, actor }, row, 'deleted');
    context.db.run('DELETE FROM package_versions WHERE id = ?', row.id);
    context.db.afterCommit(() => context.attachments.sweep());
  });
}

function emitPackage(
  context: ForgeContext,
  { owner, actor }: Package,
  row: PackageVersionRow,
  action: 'created' | 'deleted',
): void {
  context.emit({
    type: 'package',
    owner,
    payload: () => ({
      action,
      repository: null,
      package: toPackages(context, owner, [row], actor)[0],
      organization: owner.type === 'organization' ? toOrganization(context, owner) : null,
      sender: toUser(context, actor, undefined),
    }),
  });
}

type TeamAccess = { readonly permission: Permission; readonly unit: Permission | null };

/**
 * Returns a caller's access to the packages of an account. In an organization, members of a team have the higher of two
 * permissions: that of the team and that of its packages unit. Everyone who sees the organization may read its
 * packages.
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

/**
 * Returns whether a caller may read another person's packages: those of a public account, and, if signed in, those of a
 * limited account. The packages of a private account are visible only to that person, even if others see the account.
 */
function openToAll(owner: UserRow, user: UserRow | undefined): boolean {
  return owner.visibility === 'public' || (owner.visibility === 'limited' && user !== undefined);
}

/**
 * Returns whether a caller has this access to the packages of an account. A token for public resources reaches only the
 * packages of public accounts.
 */
export function mayUsePackages(db: Database, owner: UserRow, actor: Actor, level: 'read' | 'write'): boolean {
  if (isPublicOnly(actor.scopes) && owner.visibility !== 'public') return false;
  return reaches(packageAccess(db, owner, actor.user), level);
}
