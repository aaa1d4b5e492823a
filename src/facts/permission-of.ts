import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { int, list, resource, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { permissions } from './sender-permission.ts';
import { repositoryParams } from './where.ts';

/** The permission of an account in the repository. */
export const permissionOf = defineFact({
  name: 'permission_of',
  meaning:
    'The permission that the account of this name has in the repository now (`permission`: `none`, `read`, `write`, `admin` or `owner`), with the id of the account; null if there is no such account. Only administrators of the repository may read it: without that access the condition is `error`.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: z.object({ id: int, permission: z.enum(permissions) }).nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'admin', scopes: ['repository'] },
  argument: 'ada',
  requests: 1,
  example: 'permission_of("ada") != null && permission_of("ada").permission == "write"',
  async ask({ client, subject }, collaborator = '') {
    try {
      const params = { ...repositoryParams(subject), collaborator };
      const { permission, user } = await client.call(operations.getPermission, { params });
      const known = permissions.find((name) => name === permission);
      if (known === undefined || !user) throw new Error(`the forge knows a permission "${permission}"`);
      return { id: user.id, permission: known };
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
      throw error;
    }
  },
});

/** The accounts that issues of the repository can be assigned to. */
export const assignable = defineFact({
  name: 'assignable',
  meaning:
    'The accounts that issues and pull requests of the repository can be assigned to: those that may write, and members of teams that read issues or pull requests.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(resource({ id: int, login: text }, {})),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'assignable.exists(a, a.login == "ada")',
  ask: ({ client, subject }) => client.call(operations.listAssignees, { params: repositoryParams(subject) }),
});
