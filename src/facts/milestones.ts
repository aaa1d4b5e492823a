import { operations } from '../contract/operations.ts';
import { Milestone } from '../contract/resources/milestones.ts';
import { list } from '../contract/shape.ts';
import { defineFact, requestOf } from './fact.ts';
import { issue } from './issue.ts';
import { pullRequest } from './pull-request.ts';
import { ways } from './ways.ts';
import { repositoryParams } from './where.ts';

/** All milestones of the repository, open and closed. */
export const milestones = defineFact({
  name: 'milestones',
  meaning:
    'The milestones of the repository, open and closed. In a facts file, titles of open ones are enough.',
  shows: 'repository',
  visibleTo: 'issues',
  shape: list(Milestone),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.milestoneEdited],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'milestones.exists(m, m.state == "open" && m.title == "next")',
  complete: (written) =>
    Array.isArray(written)
      ? written.map((one, place) =>
          typeof one === 'string' ? { id: place + 1, title: one, state: 'open' } : one,
        )
      : written,
  async ask({ client, subject }) {
    const input = { params: repositoryParams(subject), query: { state: 'all' } };
    const found: Milestone[] = [];
    for await (const one of client.items(operations.listMilestones, input)) found.push(one);
    return found;
  },
});

/** The milestone of the issue or pull request, or null; in a sweep over milestones, the milestone itself. */
export const milestone = defineFact({
  name: 'milestone',
  meaning:
    'The milestone of the issue or pull request, null if it has none; with `each: milestone`, the milestone itself.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Milestone.nullable(),
  of: ['issue', 'pull_request', 'milestone'],
  changes: [ways.milestone, ways.milestoneEdited],
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
