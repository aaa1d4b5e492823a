import { operations } from '../contract/operations.ts';
import { PullReview } from '../contract/resources/reviews.ts';
import { list } from '../contract/shape.ts';
import { defineFact } from './fact.ts';
import { indexParams } from './where.ts';

/** The reviews and review requests of the pull request, oldest first, including dismissed ones. */
export const reviews = defineFact({
  name: 'reviews',
  meaning:
    'The reviews and review requests (`state` REQUEST_REVIEW) of the pull request, oldest first, including dismissed and stale ones.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(PullReview),
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'reviews.exists(r, r.state == "APPROVED" && r.official && !r.dismissed)',
  async ask({ client, subject }) {
    const found: PullReview[] = [];
    for await (const one of client.items(operations.listReviews, { params: indexParams(subject) }))
      found.push(one);
    return found;
  },
});
