import type { Verdict } from '../../rules/verdict.ts';
import type { Plan, PlannedChange, Proposal, RefusedChange } from '../proposal.ts';

/** Stage of changes that end their subject. */
const lastStage = 3;

/** Returns whether a change ends its subject, and so depends on all earlier changes of its rule. */
export function isLast({ change }: PlannedChange): boolean {
  return change.stage === lastStage;
}

/**
 * Returns the plan without the changes that end their subject although their rule failed, or another change of it was
 * refused or deferred: what should have been there before would be missing for good. Called when all else is refused.
 */
export function refuseEarlyEnds(plan: Plan, verdicts: readonly Verdict[]): Plan {
  const failed = new Set(verdicts.filter(({ verdict }) => verdict === 'failed').map(({ rule }) => rule));
  const stopped = new Map<string, string>();
  for (const { planned, until } of plan.refused) {
    if (isLast(planned)) continue;
    const what = until === undefined ? 'was refused' : 'is deferred';
    for (const { rule } of planned.proposals)
      stopped.set(rule.id, `${planned.change.target} of its rule ${what}`);
  }
  const reasonAgainst = ({ rule }: Proposal): string | undefined =>
    failed.has(rule.id) ? 'a step of its rule failed' : stopped.get(rule.id);
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const reasons = isLast(planned) ? planned.proposals.map(reasonAgainst) : [];
    const why =
      reasons.length > 0 && reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
    if (why === undefined) changes.push(planned);
    else refused.push({ planned, why: `it goes last, and ${why}` });
  }
  return { changes, refused };
}
