import type { MilestoneRow } from '../core/issue-rows.ts';
import { toInstant, toInstantOrNull } from '../core/time.ts';

/** Returns a milestone as the API shows it. */
export function toMilestone(milestone: MilestoneRow) {
  const state: 'open' | 'closed' = milestone.is_closed ? 'closed' : 'open';
  return {
    id: milestone.id,
    title: milestone.title,
    description: milestone.description,
    state,
    open_issues: milestone.num_open,
    closed_issues: milestone.num_closed,
    created_at: toInstant(milestone.created_at),
    updated_at: toInstantOrNull(milestone.updated_at),
    closed_at: toInstantOrNull(milestone.closed_at),
    due_on: toInstantOrNull(milestone.due_at),
  };
}
