import { operations } from '../contract/operations.ts';
import { int } from '../contract/shape.ts';
import { defineFact, requestOf } from './fact.ts';
import { pullRequest } from './pull-request.ts';
import { repositoryParams } from './where.ts';

/** How many commits of the base the pull request lacks. */
export const behind = defineFact({
  name: 'pull_request.behind',
  meaning:
    'The number of commits on the base branch that the pull request does not have: those since `pull_request.merge_base`.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: int,
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 2,
  example: 'pull_request.behind == 0',
  async ask({ client, subject, ask }) {
    const { merge_base, base } = await ask(requestOf(pullRequest));
    if (!merge_base || !base?.sha) throw new Error('the pull request has no merge base');
    if (merge_base === base.sha) return 0;
    const basehead = `${merge_base}...${base.sha}`;
    const { total_commits } = await client.call(operations.compare, {
      params: { ...repositoryParams(subject), basehead },
    });
    if (total_commits == null) throw new Error('the forge does not say how many commits there are');
    return total_commits;
  },
});
