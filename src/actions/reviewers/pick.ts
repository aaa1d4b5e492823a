import type { Facts } from '../../facts/fact.ts';
import { requestOf } from '../../facts/fact.ts';
import { reviewRequests } from '../../facts/review-requests.ts';
import { pickByHash } from '../pick.ts';
import { type Reviewer, reviewerOf, reviewerTarget } from './reviewer.ts';

/** How some of a pool are chosen. */
export const pickWays = ['hash', 'least-requested', 'round-robin'] as const;
type PickWay = (typeof pickWays)[number];

/**
 * Returns `count` of the pool. Nothing is counted by Reeve itself: the ways read the requests of the newest pull requests. Between
 * equals the hash decides.
 */
export async function pickReviewers(
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
  // The sort is stable: reviewers of one rank stay in the order of the hash.
  return pool.toSorted((one, other) => rankOf(one) - rankOf(other));
}
