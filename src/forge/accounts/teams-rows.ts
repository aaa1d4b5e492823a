import { unitNames } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { TeamRow, UserRow } from '../platform/rows.ts';
import { loadUsers, toOrganization } from './users-rows.ts';

/** Returns a team as the API shows it; its organization is null if the operation omits it. */
export function toTeam(context: ForgeContext, team: TeamRow, organization?: UserRow) {
  const isAdministrator = team.permission === 'admin' || team.permission === 'owner';
  // The cast is safe: `teams.ts` writes this column.
  const given = JSON.parse(team.units_map) as Record<string, string>;
  const units = isAdministrator
    ? Object.fromEntries(unitNames.map((name) => [name, team.permission]))
    : given;
  return {
    id: team.id,
    name: team.name,
    description: team.description,
    organization: organization ? toOrganization(context, organization) : null,
    includes_all_repositories: team.includes_all_repositories === 1,
    // A team without administrator access has only per-unit permissions.
    permission: isAdministrator ? team.permission : ('none' as const),
    units: Object.keys(units),
    units_map: units,
    can_create_org_repo: team.can_create_org_repo === 1,
    visibility: team.visibility,
  };
}

/** Returns teams of many organizations, each with its organization. */
export function toTeams(context: ForgeContext, teams: readonly TeamRow[]) {
  const organizations = loadUsers(
    context,
    teams.map((team) => team.org_id),
  );
  return teams.map((team) => toTeam(context, team, organizations.get(team.org_id)));
}
