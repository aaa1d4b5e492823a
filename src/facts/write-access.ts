import { operations } from '../contract/operations.ts';
import { Team } from '../contract/resources/users.ts';
import { int, list, resource, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { ways } from './ways.ts';
import { absentAsUndefined, repositoryOf, repositoryParams } from './where.ts';

/** Permissions of an account in a repository, from least to most. `write` lets the account push. */
export const permissions = ['none', 'read', 'write', 'admin', 'owner'] as const;
export type HeldPermission = (typeof permissions)[number];

export type NamedAccount = { readonly id: number; readonly login: string };

/** Returns whether this permission lets an account push. */
export function isWriter(permission: HeldPermission): boolean {
  return permissions.indexOf(permission) >= permissions.indexOf('write');
}

/**
 * Whether an account has write access through a team cannot be known. The code is that of a refused request, because
 * the forge refuses to show the members of the team; the message says what to do.
 */
export class UnknownWriter extends ReeveError {
  constructor(message: string) {
    super('forge-forbidden', message);
    this.name = 'UnknownWriter';
  }
}

/** The teams with access to the repository. */
export const repositoryTeams = defineFact({
  name: 'repository_teams',
  meaning:
    'The teams with access to the repository, each with its permission by unit (`units_map`, such as `repo.code`); none if a user owns the repository. The embedded forge shows only visible teams to accounts that are no administrators.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(Team),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.permitted],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'repository_teams.exists(t, t.name == "release")',
  async ask({ client, subject, memory, anew }) {
    const { id, owner } = repositoryOf(subject);
    // No forge turns an account into an organization, so that this stays true while the owner has this name.
    const key = `${id}/repository_teams/${owner}`.toLowerCase();
    if (!anew && memory.get(key) === true) return [];
    try {
      return await client.call(operations.listRepositoryTeams, { params: repositoryParams(subject) });
    } catch (error) {
      if (!(error instanceof ReeveError) || error.status !== 405) throw error;
      memory.set(key, true);
      return [];
    }
  },
});

/** The accounts to which issues of the repository can be assigned. */
export const assignable = defineFact({
  name: 'assignable',
  meaning:
    'The accounts that issues and pull requests of the repository can be assigned to: those that may write, and members of teams that read issues or pull requests.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(resource({ id: int, login: text }, {})),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.permitted],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'assignable.exists(a, a.login == "ada")',
  ask: ({ client, subject }) => client.call(operations.listAssignees, { params: repositoryParams(subject) }),
});

/**
 * Returns the permission of an account in the subject's repository now. Throws if the name now belongs to a different
 * account, and `UnknownWriter` if the forge does not show the teams that decide.
 */
export async function askPermission(
  context: AskContext,
  { id, login }: NamedAccount,
): Promise<HeldPermission> {
  const said = await askForge(login, context);
  if (said.user && said.user.id !== id)
    throw new Error(`the account ${login} is another one now than in the event`);
  return withTeams(said.permission, { id, login }, context);
}

/** Like `askPermission`, for the account that has a name now; also returns its id. */
export async function askNamed(
  login: string,
  context: AskContext,
): Promise<{ readonly id: number; readonly permission: HeldPermission }> {
  const { permission, user } = await askForge(login, context);
  if (!user) throw new Error(`the forge returned a permission "${permission}" without an account`);
  return { id: user.id, permission: await withTeams(permission, { id: user.id, login }, context) };
}

async function askForge(login: string, { client, subject }: AskContext) {
  const params = { ...repositoryParams(subject), collaborator: login };
  const { permission, user } = await client.call(operations.getPermission, { params });
  const known = permissions.find((name) => name === permission);
  if (known === undefined) throw new Error(`the forge returned an unknown permission "${permission}"`);
  return { permission: known, user };
}

/**
 * Returns the permission that an account has with its teams. What forges say of an account that is neither a
 * collaborator nor an administrator leaves out the units of teams, and is wrong in both directions: Gitea 1.27 counts
 * such a team as nothing; Forgejo and earlier versions of Gitea count the least permission among the units that the team
 * has, which is `write` for a team that may write issues and has no access to the code. Source: forge
 * `models/perm/access/repo_permission.go`, `GetIndividualUserRepoPermission`; `MinUnitAccessMode`.
 */
async function withTeams(
  said: HeldPermission,
  account: NamedAccount,
  context: AskContext,
): Promise<HeldPermission> {
  // Members of teams with administrator access are owners.
  if (said === 'admin' || said === 'owner') return said;
  const teams = await askTeams(context);
  const writing = teams.filter((team) => mayIn(team, 'repo.code', 'write'));
  if (said === 'write') {
    const mayMislead = teams.some((team) => team.permission === 'write' && !writing.includes(team));
    // A collaborator has this permission in every unit.
    if (!mayMislead || (await isCollaborator(account, context))) return 'write';
    return (await isInAny(writing, account, context)) ? 'write' : 'read';
  }
  if (teams.length === 0 || (said === 'read' && writing.length === 0)) return said;
  // Every reader can list the assignable accounts. An account with less than `write` is assignable only through its teams.
  const isListed = (await context.ask(requestOf(assignable))).some(({ id }) => id === account.id);
  const listing = teams.filter(mayBeAssigned);
  if (isListed && listing.length > 0 && listing.every((team) => writing.includes(team))) return 'write';
  const possible = isListed ? writing : writing.filter((team) => !areAssignable(team));
  if (await isInAny(possible, account, context)) return 'write';
  return isListed ? 'read' : said;
}

/** Returns the teams of the repository without administrator access. */
async function askTeams({ ask }: Pick<AskContext, 'ask'>): Promise<readonly Team[]> {
  const all = await ask(requestOf(repositoryTeams));
  return all.filter(({ permission }) => permission !== 'admin' && permission !== 'owner');
}

/**
 * Returns the names of the teams whose members the account cannot see although they decide who may write to the
 * repository.
 */
export async function findHiddenTeams(
  facts: Pick<AskContext, 'ask'>,
  client: AskContext['client'],
): Promise<readonly string[]> {
  const teams = await askTeams(facts);
  const writing = teams.filter((team) => mayIn(team, 'repo.code', 'write'));
  // Then every assignable account may write, and no other.
  if (teams.filter(mayBeAssigned).every((team) => writing.includes(team)) && writing.every(areAssignable))
    return [];
  const hidden: string[] = [];
  for (const team of writing.slice(0, maxTeams))
    if (!(await seesMembers(team, client))) hidden.push(team.name);
  return hidden;
}

/**
 * Returns whether members of a team can be assignable on some forge: Gitea 1.27 lists those who read issues or pull
 * requests, Forgejo those who read pull requests or write in any unit. Source: forge `models/repo/user_repo.go`,
 * `GetRepoAssignees`.
 */
function mayBeAssigned(team: Team): boolean {
  const isWriting = Object.keys(team.units_map ?? {}).some((unit) => mayIn(team, unit, 'write'));
  return isWriting || mayIn(team, 'repo.issues', 'read') || mayIn(team, 'repo.pulls', 'read');
}

/** Returns whether members of a team are assignable on every forge. */
function areAssignable(team: Team): boolean {
  return mayIn(team, 'repo.issues', 'write') || mayIn(team, 'repo.pulls', 'read');
}

/** Returns whether members of a team have a permission in a unit. */
function mayIn({ units_map }: Team, unit: string, needed: 'read' | 'write'): boolean {
  const held = permissions.find((one) => one === units_map?.[unit]) ?? 'none';
  return permissions.indexOf(held) >= permissions.indexOf(needed);
}

async function isCollaborator({ login }: NamedAccount, { client, subject }: AskContext): Promise<boolean> {
  const params = { ...repositoryParams(subject), collaborator: login };
  const asked = client.call(operations.checkCollaborator, { params }).then(() => true);
  return (await absentAsUndefined(asked)) ?? false;
}

/** Maximum number of teams whose members are asked for, and of concurrent requests. */
const [maxTeams, width] = [50, 5];
/** Maximum number of teams that a message names. */
const maxNamed = 3;

/** Returns whether an account is in one of these teams; throws `UnknownWriter` if that cannot be known. */
async function isInAny(
  teams: readonly Team[],
  account: NamedAccount,
  { client, subject }: AskContext,
): Promise<boolean> {
  const { owner } = repositoryOf(subject);
  const through = `through which ${account.login} may have write access`;
  if (teams.length > maxTeams)
    throw new UnknownWriter(
      `${owner} has ${teams.length} teams ${through}, and at most ${maxTeams} are asked for: give fewer teams write access, or make it a collaborator`,
    );
  const unseen: string[] = [];
  for (let at = 0; at < teams.length; at += width) {
    const some = teams.slice(at, at + width);
    const found = await Promise.all(some.map((team) => membershipIn(team, account, client)));
    if (found.includes('member')) return true;
    unseen.push(...some.filter((_, place) => found[place] === 'unseen').map(({ name }) => name));
  }
  if (unseen.length === 0) return false;
  const rest = unseen.length > maxNamed ? ` and ${unseen.length - maxNamed} more` : '';
  const named = `${unseen.length === 1 ? 'team' : 'teams'} ${unseen.slice(0, maxNamed).join(', ')}${rest} of ${owner}`;
  throw new UnknownWriter(
    `Reeve’s account does not see the members of the ${named}, ${through}: make it a member there, with a token that has read:organization, or make ${account.login} a collaborator`,
  );
}

/** Returns what an account is in a team; `unseen` if the forge does not show that. */
async function membershipIn(
  team: Team,
  account: NamedAccount,
  client: AskContext['client'],
): Promise<'member' | 'none' | 'unseen'> {
  const params = { id: team.id, username: account.login };
  const member = await unlessHidden(client.call(operations.getTeamMember, { params }));
  if (member) return member.id === account.id ? 'member' : 'unseen';
  // A forge also answers 404 for a team that it hides; it then hides the list of members, too.
  return (await seesMembers(team, client)) ? 'none' : 'unseen';
}

async function seesMembers({ id }: Team, client: AskContext['client']): Promise<boolean> {
  const asked = client.call(operations.listTeamMembers, { params: { id }, query: { limit: 1 } });
  return (await unlessHidden(asked)) !== undefined;
}

/** Resolves to undefined if the forge answers 403 or 404. */
async function unlessHidden<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    const isHidden =
      error instanceof ReeveError && (error.code === 'forge-forbidden' || error.code === 'forge-not-found');
    if (isHidden) return undefined;
    throw error;
  }
}
