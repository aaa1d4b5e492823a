import { isOrganizationMember, isOrganizationOwner } from '../access/permissions.ts';
import { accountNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { PageRange } from '../core/paging.ts';
import type { TeamRow, UserRow } from '../core/rows.ts';
import { defineHandlers } from '../http/handler.ts';
import { toUser } from '../views/user.ts';
import { removeTeamMember } from './team-members.ts';

type MemberListing = {
  readonly context: ForgeContext;
  readonly organization: UserRow;
  readonly caller: UserRow | undefined;
  readonly page: PageRange;
  readonly reply: { total(count: number): void };
};

/**
 * Returns members: to site administrators and to members all of them, to others those with a public membership. A restricted
 * member sees the teams of their own, and the public members. The list of public members is the same for administrators, as
 * on Gitea.
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

/** Takes a person out of every team of an organization. Ends the request with 422 for the last of its owners. */
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

/** Returns whose membership is shown or hidden: one's own, or anybody's for an owner. */
function changeable({ context: { db }, organization, caller, params }: MemberChange): UserRow {
  const user = accountNamed(db, params.username, caller);
  if (user.id !== caller.id && !isOrganizationOwner(db, organization, caller)) {
    throw new ForgeProblem(403, 'Cannot change member visibility');
  }
  return user;
}

/** Handlers for the members of organizations. */
export const memberHandlers = defineHandlers({
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
    // A caller outside of the organization is redirected to the public list.
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
