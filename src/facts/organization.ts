import { operations } from '../contract/operations.ts';
import { Organization } from '../contract/resources/users.ts';
import { defineFact } from './fact.ts';
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
  needs: { access: 'anyone', scopes: ['organization'] },
  requests: 1,
  example: 'organization.visibility == "private"',
  ask: ({ client, subject }) =>
    client.call(operations.getOrganization, { params: organizationParams(subject) }),
});
