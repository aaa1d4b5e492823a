import { operations } from '../contract/operations.ts';
import { Branch } from '../contract/resources/branches.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { repositoryParams } from './where.ts';

/** The branch that the pull request merges into. */
export const baseBranch = defineFact({
  name: 'base_branch',
  meaning:
    'The current state of the branch that the pull request merges into, with what its protection requires.',
  shows: 'repository',
  visibleTo: 'code',
  shape: Branch,
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'base_branch.protected && base_branch.required_approvals >= 1',
  async ask({ client, subject, ask }) {
    const { base } = await ask(requestOf(pullRequest));
    if (!base?.ref) throw new ReeveError('forge-not-found', 'the pull request has no base branch');
    return client.call(operations.getBranch, {
      params: { ...repositoryParams(subject), branch: base.ref },
    });
  },
});
