import { approvals, rejections } from './approvals.ts';
import { backports } from './backports.ts';
import { branch, branches, branchProtections, namedBranch, tagProtections } from './branches.ts';
import { codeowners, codeownersProblems } from './codeowners.ts';
import {
  collaboratorPermissions,
  collaborators,
  contributions,
  firstIssue,
  firstPullRequest,
  permissionOf,
  senderPermission,
} from './collaborators.ts';
import { command } from './command.ts';
import { comment, comments, reactions } from './comments.ts';
import { commits } from './commits.ts';
import { contents, fileAt } from './contents.ts';
import type { Fact } from './fact.ts';
import { fileOf } from './file-of.ts';
import { changedSinceFact, commitDiff, compare, files, mergedPatch } from './files.ts';
import { head } from './head.ts';
import { accountHooks, hooks } from './hooks.ts';
import {
  attachments,
  dependencies,
  issue,
  ownIssues,
  scheduledMerge,
  timeline,
  trackedTimes,
} from './issue.ts';
import { item } from './item.ts';
import { labelDefinitions } from './label-definitions.ts';
import { labels, ownLabels } from './labels.ts';
import { milestone, milestones } from './milestones.ts';
import { notification, unreadNotifications } from './notification.ts';
import { openPull } from './open-pull.ts';
import { organization, team, teamMembers, teamRepositories, teams } from './organization.ts';
import { baseBranch, behind, headBranch, mergeable, pullRequest } from './pull-request.ts';
import { repository, repositoryId, topics } from './repository.ts';
import { currentReviews, review, reviewRequests, reviews } from './reviews.ts';
import { requiredChecks, statuses, workflowRuns } from './statuses.ts';
import { wiki, wikiPages } from './wiki.ts';
import { assignable, repositoryTeams } from './write-access.ts';

/** Every fact that a condition or an action can read, including the live subject. */
export const facts: readonly Fact[] = [
  repository,
  repositoryId,
  topics,
  pullRequest,
  issue,
  item,
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
  scheduledMerge,
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
  repositoryTeams,
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
  firstIssue,
  firstPullRequest,
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
