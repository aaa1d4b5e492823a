import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { PullReview } from '../contract/resources/reviews.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { changedSinceFact } from '../facts/files.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { currentReviews, reviews as reviewsRow } from '../facts/reviews.ts';
import { ways } from '../facts/ways.ts';
import { indexParams } from '../facts/where.ts';
import { compileGlob, GlobError } from '../patterns/glob.ts';
import type { Meter } from '../patterns/meter.ts';
import { defineAction, forgeText } from './action.ts';
import type { Change } from './change.ts';
import { type ForgeObject, type Inverse, pathParams } from './inverses.ts';

const DismissStaleReviews = z.strictObject({
  states: z
    .array(z.enum(['APPROVED', 'REQUEST_CHANGES']))
    .min(1)
    .default(['APPROVED'])
    .meta({ description: 'States of the reviews to dismiss.' }),
  message: forgeText({ lines: true }).max(5_000).default('New commits arrived after this review.'),
  'ignore-paths': z
    .array(z.string().min(1).max(500))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'A review is kept if all files that changed since match these globs.' }),
  'keep-on-rebase': z.boolean().default(false).meta({
    description:
      'A review is kept while the changes of the pull request are the same as at its commit, as the fact `current_reviews` says.',
  }),
  priors: z.boolean().default(false).meta({ description: 'Also dismisses older reviews of the same user.' }),
});
type DismissStaleReviews = z.output<typeof DismissStaleReviews>;

const pullFact = requestOf(pullRequest);
const reviewsFact = requestOf(reviewsRow);
const currentFact = requestOf(currentReviews);

const undoDismissal: Inverse = async (change, client) => {
  const live = (await client.send(operations.getReview, { params: pathParams(change) })) as ForgeObject;
  return {
    // The review is identified by its number; the author is included only for display.
    value: { ...(change.after as ForgeObject), state: live.state, dismissed: live.dismissed },
    undo: () => ({ operation: operations.undismissReview, input: { params: pathParams(change) } }),
  };
};

/**
 * Dismisses approvals (or rejections) that are older than the newest commits. Forges send no webhook for a dismissal;
 * the message is shown in the conversation.
 */
export const dismissStaleReviews = defineAction<DismissStaleReviews>({
  name: 'dismiss-stale-reviews',
  meaning:
    'Dismisses reviews in `states` whose commit is no longer the head, with `message`; what the forge marks as stale is not used. Reviews of a closed pull request, and dismissed reviews, are left unchanged.',
  example: `uses: dismiss-stale-reviews
with:
  states: [APPROVED]
  message: New commits arrived after this review.
  ignore-paths: ["docs/**"]
`,
  arguments: DismissStaleReviews,
  of: ['pull_request'],
  ways: { writes: [ways.dismissed], after: [ways.pushed, ways.reviewed] },
  needs: { access: 'admin', scopes: ['repository'] },
  protects: true,
  describesState: true,
  granted: false,
  visibleTo: 'administrators',
  inverses: { [operations.dismissReview.id]: undoDismissal },
  adoption: undefined,
  examine(written) {
    const globs = written['ignore-paths'];
    try {
      if (globs) compileGlob(globs);
      return [];
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      const place = globs?.indexOf(error.pattern) ?? -1;
      return [{ path: place < 0 ? ['ignore-paths'] : ['ignore-paths', place], message: error.message }];
    }
  },
  facts: () => [pullFact, reviewsFact],
  async plan(given, facts, { meter }) {
    const pull = await facts.ask(pullFact);
    if (pull.state === 'closed') return [];
    const head = pull.head?.sha;
    if (!head) throw new Error('the pull request has no head commit');
    const older = (await facts.ask(reviewsFact)).filter(
      ({ dismissed, state, commit_id }) =>
        !dismissed && given.states.some((one) => one === state) && commit_id !== head,
    );
    const changes: Change[] = [];
    // Read even if no review is older, because the fact records the merge base of the head.
    const current = given['keep-on-rebase'] ? await facts.ask(currentFact) : [];
    for (const review of older) {
      if (current.some(({ id }) => id === review.id)) continue;
      if (await isUnderIgnored(review, given, { facts, meter })) continue;
      const commit = review.commit_id?.slice(0, 10) || 'an unknown commit';
      const why = `the review is for ${commit}${given['keep-on-rebase'] ? ', whose changes differ from those of the head' : ''}`;
      changes.push(dismissal(review, why, given, facts));
    }
    return changes;
  },
  confirm(change, answer) {
    if (change.operation !== operations.dismissReview.id) return undefined;
    const review = PullReview.safeParse(answer);
    return review.success && review.data.dismissed === false ? 'the forge did not dismiss it' : undefined;
  },
});

async function isUnderIgnored(
  review: PullReview,
  given: DismissStaleReviews,
  { facts, meter }: { readonly facts: Facts; readonly meter: Meter },
): Promise<boolean> {
  const globs = given['ignore-paths'];
  if (globs === undefined || !review.commit_id) return false;
  const changed = await facts.ask(requestOf(changedSinceFact, review.commit_id));
  if (changed === null) return false;
  const paths = changed.flatMap(({ filename, previous_filename }) =>
    previous_filename ? [filename, previous_filename] : [filename],
  );
  const matches = compileGlob(globs);
  return paths.every((path) => matches(path, meter));
}

function dismissal(review: PullReview, why: string, given: DismissStaleReviews, facts: Facts): Change {
  const who = review.user?.login ?? 'a deleted account';
  return {
    action: 'dismiss-stale-reviews',
    operation: operations.dismissReview.id,
    input: {
      params: { ...indexParams(facts.subject), id: review.id },
      body: { message: given.message, priors: given.priors },
    },
    target: `review:${review.id}`,
    value: 'dismissed',
    before: { state: review.state, by: who, dismissed: false },
    after: { state: review.state, by: who, dismissed: true },
    reason: why,
    protects: 'tightens',
    reads: [reviewsFact],
  };
}
