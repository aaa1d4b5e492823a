import type { Operation } from './operation.ts';
import { accountSettingsOperations } from './resources/account-settings.ts';
import { accountOperations } from './resources/accounts.ts';
import { activityOperations } from './resources/activities.ts';
import { administrationOperations } from './resources/administration.ts';
import { attachmentOperations } from './resources/attachments.ts';
import { avatarOperations } from './resources/avatars.ts';
import { badgeOperations } from './resources/badges.ts';
import { blockOperations } from './resources/blocks.ts';
import { branchOperations } from './resources/branches.ts';
import { collaboratorOperations } from './resources/collaborators.ts';
import { commentOperations } from './resources/comments.ts';
import { commitOperations } from './resources/commits.ts';
import { contentsOperations } from './resources/contents.ts';
import { dependencyOperations } from './resources/dependencies.ts';
import { deployKeyOperations } from './resources/deploy-keys.ts';
import { fileReadOperations } from './resources/files.ts';
import { followerOperations } from './resources/followers.ts';
import { generateOperations } from './resources/generate.ts';
import { gitHookOperations } from './resources/git-hooks.ts';
import { gitReadOperations } from './resources/git-reads.ts';
import { gpgKeyOperations } from './resources/gpg-keys.ts';
import { hookOperations, ownerHookOperations } from './resources/hooks.ts';
import { instanceOperations, instanceSettingsOperations } from './resources/instance.ts';
import { issueTemplateOperations } from './resources/issue-templates.ts';
import { issueOperations } from './resources/issues.ts';
import { labelOperations } from './resources/labels.ts';
import { markupOperations } from './resources/markup.ts';
import { milestoneOperations } from './resources/milestones.ts';
import { mirrorOperations } from './resources/mirrors.ts';
import { notificationOperations } from './resources/notifications.ts';
import { oauth2Operations } from './resources/oauth2.ts';
import { organizationOperations } from './resources/organizations.ts';
import { packageOperations } from './resources/packages.ts';
import { peopleOperations } from './resources/people.ts';
import { pinOperations } from './resources/pins.ts';
import { protectionOperations } from './resources/protections.ts';
import { pullBranchOperations } from './resources/pull-branches.ts';
import { pullOperations } from './resources/pulls.ts';
import { reactionOperations } from './resources/reactions.ts';
import { releaseOperations } from './resources/releases.ts';
import { deprecatedOperations, repositoryOperations } from './resources/repositories.ts';
import { reviewOperations } from './resources/reviews.ts';
import { registrationTokenOperations, runnerOperations } from './resources/runners.ts';
import { secretOperations } from './resources/secrets.ts';
import { starOperations } from './resources/stars.ts';
import { statusOperations } from './resources/statuses.ts';
import { stopwatchOperations } from './resources/stopwatches.ts';
import { subscriptionOperations } from './resources/subscriptions.ts';
import { tagOperations } from './resources/tags.ts';
import { teamOperations } from './resources/teams.ts';
import { templateOperations } from './resources/templates.ts';
import { timelineOperations } from './resources/timeline.ts';
import { timeOperations } from './resources/times.ts';
import { topicOperations } from './resources/topics.ts';
import { transferOperations } from './resources/transfers.ts';
import { userKeyOperations } from './resources/user-keys.ts';
import { userOperations } from './resources/users.ts';
import { variableOperations } from './resources/variables.ts';
import { wikiOperations } from './resources/wiki.ts';
import { taskOperations, workflowOperations } from './resources/workflows.ts';

/** All operations by short name: those that the client can send and those that the embedded forge serves. */
export const operations = {
  ...instanceOperations,
  ...deprecatedOperations,
  ...administrationOperations,
  ...packageOperations,
  ...instanceSettingsOperations,
  ...templateOperations,
  ...markupOperations,
  ...userOperations,
  ...accountOperations,
  ...accountSettingsOperations,
  ...followerOperations,
  ...blockOperations,
  ...avatarOperations,
  ...userKeyOperations,
  ...gpgKeyOperations,
  ...badgeOperations,
  ...oauth2Operations,
  ...organizationOperations,
  ...teamOperations,
  ...repositoryOperations,
  ...collaboratorOperations,
  ...starOperations,
  ...peopleOperations,
  ...transferOperations,
  ...topicOperations,
  ...deployKeyOperations,
  ...wikiOperations,
  ...branchOperations,
  ...tagOperations,
  ...commitOperations,
  ...contentsOperations,
  ...gitReadOperations,
  ...fileReadOperations,
  ...releaseOperations,
  ...labelOperations,
  ...issueOperations,
  ...pinOperations,
  ...commentOperations,
  ...reactionOperations,
  ...timelineOperations,
  ...pullOperations,
  ...pullBranchOperations,
  ...reviewOperations,
  ...protectionOperations,
  ...statusOperations,
  ...hookOperations,
  ...ownerHookOperations,
  ...runnerOperations,
  ...registrationTokenOperations,
  ...workflowOperations,
  ...taskOperations,
  ...secretOperations,
  ...variableOperations,
  ...attachmentOperations,
  ...dependencyOperations,
  ...milestoneOperations,
  ...notificationOperations,
  ...subscriptionOperations,
  ...activityOperations,
  ...issueTemplateOperations,
  ...generateOperations,
  ...gitHookOperations,
  ...mirrorOperations,
  ...timeOperations,
  ...stopwatchOperations,
} as const;

export type OperationName = keyof typeof operations;

const byId = new Map<string, Operation>(Object.values(operations).map((row) => [row.id, row]));

export function findOperation(id: string): Operation | undefined {
  return byId.get(id);
}
