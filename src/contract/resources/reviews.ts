import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { pullsAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { Team, User } from './users.ts';

/**
 * A review of a pull request, or a review request (`REQUEST_REVIEW`). For a request to a team, `user` is null and
 * `team` is set. A dismissed review keeps its state and has `dismissed` set; `stale` means that a file differs from the
 * reviewed head and from the merge base.
 */
export const PullReview = resource(
  { id: int },
  {
    user: User,
    team: Team,
    /** One of APPROVED, PENDING, COMMENT, REQUEST_CHANGES, REQUEST_REVIEW. */
    state: text,
    body: text,
    /** Head commit that was reviewed; empty for a request. */
    commit_id: text,
    stale: flag,
    /** Whether the review counts as an approval required by a protection. */
    official: flag,
    dismissed: flag,
    comments_count: int,
    submitted_at: instant,
    updated_at: instant,
    html_url: text,
    pull_request_url: text,
  },
);
export type PullReview = z.output<typeof PullReview>;

/**
 * A line comment. `position` is a line in the new file, `original_position` a line in the old file; the other field is
 * 0.
 */
const PullReviewComment = resource(
  { id: int },
  {
    body: text,
    user: User,
    resolver: User,
    pull_request_review_id: int,
    created_at: instant,
    updated_at: instant,
    path: text,
    commit_id: text,
    original_commit_id: text,
    diff_hunk: text,
    position: int,
    original_position: int,
    html_url: text,
    pull_request_url: text,
  },
);

const pullPath = '/repos/{owner}/{repo}/pulls/{index}';
const atIndex = z.object({ ...inRepository, index: int });
const atReview = z.object({ ...inRepository, index: int, id: int });
const atComment = z.object({ ...inRepository, id: int });
const Reviewers = z.strictObject({
  /** User names or e-mail addresses. */
  reviewers: z.array(text).optional(),
  /** Team names; only if an organization owns the repository. */
  team_reviewers: z.array(text).optional(),
});
const inFile = 'routers/api/v1/repo/pull_review.go';

export const reviewOperations = {
  listReviews: defineOperation({
    id: 'review.list',
    meaning: 'Lists reviews and review requests, oldest first; drafts of others are removed after paging.',
    method: 'GET',
    path: `${pullPath}/reviews`,
    ...pullsAs('reader'),
    params: atIndex,
    query: z.object(pages),
    success: 200,
    response: list(PullReview),
    errors: [404],
    paging: 'count',
    source: `${inFile} ListPullReviews`,
  }),
  getReview: defineOperation({
    id: 'review.get',
    meaning: "Returns a review; 404 for another account's draft.",
    method: 'GET',
    path: `${pullPath}/reviews/{id}`,
    ...pullsAs('reader'),
    params: atReview,
    success: 200,
    response: PullReview,
    errors: [404],
    source: `${inFile} GetPullReview`,
  }),
  listReviewComments: defineOperation({
    id: 'review.list-comments',
    meaning: 'Lists the line comments of a review, unpaged.',
    method: 'GET',
    path: `${pullPath}/reviews/{id}/comments`,
    ...pullsAs('reader'),
    params: atReview,
    success: 200,
    response: list(PullReviewComment),
    errors: [404],
    source: `${inFile} GetPullReviewComments`,
  }),
  createReview: defineOperation({
    id: 'review.create',
    meaning: 'Reviews a pull request; an unknown or absent `event` creates a draft.',
    method: 'POST',
    path: `${pullPath}/reviews`,
    ...pullsAs('reader'),
    params: atIndex,
    body: z.strictObject({
      /** APPROVED, REQUEST_CHANGES or COMMENT; any other value means PENDING. */
      event: text.optional(),
      body: text.optional(),
      /** Default: the current head commit. */
      commit_id: text.optional(),
      comments: z
        .array(
          z.strictObject({
            path: text.optional(),
            body: text.optional(),
            new_position: int.optional(),
            old_position: int.optional(),
          }),
        )
        .optional(),
    }),
    success: 200,
    response: PullReview,
    errors: [404, 422],
    baseline: { 'unknown commit_id of an approval': 500 },
    source: `${inFile} CreatePullReview`,
  }),
  submitReview: defineOperation({
    id: 'review.submit',
    meaning: 'Turns a draft into a review of the current head.',
    method: 'POST',
    path: `${pullPath}/reviews/{id}`,
    ...pullsAs('reader'),
    params: atReview,
    body: z.strictObject({ event: text.optional(), body: text.optional() }),
    success: 200,
    response: PullReview,
    errors: [404, 422],
    source: `${inFile} SubmitPullReview`,
  }),
  deleteReview: defineOperation({
    id: 'review.delete',
    meaning: 'Deletes a review and its comments; for its author and the site administrator.',
    method: 'DELETE',
    path: `${pullPath}/reviews/{id}`,
    ...pullsAs('reader'),
    params: atReview,
    success: 204,
    errors: [400, 403, 404],
    baseline: { 'a request instead of a review': 500 },
    source: `${inFile} DeletePullReview`,
  }),
  dismissReview: defineOperation({
    id: 'review.dismiss',
    meaning: 'Dismisses an approval or a rejection; its state is unchanged, and no webhook is sent.',
    method: 'POST',
    path: `${pullPath}/reviews/{id}/dismissals`,
    ...pullsAs('admin'),
    params: atReview,
    body: z.strictObject({
      message: text.optional(),
      /** Also dismisses every other review of the same account on this pull request. */
      priors: flag.optional(),
    }),
    success: 200,
    response: PullReview,
    errors: [403, 404, 422],
    source: `${inFile} DismissPullReview`,
  }),
  undismissReview: defineOperation({
    id: 'review.undismiss',
    meaning: 'Reverts a dismissal.',
    method: 'POST',
    path: `${pullPath}/reviews/{id}/undismissals`,
    ...pullsAs('admin'),
    params: atReview,
    success: 200,
    response: PullReview,
    errors: [403, 404],
    source: `${inFile} UnDismissPullReview`,
  }),
  requestReviews: defineOperation({
    id: 'review.request',
    meaning: 'Requests a review from accounts and teams; the answer omits those already requested.',
    method: 'POST',
    path: `${pullPath}/requested_reviewers`,
    ...pullsAs('reader'),
    params: atIndex,
    body: Reviewers,
    success: 201,
    response: list(PullReview),
    errors: [403, 404, 422],
    source: `${inFile} CreateReviewRequests`,
  }),
  cancelReviewRequests: defineOperation({
    id: 'review.cancel-request',
    meaning: 'Withdraws review requests.',
    method: 'DELETE',
    path: `${pullPath}/requested_reviewers`,
    ...pullsAs('reader'),
    params: atIndex,
    body: Reviewers,
    success: 204,
    errors: [403, 404, 422],
    source: `${inFile} DeleteReviewRequests`,
  }),
  resolveReviewComment: defineOperation({
    id: 'review.resolve-comment',
    meaning: 'Marks the conversation of a review comment as resolved.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/pulls/comments/{id}/resolve',
    ...pullsAs('reader'),
    params: atComment,
    success: 204,
    errors: [400, 403, 404, 423],
    archived: 'after-role',
    source: `${inFile} ResolvePullReviewComment`,
  }),
  unresolveReviewComment: defineOperation({
    id: 'review.unresolve-comment',
    meaning: 'Reopens the conversation of a review comment.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/pulls/comments/{id}/unresolve',
    ...pullsAs('reader'),
    params: atComment,
    success: 204,
    errors: [400, 403, 404, 423],
    archived: 'after-role',
    source: `${inFile} UnresolvePullReviewComment`,
  }),
  replyToReviewComment: defineOperation({
    id: 'review.reply',
    meaning: 'Replies to a review comment on its line, as part of the same review.',
    method: 'POST',
    path: `${pullPath}/comments/{id}/replies`,
    ...pullsAs('reader'),
    params: atReview,
    body: z.strictObject({ body: text }),
    success: 201,
    response: PullReviewComment,
    errors: [400, 404, 422, 423],
    archived: 'after-role',
    source: `${inFile} CreatePullReviewCommentReply`,
  }),
} as const;
