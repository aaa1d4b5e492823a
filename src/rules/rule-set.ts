import type { Family } from '../contract/events/event-families.ts';
import type { LoadedRule } from './rule.ts';

/** Rules that are in force together, found by what they listen to without looking at the others. */
export interface RuleSet {
  /** All rules, operator's first, then organization's, then repository's; within a level as given. */
  readonly rules: readonly LoadedRule[];
  /** Rules that listen to the family, in the same order. */
  listeningTo(family: Family): readonly LoadedRule[];
  find(id: string): LoadedRule | undefined;
  /** Returns where the rule stands in `rules`; after all of them where it is none of these. */
  orderOf(id: string): number;
}

/** Returns the rules indexed by family: an event costs about as much as the rules that listen to it. */
export function createRuleSet(rules: readonly LoadedRule[]): RuleSet {
  const order = { operator: 0, organization: 1, repository: 2 };
  const sorted = rules.toSorted((a, b) => order[a.level] - order[b.level]);
  const byFamily = new Map<Family, LoadedRule[]>();
  for (const rule of sorted) {
    for (const family of new Set(rule.on.map((listening) => listening.family))) {
      const listeners = byFamily.get(family);
      if (listeners) listeners.push(rule);
      else byFamily.set(family, [rule]);
    }
  }
  const places = new Map(sorted.map((rule, place) => [rule.id, place]));
  return {
    rules: sorted,
    listeningTo: (family) => byFamily.get(family) ?? [],
    find: (id) => sorted[places.get(id) ?? sorted.length],
    orderOf: (id) => places.get(id) ?? sorted.length,
  };
}

/**
 * Returns a set with further rules after those of `base`, which is shared: a thousand rules of the operator are indexed once, and
 * not for every repository. All rules of `base` must be the operator's, and none of the others.
 */
export function extendRuleSet(base: RuleSet, rules: readonly LoadedRule[]): RuleSet {
  const own = createRuleSet(rules);
  const first = base.rules.length;
  return {
    get rules() {
      return [...base.rules, ...own.rules];
    },
    listeningTo(family) {
      const [before, after] = [base.listeningTo(family), own.listeningTo(family)];
      return after.length === 0 ? before : [...before, ...after];
    },
    find: (id) => own.find(id) ?? base.find(id),
    orderOf(id) {
      if (own.find(id) === undefined && base.find(id) !== undefined) return base.orderOf(id);
      return first + own.orderOf(id);
    },
  };
}
