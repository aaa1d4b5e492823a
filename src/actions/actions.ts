import type { Action } from './action.ts';
import { comment } from './comment.ts';
import { dismissStaleReviews } from './dismiss-stale-reviews.ts';
import { markNotifications } from './mark-notifications.ts';
import { openPullRequest } from './open-pull-request.ts';
import { protectTags } from './protect-tags.ts';
import { reportIssue } from './report-issue.ts';
import { setLabels } from './set-labels.ts';
import { setStatus } from './set-status.ts';
import { syncBranchProtections } from './sync-branch-protections.ts';
import { syncHooks } from './sync-hooks.ts';
import { syncLabels } from './sync-labels.ts';
import { syncOrganization } from './sync-organization.ts';

/** Every action that a step can use. */
export const actions: readonly Action[] = [
  setLabels as Action,
  syncOrganization as Action,
  syncLabels as Action,
  syncHooks as Action,
  markNotifications as Action,
  comment as Action,
  setStatus as Action,
  reportIssue as Action,
  dismissStaleReviews as Action,
  openPullRequest as Action,
  syncBranchProtections as Action,
  protectTags as Action,
];

const byName = new Map(actions.map((action) => [action.name, action]));

export function findAction(name: string): Action | undefined {
  return byName.get(name);
}
