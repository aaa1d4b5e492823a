import { PullReview } from '../contract/resources/reviews.ts';
import { list } from '../contract/shape.ts';
import { type AskContext, defineFact, noteLeftOut, requestOf } from './fact.ts';
import { baseBranch, pullRequest } from './pull-request.ts';
import { currentReviews, isOwnReview, reviews as reviewsRow } from './reviews.ts';
import { ways } from './ways.ts';
import { askPermission, isWriter, UnknownWriter } from './write-access.ts';

/** Review states that vote or request a new vote; a comment does neither. Only each person's latest vote counts. */
const opinions: ReadonlySet<string> = new Set(['APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW']);

/** The approving reviews that count. */
export const approvals = defineFact({
  name: 'approvals',
  meaning:
    'The approving reviews that count: the latest opinion of each person, not dismissed, about the changes as they are now (see `current_reviews`; `stale` of the forge is not used), not by the author, not followed by a new request for a review, not given by a rule (`review`), and by a person with write access. On a protected base branch the forge says who that is (`official`); on another one it is asked for each approval, for which the account must be an administrator: otherwise the condition is `error`. An approval does not count if the forge does not show the members of a team that may have given write access.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(PullReview),
  of: ['pull_request'],
  changes: [
    ...[ways.pushed, ways.retargeted, ways.basePushed, ways.reviewed, ways.requested],
    ...[ways.dismissed, ways.permitted, ways.protected],
  ],
  needs: { access: 'reader', scopes: ['repository'], sometimes: 'admin' },
  requests: 4,
  example: 'approvals.size() >= 2',
  async ask(context) {
    const { ask } = context;
    const [pull, all] = await Promise.all([ask(requestOf(pullRequest)), ask(requestOf(reviewsRow))]);
    const current = new Set((await ask(requestOf(currentReviews))).map(({ id }) => id));
    const own = await ownApprovals(all, context);
    const given = latestOpinions(
      all.filter(({ id }) => !own.has(id)),
      pull.user?.id,
    );
    const { counted, unknown } = await ofReviewers(
      given.filter(({ id, state }) => state === 'APPROVED' && current.has(id)),
      context,
    );
    const author = pull.user?.id;
    noteLeftOut(
      counted,
      await whyNotCounted(all, { author, given, counted, unknown, current, own, context }),
    );
    return counted;
  },
});

/** The rejecting reviews that block a merge. */
export const rejections = defineFact({
  name: 'rejections',
  meaning:
    'The reviews that request changes and count: the latest opinion of each person, not dismissed, not by the author, not followed by a new request for a review, and by a person with write access. New commits do not end them. On a protected base branch the forge says who that is (`official`); on another one it is asked for each review, for which the account must be an administrator: otherwise the condition is `error`. A review counts, too, if the forge does not show the members of a team that may have given write access.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: list(PullReview),
  of: ['pull_request'],
  changes: [...[ways.reviewed, ways.requested, ways.dismissed, ways.permitted, ways.protected]],
  needs: { access: 'reader', scopes: ['repository'], sometimes: 'admin' },
  requests: 3,
  example: 'rejections.size() == 0',
  async ask(context) {
    const { ask } = context;
    const [pull, all] = await Promise.all([ask(requestOf(pullRequest)), ask(requestOf(reviewsRow))]);
    const given = latestOpinions(all, pull.user?.id);
    const rejected = given.filter(({ state }) => state === 'REQUEST_CHANGES');
    const { counted, unknown } = await ofReviewers(rejected, context);
    // What cannot be known delays a merge.
    return rejected.filter((one) => counted.includes(one) || unknown.has(one.id));
  },
});

/** Returns each person's latest vote that is not dismissed, without the votes of the author. */
function latestOpinions(all: readonly PullReview[], author: number | undefined): PullReview[] {
  const latest = new Map<number, PullReview>();
  for (const review of all.toSorted((a, b) => a.id - b.id)) {
    const { user, state, dismissed } = review;
    if (!user || user.id <= 0 || user.id === author || dismissed || !opinions.has(state ?? '')) continue;
    latest.set(user.id, review);
  }
  return [...latest.values()];
}

