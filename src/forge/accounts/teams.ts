import type { EditTeam } from '../../contract/resources/teams.ts';
import { addTeamRepository, isInTeam, showsTeam, teamHasRepository } from '../platform/access/guards.ts';
import {
  canSee,
  isOrganizationOwner,
  permissionOf,
  reaches,
  requireUnblocked,
  unitNames,
} from '../platform/access/permissions.ts';
import { accountNamed } from '../platform/access/redirects.ts';
import type { RepositoryTarget, TeamTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { Permission, RepositoryRow, TeamRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { toRepositories, toRepository } from '../repositories/repositories-rows.ts';
import { toTeam, toTeams } from './teams-rows.ts';
import { removeTeamMember } from './teams-service.ts';
import { toUser } from './users-rows.ts';

function isOfTeam(db: Database, team: TeamRow, repository: RepositoryRow): boolean {
  if (team.includes_all_repositories === 1) return true;
  const sql = 'SELECT 1 AS one FROM team_repositories WHERE team_id = ? AND repo_id = ?';
  return db.get(sql, team.id, repository.id) !== undefined;
}

function removeTeamRepository(db: Database, team: TeamRow, repository: RepositoryRow): void {
  db.run('DELETE FROM team_repositories WHERE team_id = ? AND repo_id = ?', team.id, repository.id);
}

/**
 * Returns the repository with this name in the team's organization. Ignores the organization in the path, as Gitea
 * does: a team has only repositories of its own organization.
 */
function repositoryNamed(db: Database, { organization }: TeamTarget, name: string): RepositoryRow {
  const sql = 'SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?';
  return found(db.get<RepositoryRow>(sql, organization.id, name.toLowerCase()));
}

type TeamRepositoryChange = TeamTarget & {
  readonly db: Database;
  readonly caller: UserRow;
  readonly name: string;
};

/**
 * Returns the repository if the caller may change its teams: organization owners may, and repository administrators
 * where the organization allows it. Ends the request with 403 otherwise.
 */
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

/**
 * Returns the team to add to the repository or remove from it, if the caller (an administrator of the repository) may
 * change the repository's teams.
 */
function changeableTeam(db: Database, target: RepositoryTarget, name: string): TeamRow {
  if (target.owner.type !== 'organization')
    throw new ForgeProblem(405, 'repo is not owned by an organization');
  if (!target.owner.repo_admin_change_team_access && target.permission !== 'owner') {
    throw new ForgeProblem(403, 'user is nor repo admin nor owner');
  }
  return teamNamed(db, target, name);
}

/** Handlers for team repositories, addressed by team or by repository. */
const teamRepositoryHandlers = defineHandlers({
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

/**
 * Adds a person to a team and thereby to its organization, and makes them watch the team's repositories. Existing
 * members stay members.
 */
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

const teamMemberHandlers = defineHandlers({
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

/** Input for a new team, in the API's field names. */
type NewTeam = EditTeam & { readonly name: string };

/** Creates a team in an organization and returns its row. Ends the request with 422 if the input is invalid. */
function insertTeam(context: ForgeContext, organization: UserRow, wanted: NewTeam): TeamRow {
  const { db } = context;
  const permission = readPermission(wanted.permission);
  assertTexts(wanted);
  const units = permission === 'admin' ? allUnits(permission) : readUnits(wanted);
  if (units === undefined) throw new ForgeProblem(422, 'units permission should not be empty');
  assertTeamNameIsFree(context, organization.id, wanted.name);
  const { lastId } = db.run(
    `INSERT INTO teams (org_id, name, lower_name, description, permission, includes_all_repositories,
       can_create_org_repo, units_map, visibility) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    organization.id,
    wanted.name,
    wanted.name.toLowerCase(),
    wanted.description ?? '',
    permission,
    wanted.includes_all_repositories ?? false,
    wanted.can_create_org_repo ?? false,
    JSON.stringify(units),
    wanted.visibility || 'private',
  );
  return found(db.get<TeamRow>('SELECT * FROM teams WHERE id = ?', lastId));
}

/** Parses a team permission; any other text gives `none`. */
function readPermission(word: string | undefined): Permission {
  return word === 'read' || word === 'write' || word === 'admin' ? word : 'none';
}

function allUnits(permission: Permission): Record<string, string> {
  return Object.fromEntries(
    unitNames.map((name) => [name, name.startsWith('repo.ext_') ? 'read' : permission]),
  );
}

/**
 * Returns the units in the input, given by name or each with a permission; undefined if none are given. Unknown units
 * are dropped.
 */
function readUnits(given: EditTeam): Record<string, string> | undefined {
  const known = new Set<string>(unitNames);
  const levels = new Set(['none', 'read', 'write', 'admin', 'owner']);
  const map = Object.entries(given.units_map ?? {});
  if (map.length > 0) {
    const readable = map.map(
      ([name, level]) => [name.toLowerCase(), levels.has(level) ? level : 'none'] as const,
    );
    return Object.fromEntries(readable.filter(([name]) => known.has(name)));
  }
  const units = given.units ?? [];
  if (units.length === 0) return undefined;
  const level = given.permission === 'read' || given.permission === 'write' ? given.permission : 'none';
  const names = units.map((name) => name.toLowerCase()).filter((name) => known.has(name));
  return Object.fromEntries(names.map((name) => [name, level]));
}

function assertTexts({ name, description }: EditTeam): void {
  const isNamed = name === undefined || name === '' || /^[-_.a-zA-Z0-9]{1,255}$/.test(name);
  if (!isNamed) throw new ForgeProblem(422, '[Name]: AlphaDashDot');
  if ((description ?? '').length > 255) throw new ForgeProblem(422, '[Description]: MaxSize(255)');
}

function assertTeamNameIsFree({ db }: ForgeContext, organizationId: number, name: string, except = 0): void {
  if (name.toLowerCase() === 'new') throw new ForgeProblem(422, 'name is reserved [name: new]');
  const sql = 'SELECT 1 AS one FROM teams WHERE org_id = ? AND lower_name = ? AND id <> ?';
  if (db.get(sql, organizationId, name.toLowerCase(), except)) {
    throw new ForgeProblem(422, `team already exists [name: ${name}]`);
  }
}

/** Updates a team. For the owners team, updates only the name and the description. */
function updateTeam(context: ForgeContext, team: TeamRow, edit: EditTeam): TeamRow {
  const isOwners = team.permission === 'owner';
  assertTexts(edit);
  const name = edit.name || team.name;
  assertTeamNameIsFree(context, team.org_id, name, team.id);
  // Gitea reads the permission and `includes_all_repositories` only if the permission is given.
  const isGiven = !isOwners && Boolean(edit.permission);
  const permission = isGiven ? readPermission(edit.permission) : team.permission;
  const includesAll = isGiven ? edit.includes_all_repositories : undefined;
  const units = isOwners ? undefined : permission === 'admin' ? allUnits(permission) : readUnits(edit);
  context.db.run(
    `UPDATE teams SET name = ?, lower_name = ?, description = ?, permission = ?, includes_all_repositories = ?,
       can_create_org_repo = ?, units_map = ?, visibility = ? WHERE id = ?`,
    name,
    name.toLowerCase(),
    edit.description ?? team.description,
    permission,
    includesAll ?? team.includes_all_repositories,
    isOwners || (edit.can_create_org_repo ?? team.can_create_org_repo),
    units ? JSON.stringify(units) : team.units_map,
    (isOwners ? undefined : edit.visibility) || team.visibility,
    team.id,
  );
  return found(context.db.get<TeamRow>('SELECT * FROM teams WHERE id = ?', team.id));
}

type TeamSearch = {
  readonly context: ForgeContext;
  readonly organization: UserRow;
  readonly caller: UserRow;
  readonly page: PageRange;
  readonly reply: { total(count: number): void };
};

/**
 * Returns the teams that a member may see. Owners see all teams; other members see their own teams and those that are
 * not private.
 */
function searchTeams(
  { context, organization, caller, page, reply }: TeamSearch,
  word = '',
  inText = true,
): TeamRow[] {
  const { db } = context;
  const where = `t.org_id = ?1 AND (?2 OR t.visibility <> 'private' OR EXISTS (
      SELECT 1 FROM team_members m WHERE m.team_id = t.id AND m.user_id = ?3))
    AND (?4 = '' OR instr(t.lower_name, ?4) > 0 OR (?5 AND instr(lower(t.description), ?4) > 0))`;
  const values = [
    organization.id,
    isOrganizationOwner(db, organization, caller),
    caller.id,
    word.trim().toLowerCase(),
    inText,
  ];
  reply.total(
    db.get<{ count: number }>(`SELECT count(*) AS count FROM teams t WHERE ${where}`, ...values)?.count ?? 0,
  );
  return db.all<TeamRow>(
    `SELECT t.* FROM teams t WHERE ${where}
     ORDER BY CASE WHEN t.permission = 'owner' THEN '' ELSE t.lower_name END LIMIT ?6 OFFSET ?7`,
    ...values,
    page.limit,
    page.offset,
  );
}

export const teamHandlers = defineHandlers({
  ...teamMemberHandlers,
  ...teamRepositoryHandlers,

  listTeams: (call) => searchTeams(call).map((team) => toTeam(call.context, team)),

  searchTeams: (call) => {
    const { q, include_desc } = call.query;
    const data = searchTeams(call, q, include_desc ?? true).map((team) => toTeam(call.context, team));
    return { ok: true, data };
  },

  listOwnTeams({ context, caller, page, reply }) {
    const count = 'SELECT count(*) AS count FROM team_members WHERE user_id = ?';
    reply.total(context.db.get<{ count: number }>(count, caller.id)?.count ?? 0);
    const rows = context.db.all<TeamRow>(
      `SELECT t.* FROM team_members m JOIN teams t ON t.id = m.team_id WHERE m.user_id = ?
       ORDER BY CASE WHEN t.permission = 'owner' THEN '' ELSE t.lower_name END, t.id LIMIT ? OFFSET ?`,
      caller.id,
      page.limit,
      page.offset,
    );
    return toTeams(context, rows);
  },

  getTeam: ({ context, team, organization }) => toTeam(context, team, organization),

  createTeam: ({ context, organization, body }) =>
    toTeam(
      context,
      context.db.transaction(() => insertTeam(context, organization, body)),
      organization,
    ),

  editTeam: ({ context, team, body }) =>
    toTeam(
      context,
      context.db.transaction(() => updateTeam(context, team, body)),
    ),

  deleteTeam({ context, team }) {
    context.db.run('DELETE FROM teams WHERE id = ?', team.id);
    return undefined;
  },
});
