import type { Operation } from '../../contract/operation.ts';
import type { ForgeContext } from '../core/context.ts';
import type { Database } from '../core/database.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { RepositoryRow, TeamRow, UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { isOrganizationMember, isOrganizationOwner, isVisible } from './permissions.ts';
import type { TeamTarget } from './targets.ts';

/** Returns a team with its organization, or ends the request with 404. */
export function findTeam(db: Database, id: number): TeamTarget {
  const known = Number.isSafeInteger(id) ? id : 0;
  const team = found(db.get<TeamRow>('SELECT * FROM teams WHERE id = ?', known));
  const organization = found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', team.org_id));
  return { team, organization };
}

/** Returns whether a person is in a team. */
export function isInTeam(db: Database, team: TeamRow, user: UserRow): boolean {
  const sql = 'SELECT 1 AS one FROM team_members WHERE team_id = ? AND user_id = ?';
  return db.get(sql, team.id, user.id) !== undefined;
}

/** Teams for all repositories have every one of the organization without a row of its own. */
export const teamHasRepository = (team: string, repository: string) =>
  `(${team}.includes_all_repositories = 1 OR EXISTS (
    SELECT 1 FROM team_repositories x WHERE x.team_id = ${team}.id AND x.repo_id = ${repository}.id))`;

/** Gives a team a repository of its organization; its members watch it from then on. */
export function addTeamRepository(
  { db, clock }: Pick<ForgeContext, 'db' | 'clock'>,
  team: Pick<TeamRow, 'id'>,
  repository: Pick<RepositoryRow, 'id'>,
): void {
  const sql = 'INSERT INTO team_repositories (team_id, repo_id) VALUES (?, ?) ON CONFLICT DO NOTHING';
  db.run(sql, team.id, repository.id);
  db.run(
    'INSERT INTO watches (user_id, repo_id, created_at) SELECT user_id, ?, ? FROM team_members WHERE team_id = ? ON CONFLICT DO NOTHING',
    repository.id,
    secondsOf(clock()),
    team.id,
  );
}

/**
 * Ends the request where a person may not do this with a team. Owners of the organization and members of the team may
 * look at everything of it; others as far as the team lets itself be seen, and members only from within the organization.
 */
export function guardTeam(db: Database, operation: Operation, target: TeamTarget, user: UserRow): void {
  const { team, organization } = target;
  if (user.is_admin) return;
  if (operation.access === 'owner') {
    if (!isOrganizationOwner(db, organization, user))
      throw new ForgeProblem(403, 'Must be an organization owner');
    return;
  }
  if (isOrganizationOwner(db, organization, user) || isInTeam(db, team, user)) return;
  const isColleague = isOrganizationMember(db, organization, user);
  const isRead = operation.method === 'GET';
  if (!isRead || !canReadTeam(db, target, user)) {
    throw isColleague ? new ForgeProblem(403, 'Must be a team member') : new ForgeProblem(404, 'not found');
  }
  if (operation.access === 'member' && !isColleague)
    throw new ForgeProblem(403, 'Must be an organization member');
}

/** Returns whether a person may know that a team exists. */
export function showsTeam(db: Database, target: TeamTarget, user: UserRow): boolean {
  const isOwn = isOrganizationOwner(db, target.organization, user) || isInTeam(db, target.team, user);
  return isOwn || canReadTeam(db, target, user);
}

/** Everyone who sees the organization sees its public teams; its members see limited teams, and members of a team see private ones. */
function canReadTeam(db: Database, { team, organization }: TeamTarget, user: UserRow): boolean {
  if (team.visibility === 'public') return isVisible(db, organization, user);
  return team.visibility === 'limited' && isOrganizationMember(db, organization, user);
}
