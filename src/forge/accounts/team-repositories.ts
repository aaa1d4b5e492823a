import { canSee, isOrganizationOwner, permissionOf, reaches } from '../access/permissions.ts';
import type { RepositoryTarget, TeamTarget } from '../access/targets.ts';
import { addTeamRepository, showsTeam, teamHasRepository } from '../access/teams.ts';
import type { Database } from '../core/database.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { RepositoryRow, TeamRow, UserRow } from '../core/rows.ts';
import { defineHandlers } from '../http/handler.ts';
import { toRepositories, toRepository } from '../views/repository.ts';
import { toTeam } from '../views/team.ts';

function isOfTeam(db: Database, team: TeamRow, repository: RepositoryRow): boolean {
  if (team.includes_all_repositories === 1) return true;
  const sql = 'SELECT 1 AS one FROM team_repositories WHERE team_id = ? AND repo_id = ?';
  return db.get(sql, team.id, repository.id) !== undefined;
}

function removeTeamRepository(db: Database, team: TeamRow, repository: RepositoryRow): void {
  db.run('DELETE FROM team_repositories WHERE team_id = ? AND repo_id = ?', team.id, repository.id);
}

/** The organization in the path is not looked at, as on Gitea: a team has repositories of its own one alone. */
function repositoryNamed(db: Database, { organization }: TeamTarget, name: string): RepositoryRow {
  const sql = 'SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?';
  return found(db.get<RepositoryRow>(sql, organization.id, name.toLowerCase()));
}

type TeamRepositoryChange = TeamTarget & {
  readonly db: Database;
  readonly caller: UserRow;
  readonly name: string;
};

/** Returns the repository whose teams the caller may change: owners may, and its administrators where they are let. */
function changeable({ db, caller, name, ...target }: TeamRepositoryChange): RepositoryRow {
  const { organization } = target;
  const repository = repositoryNamed(db, target, name);
  if (!organization.repo_admin_change_team_access && !isOrganizationOwner(db, organization, caller)) {
    throw new ForgeProblem(403, 'user is nor repo admin nor owner');
  }
  if (!reaches(permissionOf(db, caller, repository, organization), 'admin')) {
    throw new ForgeProblem(403, 'Must have admin-level access to the repository');
  }
  return repository;
}

function teamNamed(db: Database, { owner }: RepositoryTarget, name: string): TeamRow {
  if (owner.type !== 'organization') throw new ForgeProblem(405, 'repo is not owned by an organization');
  const sql = 'SELECT * FROM teams WHERE org_id = ? AND lower_name = ?';
  return found(db.get<TeamRow>(sql, owner.id, name.toLowerCase()), 'team does not exist');
}

/** Returns the team that a repository's administrator may give it, or take from it. */
function changeableTeam(db: Database, target: RepositoryTarget, name: string): TeamRow {
  if (target.owner.type !== 'organization')
    throw new ForgeProblem(405, 'repo is not owned by an organization');
  if (!target.owner.repo_admin_change_team_access && target.permission !== 'owner') {
    throw new ForgeProblem(403, 'user is nor repo admin nor owner');
  }
  return teamNamed(db, target, name);
}

/** Handlers for the repositories of teams, asked from either side. */
export const teamRepositoryHandlers = defineHandlers({
  listTeamRepositories({ context, team, caller, page, reply }) {
    const { db } = context;
    const from = `FROM repositories r JOIN teams t ON t.id = ?1
      WHERE r.owner_id = t.org_id AND ${teamHasRepository('t', 'r')}`;
    reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, team.id)?.count ?? 0);
    const rows = db.all<RepositoryRow>(
      `SELECT r.* ${from} ORDER BY r.lower_name LIMIT ?2 OFFSET ?3`,
      team.id,
      page.limit,
      page.offset,
    );
    const owner = found(db.get<UserRow>('SELECT * FROM users WHERE id = ?', team.org_id));
    return toRepositories(
      context,
      rows.filter((row) => canSee(db, caller, row, owner)),
      caller,
    );
  },

  getTeamRepository({ context, caller, params, ...target }) {
    const { team, organization } = target;
    const repository = repositoryNamed(context.db, target, params.repo);
    const isThere = isOfTeam(context.db, team, repository);
    found(isThere && canSee(context.db, caller, repository, organization) ? repository : undefined);
    return toRepository(context, repository, { owner: organization, viewer: caller });
  },

  putTeamRepository({ context, caller, params, team, organization }) {
    const { db } = context;
    const repository = changeable({ db, caller, team, organization, name: params.repo });
    db.transaction(() => addTeamRepository(context, team, repository));
    return undefined;
  },

  deleteTeamRepository({ context: { db }, caller, params, team, organization }) {
    removeTeamRepository(db, team, changeable({ db, caller, team, organization, name: params.repo }));
    return undefined;
  },

  listRepositoryTeams({ context, repository, owner, permission, caller }) {
    if (owner.type !== 'organization') throw new ForgeProblem(405, 'repo is not owned by an organization');
    const rows = context.db.all<TeamRow>(
      `SELECT t.* FROM teams t JOIN repositories r ON r.id = ?
       WHERE t.org_id = r.owner_id AND ${teamHasRepository('t', 'r')}
       ORDER BY CASE WHEN t.permission = 'owner' THEN '' ELSE t.name END`,
      repository.id,
    );
    const isAdmin = reaches(permission, 'admin');
    const shown = rows.filter(
      (team) => isAdmin || showsTeam(context.db, { team, organization: owner }, caller),
    );
    return shown.map((row) => toTeam(context, row));
  },

  getRepositoryTeam({ context, params, repository, owner, permission, caller }) {
    const team = teamNamed(context.db, { repository, owner, permission }, params.team);
    const isShown =
      reaches(permission, 'admin') || showsTeam(context.db, { team, organization: owner }, caller);
    return toTeam(context, found(isShown && isOfTeam(context.db, team, repository) ? team : undefined));
  },

  putRepositoryTeam({ context, params, repository, owner, permission }) {
    const { db } = context;
    const team = changeableTeam(db, { repository, owner, permission }, params.team);
    if (isOfTeam(db, team, repository))
      throw new ForgeProblem(422, `team '${team.name}' is already added to repo`);
    db.transaction(() => addTeamRepository(context, team, repository));
    return undefined;
  },

  deleteRepositoryTeam({ context: { db }, params, repository, owner, permission }) {
    const team = changeableTeam(db, { repository, owner, permission }, params.team);
    if (!isOfTeam(db, team, repository))
      throw new ForgeProblem(422, `team '${team.name}' was not added to repo`);
    removeTeamRepository(db, team, repository);
    return undefined;
  },
});
