import type { EditTeam } from '../../contract/resources/teams.ts';
import { isOrganizationOwner } from '../access/permissions.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { PageRange } from '../core/paging.ts';
import type { Permission, TeamRow, UserRow } from '../core/rows.ts';
import { unitNames } from '../core/units.ts';
import { defineHandlers } from '../http/handler.ts';
import { toTeam, toTeams } from '../views/team.ts';
import { teamMemberHandlers } from './team-members.ts';
import { teamRepositoryHandlers } from './team-repositories.ts';

/** What a team is made from; the members as the API names them. */
type NewTeam = EditTeam & { readonly name: string };

/** Makes a team in an organization and returns its row. Ends the request with 422 where it cannot be. */
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

/** A word that no team can have is none. */
function readPermission(word: string | undefined): Permission {
  return word === 'read' || word === 'write' || word === 'admin' ? word : 'none';
}

function allUnits(permission: Permission): Record<string, string> {
  return Object.fromEntries(
    unitNames.map((name) => [name, name.startsWith('repo.ext_') ? 'read' : permission]),
  );
}

/** Returns the units that were given, by name or with a permission each; undefined where none were. Unknown ones are dropped. */
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

/** The team of the owners keeps its permission, its units, its name's meaning and its repositories. */
function updateTeam(context: ForgeContext, team: TeamRow, edit: EditTeam): TeamRow {
  const isOwners = team.permission === 'owner';
  assertTexts(edit);
  const name = edit.name || team.name;
  assertTeamNameIsFree(context, team.org_id, name, team.id);
  // Gitea looks at these two only where the permission is given too.
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

/** Returns the teams a member may see: owners all of them, others their own and those that are not private. */
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
