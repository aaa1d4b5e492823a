import type { ForgeContext } from '../context.ts';
import type { RepositoryRow, TeamRow, TransferRow } from '../rows.ts';
import { toTeam } from './team.ts';
import { loadUsers, toUser } from './user.ts';

/** Returns the offer of a repository to a new owner as the API shows it; undefined where there is none. */
export function toTransfer(context: ForgeContext, repository: RepositoryRow) {
  const { db } = context;
  const row = db.get<TransferRow>('SELECT * FROM transfers WHERE repo_id = ?', repository.id);
  if (!row) return undefined;
  const people = loadUsers(context, [row.doer_id, row.recipient_id]);
  const person = (id: number) => {
    const user = people.get(id);
    return user ? toUser(context, user, undefined) : null;
  };
  const teams = db.all<TeamRow>(
    'SELECT * FROM teams WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id',
    row.team_ids,
  );
  return {
    doer: person(row.doer_id),
    recipient: person(row.recipient_id),
    teams: teams.map((team) => toTeam(context, team)),
  };
}
