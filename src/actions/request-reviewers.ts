import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { PullReview } from '../contract/resources/reviews.ts';
import type { TimelineEntry } from '../contract/resources/timeline.ts';
import { codeowners } from '../facts/codeowners.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { timeline as timelineRow } from '../facts/issue.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { reviewRequests, reviews as reviewsRow } from '../facts/reviews.ts';
import { ways } from '../facts/ways.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import { condition, defineAction, template } from './action.ts';
import type { Change } from './change.ts';
import {
  commandArguments,
  isFromCommand,
  maxCommandNames,
  planCommandAnswer,
  userBounds,
  usersOf,
} from './command-names.ts';
import { type Inverse, pathParams, readItems } from './inverses.ts';
import { distinctNames, pickByHash, toLowerCase } from './names.ts';
import type { PlanContext } from './plan-context.ts';
import { askWritten, commentInverses, isByUs } from './texts.ts';

/** A user or team whose review can be requested. */
type Reviewer = { readonly name: string; readonly isTeam: boolean };

const [user, team] = ['reviewer:', 'team-reviewer:'];

/** Returns the target of a review request; the name is in lower case. */
function reviewerTarget({ name, isTeam }: Reviewer): string {
  return `${isTeam ? team : user}${toLowerCase(name)}`;
}

/** Returns the reviewer that a target identifies. */
function reviewerOf(target: string): Reviewer {
  const isTeam = target.startsWith(team);
  return { name: target.slice((isTeam ? team : user).length), isTeam };
}

/** Returns whether a review or a review request belongs to a reviewer. */
function isReviewOf({ name, isTeam }: Reviewer, review: PullReview): boolean {
  const held = isTeam ? review.team?.name : review.user?.login;
  return review.state !== 'PENDING' && toLowerCase(held ?? '') === toLowerCase(name);
}

/** Ways to choose reviewers from a pool. */
const pickWays = ['hash', 'least-requested', 'round-robin'] as const;
type PickWay = (typeof pickWays)[number];

/**
 * Returns `count` reviewers from the pool. Reeve stores no counts: `least-requested` and `round-robin` use the review
 * requests of the newest pull requests. The hash breaks ties.
 */
async function pickReviewers(
  pool: readonly Reviewer[],
  count: number,
  by: PickWay | undefined,
  facts: Facts,
): Promise<readonly Reviewer[]> {
  if (count <= 0) return [];
  const hashed = pickByHash(pool.map(reviewerTarget), pool.length, facts.subject).map(reviewerOf);
  const inOrder =
    pool.length <= count || by === undefined || by === 'hash' ? hashed : await byRequests(hashed, by, facts);
  return inOrder.slice(0, count);
}

async function byRequests(
  pool: readonly Reviewer[],
  by: PickWay,
  facts: Facts,
): Promise<readonly Reviewer[]> {
  const times = new Map<string, string[]>();
  for (const { login, team, requested_at } of await facts.ask(requestOf(reviewRequests))) {
    const reviewer = { name: team ?? login ?? '', isTeam: Boolean(team) };
    const known = times.get(reviewerTarget(reviewer)) ?? [];
    times.set(reviewerTarget(reviewer), [...known, requested_at ?? '']);
  }
  const rankOf = (reviewer: Reviewer): number => {
    const known = times.get(reviewerTarget(reviewer)) ?? [];
    return by === 'least-requested' ? known.length : Math.max(0, ...known.map((one) => Date.parse(one)));
  };
  // The sort is stable: reviewers with equal rank stay in hash order.
  return pool.toSorted((one, other) => rankOf(one) - rankOf(other));
}

