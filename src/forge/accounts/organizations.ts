import type { EditOrganization } from '../../contract/resources/organizations.ts';
import type { CreateOrganization } from '../../contract/resources/users.ts';
import {
  canCreateRepositoryIn,
  isOrganizationMember,
  isOrganizationOwner,
  isVisible,
} from '../platform/access/permissions.ts';
import { accountNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { RepositoryRow, TeamRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { removeRepository } from '../repositories/repositories-service.ts';
import { freeName, removeOrganization, renameAccount } from './accounts-service.ts';
import { removeTeamMember } from './teams-service.ts';
import { toOrganization, toUser } from './users-rows.ts';
import { assertNameIsFree, isEmail, isWebsite, readVisibility } from './users-service.ts';

type MemberListing = {
  readonly context: ForgeContext;
  readonly organization: UserRow;
  readonly caller: UserRow | undefined;
  readonly page: PageRange;
  readonly reply: { total(count: number): void };
};

/**
 * Returns the members of an organization: all members for site administrators and members, only public members for
 * other callers. A restricted member sees the members of their own teams and the public members. For site
 * administrators, the list of public members also contains all members, as in Gitea.
 */
function listOf({ context, organization, caller, page, reply }: MemberListing, isPublic: boolean) {
  const { db } = context;
  const isInsider = !isPublic && caller && isOrganizationMember(db, organization, caller);
  const isOpen = `EXISTS (SELECT 1 FROM public_memberships p WHERE p.org_id = ?1 AND p.user_id = u.id)`;
  const isMate = `EXISTS (SELECT 1 FROM team_members a JOIN team_members b ON b.team_id = a.team_id
    WHERE a.org_id = ?1 AND a.user_id = ?2 AND b.user_id = u.id)`;
  const limited = caller?.is_restricted && !caller.is_admin ? `AND (${isMate} OR ${isOpen})` : '';
  const shown = caller?.is_admin || isInsider ? limited : `AND ${isOpen}`;
  const from = `FROM users u WHERE ?2 = ?2 AND u.id IN (SELECT user_id FROM team_members WHERE org_id = ?1) ${shown}`;
  const values = [organization.id, caller?.id ?? 0];
  reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
  const sql = `SELECT u.* ${from} ORDER BY u.id LIMIT ?3 OFFSET ?4`;
  return db
    .all<UserRow>(sql, ...values, page.limit, page.offset)
    .map((user) => toUser(context, user, caller));
}

/** Removes a person from every team of an organization. Ends the request with 422 for the last owner. */
function removeMember({ db }: Pick<ForgeContext, 'db'>, organization: UserRow, user: UserRow): void {
  db.transaction(() => {
    const teams = db.all<TeamRow>(
      'SELECT t.* FROM teams t JOIN team_members m ON m.team_id = t.id WHERE t.org_id = ? AND m.user_id = ?',
      organization.id,
      user.id,
    );
    for (const team of teams) removeTeamMember(db, team, user);
  });
}

type MemberChange = {
  readonly context: ForgeContext;
  readonly organization: UserRow;
  readonly caller: UserRow;
  readonly params: { readonly username: string };
};

/**
 * Returns the user if the caller may change the visibility of the user's membership. Members may change that of their
 * own membership, owners that of every membership.
 */
function changeable({ context: { db }, organization, caller, params }: MemberChange): UserRow {
  const user = accountNamed(db, params.username, caller);
  if (user.id !== caller.id && !isOrganizationOwner(db, organization, caller)) {
    throw new ForgeProblem(403, 'Cannot change member visibility');
  }
  return user;
}

/** Handlers for the members of organizations. */
const memberHandlers = defineHandlers({
  listMembers: (call) => listOf(call, false),

  listPublicMembers: (call) => listOf(call, true),

  checkMember({ context, organization, caller, params, reply }) {
    const { db } = context;
    const user = accountNamed(db, params.username, caller);
    if (isOrganizationMember(db, organization, caller) || caller.is_admin) {
      found(isOrganizationMember(db, organization, user) || undefined);
      return undefined;
    }
    if (user.id === caller.id) throw new ForgeProblem(404, 'not found');
    // A caller outside the organization is redirected to the public list.
    const [name, member] = [organization.name, user.name].map(encodeURIComponent);
    reply.status(303);
    reply.header('location', `/api/v1/orgs/${name}/public_members/${member}`);
    return undefined;
  },

  checkPublicMember({ context: { db }, organization, caller, params }) {
    const user = accountNamed(db, params.username, caller);
    const sql = 'SELECT 1 AS one FROM public_memberships WHERE org_id = ? AND user_id = ?';
    found(db.get(sql, organization.id, user.id));
    return undefined;
  },

  deleteMember({ context, organization, caller, params }) {
    removeMember(context, organization, accountNamed(context.db, params.username, caller));
    return undefined;
  },

  publicizeMember(call) {
    const { db } = call.context;
    const user = changeable(call);
    const sql = 'INSERT INTO public_memberships (org_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING';
    if (isOrganizationMember(db, call.organization, user)) db.run(sql, call.organization.id, user.id);
    return undefined;
  },

  concealMember(call) {
    const sql = 'DELETE FROM public_memberships WHERE org_id = ? AND user_id = ?';
    call.context.db.run(sql, call.organization.id, changeable(call).id);
    return undefined;
  },
});

/** Creates the `Owners` team, which every organization has, with its first member. */
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

/** Creates an organization with its owners team. Ends the request with 422 if the name is taken or invalid. */
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

/** SQL condition: the membership of `?1` is public. */
const publicMembership = `EXISTS (SELECT 1 FROM public_memberships p WHERE p.org_id = u.id AND p.user_id = ?1)`;
const membersOnly = `FROM users u WHERE u.id IN (SELECT org_id FROM team_members WHERE user_id = ?1)`;

/**
 * Returns the SQL condition for organizations that a caller sees: public ones for every caller, limited ones for
 * accounts, private ones for administrators. A restricted account sees only organizations to which it belongs.
 */
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

/** Handlers for organizations; the account that creates an organization becomes its owner. */
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
    // Other callers see only public memberships.
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
    // Teams with per-unit permissions are ignored here.
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
