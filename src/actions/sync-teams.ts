import { z } from 'zod';
import type { Client } from '../client/client.ts';
import type { Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { Team } from '../contract/resources/users.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { teamMembers, teamRepositories, teams as teamsRow } from '../facts/organization.ts';
import { organizationParams } from '../facts/where.ts';
import { type Adopted, type AdoptedPlace, defineAction, readAll } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, pathParams, readItems } from './inverses.ts';
import { isKnownDropped, rememberDropped, toLowerCase } from './names.ts';
import type { PlanContext } from './plan-context.ts';

/** Deletes a created team if its settings are unchanged. */
const undoCreateTeam: Inverse = async (change, client) => {
  const { org } = pathParams(change);
  const all = (await readItems(client, operations.listTeams, {
    params: { org },
  })) as unknown as readonly Team[];
  const { name } = change.input.body as { readonly name: string };
  const found = teamByName(name, all);
  return {
    value: found === undefined ? null : settingsLike(change.after as TeamSettings, found),
    undo: () => ({ operation: operations.deleteTeam, input: { params: { id: found?.id } } }),
  };
};

/** Restores the settings of a team. */
const undoEditTeam: Inverse = async (change, client) => {
  const params = pathParams(change) as { readonly id: number };
  const live = await client.call(operations.getTeam, { params });
  return {
    value: settingsLike(change.after as TeamSettings, live),
    undo: () => ({
      operation: operations.editTeam,
      input: { params, body: editBody(change.before as TeamSettings, live) },
    }),
  };
};

/** A deleted team cannot be restored, because its members and repositories are unknown. */
const undoDeleteTeam: Inverse = async () => ({
  value: null,
  undo: () => 'the members and repositories of the team are no longer known',
});

/** Returns the inverse of adding or removing a member. */
function undoMembership(opposite: Operation): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const live = await readItems(client, operations.listTeamMembers, { params: { id: params.id } });
    const isThere = live.some(({ login }) => toLowerCase(login) === toLowerCase(params.username));
    return { value: isThere, undo: () => ({ operation: opposite, input: { params } }) };
  };
}

/** Returns the inverse of adding or removing a repository. */
function undoTeamRepository(opposite: Operation): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const live = await readItems(client, operations.listTeamRepositories, { params: { id: params.id } });
    const isThere = live.some(({ name }) => toLowerCase(name) === toLowerCase(params.repo));
    return { value: isThere, undo: () => ({ operation: opposite, input: { params } }) };
  };
}

const name = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[-\w.]+$/, 'a name consists of letters, digits, -, _ and .');

