import { z } from 'zod';
import type { Team } from '../../contract/resources/users.ts';
import { toLowerCase } from '../same-names.ts';

const name = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[-\w.]+$/, 'a name has letters, digits, -, _ and .');

const TeamForm = z
  .strictObject({
    name: name.meta({ description: 'The team is identified by its name.' }),
    description: z.string().max(255).optional(),
    permission: z.enum(['read', 'write', 'admin']).optional().meta({
      description: 'Access to every unit; `units_map` is more precise.',
    }),
    units_map: z
      .record(
        z.string().regex(/^repo\.[a-z_]+$/, 'a unit is named as repo.code'),
        z.enum(['none', 'read', 'write']),
      )
      .optional()
      .meta({ description: 'Access to single units (`repo.code: write`); others are left unchanged.' }),
    includes_all_repositories: z.boolean().optional(),
    can_create_org_repo: z.boolean().optional(),
    visibility: z.enum(['public', 'limited', 'private']).optional(),
    members: z.array(name).min(1).max(500).optional().meta({
      description: 'Members of the team; others are removed only with `prune`.',
    }),
    repositories: z.array(name).max(500).optional().meta({
      description: 'Repositories of the team, without the owner; others are removed only with `prune`.',
    }),
  })
  .refine((given) => given.permission === undefined || given.units_map === undefined, {
    message: 'give either permission or units_map',
  })
  .refine((given) => !given.includes_all_repositories || given.repositories === undefined, {
    message: 'a team with all repositories needs no list of them',
  });
export type TeamForm = z.output<typeof TeamForm>;

export const SyncTeams = z.strictObject({
  teams: z.array(TeamForm).min(1).max(100),
  prune: z.boolean().optional().meta({
    description:
      'Removes other members and repositories of these teams, and other teams; at most 5 or a quarter of each list in one run. Default false.',
  }),
});
export type SyncTeams = z.output<typeof SyncTeams>;

/** Units of a team whose access `permission` sets. */
const units = ['code', 'issues', 'pulls', 'releases', 'wiki', 'projects', 'packages', 'actions'];

/** Settings of a team, in the form of its operations. */
export type TeamSettings = {
  readonly description?: string | undefined;
  readonly permission?: string | undefined;
  readonly units_map?: Readonly<Record<string, string>> | undefined;
  readonly includes_all_repositories?: boolean | undefined;
  readonly can_create_org_repo?: boolean | undefined;
  readonly visibility?: string | undefined;
};

/** Returns the settings that a step declares. Forges answer access other than `admin` by unit, so that is how it is compared. */
export function declaredSettings({
  permission,
  units_map,
  name: _name,
  members: _members,
  repositories: _repositories,
  ...settings
}: TeamForm): TeamSettings {
  const byUnit = Object.fromEntries(units.map((unit) => [`repo.${unit}`, permission ?? 'none']));
  const access =
    permission === 'admin'
      ? { permission }
      : permission !== undefined
        ? { units_map: byUnit }
        : units_map && { units_map };
  return definedOnly({ ...settings, ...access });
}

/** Returns the settings of a live team in the members that a declaration has. */
export function settingsLike(declared: TeamSettings, live: Team): TeamSettings {
  const { units_map } = declared;
  const known = live.units_map ?? {};
  return definedOnly({
    ...(declared.description !== undefined && { description: live.description ?? '' }),
    ...(declared.permission !== undefined && { permission: live.permission ?? 'none' }),
    ...(units_map && {
      units_map: Object.fromEntries(
        Object.keys(units_map).map((unit) => [
          unit,
          live.permission === 'admin' ? 'admin' : (known[unit] ?? 'none'),
        ]),
      ),
    }),
    ...(declared.includes_all_repositories !== undefined && {
      includes_all_repositories: live.includes_all_repositories ?? false,
    }),
    ...(declared.can_create_org_repo !== undefined && {
      can_create_org_repo: live.can_create_org_repo ?? false,
    }),
    ...(declared.visibility !== undefined && { visibility: live.visibility ?? '' }),
  });
}

/** Returns the body of an edit. Forges read some members only beside `permission`, and replace all units at once. */
export function editBody(declared: TeamSettings, live: Team): Readonly<Record<string, unknown>> {
  const isAdmin = (declared.permission ?? (declared.units_map ? 'write' : live.permission)) === 'admin';
  const kept = live.permission === 'admin' ? {} : (live.units_map ?? {});
  return {
    name: live.name,
    ...declared,
    // Any word but admin leaves the access to the units.
    permission: isAdmin ? 'admin' : 'read',
    includes_all_repositories: declared.includes_all_repositories ?? live.includes_all_repositories ?? false,
    ...(isAdmin ? {} : { units_map: { ...kept, ...declared.units_map } }),
  };
}

/** Returns the body that creates a team. */
export function creationBody(
  name: string,
  { permission, ...declared }: TeamSettings,
): Readonly<Record<string, unknown>> {
  return { name, ...declared, permission: permission ?? 'read' };
}

/** Returns the team of a name, whatever its case. */
export function teamByName(name: string, all: readonly Team[]): Team | undefined {
  return all.find((one) => toLowerCase(one.name) === toLowerCase(name));
}

function definedOnly(settings: TeamSettings): TeamSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
