import { Milestone } from '../contract/resources/milestones.ts';
import { defineFact } from './fact.ts';

/** The milestone of the issue or pull request, or null. */
export const milestone = defineFact({
  name: 'milestone',
  meaning: 'The milestone of the issue or pull request; null if it has none.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: Milestone.nullable(),
  of: ['issue', 'pull_request'],
  requests: 1,
  example: 'milestone != null && milestone.state == "open"',
  async ask({ subject, ask }) {
    const name = subject.kind === 'pull_request' ? 'pull_request' : 'issue';
    const carrier = (await ask({ name })) as { milestone?: Milestone | null };
    return carrier.milestone ?? null;
  },
});
