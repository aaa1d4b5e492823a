import { operations } from '../contract/operations.ts';
import { Milestone } from '../contract/resources/milestones.ts';
import { defineFact, requestOf } from './fact.ts';
import { issue } from './issue.ts';
import { pullRequest } from './pull-request.ts';
import { repositoryParams } from './where.ts';

/** The milestone of the issue or pull request, or null; the milestone itself where a sweep walks over milestones. */
export const milestone = defineFact({
  name: 'milestone',
  meaning:
    'The milestone of the issue or pull request, null if it has none; with `each: milestone`, the milestone itself.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Milestone.nullable(),
  of: ['issue', 'pull_request', 'milestone'],
  needs: { access: 'reader', scopes: ['issue', 'repository'] },
  requests: 1,
  example: 'milestone != null && milestone.state == "open"',
  async ask({ subject, ask, client }) {
    if (subject.milestone !== undefined) {
      const params = { ...repositoryParams(subject), id: subject.milestone };
      return client.call(operations.getMilestone, { params });
    }
    const carrier =
      subject.kind === 'pull_request' ? await ask(requestOf(pullRequest)) : await ask(requestOf(issue));
    return carrier.milestone ?? null;
  },
});
