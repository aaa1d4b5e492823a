import { approvals, rejections } from './approvals.ts';
import { attachments } from './attachments.ts';
import { backports } from './backports.ts';
import { baseBranch } from './base-branch.ts';
import { branch } from './branch.ts';
import { branchProtections } from './branch-protections.ts';
import { branches } from './branches.ts';
import { changedSinceFact } from './changed-since.ts';
import { codeowners, codeownersProblems } from './codeowners.ts';
import { collaboratorPermissions } from './collaborator-permissions.ts';
import { collaborators } from './collaborators.ts';
import { command } from './command.ts';
import { comment } from './comment.ts';
import { comments } from './comments.ts';
import { commitDiff } from './commit-diff.ts';
import { commits } from './commits.ts';
import { compare } from './compare.ts';
import { contents } from './contents.ts';
import { contributions } from './contributions.ts';
import { currentReviews } from './current-reviews.ts';
import { dependencies } from './dependencies.ts';
import type { Fact } from './fact.ts';
import { fileAt } from './file-at.ts';
import { fileOf } from './file-of.ts';
import { files } from './files.ts';
import { head } from './head.ts';
import { headBranch } from './head-branch.ts';
import { accountHooks, hooks } from './hooks.ts';
import { issue } from './issue.ts';
import { labelDefinitions } from './label-definitions.ts';
import { labels } from './labels.ts';
import { mergedPatch } from './merged-patch.ts';
import { milestone } from './milestone.ts';
import { milestones } from './milestones.ts';
import { namedBranch } from './named-branch.ts';
import { notification } from './notification.ts';
import { openPull } from './open-pull.ts';
import { organization } from './organization.ts';
import { ownIssues } from './own-issues.ts';
import { ownLabels } from './own-labels.ts';
import { assignable, permissionOf } from './permission-of.ts';
import { behind } from './pull-behind.ts';
import { mergeable } from './pull-mergeable.ts';
import { pullRequest } from './pull-request.ts';
import { reactions } from './reactions.ts';
import { repository } from './repository.ts';
import { repositoryId } from './repository-id.ts';
import { requiredChecks } from './required-checks.ts';
import { review } from './review.ts';
import { reviewRequests } from './review-requests.ts';
import { reviews } from './reviews.ts';
import { senderPermission } from './sender-permission.ts';
import { statuses } from './statuses.ts';
import { tagProtections } from './tag-protections.ts';
import { team } from './team.ts';
import { teamMembers, teamRepositories, teams } from './teams.ts';
import { timeline } from './timeline.ts';
import { topics } from './topics.ts';
import { trackedTimes } from './tracked-times.ts';
import { unreadNotifications } from './unread-notifications.ts';
import { wiki } from './wiki.ts';
import { wikiPages } from './wiki-pages.ts';
import { workflowRuns } from './workflow-runs.ts';

/** Every fact that a condition or an action can read, including the live subject. */
export const facts: readonly Fact[] = [
  repository,
  repositoryId,
  topics,
  pullRequest,
  issue,
  comment,
  branch,
  labels,
  labelDefinitions,
  files,
  changedSinceFact,
  ownLabels,
  dependencies,
  trackedTimes,
  attachments,
  organization,
  teams,
  teamMembers,
  teamRepositories,
  notification,
  unreadNotifications,
  hooks,
  accountHooks,
  commits,
  commitDiff,
  compare,
  mergedPatch,
  backports,
  head,
  baseBranch,
  headBranch,
  statuses,
  reviews,
  review,
  reviewRequests,
  timeline,
  reactions,
  comments,
  milestone,
  milestones,
  branches,
  branchProtections,
  tagProtections,
  collaborators,
  collaboratorPermissions,
  contents,
  namedBranch,
  permissionOf,
  assignable,
  fileAt,
  fileOf,
  workflowRuns,
  wikiPages,
  wiki,
  openPull,
  ownIssues,
  senderPermission,
  team,
  contributions,
  currentReviews,
  approvals,
  rejections,
  requiredChecks,
  command,
  codeowners,
  codeownersProblems,
  mergeable,
  behind,
];

const byName = new Map(facts.map((fact) => [fact.name, fact]));

export function findFact(name: string): Fact | undefined {
  return byName.get(name);
}
