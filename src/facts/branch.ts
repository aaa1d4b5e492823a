import { operations } from '../contract/operations.ts';
import { Branch } from '../contract/resources/branches.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

export const branch = defineFact({
  name: 'branch',
  meaning: 'The current state of the branch. Not available after a `delete`.',
  shows: 'repository',
  visibleTo: 'code',
  shape: Branch,
  of: ['branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'branch.protected && branch.required_approvals < 2',
  ask: ({ client, subject }) => {
    if (subject.ref === undefined) throw new ReeveError('internal', `a ${subject.kind} has no ref`);
    return client.call(operations.getBranch, {
      params: { ...repositoryParams(subject), branch: subject.ref },
    });
  },
});