/** Returns the ids of the approvals that rules of Reeve gave. */
async function ownApprovals(
  all: readonly PullReview[],
  { records }: AskContext,
): Promise<ReadonlySet<number>> {
  const given = all.filter(({ state }) => state === 'APPROVED');
  const isOwn = await Promise.all(given.map((one) => isOwnReview(one, records)));
  return new Set(given.filter((_, place) => isOwn[place]).map(({ id }) => id));
}

/** Maximum number of approvals whose reason is recorded. */
const maxExplained = 10;

/** Returns for each person whose newest approval does not count why it does not. */
async function whyNotCounted(
  all: readonly PullReview[],
  {
    author,
    given,
    counted,
    unknown,
    current,
    own,
    context,
  }: {
    readonly author: number | undefined;
    /** The latest opinion of each person. */
    readonly given: readonly PullReview[];
    readonly counted: readonly PullReview[];
    /** Why it cannot be known whether the person of an approval has write access, by the id of the approval. */
    readonly unknown: ReadonlyMap<number, string>;
    /** Ids of the reviews about the changes as they are now. */
    readonly current: ReadonlySet<number>;
    /** Ids of the approvals that rules gave. */
    readonly own: ReadonlySet<number>;
    readonly context: AskContext;
  },
): Promise<readonly string[]> {
  const newest = new Map<number, PullReview>();
  for (const review of all.toSorted((a, b) => a.id - b.id))
    if (review.user && review.state === 'APPROVED') newest.set(review.user.id, review);
  const left = [...newest].filter(([person]) => counted.every(({ user }) => user?.id !== person));
  if (left.length === 0) return [];
  const base = await context.ask(requestOf(baseBranch));
  return left.slice(0, maxExplained).map(([person, { id, user, dismissed, commit_id: commit }]) => {
    const latest = given.find((one) => one.user?.id === person);
    const why = (): string => {
      if (person === author) return 'is the author';
      if (own.has(id)) return 'a rule of Reeve approved, not a person';
      if (latest?.state === 'REQUEST_CHANGES') return 'requested changes afterwards';
      if (latest?.state === 'REQUEST_REVIEW') return 'was asked for a new review afterwards';
      if (dismissed) return 'the approval was dismissed';
      if (!current.has(id)) return `approved other changes than the current ones, at ${commit?.slice(0, 10)}`;
      return base.protected
        ? 'the forge does not count approvals of this account for the protected branch'
        : (unknown.get(id) ?? 'has no write access');
    };
    return `${user?.login}: ${why()}`;
  });
}

/** Reviews by people whose votes count; `unknown`: why that cannot be known of a review, by its id. */
type CountedReviews = {
  readonly counted: PullReview[];
  readonly unknown: ReadonlyMap<number, string>;
};

/** Returns the reviews by people whose votes count for the base branch. */
async function ofReviewers(given: readonly PullReview[], context: AskContext): Promise<CountedReviews> {
  const none = { counted: [], unknown: new Map() };
  if (given.length === 0) return none;
  const base = await context.ask(requestOf(baseBranch));
  return base.protected
    ? { ...none, counted: given.filter(({ official }) => official) }
    : byWriters(given, context);
}

async function byWriters(given: readonly PullReview[], context: AskContext): Promise<CountedReviews> {
  const unknown = new Map<number, string>();
  const written = await Promise.all(
    given.map(async ({ id, user }) => {
      try {
        return user != null && isWriter(await askPermission(context, user));
      } catch (error) {
        if (!(error instanceof UnknownWriter)) throw error;
        unknown.set(id, error.message);
        return false;
      }
    }),
  );
  return { counted: given.filter((_, place) => written[place]), unknown };
}
