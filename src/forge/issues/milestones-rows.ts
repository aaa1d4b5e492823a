import type { Bit, Seconds } from '../platform/rows.ts';
import { toInstant, toInstantOrNull } from '../platform/time.ts';

/** A milestone; database triggers maintain its counters. */
export type MilestoneRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly title: string;
  readonly description: string;
  readonly is_closed: Bit;
  readonly num_open: number;
  readonly num_closed: number;
  readonly due_at: Seconds;
  readonly closed_at: Seconds;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

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
