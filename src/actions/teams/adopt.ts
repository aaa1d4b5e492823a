import type { Client } from '../../client/client.ts';
import { operations } from '../../contract/operations.ts';
import { type Adopted, type AdoptedPlace, readAll } from '../adoption.ts';

/** Returns the teams of an organization as arguments of `sync-teams`. */
export async function adoptTeams(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  if (repo !== undefined) return {};
  const live = await readAll(client.items(operations.listTeams, { params: { org: owner } }));
  const { has } = await client.capabilities();
  const teams = [];
  for (const team of live) {
    const params = { id: team.id };
    const members = await readAll(client.items(operations.listTeamMembers, { params }));
    const repositories = team.includes_all_repositories
      ? undefined
      : await readAll(client.items(operations.listTeamRepositories, { params }));
    const isOwners = team.permission === 'owner';
    const access =
      team.permission === 'admin'
        ? { permission: 'admin' }
        : { units_map: declarableUnits(team.units_map ?? {}) };
    teams.push({
      name: team.name,
      ...(team.description ? { description: team.description } : {}),
      ...(isOwners ? {} : access),
      ...(isOwners ? {} : { includes_all_repositories: team.includes_all_repositories ?? false }),
      ...(isOwners || !has.team_visibility || !team.visibility ? {} : { visibility: team.visibility }),
      ...(members.length > 0 && { members: members.map(({ login }) => login) }),
      ...(isOwners || repositories === undefined
        ? {}
        : { repositories: repositories.map(({ name }) => name) }),
    });
  }
  return teams.length === 0 ? {} : { arguments: { teams } };
}

function declarableUnits(units: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(units).filter(([, access]) => ['none', 'read', 'write'].includes(access)),
  );
}
