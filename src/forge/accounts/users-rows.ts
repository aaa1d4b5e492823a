import { createHash } from 'node:crypto';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import type { Permission, UserRow } from '../platform/rows.ts';
import { toInstant, yearOne } from '../platform/time.ts';

/**
 * Returns an account as the API shows it to a viewer. An anonymous viewer (or the reader of a webhook payload) sees the
 * no-reply address; so does every viewer of an account with private visibility or a hidden address, except site
 * administrators and the account itself. Administrator-only fields have zero values for other viewers.
 */
export function toUser(context: ForgeContext, user: UserRow, viewer: UserRow | undefined) {
  const isInsider = isInsiderOf(user, viewer);
  return toShape(context, user, {
    seesAddress: viewer !== undefined && showsAddress(user, viewer),
    isInsider,
  });
}

/** Returns the owner of a repository as the repository shows it to a viewer with this permission. */
export function toOwner(
  context: ForgeContext,
  owner: UserRow,
  { permission, viewer }: { readonly permission: Permission; readonly viewer: UserRow | undefined },
) {
  // In a repository, the address is hidden even from its owner and from administrators.
  const isHidden = owner.type !== 'organization' && owner.keep_email_private === 1;
  const seesAddress = permission !== 'none' && !isHidden && showsAddress(owner, viewer);
  return toShape(context, owner, { seesAddress, isInsider: false });
}

function isInsiderOf(user: UserRow, viewer: UserRow | undefined): boolean {
  return viewer !== undefined && (viewer.is_admin === 1 || viewer.id === user.id);
}

/**
 * Returns whether a viewer sees the account's address. Webhook payloads and anonymous readers have no viewer; they see
 * the address of a limited account that owns a repository they can read.
 */
function showsAddress(user: UserRow, viewer: UserRow | undefined): boolean {
  if (user.type === 'organization' || isInsiderOf(user, viewer)) return true;
  if (user.keep_email_private) return false;
  if (user.visibility === 'public') return true;
  return user.visibility === 'limited' && !viewer?.is_public_only && !viewer?.is_restricted;
}

function toShape(
  context: ForgeContext,
  user: UserRow,
  { seesAddress, isInsider }: { readonly seesAddress: boolean; readonly isInsider: boolean },
) {
  return {
    id: user.id,
    login: user.name,
    login_name: isInsider ? user.login_name : '',
    source_id: 0,
    full_name: user.full_name,
    // Empty for an organization without an address.
    email: seesAddress ? user.email : noReplyAddress(user),
    avatar_url: avatarUrl(context, user),
    html_url: `${context.rootUrl()}/${user.name}`,
    language: isInsider ? user.language : '',
    is_admin: isInsider && user.is_admin === 1,
    last_login: isInsider ? toInstant(user.last_login_at) : yearOne,
    created: toInstant(user.created_at),
    restricted: user.is_restricted === 1,
    active: isInsider && user.is_active === 1,
    prohibit_login: isInsider && user.prohibit_login === 1,
    location: user.location,
    website: user.website,
    description: user.description,
    visibility: user.visibility,
    followers_count: user.num_followers,
    following_count: user.num_following,
    starred_repos_count: user.num_stars,
    username: user.name,
  };
}

/** Returns the no-reply address that replaces an account's hidden address. */
export function noReplyAddress(user: UserRow): string {
  return `${user.id}+${user.lower_name}@noreply.localhost`;
}

/** Returns the account id of a no-reply address; undefined for any other address. */
export function readNoReplyAddress(email: string): number | undefined {
  const id = /^(\d{1,15})\+[^@]*@noreply\.localhost$/i.exec(email)?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Returns the account whose e-mail address or no-reply address a commit contains. */
export function accountByEmail(db: Database, email: string): UserRow | undefined {
  if (email === '') return undefined;
  const id = readNoReplyAddress(email);
  if (id !== undefined) return db.get<UserRow>(`SELECT * FROM users WHERE id = ? AND type = 'user'`, id);
  return db.get<UserRow>(
    'SELECT u.* FROM email_addresses e JOIN users u ON u.id = e.user_id WHERE e.lower_email = lower(?)',
    email,
  );
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
  // Not a hash of the e-mail address: that would confirm a guessed address.
  const hash = user.avatar || createHash('md5').update(user.lower_name).digest('hex');
  return `${context.rootUrl()}/avatars/${hash}`;
}

/** Returns accounts by id; unknown ids are missing from the map. */
export function loadUsers(context: ForgeContext, ids: Iterable<number>): ReadonlyMap<number, UserRow> {
  const wanted = JSON.stringify([...new Set(ids)]);
  const rows = context.db.all<UserRow>(
    'SELECT * FROM users WHERE id IN (SELECT value FROM json_each(?))',
    wanted,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
