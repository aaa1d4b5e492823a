import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { PullReview } from '../contract/resources/reviews.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { repository } from '../facts/repository.ts';
import { type OwnReview, ownReviewPrefix, reviews as reviewsRow } from '../facts/reviews.ts';
import { ways } from '../facts/ways.ts';
import { indexParams } from '../facts/where.ts';
import { ReeveError } from '../platform/errors.ts';
import { condition, defineAction, forgeText } from './action.ts';
import type { Change } from './change.ts';
import { type ForgeObject, type Inverse, pathParams, readItems } from './inverses.ts';
import { askOr, askWritten, isByUs, isOurs, markerOf, withMarker } from './texts.ts';

/** States of the forge, by the verdicts of rule files. */
const states = { approve: 'APPROVED', 'request-changes': 'REQUEST_CHANGES' } as const;

const Review = z.strictObject({
  verdict: z.enum(['approve', 'request-changes']).meta({
    description: 'Only rule files of the operator may approve; request-changes needs a grant elsewhere.',
  }),
  when: condition()
    .optional()
    .meta({ description: 'The review stands while this condition holds; default: always.' }),
  text: forgeText({ lines: true }).max(5_000).optional().meta({
    description:
      'Text of the review. Default: none for an approval, one sentence for a request for changes, for which forges require a text.',
  }),
  message: forgeText({ lines: true })
    .min(1)
    .max(5_000)
    .default('The condition of this review does not hold any more.')
    .meta({ description: 'Message of the dismissal.' }),
});
type Review = z.output<typeof Review>;

const pullFact = requestOf(pullRequest);
const reviewsFact = optionalRequestOf(reviewsRow);
const repositoryFact = optionalRequestOf(repository);
const noun = { approve: 'approval', 'request-changes': 'request for changes' } as const;

/** The state of a review that `before` and `after` show. */
type Shown = { readonly state: string; readonly dismissed: boolean };

const undoReview: Inverse = async (change, client) => {
  const params = pathParams(change);
  const { body, commit_id } = (change.input.body ?? {}) as ForgeObject;
  const { id: account } = await client.call(operations.getSelf, {});
  const all = (await readItems(client, operations.listReviews, {
    params,
  })) as unknown as readonly PullReview[];
  const isIt = (one: PullReview): boolean =>
    one.body === body && one.commit_id === commit_id && one.user?.id === account;
  const live = all.findLast(isIt);
  if (live === undefined) return { value: null, undo: () => 'the review does not exist any more' };
  return {
    value: { state: live.state, dismissed: live.dismissed },
    undo: () => ({
      operation: operations.dismissReview,
      input: { params: { ...params, id: live.id }, body: { message: 'Reverted.', priors: false } },
      except: 'the dismissed review stays visible',
    }),
  };
};

/** Returns the inverse of a dismissal, or of the end of one. */
function undoDismissal(
  operation: typeof operations.dismissReview | typeof operations.undismissReview,
): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const live = (await client.send(operations.getReview, { params })) as ForgeObject;
    const body = operation === operations.dismissReview ? { message: 'Reverted.', priors: false } : undefined;
    return {
      value: { state: live.state, dismissed: live.dismissed },
      undo: () => ({ operation, input: { params, ...(body && { body }) } }),
    };
  };
}

/**
 * Keeps a review of Reeve's account with this verdict on the head of the pull request while `when` holds. The fact
 * `approvals` leaves such reviews out, so that two rules cannot merge without a person.
 */
export const review = defineAction<Review>({
  name: 'review',
  meaning:
    'While `when` holds, a review of Reeve’s account with this verdict stands on the head commit of the open pull request; while it does not, the review is dismissed. The review is for the commit that was read before any other fact. A commit is reviewed once: a review that somebody dismissed is not repeated until the next push. The fact `approvals` leaves these reviews out, so that two rules cannot merge without a person; the forge, and the fact `rejections`, count them as they count those of any account. Pull requests that Reeve’s account opened are not reviewed.',
  example: `uses: review
with:
  verdict: request-changes
  when: touches("docs/**") && !labelled("docs-approved")
  text: "Changes of the documents need the label docs-approved."
`,
  arguments: Review,
  of: ['pull_request'],
  ways: { writes: [ways.reviewed, ways.dismissed] },
  needs: { access: 'admin', scopes: ['repository'] },
  protects: true,
  describesState: true,
  granted: false,
  pinsHead: true,
  visibleTo: 'pulls',
  inverses: {
    [operations.createReview.id]: undoReview,
    [operations.dismissReview.id]: undoDismissal(operations.undismissReview),
    [operations.undismissReview.id]: undoDismissal(operations.dismissReview),
  },
  adoption: undefined,
  examineBelowOperator: ({ verdict }) =>
    verdict === 'approve'
      ? [
          {
            path: ['verdict'],
            message: 'only rules of the operator approve; this file can use request-changes, with a grant',
          },
        ]
      : [],
  facts: () => [pullFact, reviewsFact, repositoryFact],
  async plan(given, facts, context) {
    const pull = await facts.ask(pullFact);
    if (pull.state !== 'open') return [];
    const head = pull.head?.sha;
    if (!head) throw new Error('the pull request has no head commit');
    // Without this access, a review could not be taken back when its condition ends.
    if ((await askOr(facts, repositoryFact, undefined))?.permissions?.admin === false)
      throw new ReeveError(
        'forge-forbidden',
        'Reeve’s account has to be an administrator of the repository to dismiss the review later; nothing was written',
      );
    const marker = markerOf(context, given.verdict);
    const state = states[given.verdict];
    const all = await askWritten(facts, reviewsFact);
    const ours = all.filter((one) => one.state === state && isOurs(one, marker, context));
    const place = { given, facts, marker, head, rule: context.rule };
    if (!(given.when ?? true)) {
      return ours.filter(({ dismissed }) => !dismissed).map((one) => dismissal(one, place));
    }
    const onHead = ours.filter((one) => one.commit_id === head);
    const [live = onHead.at(-1)] = onHead.filter(({ dismissed }) => !dismissed);
    if (live === undefined) {
      const isOwn = isByUs(pull, context) && context.account !== undefined;
      const isRejected = all.some((one) => isRejection(one) && isByUs(one, context));
      return [submission(place, whyNot(given, { isOwn, isRejected }))];
    }
    if (!live.dismissed) return [standing(live, place)];
    // A dismissal by a person stays.
    const known = (await context.memory.get(`${ownReviewPrefix}${live.id}`)) as OwnReview | undefined;
    // The forge itself dismisses a request for changes when its account makes another one, for another rule.
    const isReplaced =
      given.verdict === 'request-changes' &&
      all.some((one) => one.id > live.id && one.state === state && isByUs(one, context));
    return known?.isDismissed || isReplaced ? [renewal(live, place)] : [];
  },
  confirm({ operation, after }, answer) {
    const live = PullReview.safeParse(answer);
    if (!live.success) return undefined;
    const { state, dismissed } = after as Shown;
    if (live.data.state === state && live.data.dismissed === dismissed) return undefined;
    return operation === operations.createReview.id
      ? `the forge recorded the review as ${live.data.state}`
      : 'the forge did not change the review';
  },
  async remember({ operation, input }, answer, { memory, now }) {
    const id = input.params?.id ?? PullReview.safeParse(answer).data?.id;
    if (typeof id !== 'number') return;
    const isDismissed = operation === operations.dismissReview.id;
    await memory.set(`${ownReviewPrefix}${id}`, { at: now.toISOString(), isDismissed } satisfies OwnReview);
  },
});

