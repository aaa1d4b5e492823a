import { Milestone } from '../contract/resources/milestones.ts';
import { defineFact, requestOf } from './fact.ts';
import { issue } from './issue.ts';
import { pullRequest } from './pull-request.ts';

/** The milestone of the issue or pull request, or null. */
export const milestone = defineFact({
  name: 'milestone',
  meaning: 'The milestone of the issue or pull request; null if it has none.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Milestone.nullable(),
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue', 'repository'] },
  requests: 1,
  example: 'milestone != null && milestone.state == "open"',
  async ask({ subject, ask }) {
    const carrier =
      subject.kind === 'pull_request' ? await ask(requestOf(pullRequest)) : await ask(requestOf(issue));
    return carrier.milestone ?? null;
  },
});
