import { operations } from '../contract/operations.ts';
import { list, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { type AskContext, defineFact } from './fact.ts';

/** The members of a team of an organization. */
export const team = defineFact({
  name: 'team',
  meaning:
    'Login names of the members of a team, named as `organization/team`. The account must be a member of the organization that may see the team; a team that it cannot see is an error. Files of repositories and organizations need the grant `facts: [team]`.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: list(text),
  of: ['repository', 'pull_request', 'issue', 'branch', 'organization'],
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
