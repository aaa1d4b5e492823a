import type { LoadedRule } from '../rule.ts';
import { extendRuleSet, type RuleSet } from '../rule-set.ts';
import type { RepositoryRules } from './repository-file.ts';

/** The sets of rules that are in force for the repositories. */
interface RuleSets {
  /** Returns the operator's rules with those of an organization's files and of a repository's own file. */
  of(
    operator: RuleSet,
    files: { readonly own: RepositoryRules; readonly ofOrganization: readonly RepositoryRules[] },
  ): RuleSet;
}

/** Creates them. A set is kept as long as the operator's rules and the repository's own file are the same. */
export function createRuleSets(): RuleSets {
  /** Sets are created once for the same rules: indexing a thousand rules for every event would be slow. */
  const sets = new WeakMap<RuleSet, WeakMap<object, Extended>>();
  return {
    of(operator, { own, ofOrganization }) {
      const rules = [...ofOrganization.flatMap((file) => file.rules), ...own.rules];
      if (rules.length === 0) return operator;
      const byOwn = sets.get(operator) ?? new WeakMap<object, Extended>();
      sets.set(operator, byOwn);
      const known = byOwn.get(own);
      if (known && isSameList(known.rules, rules)) return known.set;
      const set = extendRuleSet(operator, rules);
      byOwn.set(own, { rules, set });
      return set;
    },
  };
}

/** A set, and the rules in it that are not the operator's. */
type Extended = { readonly rules: readonly LoadedRule[]; readonly set: RuleSet };

function isSameList(rules: readonly LoadedRule[], others: readonly LoadedRule[]): boolean {
  return rules.length === others.length && others.every((rule, at) => rules[at] === rule);
}
