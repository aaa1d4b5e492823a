import { count } from '../platform/count.ts';
import { type Budgets, budgets as standard } from './budget/budgets.ts';
import { type Deferral, deferralKey, joinDeferrals } from './budget/deferral.ts';
import { maxFlips, writeOf } from './budget/ledger.ts';
import { digestOfText, flipMs, type WriteHistory } from './budget/write-history.ts';
import { levelOfChange, type PlannedChange, type RefusedChange, ruleNames } from './proposal.ts';

/** Limits of a plan: how much one run may write, and the recent writes in the same place. */
export type RunLimits = {
  readonly budgets?: Budgets | undefined;
  readonly past?: WriteHistory | undefined;
  /** Identities of the rules that may have written to this place; named in the reason. */
  readonly rules?: (() => readonly string[]) | undefined;
  /**
   * Time of the run, if a stopped change can be planned again after the limit ends. Absent: the change is refused
   * permanently.
   */
  readonly repeatsFrom?: Date | undefined;
};

/** Number of entries that may always be deleted from one list, regardless of their share of the list. */
const removalsAlways = 5;
const removalShare = 0.25;

/** Delay before a run that has more changes than a run may make is continued. */
const restMs = 600_000;

/** Why a limit stops a change; `endsAtMs` is the time at which the limit ends, if it does. */
type Stop = { readonly why: string; readonly endsAtMs?: number };

/**
 * Returns the changes that the limits of one run allow, in order. All others are added to `refused` with the name of
 * the limit and, if the limit ends by itself, the time. Protective changes are counted first. Deletions from one list
 * are allowed or refused together, because deleting only some entries would not make a mistake harmless. The hourly
 * budgets are separate (`deferBeyondHour`).
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
  const allowed = new Set<PlannedChange>();
  for (const planned of changes.toSorted((a, b) => rankOfProtection(a) - rankOfProtection(b))) {
    const stop = beyond(planned);
    if (stop) {
      refused.push(refusalOf(planned, stop, limits));
      continue;
    }
    allowed.add(planned);
    for (const { rule } of planned.proposals) spentByRule.set(rule.id, (spentByRule.get(rule.id) ?? 0) + 1);
    if (levelOfChange(planned) === 'repository') byRepositoryFiles += 1;
  }
  return changes.filter((planned) => allowed.has(planned));

  function beyond(planned: PlannedChange): Stop | undefined {
    const ofFiles = levelOfChange(planned) === 'repository';
    const endsAtMs = (limits.repeatsFrom?.getTime() ?? 0) + restMs;
    if (allowed.size >= delivery.all)
      return { why: `over the budget of ${count(delivery.all, 'change')} per delivery`, endsAtMs };
    if (ofFiles && byRepositoryFiles >= delivery.repository) {
      const why = `over the budget of ${count(delivery.repository, 'change')} per delivery for rules of repositories`;
      return { why, endsAtMs };
    }
    const why = removals.get(planned);
    if (why !== undefined) return { why };
    // A change that only restricts merging cannot flip indefinitely, because nothing stricter is planned after it.
    if (planned.change.protects === 'tightens') return undefined;
    return flipping(planned, limits) ?? overItsOwn(planned);
  }

  function overItsOwn(planned: PlannedChange): Stop | undefined {
    const isNarrow = planned.proposals.every(({ rule }) => {
      const limit = rule.limits.changes;
      return limit !== undefined && (spentByRule.get(rule.id) ?? 0) >= limit;
    });
    return isNarrow
      ? { why: `over the limit of changes that ${ruleNames(planned)} sets for itself` }
      : undefined;
  }
}

function rankOfProtection({ change }: PlannedChange): number {
  return change.protects === undefined ? 1 : 0;
}

function refusalOf(
  planned: PlannedChange,
  { why, endsAtMs }: Stop,
  { repeatsFrom }: RunLimits,
): RefusedChange {
  if (endsAtMs === undefined || repeatsFrom === undefined) return { planned, why, isLimited: true };
  const until = new Date(endsAtMs).toISOString();
  return { planned, why: `deferred, ${why}`, until, isLimited: true };
}

/**
 * Returns the deferral of a run with changes that these limits stopped; undefined if none of the limits ends by itself.
 */
export function limitDeferral(
  refused: readonly RefusedChange[],
  { repeatsFrom }: RunLimits,
): Deferral | undefined {
  const nowMs = repeatsFrom?.getTime() ?? 0;
  const deferrals = refused.flatMap(({ planned, why, until }): readonly Deferral[] => {
    if (until === undefined) return [];
    const afterMs = Math.max(Date.parse(until) - nowMs, 1_000);
    return [{ afterMs, why: why.replace(/^deferred, /, ''), ...deferralKey([planned]) }];
  });
  return joinDeferrals(deferrals);
}

/** Stops repeated replacements: they result from a conflict with another writer, which more writes do not resolve. */
function flipping(planned: PlannedChange, { past, rules = () => [] }: RunLimits): Stop | undefined {
  const flips = past?.flips(writeOf(planned));
  if (flips === undefined || !flips.isFlip || flips.count < maxFlips) return undefined;
  const names = rules().filter((rule) => flips.others.includes(digestOfText(rule)));
  const others = names.length > 0 ? names.join(' and ') : 'another rule';
  const cause =
    flips.others.length > 0
      ? `${ruleNames(planned)} and ${others} undo each other`
      : 'another writer sets it to a different value';
  const why = `${planned.change.target} went back and forth ${flips.count} times in ten minutes: ${cause}`;
  return { why, endsAtMs: (flips.atMs[flips.count - maxFlips] ?? 0) + flipMs };
}

/** Returns the deletions from lists that would otherwise lose more entries than allowed. */
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
    const why = `${removed.length} of ${there} would be deleted, but at most ${allowed} may be: none of them is deleted`;
    for (const planned of removed) excess.set(planned, why);
  }
  return excess;
}

/**
 * Lifetime of a delivery, and maximum age of a comment or review that the delivery announces as new: seven days by
 * default.
 */
export const standardDeliveryLifetimeMs = 7 * 86_400_000;
