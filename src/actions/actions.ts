import type { Action } from './action.ts';
import { backport } from './backport.ts';
import { comment } from './comment.ts';
import { commitFiles } from './commit-files.ts';
import { deleteBranch } from './delete-branch.ts';
import { dismissStaleReviews } from './dismiss-stale-reviews.ts';
import type { Inverse } from './inverses.ts';
import { markNotifications } from './mark-notifications.ts';
import { merge } from './merge.ts';
import { notify } from './notify.ts';
import { openPullRequest } from './open-pull-request.ts';
import { protectTags } from './protect-tags.ts';
import { queueMerge } from './queue-merge.ts';
import { react } from './react.ts';
import { reportIssue } from './report-issue.ts';
import { requestReviewers } from './request-reviewers.ts';
import { review } from './review.ts';
import { runWorkflow } from './run-workflow.ts';
import { setIssue } from './set-issue.ts';
import { setLabels } from './set-labels.ts';
import { setStatus } from './set-status.ts';
import { syncBranchProtections } from './sync-branch-protections.ts';
import { syncCollaborators } from './sync-collaborators.ts';
import { syncHooks } from './sync-hooks.ts';
import { syncLabels } from './sync-labels.ts';
import { syncMilestones } from './sync-milestones.ts';
import { syncOrganization } from './sync-organization.ts';
import { syncRepository } from './sync-repository.ts';
import { syncTeams } from './sync-teams.ts';
import { updateBranch } from './update-branch.ts';

/** Every action that a step can use. */
export const actions: readonly Action[] = [
  setLabels as Action,
  setIssue as Action,
  requestReviewers as Action,
  react as Action,
  syncRepository as Action,
  syncCollaborators as Action,
  syncTeams as Action,
  syncOrganization as Action,
  syncLabels as Action,
  syncMilestones as Action,
  syncHooks as Action,
  markNotifications as Action,
  comment as Action,
  notify as Action,
  // Listed before `set-status`, whose inverse applies to statuses in general.
  queueMerge as Action,
  setStatus as Action,
  reportIssue as Action,
  dismissStaleReviews as Action,
  review as Action,
  openPullRequest as Action,
  commitFiles as Action,
  runWorkflow as Action,
  syncBranchProtections as Action,
  protectTags as Action,
  updateBranch as Action,
  backport as Action,
  merge as Action,
  deleteBranch as Action,
];

/** Names of grants for single arguments of actions (`Action.ownGrants`). */
export const argumentGrants: readonly string[] = actions.flatMap(({ ownGrants }) =>
  Object.values(ownGrants ?? {}),
);

const byName = new Map(actions.map((action) => [action.name, action]));

export function findAction(name: string): Action | undefined {
  return byName.get(name);
}

const anyInverse = Object.assign({}, ...actions.map(({ inverses }) => inverses)) as Action['inverses'];

/**
 * Returns how a change is reverted; undefined if its operation cannot be reverted. If the change is itself a revert,
 * its action may not use the operation; the inverse then comes from an action that does.
 */
export function findInverse(action: string, operation: string): Inverse | undefined {
  return findAction(action)?.inverses[operation] ?? anyInverse[operation];
}

const wholes = new Set(actions.flatMap(({ createsWhole }) => createsWhole ?? []));

/**
 * Returns whether an operation creates a whole target, so that the first change stands for all changes of the target.
 */
export function createsWhole(operation: string): boolean {
  return wholes.has(operation);
}