const name = z.string().min(1).max(255);
const RequestReviewers = z
  .strictObject({
    users: z
      .union([z.array(template().min(1).max(255)).min(1).max(50), commandArguments('users')])
      .optional()
      .meta({
        description: `Users: a list, or \`\${{ command("cc").users }}\`: at most ${maxCommandNames} users of one comment, to whom issues can be assigned. Others are answered in one comment, if the sender has write access; the token needs \`write:issue\` for that.`,
      }),
    teams: z.array(name).min(1).max(50).optional().meta({
      description: 'Teams of the organization that owns the repository, by name.',
    }),
    from: z.enum(['codeowners', 'sender']).optional().meta({
      description:
        '`codeowners`: adds the owners of the changed files, as the fact `codeowners` tells them. `sender`: a command without argument means the author of the comment.',
    }),
    pick: z.int().min(1).max(10).optional().meta({
      description:
        'How many of the pool are requested; those who are requested already or have reviewed count. Default: all.',
    }),
    by: z.enum(pickWays).optional().meta({
      description:
        '`hash` (default): by the number of the pull request. `least-requested` and `round-robin`: who was requested least often, or longest ago, in the newest 50 pull requests.',
    }),
    when: condition().optional().meta({
      description: 'Reviews are requested only while this condition holds; requests are never withdrawn.',
    }),
  })
  .refine((given) => given.users || given.teams || given.from === 'codeowners', {
    message: 'name at least one reviewer under users or teams, or set from: codeowners',
  })
  .refine((given) => given.by === undefined || given.pick !== undefined, { message: 'by requires pick' });
type RequestReviewers = z.output<typeof RequestReviewers>;

const pullFact = requestOf(pullRequest);
const reviewsFact = optionalRequestOf(reviewsRow);
const timelineFact = optionalRequestOf(timelineRow);
const ownersFact = requestOf(codeowners);

const undoRequest: Inverse = async (change, client) => {
  const params = pathParams(change);
  const reviewer = reviewerOf(change.target);
  const live = (await readItems(client, operations.listReviews, {
    params,
  })) as unknown as readonly PullReview[];
  const last = live.filter((review) => isReviewOf(reviewer, review)).at(-1);
  const body = reviewer.isTeam ? { team_reviewers: [reviewer.name] } : { reviewers: [reviewer.name] };
  return {
    value: last === undefined ? false : last.state === requested ? true : 'reviewed',
    undo: () => ({ operation: operations.cancelReviewRequests, input: { params, body } }),
  };
};

/** A revert cannot undo the withdrawal of a request: the next event requests the review again. */
const undoCancel: Inverse = async () => ({ value: false, undo: () => 'the next event requests it again' });

const requested = 'REQUEST_REVIEW';

/**
 * Requests reviews. No reviewer is requested twice: after a review, or after a person has withdrawn the request, the
 * reviewer is not requested again for this pull request. All requests of a run are sent as one POST.
 */
export const requestReviewers = defineAction<RequestReviewers>({
  name: 'request-reviewers',
  meaning:
    'Requests a review of the pull request from users, teams and code owners, or from some of them. It never requests a review from the author, and never again from a reviewer who has reviewed or whose request a person withdrew.',
  example: `uses: request-reviewers
with:
  users: [ada, grace, linus]
  pick: 2
  by: least-requested
`,
  arguments: RequestReviewers,
  of: ['pull_request'],
  ways: { writes: [ways.requested], after: [ways.retargeted] },
  needs: { access: 'reader', scopes: ['repository'] },
  describesState: true,
  granted: true,
  visibleTo: 'subject',
  inverses: {
    [operations.requestReviews.id]: undoRequest,
    [operations.cancelReviewRequests.id]: undoCancel,
    ...commentInverses,
  },
  adoption: undefined,
  examine({ users, from, pick }) {
    if (isFromCommand(users)) {
      const message = 'pick chooses from users that are listed here, not from those of a command';
      return pick === undefined ? [] : [{ path: ['pick'], message }];
    }
    const message = 'from: sender completes a command without argument: users must be one';
    return from === 'sender' ? [{ path: ['from'], message }] : [];
  },
  facts: ({ from }) => [pullFact, reviewsFact, ...(from === 'codeowners' ? [ownersFact] : [])],
  async plan(given, facts, context) {
    if (given.when === false) return [];
    const pull = await facts.ask(pullFact);
    if (pull.state === 'closed') return [];
    const live = await askWritten(facts, reviewsFact);
    const author = toLowerCase(pull.user?.login ?? '');
    const named = await usersOf({ add: given.users, from: given.from }, facts);
    const all = await poolOf(given, named.add, facts);
    const pool = all.filter((one) => one.isTeam || toLowerCase(one.name) !== author);
    const done = pool.filter((one) => live.some((review) => isReviewOf(one, review)));
    const open = await withoutWithdrawn(
      pool.filter((one) => !done.includes(one)),
      facts,
      context,
    );
    const chosen =
      given.pick === undefined ? open : await pickReviewers(open, given.pick - done.length, given.by, facts);
    return [
      ...done.map((one) => requestChange(one, facts, live)),
      ...chosen.map((one) => requestChange(one, facts, live)),
      ...(await planCommandAnswer(named, answerWords, { facts, context })),
    ];
  },
  async join(changes, facts) {
    const all = changes.map(({ target }) => reviewerOf(target));
    const [people, teams] = [all.filter(({ isTeam }) => !isTeam), all.filter(({ isTeam }) => isTeam)];
    const body = {
      ...(people.length > 0 && { reviewers: people.map(({ name: login }) => login) }),
      ...(teams.length > 0 && { team_reviewers: teams.map(({ name: team }) => team) }),
    };
    return { params: indexParams(facts.subject), body };
  },
});

