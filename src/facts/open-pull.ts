import { operations } from '../contract/operations.ts';
import { PullRequest } from '../contract/resources/pulls.ts';
import { ReeveError } from '../errors.ts';
import { otherRepositoryReason } from './compare.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** The open pull request between two branches, or null. */
export const openPull = defineFact({
  name: 'open_pull',
  meaning:
    'The open pull request from `head` into `base` (`base...head`; `owner:branch` refers to a fork, in rules of the operator alone); null if there is none.',
  shows: 'beyond',
  visibleTo: 'operators',
  shape: PullRequest.nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'base...head',
  examineBelowOperator: otherRepositoryReason,
  requests: 1,
  example: 'open_pull("main...develop") == null',
  async ask({ client, subject }, between = '') {
    const [base = '', head = ''] = between.split('...');
    try {
      const params = { ...repositoryParams(subject), base, head };
      const pull = await client.call(operations.getPullByBranches, { params });
      return pull.state === 'open' ? pull : null;
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
      throw error;
    }
  },
});
