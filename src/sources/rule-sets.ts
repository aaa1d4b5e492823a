import type { LoadedRule } from '../rules/rule.ts';
import { createRuleSet, type RuleSet } from '../rules/rule-set.ts';
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
  const sets = new WeakMap<RuleSet, WeakMap<object, RuleSet>>();
  return {
    of(operator, { own, ofOrganization }) {
      const rules = [...ofOrganization.flatMap((file) => file.rules), ...own.rules];
      if (rules.length === 0) return operator;
      const byOwn = sets.get(operator) ?? new WeakMap<object, RuleSet>();
      sets.set(operator, byOwn);
      const known = byOwn.get(own);
      if (known && sameRules(known, operator.rules, rules)) return known;
      const made = createRuleSet([...operator.rules, ...rules]);
      byOwn.set(own, made);
      return made;
    },
  };
}

function sameRules(set: RuleSet, operator: readonly LoadedRule[], others: readonly LoadedRule[]): boolean {
  if (set.rules.length !== operator.length + others.length) return false;
  return others.every((rule) => set.find(rule.id) === rule);
}
