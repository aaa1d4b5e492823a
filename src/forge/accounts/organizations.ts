import type { EditOrganization } from '../../contract/resources/organizations.ts';
import type { CreateOrganization } from '../../contract/resources/users.ts';
import { canCreateRepositoryIn, isVisible } from '../access/permissions.ts';
import { accountNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { PageRange } from '../core/paging.ts';
import type { RepositoryRow, UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { removeRepository } from '../repositories/removal.ts';
import { toOrganization } from '../views/user.ts';
import { memberHandlers } from './members.ts';
import { removeOrganization } from './removal.ts';
import { freeName, renameAccount } from './renaming.ts';
import { assertNameIsFree, isEmail, isWebsite, readVisibility } from './users.ts';

/** Makes the team `Owners`, which an organization always has, with its first member. */
function createOwnersTeam(context: ForgeContext, organizationId: number, owner: UserRow): void {
  const { db } = context;
  const { lastId } = db.run(
    `INSERT INTO teams (org_id, name, lower_name, permission, includes_all_repositories, can_create_org_repo, visibility)
     VALUES (?, 'Owners', 'owners', 'owner', 1, 1, 'limited')`,
    organizationId,
  );
  db.run(
    'INSERT INTO team_members (team_id, user_id, org_id) VALUES (?, ?, ?)',
    lastId,
    owner.id,
    organizationId,
  );
}

const longest: Readonly<Record<string, number>> = {
  full_name: 100,
  email: 255,
  description: 255,
  website: 255,
  location: 50,
};

function assertProfile(profile: EditOrganization): void {
  for (const [member, size] of Object.entries(longest)) {
    const value = profile[member as keyof EditOrganization];
    if (typeof value === 'string' && value.length > size) {
      throw new ForgeProblem(422, `[${member}]: MaxSize(${size})`);
    }
  }
  if (profile.email && !isEmail(profile.email)) throw new ForgeProblem(422, 'e-mail invalid');
  if (profile.website && !isWebsite(profile.website)) throw new ForgeProblem(422, '[website]: Url');
}

function updateOrganization(context: ForgeContext, organization: UserRow, edit: EditOrganization): UserRow {
  assertProfile(edit);
  const row = { ...organization, ...edit };
  context.db.run(
    `UPDATE users SET full_name = ?, email = ?, description = ?, website = ?, location = ?, visibility = ?,
       repo_admin_change_team_access = ?, updated_at = ? WHERE id = ?`,
    row.full_name,
    row.email,
    row.description,
    row.website,
    row.location,
    readVisibility(edit.visibility) ?? organization.visibility,
    row.repo_admin_change_team_access,
    secondsOf(context.clock()),
    organization.id,
  );
  return found(context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', organization.id));
}

/** Makes an organization with its team of owners. Ends the request with 422 where the name is taken or unusable. */
function insertOrganization(context: ForgeContext, owner: UserRow, wanted: CreateOrganization): UserRow {
  const { db } = context;
  const visibility = readVisibility(wanted.visibility) ?? 'public';
  assertProfile(wanted);
  return db.transaction(() => {
    assertNameIsFree(context, wanted.username);
    freeName(context, wanted.username);
    const now = secondsOf(context.clock());
    const { lastId } = db.run(
      `INSERT INTO users (type, name, lower_name, full_name, email, description, location, website, visibility,
         repo_admin_change_team_access, created_at, updated_at)
       VALUES ('organization', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      wanted.username,
      wanted.username.toLowerCase(),
      wanted.full_name ?? '',
      wanted.email ?? '',
      wanted.description ?? '',
      wanted.location ?? '',
      wanted.website ?? '',
      visibility,
      wanted.repo_admin_change_team_access ?? false,
      now,
      now,
    );
    createOwnersTeam(context, lastId, owner);
    return found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', lastId));
  });
}

/** Whether `?1` lets everybody see the membership. */
const publicMembership = `EXISTS (SELECT 1 FROM public_memberships p WHERE p.org_id = u.id AND p.user_id = ?1)`;
const membersOnly = `FROM users u WHERE u.id IN (SELECT org_id FROM team_members WHERE user_id = ?1)`;

/** Public ones for every caller, limited ones for accounts, private ones for administrators; for a restricted account its own. */
function seen(caller: UserRow | undefined): string {
  if (!caller || caller.is_public_only) return `u.visibility = 'public'`;
  if (caller.is_admin) return '1';
  const isOwn = `EXISTS (SELECT 1 FROM team_members m WHERE m.org_id = u.id AND m.user_id = ${caller.id})`;
  return caller.is_restricted ? `u.visibility <> 'private' AND ${isOwn}` : `u.visibility <> 'private'`;
}

type OrganizationListing = {
  readonly caller: UserRow | undefined;
  readonly page: PageRange;
  readonly reply: { total(count: number): void };
};

function pageOf(context: ForgeContext, { page, reply }: OrganizationListing, from: string, id = 0) {
  const rest = `${from} AND ?1 = ?1`;
  reply.total(context.db.get<{ count: number }>(`SELECT count(*) AS count ${rest}`, id)?.count ?? 0);
  const sql = `SELECT u.* ${rest} ORDER BY u.lower_name LIMIT ?2 OFFSET ?3`;
  const rows = context.db.all<UserRow>(sql, id, page.limit, page.offset);
  return rows.map((row) => toOrganization(context, row));
}

/** Handlers of organizations; the account that creates one becomes its owner. */
export const organizationHandlers = defineHandlers({
  ...memberHandlers,

  getOrganization: ({ organization, caller, context }) => {
    const shown = toOrganization(context, organization);
    return caller ? shown : { ...shown, email: '' };
  },

  editOrganization: ({ organization, body, context }) =>
    toOrganization(context, updateOrganization(context, organization, body)),

  createOrganization: ({ body, caller, context }) =>
    toOrganization(context, insertOrganization(context, caller, body)),

  createOrganizationFor: ({ body, account, context }) =>
    toOrganization(context, insertOrganization(context, account, body)),

  renameOrganization({ organization, body, context }) {
    renameAccount(context, organization, body.new_name);
    return undefined;
  },

  deleteOrganization({ organization, context }) {
    removeOrganization(context, organization);
    return undefined;
  },

  deleteOrganizationRepositories({ organization, caller, context, reply }) {
    const sql = 'SELECT * FROM repositories WHERE owner_id = ? ORDER BY id';
    const repositories = context.db.all<RepositoryRow>(sql, organization.id);
    if (repositories.length === 0) reply.status(204);
    for (const repository of repositories)
      removeRepository(context, { repository, owner: organization, actor: caller });
    return undefined;
  },

  listOrganizations({ caller, context, page, reply }) {
    return pageOf(
      context,
      { caller, page, reply },
      `FROM users u WHERE u.type = 'organization' AND ${seen(caller)}`,
    );
  },

  listSiteOrganizations: ({ caller, context, page, reply }) =>
    pageOf(context, { caller, page, reply }, `FROM users u WHERE u.type = 'organization'`),

  listOwnOrganizations: ({ caller, context, page, reply }) =>
    pageOf(
      context,
      { caller, page, reply },
      caller.is_public_only ? `${membersOnly} AND ${seen(caller)}` : membersOnly,
      caller.id,
    ),

  listUserOrganizations({ account, caller, context, page, reply }) {
    const sight = { caller, page, reply };
    const isAll = !caller.is_public_only && (caller.is_admin || caller.id === account.id);
    // Others learn of memberships that were made public alone.
    return pageOf(
      context,
      sight,
      isAll ? membersOnly : `${membersOnly} AND ${publicMembership} AND ${seen(caller)}`,
      account.id,
    );
  },

  getOrganizationPermissions({ account, caller, context: { db }, params }) {
    const organization = accountNamed(db, params.org, caller);
    if (organization.type !== 'organization' || !isVisible(db, organization, caller))
      throw new ForgeProblem(404, 'not found');
    const ranks = ['none', 'read', 'write', 'admin', 'owner'];
    const sql = `SELECT t.permission FROM teams t JOIN team_members m ON m.team_id = t.id
      WHERE t.org_id = ? AND m.user_id = ?`;
    const teams = db.all<{ permission: string }>(sql, organization.id, account.id);
    // A team that has its permissions by unit counts for nothing here.
    const levels = teams.map(({ permission }) => ranks.indexOf(permission)).filter((level) => level > 2);
    const level = Math.max(0, ...levels);
    return {
      can_read: level > 0,
      can_write: level > 1,
      is_admin: level > 2,
      is_owner: level > 3,
      can_create_repository: canCreateRepositoryIn(db, organization, { ...account, is_admin: 0 }),
    };
  },
});
