import { createHash } from 'node:crypto';
import type { ForgeContext } from '../context.ts';
import { toInstant, yearOne } from '../instants.ts';
import type { Permission, UserRow } from '../rows.ts';

/**
 * Returns an account as the API shows it to a viewer. An anonymous viewer (also whoever reads of a sender or reviewer in
 * a payload of a hook) sees the no-reply address; members for administrators are zero for everybody but them and the
 * account itself.
 */
export function toUser(context: ForgeContext, user: UserRow, viewer: UserRow | undefined) {
  const isInsider = viewer !== undefined && (viewer.is_admin === 1 || viewer.id === user.id);
  return toShape(context, user, { seesAddress: viewer !== undefined, isInsider });
}

/** Returns the owner of a repository as that repository shows it to whoever may do this much with it, never more. */
export function toOwner(context: ForgeContext, owner: UserRow, permission: Permission) {
  return toShape(context, owner, { seesAddress: permission !== 'none', isInsider: false });
}

function toShape(
  context: ForgeContext,
  user: UserRow,
  { seesAddress, isInsider }: { readonly seesAddress: boolean; readonly isInsider: boolean },
) {
  return {
    id: user.id,
    login: user.name,
    login_name: '',
    source_id: 0,
    full_name: user.full_name,
    // An organization without an address shows none.
    email: seesAddress ? user.email : noReplyAddress(user),
    avatar_url: avatarUrl(context, user),
    html_url: `${context.rootUrl()}/${user.name}`,
    language: isInsider ? user.language : '',
    is_admin: isInsider && user.is_admin === 1,
    last_login: isInsider && user.last_login_at > 0 ? toInstant(user.last_login_at) : yearOne,
    created: toInstant(user.created_at),
    restricted: user.is_restricted === 1,
    active: isInsider && user.is_active === 1,
    prohibit_login: isInsider && user.prohibit_login === 1,
    location: user.location,
    website: user.website,
    description: user.description,
    visibility: user.visibility,
    followers_count: 0,
    following_count: 0,
    starred_repos_count: user.num_stars,
    username: user.name,
  };
}

/** Returns the address that stands for an account where its own is not shown. */
export function noReplyAddress(user: UserRow): string {
  return `${user.id}+${user.lower_name}@noreply.localhost`;
}

/** Returns an organization as the API shows it; `name` and `username` are the same. */
export function toOrganization(context: ForgeContext, organization: UserRow) {
  return {
    id: organization.id,
    name: organization.name,
    full_name: organization.full_name,
    email: organization.email,
    avatar_url: avatarUrl(context, organization),
    description: organization.description,
    website: organization.website,
    location: organization.location,
    visibility: organization.visibility,
    repo_admin_change_team_access: organization.repo_admin_change_team_access === 1,
    username: organization.name,
  };
}

function avatarUrl(context: ForgeContext, user: UserRow): string {
  const hash = createHash('md5')
    .update(user.email || user.lower_name)
    .digest('hex');
  return `${context.rootUrl()}/avatars/${hash}`;
}

/** Returns accounts by id; one that is not there is missing in the map. */
export function loadUsers(context: ForgeContext, ids: Iterable<number>): ReadonlyMap<number, UserRow> {
  const wanted = JSON.stringify([...new Set(ids)]);
  const rows = context.db.all<UserRow>(
    'SELECT * FROM users WHERE id IN (SELECT value FROM json_each(?))',
    wanted,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
