import type { BudgetSource } from './expressions/budget/budget.ts';
import type { LoadedRule } from './rule.ts';

/**
 * Units that a rule has for itself, whatever the other rules of its source cost. The operator may have a thousand rules
 * that concern one event, each with patterns and a hundred files to hold against them; how many there are is the
 * operator's choice. Other files have at most a hundred rules.
 */
export const unitsPerOperatorRule = 100_000;
export const unitsPerOtherRule = 20_000;

/** Returns whose budget a rule spends: the operator's, its organization's or its repository's. */
export function budgetSourceOf({ level, home, source }: LoadedRule): BudgetSource {
  if (level === 'operator') {
    return { key: 'operator', title: "the operator's rules", unitsPerRule: unitsPerOperatorRule };
  }
  if (home && 'organization' in home) {
    const { organization } = home;
    return {
      key: `organization ${organization}`,
      title: `the rules of ${organization}`,
      unitsPerRule: unitsPerOtherRule,
    };
  }
  return {
    key: `${level} ${home?.repositoryId ?? source}`,
    title: `the rules of ${source}`,
    unitsPerRule: unitsPerOtherRule,
  };
}
