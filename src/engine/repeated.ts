import type { Plan, PlannedChange, RefusedChange } from './proposal.ts';
import type { Trigger } from './record.ts';

/** What becomes of a delivery that repeats an earlier one: it runs without actions that describe no state, or is refused. */
export const repeatedChoices = ['run', 'refuse'] as const;
export type RepeatedChoice = (typeof repeatedChoices)[number];

/**
 * Returns the plan of a repeated delivery without the changes of actions that do not describe a state: planned again, those
 * would be made a second time. The others are planned from live state and change nothing where all is as it should be.
 */
export function refuseRepeated(plan: Plan, { repeated }: Trigger): Plan {
  if (!repeated) return plan;
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const describesState = planned.proposals.every(({ action }) => action.describesState);
    const why = `${planned.change.action} is not repeated: an earlier delivery had the same content`;
    if (describesState) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}