const TeamForm = z
  .strictObject({
    name: name.meta({ description: 'The team is identified by its name.' }),
    description: z.string().max(255).optional(),
    permission: z.enum(['read', 'write', 'admin']).optional().meta({
      description: 'Access to every unit; `units_map` is more precise.',
    }),
    units_map: z
      .record(
        z.string().regex(/^repo\.[a-z_]+$/, 'a unit has a name such as repo.code'),
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
    message: 'specify either permission or units_map',
  })
  .refine((given) => !given.includes_all_repositories || given.repositories === undefined, {
    message: 'a team with access to all repositories needs no list of repositories',
  });
type TeamForm = z.output<typeof TeamForm>;

const SyncTeams = z.strictObject({
  teams: z.array(TeamForm).min(1).max(100),
  prune: z.boolean().optional().meta({
    description:
      'Removes other members and repositories of these teams, and other teams; at most 5 or a quarter of each list in one run. Default false.',
  }),
});
type SyncTeams = z.output<typeof SyncTeams>;

/** Units whose access `permission` sets. */
const units = ['code', 'issues', 'pulls', 'releases', 'wiki', 'projects', 'packages', 'actions'];

/** Settings of a team, in the form used by its operations. */
type TeamSettings = {
  readonly description?: string | undefined;
  readonly permission?: string | undefined;
  readonly units_map?: Readonly<Record<string, string>> | undefined;
  readonly includes_all_repositories?: boolean | undefined;
  readonly can_create_org_repo?: boolean | undefined;
  readonly visibility?: string | undefined;
};

/**
 * Returns the settings declared by a step. Forges report access other than `admin` per unit, so access is compared per
 * unit.
 */
function declaredSettings({
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

/** Returns the settings of a live team, limited to the declared fields. */
function settingsLike(declared: TeamSettings, live: Team): TeamSettings {
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

/**
 * Returns the body of an edit. Forges read some fields only together with `permission`, and replace all units at once.
 */
function editBody(declared: TeamSettings, live: Team): Readonly<Record<string, unknown>> {
  const isAdmin = (declared.permission ?? (declared.units_map ? 'write' : live.permission)) === 'admin';
  const kept = live.permission === 'admin' ? {} : (live.units_map ?? {});
  return {
    name: live.name,
    ...declared,
    // With any value other than `admin`, the units determine the access.
    permission: isAdmin ? 'admin' : 'read',
    includes_all_repositories: declared.includes_all_repositories ?? live.includes_all_repositories ?? false,
    ...(isAdmin ? {} : { units_map: { ...kept, ...declared.units_map } }),
  };
}

/** Returns the body that creates a team. */
function creationBody(
  name: string,
  { permission, ...declared }: TeamSettings,
): Readonly<Record<string, unknown>> {
  return { name, ...declared, permission: permission ?? 'read' };
}

/** Returns the team with a name, compared case-insensitively. */
function teamByName(name: string, all: readonly Team[]): Team | undefined {
  return all.find((one) => toLowerCase(one.name) === toLowerCase(name));
}

function definedOnly(settings: TeamSettings): TeamSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

const teamsFact = requestOf(teamsRow);

/** Keeps teams of the organization with their settings, members and repositories. */
export const syncTeams = defineAction<SyncTeams>({
  name: 'sync-teams',
  meaning:
    'Keeps these teams in the organization, with these settings, members and repositories. Other members, repositories and teams are removed only with `prune`; never the team of the owners, its last member, or Reeve’s own account. If the subject is a repository, its owning organization is used. Forges send no events for teams: use a schedule.',
  example: `uses: sync-teams
with:
  teams:
    - name: release
      permission: write
      members: [ada, grace]
      repositories: [site]
`,
  arguments: SyncTeams,
  of: ['organization', 'repository'],
  needs: { access: 'owner', scopes: ['organization'] },
  describesState: true,
  granted: false,
  onlyFor: 'operator',
  visibleTo: 'administrators',
  inverses: {
    [operations.createTeam.id]: undoCreateTeam,
    [operations.editTeam.id]: undoEditTeam,
    [operations.deleteTeam.id]: undoDeleteTeam,
    [operations.putTeamMember.id]: undoMembership(operations.deleteTeamMember),
    [operations.deleteTeamMember.id]: undoMembership(operations.putTeamMember),
    [operations.putTeamRepository.id]: undoTeamRepository(operations.deleteTeamRepository),
    [operations.deleteTeamRepository.id]: undoTeamRepository(operations.putTeamRepository),
  },
  adoption: { what: 'teams', read: adoptTeams },
  requires: { 'teams.visibility': 'team_visibility' },
  examine: ({ teams }) => {
    const names = teams.map(({ name }) => toLowerCase(name));
    return names.flatMap((name, place) =>
      names.indexOf(name) === place
        ? []
        : [{ path: ['teams', place, 'name'], message: `the team "${name}" is listed twice` }],
    );
  },
  facts: () => [teamsFact],
  async plan({ teams, prune = false }, facts, context) {
    const live = await facts.ask(teamsFact);
    const changes: Change[] = [];
    for (const wanted of teams) {
      const found = teamByName(wanted.name, live);
      changes.push(await settingsChange(wanted, found, facts, context));
      changes.push(...(await memberChanges(wanted, found, prune, facts, context)));
      changes.push(...(await repositoryChanges(wanted, found, prune, facts)));
    }
    if (!prune) return changes;
    const named = new Set(teams.map(({ name }) => toLowerCase(name)));
    const others = live.filter(({ name }) => !named.has(toLowerCase(name)));
    const removed = others.filter(({ permission }) => permission !== 'owner');
    return [...changes, ...removed.map((one) => teamRemoval(one, live.length, facts))];
  },
  confirm(change, answer) {
    const answered = Team.safeParse(answer);
    if (!answered.success || !change.target.startsWith('team:') || change.value === null) return undefined;
    const live = settingsLike(change.value as TeamSettings, answered.data);
    return JSON.stringify(live) === JSON.stringify(sorted(change.value as TeamSettings, live))
      ? undefined
      : 'the forge did not accept all settings of the team';
  },
  async learn({ target, value }, answer, context) {
    const answered = Team.safeParse(answer);
    if (!answered.success) return false;
    await rememberDropped(
      target,
      JSON.stringify(value),
      JSON.stringify(settingsLike(value as TeamSettings, answered.data)),
      context,
    );
    return true;
  },
});

/** Returns settings with their fields in the same order as in another object, so that both can be compared as text. */
function sorted(settings: TeamSettings, like: TeamSettings): TeamSettings {
  return Object.fromEntries(Object.keys(like).map((name) => [name, settings[name as keyof TeamSettings]]));
}

async function settingsChange(
  wanted: TeamForm,
  found: Team | undefined,
  facts: Facts,
  context: PlanContext,
): Promise<Change> {
  const { org } = organizationParams(facts.subject);
  const value = declaredSettings(wanted);
  const common = {
    action: 'sync-teams',
    target: `team:${toLowerCase(wanted.name)}`,
    value,
    after: value,
    reads: [teamsFact],
    stage: 0,
  } as const;
  if (found === undefined) {
    if (value.permission === undefined && value.units_map === undefined) {
      throw new Error(`there is no team "${wanted.name}"; to create it, set permission or units_map`);
    }
    const input = { params: { org }, body: creationBody(wanted.name, value) };
    const requires = value.visibility === undefined ? {} : { requires: ['team_visibility'] as const };
    return {
      ...common,
      ...requires,
      operation: operations.createTeam.id,
      input,
      before: null,
      reason: 'there is no such team',
    };
  }
  const before = settingsLike(value, found);
  const lost = Object.keys(value).filter(
    (name) =>
      JSON.stringify(value[name as keyof TeamSettings]) !==
      JSON.stringify(before[name as keyof TeamSettings]),
  );
  const change = {
    ...common,
    operation: operations.editTeam.id,
    input: { params: { id: found.id }, body: editBody(value, found) },
    before,
  };
  if (lost.length === 0) return { ...change, already: true, reason: 'already in the desired state' };
  if (found.permission === 'owner' && lost.some((name) => name !== 'description')) {
    throw new Error(`"${wanted.name}" is the owners team, and only its description can be changed`);
  }
  if (await isKnownDropped(common.target, JSON.stringify(value), JSON.stringify(before), context)) {
    return { ...change, already: true, reason: 'the forge does not accept changes to its other settings' };
  }
  const requires = lost.includes('visibility') ? { requires: ['team_visibility'] as const } : {};
  return { ...change, ...requires, reason: `different: ${lost.join(', ')}` };
}

/** Membership of a user, or assignment of a repository, in a team: as it is, and as wanted. */
type Belonging = {
  readonly team: string;
  readonly target: string;
  readonly before: boolean;
  readonly value: boolean;
  readonly operation: string;
  /** Path parameters in addition to the team's id. */
  readonly params: Readonly<Record<string, string>>;
  readonly found: Team | undefined;
  readonly reads: Change['reads'];
  readonly removes?: Change['removes'];
};

function belongingChange({ team, found, params, removes, ...one }: Belonging): Change {
  const isUpToDate = one.before === one.value;
  const { value } = one;
  return {
    action: 'sync-teams',
    ...one,
    after: value,
    // A team that is created in this run has no id yet. The change is planned again before it is sent.
    input: { params: { id: found?.id ?? 0, ...params } },
    reason: isUpToDate
      ? 'already in the desired state'
      : value
        ? 'the rule lists it'
        : 'the rule does not list it, and prune is set',
    reads: [teamsFact, ...(one.reads ?? [])],
    ...(found === undefined && { needs: `team:${toLowerCase(team)}` }),
    ...(value ? {} : { stage: 2 }),
    ...(removes && { removes }),
    ...(isUpToDate && { already: true }),
  } as Change;
}

async function memberChanges(
  { name, members }: TeamForm,
  found: Team | undefined,
  prune: boolean,
  facts: Facts,
  { account }: PlanContext,
): Promise<readonly Change[]> {
  if (members === undefined) return [];
  const fact = requestOf(teamMembers, name);
  const live = found === undefined ? [] : await facts.ask(fact);
  const of = (login: string, value: boolean, removes?: Change['removes']): Change =>
    belongingChange({
      team: name,
      found,
      target: `team-member:${toLowerCase(name)}/${toLowerCase(login)}`,
      before: live.some((one) => toLowerCase(one.login) === toLowerCase(login)),
      value,
      operation: (value ? operations.putTeamMember : operations.deleteTeamMember).id,
      params: { username: login },
      reads: [fact],
      ...(removes && { removes }),
    });
  const named = new Set(members.map(toLowerCase));
  const others = live.filter(({ id, login }) => !named.has(toLowerCase(login)) && id !== account?.id);
  const list = { from: `members of ${toLowerCase(name)}`, there: live.length };
  const removals = prune ? others.map(({ login }) => of(login, false, list)) : [];
  // The listed members are added before others are removed, because the last owner of an organization cannot be
  // removed.
  return [...[...named].map((login) => of(login, true)), ...removals];
}

async function repositoryChanges(
  { name, repositories }: TeamForm,
  found: Team | undefined,
  prune: boolean,
  facts: Facts,
): Promise<readonly Change[]> {
  if (repositories === undefined) return [];
  const { org } = organizationParams(facts.subject);
  const fact = requestOf(teamRepositories, name);
  const live = (found === undefined ? [] : await facts.ask(fact)).map((full) => full.split('/')[1] ?? '');
  const of = (repo: string, value: boolean, removes?: Change['removes']): Change =>
    belongingChange({
      team: name,
      found,
      target: `team-repository:${toLowerCase(name)}/${toLowerCase(repo)}`,
      before: live.some((one) => toLowerCase(one) === toLowerCase(repo)),
      value,
      operation: (value ? operations.putTeamRepository : operations.deleteTeamRepository).id,
      params: { org, repo },
      reads: [fact],
      ...(removes && { removes }),
    });
  const named = new Set(repositories.map(toLowerCase));
  const others = prune ? live.filter((repo) => !named.has(toLowerCase(repo))) : [];
  const list = { from: `repositories of ${toLowerCase(name)}`, there: live.length };
  return [...[...named].map((repo) => of(repo, true)), ...others.map((repo) => of(repo, false, list))];
}

function teamRemoval({ id, name }: Team, there: number, facts: Facts): Change {
  const { org } = organizationParams(facts.subject);
  return {
    action: 'sync-teams',
    operation: operations.deleteTeam.id,
    input: { params: { id } },
    target: `team:${toLowerCase(name)}`,
    value: null,
    before: { name },
    after: null,
    reason: 'the rule does not list it, and prune is set',
    removes: { from: `teams of ${org}`, there },
    reads: [teamsFact],
    stage: 2,
  };
}

/** Returns the teams of an organization as arguments of `sync-teams`. */
async function adoptTeams(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
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
