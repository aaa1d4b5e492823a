import { expect, it } from 'vitest';
import { isOwnReview } from '../../src/facts/reviews.ts';

const recorded = {
  get: async (key: string) => (key === 'own-review 5' ? {} : undefined),
  set: async () => {},
};

it.each([
  ['with the marker on its first line', { id: 1, body: '<!-- reeve:gate/approve -->\nGood.' }, true],
  ['that is recorded, though a writer removed its marker', { id: 5, body: 'Good.' }, true],
  ['of a person', { id: 1, body: 'Good.' }, false],
  ['of a person who quotes the marker', { id: 1, body: 'Good.\n<!-- reeve:gate/approve -->' }, false],
  ['without a text', { id: 1, body: '' }, false],
])('a review %s is told apart', async (_title, review, isOwn) => {
  expect(await isOwnReview(review, recorded)).toBe(isOwn);
});
