import { operations } from '../contract/operations.ts';
import { Organization, Team, User } from '../contract/resources/users.ts';
import { list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { ways } from './ways.ts';
import { organizationParams } from './where.ts';

/** The current state of the organization: the item of a sweep, otherwise the owner of the repository. */
export const organization = defineFact({
  name: 'organization',
  meaning:
    'The organization with its settings: the item of a sweep, otherwise the owner of the repository. Not available if a user owns the repository.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: Organization,
  of: ['organization', 'repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.configured],
  needs: { access: 'anyone', scopes: ['organization'] },
  requests: 1,
  example: 'organization.visibility == "private"',
  ask: ({ client, subject }) =>
    client.call(operations.getOrganization, { params: organizationParams(subject) }),
});

/** The members of a team of an organization. */
export const team = defineFact({
  name: 'team',
  meaning:
    'Login names of the members of a team, named as `organization/team`. Reeve’s account must be a member of the organization, by a team of its own, and the named team must have the visibility `limited`, or the account as a member: a team that it cannot see is an error, on which the rule fails. `reeve doctor` tries it. Files of repositories and organizations need the grant `facts: [team]`.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(text),
  of: ['repository', 'pull_request', 'issue', 'branch', 'organization'],
  changes: [ways.joined],
  needs: { access: 'member', scopes: ['organization'] },
  argument: 'organization/team',
  examineArgument: (argument) =>
    /^[^/\s]+\/[^/\s]+$/.test(argument) ? undefined : 'name the team as organization/team',
  requests: 2,
  example: 'sender.login in team("acme/release")',
  async ask({ client }, argument = '') {
    const [org = '', name = ''] = argument.split('/');
    const id = await askTeamId(client, org, name);
    const members: string[] = [];
    for await (const { login } of client.items(operations.listTeamMembers, { params: { id } }))
      members.push(login);
    return members;
  },
});

async function askTeamId(client: AskContext['client'], org: string, name: string): Promise<number> {
  for await (const found of client.items(operations.listTeams, { params: { org } })) {
    if (found.name.toLowerCase() === name.toLowerCase()) return found.id;
  }
  throw new ReeveError('forge-not-found', `${org} has no team "${name}" that this account may see`);
}

const subjects = ['organization', 'repository'] as const;

/** The teams of the organization that this account may see. */
export const teams = defineFact({
  name: 'teams',
  meaning: 'The teams of the organization that Reeve’s account may see: for an owner, all of them.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(Team),
  of: subjects,
  needs: { access: 'member', scopes: ['organization'] },
  requests: 1,
  example: 'teams.exists(t, t.name == "release")',
  async ask({ client, subject }) {
    const found: Team[] = [];
    for await (const one of client.items(operations.listTeams, { params: organizationParams(subject) }))
      found.push(one);
    return found;
  },
});

/** The members of a team of the subject's organization; empty for an unknown team. */
export const teamMembers = defineFact({
  name: 'team_members',
  meaning:
    'The accounts of the members of a team of the organization, by the name of the team. A team that does not exist has none.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(User),
  of: subjects,
  needs: { access: 'member', scopes: ['organization'] },
  argument: 'team',
  requests: 2,
  example: 'team_members("release").exists(m, m.login == "ada")',
  async ask(context, name = '') {
    const id = await idOfTeam(context, name);
    const found: User[] = [];
    if (id === undefined) return found;
    for await (const one of context.client.items(operations.listTeamMembers, { params: { id } }))
      found.push(one);
    return found;
  },
});

/** The repositories of a team of the subject's organization; empty for an unknown team. */
export const teamRepositories = defineFact({
  name: 'team_repositories',
  meaning:
    'The full names of the repositories of a team of the organization, by the name of the team. A team that does not exist has none.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(text),
  of: subjects,
  needs: { access: 'member', scopes: ['organization'] },
  argument: 'team',
  requests: 2,
  example: '"acme/site" in team_repositories("release")',
  async ask(context, name = '') {
    const id = await idOfTeam(context, name);
    const found: string[] = [];
    if (id === undefined) return found;
    const input = { params: { id } };
    for await (const one of context.client.items(operations.listTeamRepositories, input))
      found.push(one.full_name);
    return found;
  },
});

async function idOfTeam({ ask, subject }: AskContext, name: string): Promise<number | undefined> {
  const all = await ask(requestOf(teams));
  const named = all.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  if (named.length > 1) {
    const { org } = organizationParams(subject);
    throw new ReeveError('forge-refused', `${org} has ${named.length} teams "${name}"`);
  }
  return named[0]?.id;
}
