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

/**
 * Returns the rank of the most powerful rule that wants a change: 0 is the operator's. A rule that observes lends nothing to
 * those that do more.
 */
export function rankOf(planned: PlannedChange): number {
  const { wishes } = planned;
  const counted = isEnforced(planned) ? wishes.filter(({ rule }) => rule.mode === 'enforce') : wishes;
  return Math.min(...counted.map((wish) => levels.indexOf(wish.rule.level)));
}

/** Returns the rules that want a change, for people. */
export function namesOf(planned: PlannedChange): string {
  return [...new Set(planned.wishes.map((wish) => wish.rule.id))].join(' and ');
}

/** Returns the most powerful origin among the rules that want a change: it is made with those powers. */
export function levelOf(planned: PlannedChange): Level {
  return levels[rankOf(planned)] ?? 'repository';
}

/** Says whether a change may be sent: some rule that wants it does more than observe. */
export function isEnforced({ wishes }: PlannedChange): boolean {
  return wishes.some(({ rule }) => rule.mode === 'enforce');
}
