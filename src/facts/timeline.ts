import { operations } from '../contract/operations.ts';
import { TimelineEntry } from '../contract/resources/timeline.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { indexParams } from './where.ts';

/** The course of the issue or pull request: comments, reviews and events, oldest first. */
export const timeline = defineFact({
  name: 'timeline',
  meaning:
    'Comments, reviews and events of the issue or pull request, oldest first. `type` decides which members are set.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(TimelineEntry),
  of: ['issue', 'pull_request'],
  needs: { access: 'reader', scopes: ['issue'] },
  requests: 1,
  example: 'timeline.exists(e, e.type == "reopen")',
  async ask({ client, subject }) {
    const found: TimelineEntry[] = [];
    for await (const one of client.items(operations.listTimeline, { params: indexParams(subject) }))
      found.push(one);
    return found;
  },
});
