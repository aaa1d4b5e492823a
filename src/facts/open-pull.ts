import { operations } from '../contract/operations.ts';
import { PullRequest } from '../contract/resources/pulls.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { otherRepositoryReason } from './files.ts';
import { ways } from './ways.ts';
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
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'base...head',
  examineBelowOperator: otherRepositoryReason,
  requests: 1,
  example: 'open_pull("main...develop") == null',
  async ask({ client, subject }, between = '') {
    const [base = '', head = ''] = between.split('...');
    try {
      const at = repositoryParams(subject);
      const first = await client.call(operations.getPullByBranches, { params: { ...at, base, head } });
      if (first.state === 'open') return first;
      // If there are several pull requests, the forge returns the oldest, whatever its state.
      const query = { state: 'open', base_branch: base };
      for await (const pull of client.items(operations.listPulls, { params: at, query })) {
        if (branchesOf(pull) === branchesOf(first)) return pull;
      }
      return null;
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
      throw error;
    }
  },
});

function branchesOf({ base, head }: PullRequest): string {
  return JSON.stringify([base?.ref, head?.repo_id, head?.ref]);
}
