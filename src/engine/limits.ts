import { type Budgets, budgets as standard } from './budget/budgets.ts';
import { maxFlips, targetKey } from './budget/ledger.ts';
import type { WriteHistory } from './budget/write-history.ts';
import { levelOfChange, type PlannedChange, type RefusedChange, ruleNames } from './proposal.ts';

/** What bounds a plan: how much one run may write, and what was written of late where it goes. */
export type RunLimits = { readonly budgets?: Budgets | undefined; readonly past?: WriteHistory | undefined };

/** Things that one change list may delete whatever the share is. */
const removalsAlways = 5;
const removalShare = 0.25;

/**
 * Returns the changes that the limits of one run allow, in order; what is beyond them goes to `refused` with the limit's
 * name. Deletions are allowed or refused together: half of a mistake is one too. The hourly budgets are none of these
 * limits: they defer (`deferBeyondHour`).
 */
export function withinLimits(
  changes: readonly PlannedChange[],
  limits: RunLimits,
  refused: RefusedChange[],
): readonly PlannedChange[] {
  const { delivery } = limits.budgets ?? standard;
  const removals = excessOf(changes);
  const spentByRule = new Map<string, number>();
  let byRepositoryFiles = 0;
  const allowed: PlannedChange[] = [];
  for (const planned of changes) {
    const why = beyond(planned);
    if (why) {
      refused.push({ planned, why });
      continue;
    }
    allowed.push(planned);
    for (const { rule } of planned.proposals) spentByRule.set(rule.id, (spentByRule.get(rule.id) ?? 0) + 1);
    if (levelOfChange(planned) === 'repository') byRepositoryFiles += 1;
  }
  return allowed;

  function beyond(planned: PlannedChange): string | undefined {
    const ofFiles = levelOfChange(planned) === 'repository';
    if (allowed.length >= delivery.all) return `over the budget of ${delivery.all} changes a delivery`;
    if (ofFiles && byRepositoryFiles >= delivery.repository) {
      return `over the budget of ${delivery.repository} changes a delivery for rules of repositories`;
    }
    return removals.get(planned) ?? flipping(planned, limits.past) ?? overItsOwn(planned);
  }

  function overItsOwn(planned: PlannedChange): string | undefined {
    const isNarrow = planned.proposals.every(({ rule }) => {
      const limit = rule.limits.changes;
      return limit !== undefined && (spentByRule.get(rule.id) ?? 0) >= limit;
    });
    return isNarrow ? `over the limit of changes that ${ruleNames(planned)} sets itself` : undefined;
  }
}

/** A value that comes back again and again is a conflict with another writer: more writes do not end it. */
function flipping({ change }: PlannedChange, past: WriteHistory | undefined): string | undefined {
  const flips = past?.flips(targetKey(change.input.params, change.target), change.value);
  if (flips === undefined || !flips.returns || flips.count < maxFlips) return undefined;
  return `${change.target} went back and forth ${flips.count} times in ten minutes: another writer sets it to a different value`;
}

/** Returns the deletions of lists from which more would go than may. */
function excessOf(changes: readonly PlannedChange[]): ReadonlyMap<PlannedChange, string> {
  const lists = new Map<string, { readonly there: number; readonly removed: PlannedChange[] }>();
  for (const planned of changes) {
    const { removes } = planned.change;
    if (removes === undefined) continue;
    const list = lists.get(removes.from) ?? { there: removes.there, removed: [] };
    list.removed.push(planned);
    lists.set(removes.from, list);
  }
  const excess = new Map<PlannedChange, string>();
  for (const { there, removed } of lists.values()) {
    const allowed = Math.max(removalsAlways, Math.floor(there * removalShare));
    if (removed.length <= allowed) continue;
    const why = `${removed.length} of ${there} would be deleted, at most ${allowed} may: nothing of this is`;
    for (const planned of removed) excess.set(planned, why);
  }
  return excess;
}
