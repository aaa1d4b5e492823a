import { PullReview } from '../contract/resources/reviews.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact, requestOf } from './fact.ts';
import { reviews } from './reviews.ts';

/**
 * The current state of the review that the event is about. The payload does not contain its id: it is the newest one of
 * this state by the sender of the event.
 */
export const review = defineFact({
  name: 'review',
  meaning:
    'The current state of the review that the event is about: the newest review with its state by the sender of the event. Only for review events.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: PullReview,
  of: ['pull_request'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'review.official && review.state == "APPROVED"',
  async ask({ subject, ask }) {
    const { review: about } = subject;
    if (about === undefined) {
      throw new ReeveError('forge-not-found', `this ${subject.kind} event is not about a review`);
    }
    const all = await ask(requestOf(reviews));
    const found = all
      .filter(({ user, state }) => user?.id === about.reviewer && state === about.state)
      .toSorted((a, b) => b.id - a.id)[0];
    if (found === undefined) throw new ReeveError('forge-not-found', 'the review is not there any more');
    return found;
  },
});
