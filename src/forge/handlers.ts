import { emailHandlers, userSettingsHandlers } from './accounts/account-settings.ts';
import { accountHandlers } from './accounts/accounts.ts';
import { avatarHandlers } from './accounts/avatars.ts';
import { badgeHandlers } from './accounts/badges.ts';
import { blockHandlers } from './accounts/blocks.ts';
import { followerHandlers } from './accounts/followers.ts';
import { gpgKeyHandlers } from './accounts/gpg-keys.ts';
import { organizationHandlers } from './accounts/organizations.ts';
import { teamHandlers } from './accounts/teams.ts';
import { userKeyHandlers } from './accounts/user-keys.ts';
import { tokenHandlers, userHandlers } from './accounts/users.ts';
import { cronHandlers, siteEmailHandlers, unadoptedHandlers } from './administration/administration.ts';
import { instanceHandlers, instanceSettingsHandlers } from './administration/instance.ts';
import { branchHandlers, branchMoveHandlers, compareHandlers } from './code/branches.ts';
import { commitHandlers } from './code/commits.ts';
import { contentsHandlers, fileHandlers, patchHandlers } from './code/contents.ts';
import { fileReadHandlers } from './code/files.ts';
import { gitReadHandlers } from './code/git-reads.ts';
import { tagHandlers } from './code/tags.ts';
import { gitHookHandlers } from './hooks/git-hooks.ts';
import { hookHandlers, hookTestHandlers } from './hooks/hooks.ts';
import { attachmentHandlers } from './issues/attachments.ts';
import { commentHandlers } from './issues/comments.ts';
import { dependencyHandlers } from './issues/dependencies.ts';
import { issueTemplateHandlers } from './issues/issue-templates.ts';
import { issueHandlers, issueModerationHandlers, issueSearchHandlers } from './issues/issues.ts';
import { issueLabelHandlers, labelHandlers } from './issues/labels.ts';
import { markupHandlers } from './issues/markup.ts';
import { milestoneHandlers } from './issues/milestones.ts';
import { pinHandlers } from './issues/pins.ts';
import { reactionHandlers } from './issues/reactions.ts';
import { stopwatchHandlers } from './issues/stopwatches.ts';
import { timelineHandlers } from './issues/timeline.ts';
import { timeHandlers } from './issues/times.ts';
import { feedHandlers } from './notifications/activities.ts';
import { notificationHandlers } from './notifications/notifications.ts';
import { subscriptionHandlers } from './notifications/subscriptions.ts';
import { oauth2Handlers } from './oauth2/oauth2.ts';
import { packageHandlers } from './packages/packages.ts';
import type { Handlers } from './platform/http/handler.ts';
import { protectionHandlers, tagProtectionHandlers } from './pulls/protections.ts';
import { mergeUpstreamHandlers, pullBranchHandlers } from './pulls/pull-branches.ts';
import { pullHandlers, pullMergeHandlers, scheduledMergeHandlers } from './pulls/pulls.ts';
import { requestedReviewerHandlers, reviewCommentHandlers, reviewHandlers } from './pulls/reviews.ts';
import { statusHandlers } from './pulls/statuses.ts';
import { releaseAssetHandlers, releaseHandlers } from './releases/releases.ts';
import { collaboratorHandlers } from './repositories/collaborators.ts';
import { deployKeyHandlers } from './repositories/deploy-keys.ts';
import { generateHandlers } from './repositories/generate.ts';
import { migrateHandlers, mirrorHandlers, pushMirrorHandlers } from './repositories/mirrors.ts';
import { peopleHandlers } from './repositories/people.ts';
import { forkHandlers, repositoryHandlers, repositorySearchHandlers } from './repositories/repositories.ts';
import { starHandlers } from './repositories/stars.ts';
import { templateHandlers } from './repositories/templates.ts';
import { topicHandlers } from './repositories/topics.ts';
import { transferHandlers } from './repositories/transfers.ts';
import { wikiHandlers } from './wiki/wiki.ts';
import { runnerHandlers } from './workflows/runners.ts';
import { secretHandlers } from './workflows/secrets.ts';
import { variableHandlers } from './workflows/variables.ts';
import { taskHandlers, workflowHandlers } from './workflows/workflows.ts';

/** Every operation that the embedded forge implements, in one table composed from the handlers of each resource. */
export const handlers: Handlers = {
  ...issueTemplateHandlers,
  ...generateHandlers,
  ...mergeUpstreamHandlers,
  ...gitHookHandlers,
  ...migrateHandlers,
  ...mirrorHandlers,
  ...pushMirrorHandlers,
  ...timeHandlers,
  ...stopwatchHandlers,
  ...issueSearchHandlers,
  ...subscriptionHandlers,
  ...notificationHandlers,
  ...feedHandlers,
  ...issueModerationHandlers,
  ...dependencyHandlers,
  ...attachmentHandlers,
  ...contentsHandlers,
  ...pullHandlers,
  ...pullMergeHandlers,
  ...scheduledMergeHandlers,
  ...pullBranchHandlers,
  ...branchMoveHandlers,
  ...commitHandlers,
  ...tagHandlers,
  ...forkHandlers,
  ...fileHandlers,
  ...fileReadHandlers,
  ...gitReadHandlers,
  ...patchHandlers,
  ...compareHandlers,
  ...branchHandlers,
  ...collaboratorHandlers,
  ...commentHandlers,
  ...reactionHandlers,
  ...timelineHandlers,
  ...hookHandlers,
  ...hookTestHandlers,
  ...issueLabelHandlers,
  ...issueHandlers,
  ...pinHandlers,
  ...labelHandlers,
  ...releaseHandlers,
  ...releaseAssetHandlers,
  ...milestoneHandlers,
  ...organizationHandlers,
  ...repositoryHandlers,
  ...runnerHandlers,
  ...workflowHandlers,
  ...secretHandlers,
  ...taskHandlers,
  ...variableHandlers,
  ...starHandlers,
  ...repositorySearchHandlers,
  ...peopleHandlers,
  ...reviewHandlers,
  ...reviewCommentHandlers,
  ...requestedReviewerHandlers,
  ...protectionHandlers,
  ...tagProtectionHandlers,
  ...statusHandlers,
  ...tokenHandlers,
  ...instanceHandlers,
  ...cronHandlers,
  ...packageHandlers,
  ...siteEmailHandlers,
  ...unadoptedHandlers,
  ...instanceSettingsHandlers,
  ...templateHandlers,
  ...markupHandlers,
  ...userHandlers,
  ...accountHandlers,
  ...emailHandlers,
  ...userSettingsHandlers,
  ...followerHandlers,
  ...blockHandlers,
  ...avatarHandlers,
  ...userKeyHandlers,
  ...gpgKeyHandlers,
  ...badgeHandlers,
  ...teamHandlers,
  ...transferHandlers,
  ...topicHandlers,
  ...oauth2Handlers,
  ...deployKeyHandlers,
  ...wikiHandlers,
};
