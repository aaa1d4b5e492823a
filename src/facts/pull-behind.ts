import { operations } from '../contract/operations.ts';
import { int } from '../contract/shape.ts';
import { defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { repositoryParams } from './where.ts';

/** How many commits of the base the pull request lacks. */
export const behind = defineFact({
  name: 'pull_request.behind',
  meaning:
    'The number of commits on the base branch that the head does not have, counted now; `pull_request.merge_base` may be older.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: int,
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'pull_request.behind == 0',
  async ask({ client, subject, ask }) {
    const { head, base } = await ask(requestOf(pullRequest));
    if (!head?.sha || !base?.sha) throw new Error('the pull request has no head or no base');
    // The `merge_base` of the pull request is that of the forge's last check: after an update it is the old one for seconds.
    const basehead = `${head.sha}...${base.sha}`;
    const { total_commits } = await client.call(operations.compare, {
      params: { ...repositoryParams(subject), basehead },
    });
    if (total_commits == null) throw new Error('the forge does not say how many commits there are');
    return total_commits;
  },
});
