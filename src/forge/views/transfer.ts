import { isVisible } from '../access/permissions.ts';
import type { ForgeContext } from '../core/context.ts';
import type { RepositoryRow, TeamRow, TransferRow, UserRow } from '../core/rows.ts';
import { toTeam } from './team.ts';
import { loadUsers, toUser } from './user.ts';

/**
 * Returns the offer of a repository to a new owner as the API shows it; undefined where there is none, or where the new
 * owner is hidden from the viewer.
 */
export function toTransfer(context: ForgeContext, repository: RepositoryRow, viewer: UserRow | undefined) {
  const { db } = context;
  const row = db.get<TransferRow>('SELECT * FROM transfers WHERE repo_id = ?', repository.id);
  if (!row) return undefined;
  const people = loadUsers(context, [row.doer_id, row.recipient_id]);
  const recipient = people.get(row.recipient_id);
  if (recipient && !isVisible(db, recipient, viewer)) return undefined;
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
