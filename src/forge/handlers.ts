import { accountHandlers } from './accounts/accounts.ts';
import { badgeHandlers } from './accounts/badges.ts';
import { blockHandlers } from './accounts/blocks.ts';
import { emailHandlers } from './accounts/emails.ts';
import { followerHandlers } from './accounts/followers.ts';
import { organizationHandlers } from './accounts/organizations.ts';
import { userSettingsHandlers } from './accounts/settings.ts';
import { teamHandlers } from './accounts/teams.ts';
import { tokenHandlers } from './accounts/tokens.ts';
import { userHandlers } from './accounts/users.ts';
import { cronHandlers } from './administration/cron.ts';
import { siteEmailHandlers } from './administration/emails.ts';
import { instanceSettingsHandlers } from './administration/instance-settings.ts';
import { unadoptedHandlers } from './administration/unadopted.ts';
import { avatarHandlers } from './avatars/avatars.ts';
import { branchMoveHandlers } from './code/branch-moves.ts';
import { branchHandlers } from './code/branches.ts';
import { commitHandlers } from './code/commits.ts';
import { compareHandlers } from './code/compare.ts';
import { contentsHandlers } from './code/contents.ts';
import { fileReadHandlers } from './code/file-reads.ts';
import { fileHandlers } from './code/files.ts';
import { gitReadHandlers } from './code/git-reads.ts';
import { patchHandlers } from './code/patches.ts';
import { tagHandlers } from './code/tags.ts';
import { gitHookHandlers } from './hooks/git-hooks.ts';
import { hookHandlers, hookTestHandlers } from './hooks/hooks.ts';
import type { Handlers } from './http/handler.ts';
import { instanceHandlers } from './http/instance.ts';
import { issueTemplateHandlers } from './issue-templates/issue-templates.ts';
import { issueLabelHandlers } from './issues/attached-labels.ts';
import { attachmentHandlers } from './issues/attachments.ts';
import { commentHandlers } from './issues/comments.ts';
import { dependencyHandlers } from './issues/dependencies.ts';
import { issueHandlers } from './issues/issues.ts';
import { labelHandlers } from './issues/labels.ts';
import { milestoneHandlers } from './issues/milestones.ts';
import { issueModerationHandlers } from './issues/moderation.ts';
import { pinHandlers } from './issues/pins.ts';
import { reactionHandlers } from './issues/reactions.ts';
import { issueSearchHandlers } from './issues/search.ts';
import { stopwatchHandlers } from './issues/stopwatches.ts';
import { timelineHandlers } from './issues/timeline.ts';
import { timeHandlers } from './issues/times.ts';
import { deployKeyHandlers } from './keys/deploy-keys.ts';
import { gpgKeyHandlers } from './keys/gpg-keys.ts';
import { userKeyHandlers } from './keys/user-keys.ts';
import { markupHandlers } from './markup/markup.ts';
import { migrateHandlers } from './mirrors/migrate.ts';
import { mirrorHandlers } from './mirrors/pull-mirrors.ts';
import { pushMirrorHandlers } from './mirrors/push-mirrors.ts';
import { feedHandlers } from './notifications/feeds.ts';
import { notificationHandlers } from './notifications/notifications.ts';
import { subscriptionHandlers } from './notifications/subscriptions.ts';
import { oauth2Handlers } from './oauth2/applications.ts';
import { packageHandlers } from './packages/packages.ts';
import { protectionHandlers } from './protections/branch-protections.ts';
import { tagProtectionHandlers } from './protections/tag-protections.ts';
import { pullBranchHandlers } from './pulls/branches.ts';
import { pullMergeHandlers } from './pulls/merge.ts';
import { mergeUpstreamHandlers } from './pulls/merge-upstream.ts';
import { pullHandlers } from './pulls/pulls.ts';
import { scheduledMergeHandlers } from './pulls/scheduled-merges.ts';
import { releaseAssetHandlers } from './releases/assets.ts';
import { releaseHandlers } from './releases/releases.ts';
import { collaboratorHandlers } from './repositories/collaborators.ts';
import { forkHandlers } from './repositories/forks.ts';
import { generateHandlers } from './repositories/generate.ts';
import { peopleHandlers } from './repositories/people.ts';
import { repositoryHandlers } from './repositories/repositories.ts';
import { repositorySearchHandlers } from './repositories/search.ts';
import { starHandlers } from './repositories/stars.ts';
import { topicHandlers } from './repositories/topics.ts';
import { transferHandlers } from './repositories/transfers.ts';
import { reviewCommentHandlers } from './reviews/comments.ts';
import { requestedReviewerHandlers } from './reviews/requested-reviewers.ts';
import { reviewHandlers } from './reviews/reviews.ts';
import { runnerHandlers } from './runners/runners.ts';
import { secretHandlers } from './runners/secrets.ts';
import { taskHandlers } from './runners/tasks.ts';
import { variableHandlers } from './runners/variables.ts';
import { workflowHandlers } from './runners/workflows.ts';
import { statusHandlers } from './statuses/statuses.ts';
import { templateHandlers } from './templates/templates.ts';
import { wikiHandlers } from './wiki/wiki.ts';

/** Every operation that the embedded forge answers: one table, put together from the files of their resources. */
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
