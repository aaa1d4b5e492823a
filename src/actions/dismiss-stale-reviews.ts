import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { Compare } from '../contract/resources/branches.ts';
import { PullReview } from '../contract/resources/reviews.ts';
import { ReeveError } from '../errors.ts';
import { compare } from '../facts/compare.ts';
import type { Facts } from '../facts/fact.ts';
import { requestOf } from '../facts/fact.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { reviews as reviewsRow } from '../facts/reviews.ts';
import { indexParams } from '../facts/where.ts';
import { compileGlob } from '../patterns/glob.ts';
import { GlobError } from '../patterns/glob-error.ts';
import type { Meter } from '../patterns/meter.ts';
import { defineAction, forgeText } from './action.ts';
import type { Change } from './change.ts';
import { type ForgeObject, pathParams } from './inverses/forms.ts';
import type { Inverse } from './inverses/inverse.ts';

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
    description: 'A review is kept while the forge does not mark it as stale, because the diff is unchanged.',
  }),
  priors: z.boolean().default(false).meta({ description: 'Also dismisses older reviews of the same user.' }),
});
type DismissStaleReviews = z.output<typeof DismissStaleReviews>;

const pullFact = requestOf(pullRequest);
const reviewsFact = requestOf(reviewsRow);

const undoDismissal: Inverse = async (change, client) => {
  const live = (await client.send(operations.getReview, { params: pathParams(change) })) as ForgeObject;
  return {
    // The author of the review is shown for information; the number identifies the review.
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
    'Dismisses reviews in `states` that the forge marks as stale, or whose commit is no longer the head, with `message`. Reviews of a closed pull request, and dismissed reviews, are left unchanged.',
  example: `uses: dismiss-stale-reviews
with:
  states: [APPROVED]
  message: New commits arrived after this review.
  ignore-paths: ["docs/**"]
`,
  arguments: DismissStaleReviews,
  of: ['pull_request'],
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
    const all = await facts.ask(reviewsFact);
    const changes: Change[] = [];
    for (const review of all) {
      const why = review.dismissed ? undefined : reasonAgainst(review, head, given);
      if (why === undefined || (await isUnderIgnored(review, head, given, { facts, meter }))) continue;
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

function reasonAgainst(review: PullReview, head: string, given: DismissStaleReviews): string | undefined {
  if (!given.states.some((state) => state === review.state)) return undefined;
  if (review.stale) return 'the forge calls it stale';
  const isOlder = Boolean(review.commit_id) && review.commit_id !== head;
  return isOlder && !given['keep-on-rebase']
    ? `it was given for ${review.commit_id?.slice(0, 10)}`
    : undefined;
}

async function isUnderIgnored(
  review: PullReview,
  head: string,
  given: DismissStaleReviews,
  { facts, meter }: { readonly facts: Facts; readonly meter: Meter },
): Promise<boolean> {
  const globs = given['ignore-paths'];
  if (globs === undefined || !review.commit_id) return false;
  if (review.commit_id === head) return false;
  const changed = await changedSince(review.commit_id, head, facts);
  if (changed === undefined) return false;
  const paths = changed.files.flatMap(({ filename, previous_filename }) =>
    previous_filename ? [filename, previous_filename] : [filename],
  );
  const matches = compileGlob(globs);
  return paths.every((path) => matches(path, meter));
}

/** A commit before a force-push may no longer exist on the forge: then the changes since are unknown, and no review is kept. */
async function changedSince(commit: string, head: string, facts: Facts): Promise<Compare | undefined> {
  try {
    return await facts.ask(requestOf(compare, `${commit}...${head}`));
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return undefined;
    throw error;
  }
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
