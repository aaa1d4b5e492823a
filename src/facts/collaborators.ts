import { operations } from '../contract/operations.ts';
import { User } from '../contract/resources/users.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** The collaborators of the repository, without users who have access through a team or as owner. */
export const collaborators = defineFact({
  name: 'collaborators',
  meaning: 'The collaborators of the repository, without users who have access through a team or as owner.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(User),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'collaborators.exists(c, c.login == "release-bot")',
  async ask({ client, subject }) {
    const found: User[] = [];
    const params = repositoryParams(subject);
    for await (const one of client.items(operations.listCollaborators, { params })) found.push(one);
    return found;
  },
});
