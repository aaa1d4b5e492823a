import { type Limits, withinLimits } from './limits.ts';
import { isEnforced, namesOf, type PlannedChange, type RefusedChange, rankOf, type Wish } from './wish.ts';

export type Plan = { readonly changes: readonly PlannedChange[]; readonly refused: readonly RefusedChange[] };

/**
 * Makes one plan of what the steps want. The same target and value from several rules is one change; different values
 * are decided by where the rules come from, and by nobody between equals; what exceeds a limit is refused.
 */
export function makePlan(wishes: readonly Wish[], limits: Limits = {}): Plan {
  const refused: RefusedChange[] = [];
  const kept: PlannedChange[] = [];
  for (const group of byTarget(wishes)) {
    // What is only observed takes nothing from what is done: else to watch a rule would change what happens.
    const done = group.filter(isEnforced);
    const watched = done.length === 0 ? [] : group.filter((planned) => !isEnforced(planned));
    const names = done.map(namesOf).join(' and ');
    for (const planned of watched) {
      if (!planned.change.already)
        refused.push({ planned, why: `it is only observed, and ${names} decides this` });
    }
    const { winner, losers, why } = decide(done.length === 0 ? group : done);
    for (const loser of losers) if (!loser.change.already) refused.push({ planned: loser, why });
    if (winner && !winner.change.already) kept.push(winner);
  }
  const ordered = kept.toSorted((a, b) => (a.change.stage ?? 1) - (b.change.stage ?? 1));
  const changes = withinLimits(ordered, limits, refused);
  return { changes, refused };
}

/** Returns the wishes for each target, those of one value together, in order of appearance. */
function byTarget(wishes: readonly Wish[]): readonly (readonly PlannedChange[])[] {
  const targets = new Map<string, Map<string, PlannedChange>>();
  let count = 0;
  for (const wish of wishes) {
    for (const change of wish.changes) {
      const key = `${placeOf(change)} ${change.target}`;
      const values = targets.get(key) ?? new Map<string, PlannedChange>();
      targets.set(key, values);
      const value = JSON.stringify(change.value) ?? 'undefined';
      const same = values.get(value);
      if (same) {
        values.set(value, { ...same, wishes: [...same.wishes, wish] });
        continue;
      }
      count += 1;
      values.set(value, { id: `c${count}`, change, wishes: [wish] });
    }
  }
  return [...targets.values()].map((values) => [...values.values()]);
}

/** Where a change is made. What a forge numbered is no part of it: to edit a hook and to make it anew decide the same. */
function placeOf({ input }: PlannedChange['change']): string {
  const { id: _id, ...place } = input.params ?? {};
  return JSON.stringify(place);
}

/**
 * Returns the plan without the changes that rest on one which is not made: refused, or only observed where they would be
 * sent. Called when all else is refused.
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
          other.wishes.some((wish) => planned.wishes.includes(wish)) &&
          (isEnforced(other) || !isEnforced(planned)),
      );
    if (isFounded) changes.push(planned);
    else refused.push({ planned, why: `it goes only together with ${needs}, which is not made` });
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
    return { winner, losers, why: `${namesOf(winner)} decides this otherwise, and ranks higher` };
  }
  const names = [...new Set(best.flatMap((planned) => planned.wishes.map((wish) => wish.rule.id)))].join(
    ' and ',
  );
  return {
    winner: undefined,
    losers: group,
    why: `${names} want different values, and neither ranks higher`,
  };
}
