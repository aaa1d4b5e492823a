import { operations } from '../contract/operations.ts';
import { Milestone } from '../contract/resources/milestones.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** All milestones of the repository, open and closed. */
export const milestones = defineFact({
  name: 'milestones',
  meaning: 'The milestones of the repository, open and closed.',
  shows: 'repository',
  visibleTo: 'issues',
  shape: list(Milestone),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'milestones.exists(m, m.state == "open" && m.title == "next")',
  async ask({ client, subject }) {
    const input = { params: repositoryParams(subject), query: { state: 'all' } };
    const found: Milestone[] = [];
    for await (const one of client.items(operations.listMilestones, input)) found.push(one);
    return found;
  },
});