type Place = {
  readonly given: Review;
  readonly facts: Facts;
  readonly marker: string;
  readonly head: string;
  readonly rule: string;
};

function isRejection({ state, dismissed }: PullReview): boolean {
  return state === states['request-changes'] && !dismissed;
}

/**
 * Returns why a review cannot be made now. For the forge, the latest review of an account counts, so that an approval
 * would end the request for changes of another rule.
 */
function whyNot(
  { verdict }: Review,
  { isOwn, isRejected }: { readonly isOwn: boolean; readonly isRejected: boolean },
): string | undefined {
  if (isOwn)
    return 'Reeve’s account opened the pull request, and an account cannot review its own pull request';
  return verdict === 'approve' && isRejected
    ? 'Reeve’s account requests changes of this pull request'
    : undefined;
}

/** The target names the rule: each rule has a review of its own, which stands until the condition of this rule ends. */
function base({ facts, given, rule }: Place) {
  return {
    action: 'review',
    target: `review:${rule} on #${indexParams(facts.subject).index}`,
    value: states[given.verdict],
    reads: [reviewsFact],
    reconsiders: true,
  } as const;
}

/** Returns the protection of a change: a request for changes, or the end of an approval, only makes a merge harder. */
function tightens(isTightening: boolean): Pick<Change, 'protects'> {
  return isTightening ? { protects: 'tightens' } : {};
}

function submission(place: Place, why: string | undefined): Change {
  const { given, facts, marker, head } = place;
  const state = states[given.verdict];
  const standard = given.verdict === 'approve' ? '' : 'This pull request does not meet a rule.';
  return {
    ...base(place),
    operation: operations.createReview.id,
    input: {
      params: indexParams(facts.subject),
      body: { event: state, body: withMarker(marker, given.text ?? standard).trim(), commit_id: head },
    },
    before: null,
    after: { state, dismissed: false } satisfies Shown,
    reason: `there is no ${noun[given.verdict]} of Reeve on this commit`,
    ...tightens(given.verdict === 'request-changes'),
    ...(why === undefined ? {} : { waits: { why, polls: false } }),
  };
}

function standing(live: PullReview, place: Place): Change {
  const state = states[place.given.verdict];
  return {
    ...base(place),
    operation: operations.createReview.id,
    input: { params: indexParams(place.facts.subject) },
    before: { state, dismissed: false },
    after: { state, dismissed: false },
    already: true,
    reason: `review ${live.id} stands on this commit`,
  };
}

function dismissal(live: PullReview, place: Place): Change {
  const { given, facts } = place;
  const state = states[given.verdict];
  return {
    ...base(place),
    target: `review:${live.id}`,
    value: 'dismissed',
    operation: operations.dismissReview.id,
    input: {
      params: { ...indexParams(facts.subject), id: live.id },
      body: { message: given.message, priors: false },
    },
    before: { state, dismissed: false } satisfies Shown,
    after: { state, dismissed: true } satisfies Shown,
    reason: 'the condition does not hold',
    ...tightens(given.verdict === 'approve'),
  };
}

function renewal(live: PullReview, place: Place): Change {
  const state = states[place.given.verdict];
  return {
    ...base(place),
    operation: operations.undismissReview.id,
    input: { params: { ...indexParams(place.facts.subject), id: live.id } },
    before: { state, dismissed: true } satisfies Shown,
    after: { state, dismissed: false } satisfies Shown,
    reason: 'the condition holds again for this commit',
    ...tightens(place.given.verdict === 'request-changes'),
  };
}
