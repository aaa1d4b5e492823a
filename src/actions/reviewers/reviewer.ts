import type { PullReview } from '../../contract/resources/reviews.ts';
import { toLowerCase } from '../same-names.ts';

/** A user or a team of whom a review can be requested. */
export type Reviewer = { readonly name: string; readonly isTeam: boolean };

const [user, team] = ['reviewer:', 'team-reviewer:'];

/** Returns the target of a request, with the name in lower case. */
export function reviewerTarget({ name, isTeam }: Reviewer): string {
  return `${isTeam ? team : user}${toLowerCase(name)}`;
}

/** Returns the reviewer of a target. */
export function reviewerOf(target: string): Reviewer {
  const isTeam = target.startsWith(team);
  return { name: target.slice((isTeam ? team : user).length), isTeam };
}

/** Returns whether a review, or a request for one, is that of a reviewer. */
export function isReviewOf({ name, isTeam }: Reviewer, review: PullReview): boolean {
  const held = isTeam ? review.team?.name : review.user?.login;
  return review.state !== 'PENDING' && toLowerCase(held ?? '') === toLowerCase(name);
}
