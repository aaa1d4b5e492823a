import { accountHandlers } from './accounts.ts';
import { attachmentHandlers } from './attachments.ts';
import { branchMoveHandlers } from './branch-moves.ts';
import { branchHandlers } from './branches.ts';
import { collaboratorHandlers } from './collaborators.ts';
import { commentHandlers } from './comments.ts';
import { compareHandlers } from './compare.ts';
import { contentsHandlers } from './contents.ts';
import { dependencyHandlers } from './dependencies.ts';
import { fileHandlers } from './files.ts';
import { forkHandlers } from './forks.ts';
import type { Handlers } from './handler.ts';
import { hookTestHandlers } from './hook-test.ts';
import { hookHandlers } from './hooks.ts';
import { instanceHandlers } from './instance.ts';
import { issueLabelHandlers } from './issue-labels.ts';
import { issueModerationHandlers } from './issue-moderation.ts';
import { issueHandlers } from './issues.ts';
import { labelHandlers } from './labels.ts';
import { milestoneHandlers } from './milestones.ts';
import { notificationHandlers } from './notifications.ts';
import { oauth2Handlers } from './oauth2.ts';
import { organizationHandlers } from './organizations.ts';
import { protectionHandlers } from './protections.ts';
import { pullBranchHandlers } from './pull-branches.ts';
import { pullMergeHandlers } from './pull-merge.ts';
import { pullHandlers } from './pulls.ts';
import { repositoryHandlers } from './repositories.ts';
import { requestedReviewerHandlers } from './requested-reviewers.ts';
import { reviewCommentHandlers } from './review-comments.ts';
import { reviewHandlers } from './reviews.ts';
import { runnerHandlers } from './runners.ts';
import { commitHandlers } from './single-commit.ts';
import { starHandlers } from './stars.ts';
import { statusHandlers } from './statuses.ts';
import { subscriptionHandlers } from './subscriptions.ts';
import { tagProtectionHandlers } from './tag-protections.ts';
import { tagHandlers } from './tags.ts';
import { teamHandlers } from './teams.ts';
import { timeHandlers } from './times.ts';
import { tokenHandlers } from './tokens.ts';
import { transferHandlers } from './transfers.ts';
import { userHandlers } from './users.ts';
import { wikiHandlers } from './wiki.ts';

/** Every operation that the embedded forge answers: one table, put together from the files of their resources. */
export const handlers: Handlers = {
  ...timeHandlers,
  ...subscriptionHandlers,
  ...notificationHandlers,
  ...issueModerationHandlers,
  ...dependencyHandlers,
  ...attachmentHandlers,
  ...contentsHandlers,
  ...pullHandlers,
  ...pullMergeHandlers,
  ...pullBranchHandlers,
  ...branchMoveHandlers,
  ...commitHandlers,
  ...tagHandlers,
  ...forkHandlers,
  ...fileHandlers,
  ...compareHandlers,
  ...branchHandlers,
  ...collaboratorHandlers,
  ...commentHandlers,
  ...hookHandlers,
  ...hookTestHandlers,
  ...issueLabelHandlers,
  ...issueHandlers,
  ...labelHandlers,
  ...milestoneHandlers,
  ...organizationHandlers,
  ...repositoryHandlers,
  ...runnerHandlers,
  ...starHandlers,
  ...reviewHandlers,
  ...reviewCommentHandlers,
  ...requestedReviewerHandlers,
  ...protectionHandlers,
  ...tagProtectionHandlers,
  ...statusHandlers,
  ...tokenHandlers,
  ...instanceHandlers,
  ...userHandlers,
  ...accountHandlers,
  ...teamHandlers,
  ...transferHandlers,
  ...oauth2Handlers,
  ...wikiHandlers,
};
