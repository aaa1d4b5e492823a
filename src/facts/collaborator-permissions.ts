import { operations } from '../contract/operations.ts';
import { int, list, resource, text } from '../contract/shape.ts';
import { collaborators } from './collaborators.ts';
import { defineFact, requestOf } from './fact.ts';
import { repositoryParams } from './where.ts';

/** Requests in progress at a time. */
const width = 5;

/** A collaborator with the access it has in effect: through a team or as owner, it may be more than it was given. */
const CollaboratorPermission = resource({ id: int, login: text, permission: text }, {});
type CollaboratorPermission = { readonly id: number; readonly login: string; readonly permission: string };

/** The collaborators of the repository with their access. */
export const collaboratorPermissions = defineFact({
  name: 'collaborator_permissions',
  meaning:
    'The collaborators of the repository with the access they have in effect (`permission`: `read`, `write`, `admin`, `owner`), which may be more than they were given, through a team.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(CollaboratorPermission),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'admin', scopes: ['repository'] },
  requests: 2,
  example: 'collaborator_permissions.exists(c, c.permission == "admin")',
  async ask({ client, subject, ask }) {
    const users = await ask(requestOf(collaborators));
    const params = repositoryParams(subject);
    const found: CollaboratorPermission[] = [];
    for (let at = 0; at < users.length; at += width) {
      const some = users.slice(at, at + width).map(async ({ id, login }) => {
        const answer = await client.call(operations.getPermission, {
          params: { ...params, collaborator: login },
        });
        return { id, login, permission: answer.permission };
      });
      found.push(...(await Promise.all(some)));
    }
    return found;
  },
});
