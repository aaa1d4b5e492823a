import type { Action } from '../actions/action.ts';
import type { Change } from '../actions/change.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import { type Level, type LoadedRule, levels } from '../rules/rule.ts';

/** What one step of a rule that matched wants. */
export type Wish = {
  readonly rule: LoadedRule;
  readonly step: string;
  readonly action: Action;
  readonly arguments: unknown;
  /** What `plan` was told beside the facts, for planning again. */
  readonly context: PlanContext;
  readonly changes: readonly Change[];
};

/** One change of the plan with everybody who wants it. */
export type PlannedChange = {
  readonly id: string;
  readonly change: Change;
  readonly wishes: readonly Wish[];
};

export type RefusedChange = { readonly planned: PlannedChange; readonly why: string };

export type Plan = { readonly changes: readonly PlannedChange[]; readonly refused: readonly RefusedChange[] };

/** Changes that one delivery may make, by all rules together and by the files of repositories among them. */
export const changesPerDelivery = { all: 50, repository: 20 } as const;

/**
 * Makes one plan of what the steps want. The same target and value from several rules is one change; different values
 * are decided by where the rules come from, and by nobody between equals; what exceeds a budget is refused.
 */
export function makePlan(wishes: readonly Wish[]): Plan {
  const refused: RefusedChange[] = [];
  const kept: PlannedChange[] = [];
  for (const group of byTarget(wishes)) {
    const { winner, losers, why } = decide(group);
    for (const loser of losers) if (!loser.change.already) refused.push({ planned: loser, why });
    if (winner && !winner.change.already) kept.push(winner);
  }
  const ordered = kept.toSorted((a, b) => (a.change.stage ?? 1) - (b.change.stage ?? 1));
  const changes = withinBudgets(ordered, refused);
  return { changes, refused };
}

/** Returns the wishes for each target, those of one value together, in order of appearance. */
function byTarget(wishes: readonly Wish[]): readonly (readonly PlannedChange[])[] {
  const targets = new Map<string, Map<string, PlannedChange>>();
  let count = 0;
  for (const wish of wishes) {
    for (const change of wish.changes) {
      const key = `${JSON.stringify(change.input.params)} ${change.target}`;
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

function rankOf(planned: PlannedChange): number {
  return Math.min(...planned.wishes.map((wish) => levels.indexOf(wish.rule.level)));
}

function namesOf(planned: PlannedChange): string {
  return [...new Set(planned.wishes.map((wish) => wish.rule.id))].join(' and ');
}

/** Returns the changes that the budgets allow, in order; what is beyond them goes to `refused`. */
function withinBudgets(
  changes: readonly PlannedChange[],
  refused: RefusedChange[],
): readonly PlannedChange[] {
  const spentByRule = new Map<string, number>();
  let spentByRepositoryFiles = 0;
  const allowed: PlannedChange[] = [];
  for (const planned of changes) {
    const why = beyond(planned);
    if (why) {
      refused.push({ planned, why });
      continue;
    }
    allowed.push(planned);
    for (const { rule } of planned.wishes) spentByRule.set(rule.id, (spentByRule.get(rule.id) ?? 0) + 1);
    if (levelOf(planned) === 'repository') spentByRepositoryFiles += 1;
  }
  return allowed;

  function beyond(planned: PlannedChange): string | undefined {
    if (allowed.length >= changesPerDelivery.all)
      return `over the budget of ${changesPerDelivery.all} changes a delivery`;
    if (levelOf(planned) === 'repository' && spentByRepositoryFiles >= changesPerDelivery.repository) {
      return `over the budget of ${changesPerDelivery.repository} changes a delivery for rules of repositories`;
    }
    const narrow = planned.wishes.every(({ rule }) => {
      const limit = rule.limits.changes;
      return limit !== undefined && (spentByRule.get(rule.id) ?? 0) >= limit;
    });
    return narrow ? `over the limit of changes that ${namesOf(planned)} sets itself` : undefined;
  }
}

/** Returns the most powerful origin among the rules that want a change: it is made with those powers. */
export function levelOf(planned: PlannedChange): Level {
  return levels[rankOf(planned)] ?? 'repository';
}
