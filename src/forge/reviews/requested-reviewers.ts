import { findPull } from '../access/find-issue.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { defineHandlers } from '../http/handler.ts';
import { toReviews } from '../views/review.ts';
import {
  cancelRequest,
  cancelTeamRequest,
  findReviewers,
  type NamedReviewers,
  requestReview,
  requestTeamReview,
} from './requests.ts';

type ReviewersRequest = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly index: number };
};

/** What answers where reviews are asked for and the asking is taken back. */
export const requestedReviewerHandlers = defineHandlers({
  requestReviews(call) {
    const { context, caller, repository, owner, body } = call;
    const { both, reviewers } = findRequested(call, body);
    const place = { repository, owner, actor: caller };
    // One after the other, as on Gitea: requests before a refusal stay.
    const { transaction } = context.db;
    const made = [
      ...reviewers.people.map((user) => transaction(() => requestReview(context, place, both, user))),
      ...reviewers.teams.map((team) => transaction(() => requestTeamReview(context, place, both, team))),
    ].filter((review) => review !== undefined);
    return toReviews(context, made, both.issue, { ...call, viewer: caller });
  },

  cancelReviewRequests(call) {
    const { context, caller, repository, owner, body } = call;
    const { both, reviewers } = findRequested(call, body);
    const place = { repository, owner, actor: caller };
    const { transaction } = context.db;
    for (const user of reviewers.people) transaction(() => cancelRequest(context, place, both, user));
    for (const team of reviewers.teams) transaction(() => cancelTeamRequest(context, place, both, team));
    return undefined;
  },
});

function findRequested(call: ReviewersRequest, named: NamedReviewers) {
  const both = findPull(call.context, call, call.params.index);
  return { both, reviewers: findReviewers(call.context, call.owner, named) };
}
