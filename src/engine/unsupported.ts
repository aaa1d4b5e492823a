import { type Capabilities, unsupportedReason } from '../client/capabilities.ts';
import type { Plan, PlannedChange, RefusedChange } from './proposal.ts';

/**
 * Returns the plan without the changes that this forge cannot make: they are refused with the reason, since a member that
 * a forge ignores in silence would be written again for ever. The forge is asked only where a change needs it to be.
 */
export async function refuseUnsupported(
  plan: Plan,
  capabilities: (() => Promise<Capabilities>) | undefined,
): Promise<Plan> {
  if (capabilities === undefined || !plan.changes.some(({ change }) => change.requires)) return plan;
  const known = await capabilities();
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const why = unsupportedReason(known, planned.change.requires ?? []);
    if (why === undefined) changes.push(planned);
    else refused.push({ planned, why });
  }
  return { changes, refused };
}
