import { type RunLimits, withinLimits } from './limits.ts';
import {
  isEnforced,
  isEnforcing,
  type Plan,
  type PlannedChange,
  type Proposal,
  type RefusedChange,
  rankOf,
  ruleNames,
} from './proposal.ts';

/**
 * Makes one plan from the proposals of all steps. If several rules want the same value for the same target, the plan
 * contains one change. If rules want different values, the level of the rules decides; between rules of the same level,
 * all are refused. Changes beyond a limit are refused. Proposals of rules in `observe` mode are planned separately, so
 * that an observing rule does not affect the writes. Change ids are numbered after `from`.
 */
export function makePlan(proposals: readonly Proposal[], limits: RunLimits = {}, from = 0): Plan {
  const done = planOf(proposals.filter(isEnforcing), limits, from);
  const watched = planOf(
    proposals.filter((proposal) => !isEnforcing(proposal)),
    // Runs are not repeated because of observed changes.
    { ...limits, repeatsFrom: undefined },
    done.count,
  );
  const byPlace = new Map(done.groups.flatMap((group) => group.map((one) => [changeKey(one.change), group])));
  const watchers = new Map<PlannedChange, readonly Proposal[]>();
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [];
  for (const planned of watched.changes) {
    const group = byPlace.get(changeKey(planned.change));
    const same = group?.find((one) => valueKeyOf(one.change) === valueKeyOf(planned.change));
    if (group === undefined) changes.push(planned);
    else if (same) watchers.set(same, planned.proposals);
    else
      refused.push({
        planned,
        why: `it is only observed, and its target is decided by ${ruleNames(...group)}`,
      });
  }
  const withWatchers = (planned: PlannedChange): PlannedChange => {
    const found = watchers.get(planned);
    return found ? { ...planned, watchers: found } : planned;
  };
  return {
    changes: inOrder([...done.changes.map(withWatchers), ...changes]),
    refused: [...done.refused, ...watched.refused, ...refused],
  };
}

type Decided = Plan & {
  /** All changes that the proposals want, grouped by target. */
  readonly groups: readonly (readonly PlannedChange[])[];
  /** Number of ids assigned so far. */
  readonly count: number;
};

function planOf(proposals: readonly Proposal[], limits: RunLimits, from: number): Decided {
  const refused: RefusedChange[] = [];
  const kept: PlannedChange[] = [];
  const { groups, count } = byTarget(proposals, from);
  for (const group of groups) {
    const { winner, losers, why } = decide(group);
    for (const loser of losers) if (!loser.change.already) refused.push({ planned: loser, why });
    if (winner?.change.waits) refused.push({ planned: winner, why: winner.change.waits.why });
    else if (winner && !winner.change.already) kept.push(winner);
  }
  return { changes: withinLimits(inOrder(kept), limits, refused), refused, groups, count };
}

function inOrder(changes: readonly PlannedChange[]): readonly PlannedChange[] {
  return changes.toSorted((a, b) => (a.change.stage ?? 1) - (b.change.stage ?? 1));
}

/** Returns the proposals for each target, grouped by value, in order of appearance. */
function byTarget(
  proposals: readonly Proposal[],
  from: number,
): { readonly groups: readonly (readonly PlannedChange[])[]; readonly count: number } {
  const targets = new Map<string, Map<string, PlannedChange>>();
  let count = from;
  for (const proposal of proposals) {
    for (const change of proposal.changes) {
      const values = targets.get(changeKey(change)) ?? new Map<string, PlannedChange>();
      targets.set(changeKey(change), values);
      const value = valueKeyOf(change);
      const same = values.get(value);
      if (same) {
        values.set(value, { ...same, proposals: [...same.proposals, proposal] });
        continue;
      }
      count += 1;
      values.set(value, { id: `c${count}`, change, proposals: [proposal] });
    }
  }
  return { groups: [...targets.values()].map((values) => [...values.values()]), count };
}

function changeKey(change: PlannedChange['change']): string {
  return `${pathKey(change)} ${change.target}`;
}

function valueKeyOf({ value }: PlannedChange['change']): string {
  return JSON.stringify(value) ?? 'undefined';
}

/**
 * Returns the location of a change without ids that the forge assigned, so that editing and recreating a hook have the
 * same key.
 */
function pathKey({ input }: PlannedChange['change']): string {
  const { id: _id, ...place } = input.params ?? {};
  return JSON.stringify(place);
}

/**
 * Returns the plan without changes whose required change is missing: because it is refused, or because it is only
 * observed although the dependent change would be sent. Called after all other refusals.
 */
export function refuseUnfounded(plan: Plan): Plan {
  const changes: PlannedChange[] = [];
  const refused: RefusedChange[] = [...plan.refused];
  for (const planned of plan.changes) {
    const { needs } = planned.change;
    const isFounded =
      needs === undefined ||
      plan.changes.some(
        (other) =>
          other.change.target === needs &&
          [...other.proposals, ...(other.watchers ?? [])].some((proposal) =>
            planned.proposals.includes(proposal),
          ) &&
          (isEnforced(other) || !isEnforced(planned)),
      );
    if (isFounded) changes.push(planned);
    else refused.push({ planned, why: `it requires ${needs}, which is not made` });
  }
  return { changes, refused };
}

function decide(group: readonly PlannedChange[]): {
  winner: PlannedChange | undefined;
  losers: readonly PlannedChange[];
  why: string;
} {
  const [first] = group;
  if (group.length <= 1) return { winner: first, losers: [], why: '' };
  const highest = Math.min(...group.map(rankOf));
  const best = group.filter((planned) => rankOf(planned) === highest);
  const [winner] = best;
  if (best.length === 1 && winner) {
    const losers = group.filter((planned) => planned !== winner);
    return { winner, losers, why: `${ruleNames(winner)} wants a different value, and ranks higher` };
  }
  const names = [
    ...new Set(best.flatMap((planned) => planned.proposals.map((proposal) => proposal.rule.id))),
  ].join(' and ');
  return {
    winner: undefined,
    losers: group,
    why: `${names} want different values, and neither ranks higher`,
  };
}