const answerWords = {
  action: 'request-reviewers',
  key: 'users',
  noun: 'users',
  heading: 'A review was not requested from these users:',
  bounds: userBounds,
  forbidden: 'the reply to a command needs write:issue',
};

/**
 * Returns the listed reviewers, then the owners of the changed files. Teams of other organizations are left out,
 * because their reviews cannot be requested.
 */
async function poolOf(
  { teams = [], from }: RequestReviewers,
  users: readonly string[],
  facts: Facts,
): Promise<readonly Reviewer[]> {
  const owners = from !== 'codeowners' ? [] : await facts.ask(ownersFact);
  const organization = `${toLowerCase(repositoryParams(facts.subject).owner)}/`;
  const owningTeams = owners
    .flatMap((file) => file.teams)
    .filter((team) => toLowerCase(team).startsWith(organization))
    .map((team) => team.slice(organization.length));
  const people = distinctNames([...users, ...owners.flatMap((file) => file.users)]);
  return [
    ...people.map((login) => ({ name: login, isTeam: false })),
    ...distinctNames([...teams, ...owningTeams]).map((team) => ({ name: team, isTeam: true })),
  ];
}

/**
 * Returns the reviewers without those whose last request was withdrawn by a person. Costs one paged read; none if the
 * pool is empty.
 */
async function withoutWithdrawn(
  pool: readonly Reviewer[],
  facts: Facts,
  context: PlanContext,
): Promise<readonly Reviewer[]> {
  if (pool.length === 0) return [];
  const entries = (await askWritten(facts, timelineFact)).filter(({ type }) => type === 'review_request');
  return pool.filter((one) => {
    const last = entries.filter((entry) => isAbout(one, entry)).at(-1);
    return !last?.removed_assignee || isByUs(last, context);
  });
}

function isAbout({ name: wanted, isTeam }: Reviewer, { assignee, assignee_team }: TimelineEntry): boolean {
  return toLowerCase((isTeam ? assignee_team?.name : assignee?.login) ?? '') === toLowerCase(wanted);
}

function requestChange(reviewer: Reviewer, facts: Facts, live: readonly PullReview[]): Change {
  const { index } = indexParams(facts.subject);
  const last = live.filter((review) => isReviewOf(reviewer, review)).at(-1);
  return {
    action: 'request-reviewers',
    operation: operations.requestReviews.id,
    input: { params: indexParams(facts.subject) },
    target: reviewerTarget(reviewer),
    value: true,
    before: last !== undefined,
    after: true,
    reads: [reviewsFact, timelineFact],
    joins: `reviewers of #${index}`,
    verify: true,
    accounts: reviewer.isTeam ? [] : [reviewer.name],
    ...(last === undefined
      ? { reason: 'the rule requests a review' }
      : { already: true, reason: last.state === requested ? 'a review is requested' : 'has reviewed' }),
  };
}
