import { isInTeam } from '../platform/access/guards.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { TeamRow, UserRow } from '../platform/rows.ts';

/** Removes a person from a team. Ends the request with 422 for the last owner. */
export function removeTeamMember(db: Database, team: TeamRow, user: UserRow): void {
  const count = 'SELECT count(*) AS count FROM team_members WHERE team_id = ?';
  const isLast = db.get<{ count: number }>(count, team.id)?.count === 1;
  if (team.permission === 'owner' && isLast && isInTeam(db, team, user)) {
    throw new ForgeProblem(422, `user is the last member of owner team [name: ${user.name}]`);
  }
  db.run('DELETE FROM team_members WHERE team_id = ? AND user_id = ?', team.id, user.id);
}
