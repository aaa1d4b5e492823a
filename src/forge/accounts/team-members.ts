import { requireUnblocked } from '../access/blocks.ts';
import { accountNamed } from '../access/redirects.ts';
import { isInTeam, teamHasRepository } from '../access/teams.ts';
import type { ForgeContext } from '../core/context.ts';
import type { Database } from '../core/database.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { TeamRow, UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { toUser } from '../views/user.ts';

/** Takes a person into a team, and so into its organization; they watch what the team has. Members stay members. */
function addTeamMember({ db, clock }: ForgeContext, team: TeamRow, user: UserRow): void {
  db.run(
    'INSERT INTO team_members (team_id, user_id, org_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    team.id,
    user.id,
    team.org_id,
  );
  db.run(
    `INSERT INTO watches (user_id, repo_id, created_at) SELECT ?1, r.id, ?2 FROM repositories r JOIN teams t ON t.id = ?3
     WHERE r.owner_id = t.org_id AND ${teamHasRepository('t', 'r')} ON CONFLICT DO NOTHING`,
    user.id,
    secondsOf(clock()),
    team.id,
  );
}

/** Takes a person out of a team. Ends the request with 422 for the last of the owners. */
export function removeTeamMember(db: Database, team: TeamRow, user: UserRow): void {
  const count = 'SELECT count(*) AS count FROM team_members WHERE team_id = ?';
  const isLast = db.get<{ count: number }>(count, team.id)?.count === 1;
  if (team.permission === 'owner' && isLast && isInTeam(db, team, user)) {
    throw new ForgeProblem(422, `user is the last member of owner team [name: ${user.name}]`);
  }
  db.run('DELETE FROM team_members WHERE team_id = ? AND user_id = ?', team.id, user.id);
}

export const teamMemberHandlers = defineHandlers({
  listTeamMembers({ context, team, caller, page, reply }) {
    const count = 'SELECT count(*) AS count FROM team_members WHERE team_id = ?';
    reply.total(context.db.get<{ count: number }>(count, team.id)?.count ?? 0);
    const users = context.db.all<UserRow>(
      `SELECT u.* FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ?
       ORDER BY u.lower_name LIMIT ? OFFSET ?`,
      team.id,
      page.limit,
      page.offset,
    );
    return users.map((user) => toUser(context, user, caller));
  },

  getTeamMember({ context, team, caller, params }) {
    const user = accountNamed(context.db, params.username, caller);
    return toUser(context, found(isInTeam(context.db, team, user) ? user : undefined), caller);
  },

  putTeamMember({ context, team, caller, params }) {
    const user = accountNamed(context.db, params.username, caller);
    if (user.type !== 'user') throw new ForgeProblem(422, 'an organization cannot be a member');
    requireUnblocked(context.db, user, [team.org_id]);
    context.db.transaction(() => addTeamMember(context, team, user));
    return undefined;
  },

  deleteTeamMember({ context, team, caller, params }) {
    const user = accountNamed(context.db, params.username, caller);
    context.db.transaction(() => removeTeamMember(context.db, team, user));
    return undefined;
  },
});
