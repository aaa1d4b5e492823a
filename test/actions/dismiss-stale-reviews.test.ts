import { describe, expect, it } from 'vitest';
import { dismissStaleReviews } from '../../src/actions/dismiss-stale-reviews.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const old = 'a'.repeat(40);
const head = 'b'.repeat(40);
const pull = { id: 1, number: 7, title: 'x', state: 'open', head: { ref: 'work', sha: head } };
const review = (id: number, more: object = {}) => ({
  id,
  state: 'APPROVED',
  user: { id: 1, login: 'ada' },
  commit_id: old,
  stale: true,
  dismissed: false,
  ...more,
});
const plan = (written: object, reviews: readonly unknown[], more: Record<string, unknown> = {}) =>
  dismissStaleReviews.plan(
    dismissStaleReviews.arguments.parse(written),
    makeFacts({ pull_request: pull, reviews, ...more }),
    makeContext(),
  );
const ids = async (...given: Parameters<typeof plan>) => (await plan(...given)).map(({ target }) => target);

describe('the dismissed review', () => {
  it.each([
    ['one submitted for an older commit', {}, review(1), true],
    [
      'one of an older commit even if the forge does not mark it stale',
      {},
      review(1, { stale: false }),
      true,
    ],
    ['one submitted for no known commit', {}, review(1, { commit_id: '' }), true],
    ['not one submitted for the head', {}, review(1, { commit_id: head }), false],
    ['not one that is already dismissed', {}, review(1, { dismissed: true }), false],
    ['not a rejection, by default', {}, review(1, { state: 'REQUEST_CHANGES' }), false],
    [
      'a rejection, if configured',
      { states: ['REQUEST_CHANGES'] },
      review(1, { state: 'REQUEST_CHANGES' }),
      true,
    ],
    ['not a comment', { states: ['APPROVED', 'REQUEST_CHANGES'] }, review(1, { state: 'COMMENT' }), false],
  ])('is %s', async (_title, written, one, isDismissed) => {
    expect(await ids(written, [one])).toEqual(isDismissed ? ['review:1'] : []);
  });

  it.each([
    ['a review of the current changes is kept', [review(1, { stale: true })], []],
    ['a review of other changes is dismissed, whatever the forge says', [], ['review:1']],
  ])('with keep-on-rebase, %s', async (_title, current, expected) => {
    const found = await ids({ 'keep-on-rebase': true }, [review(1, { stale: false })], {
      current_reviews: current,
    });

    expect(found).toEqual(expected);
  });

  it('is none of a closed pull request, because the forge would refuse the dismissal', async () => {
    expect(await ids({}, [review(1)], { pull_request: { ...pull, state: 'closed' } })).toEqual([]);
  });

  it('is requested with the message and the choice to include earlier reviews', async () => {
    const [change] = await plan({ message: 'Again, please.', priors: true }, [review(1)]);

    expect(change?.input).toEqual({
      params: { owner: 'acme', repo: 'site', index: 7, id: 1 },
      body: { message: 'Again, please.', priors: true },
    });
  });
});

describe('paths to ignore', () => {
  const since = (...files: readonly unknown[]) => ({ changed_since: { [old]: files } });

  it.each([
    ['keep a review while all changes are below them', since('docs/a.md', 'docs/b/c.md'), []],
    ['keep no review if something else changed', since('docs/a.md', 'src/a.ts'), ['review:1']],
    [
      'compare both names of a renamed file',
      since({ filename: 'docs/a.md', previous_filename: 'src/a.md', status: 'renamed' }),
      ['review:1'],
    ],
    ['keep no review if everything may have changed', { changed_since: { [old]: null } }, ['review:1']],
  ])('%s', async (_title, more, expected) => {
    const facts = makeFacts({ pull_request: pull, reviews: [review(1)], ...more });
    const given = dismissStaleReviews.arguments.parse({ 'ignore-paths': ['docs/**'] });

    const changes = await dismissStaleReviews.plan(given, facts, makeContext());

    expect(changes.map(({ target }) => target)).toEqual(expected);
  });

  it('are not compared if no review is stale', async () => {
    const facts = makeFacts({ pull_request: pull, reviews: [review(1, { stale: false, commit_id: head })] });
    const given = dismissStaleReviews.arguments.parse({ 'ignore-paths': ['docs/**'] });

    await dismissStaleReviews.plan(given, facts, makeContext());

    expect(facts.asked).toEqual(['pull_request', 'reviews']);
  });

  it('that match nothing are a problem of the file', () => {
    const given = dismissStaleReviews.arguments.parse({ 'ignore-paths': ['docs/**', 'a['] });

    expect(dismissStaleReviews.examine?.(given)).toMatchObject([{ path: ['ignore-paths', 1] }]);
  });
});

it('dismiss-stale-reviews detects a response that dismissed nothing', async () => {
  const [change] = await plan({}, [review(1)]);
  if (!change) throw new Error('no change');

  expect(dismissStaleReviews.confirm?.(change, { id: 1, dismissed: true })).toBeUndefined();
  expect(dismissStaleReviews.confirm?.(change, { id: 1, dismissed: false })).toContain('did not dismiss');
});
