import { type PauseScope, repositoryName } from '../../engine/bounds/pauses.ts';
import { nameOfRule } from '../../rules/verdict.ts';
import type { Store } from '../../store/store.ts';

/** Part of the store that looks up deliveries and runs. */
type PauseStore = {
  listDeliveries: Store['listDeliveries'];
  listRuns: Store['listRuns'];
};

/** Number of recent runs that are searched for rules of repositories and organizations. */
const recentRuns = 500;

/** Scope to which a name refers. If the name matches no rule, `known` contains the identities of the existing rules. */
export type FoundScope = { readonly scope: PauseScope } | { readonly known: readonly string[] };

/** Returns the scope to which a name refers: `all`, `owner/name`, or a rule; `#include/rule` is a rule of a pack. */
export function scopeOfName(name: string): PauseScope {
  if (name === 'all') return { kind: 'all' };
  if (name.startsWith('#')) return { kind: 'rule', name: name.slice(1) };
  return repositoryName.test(name) ? { kind: 'repository', name } : { kind: 'rule', name };
}

/**
 * Completes the scope of a pause. A repository gets its id, so that the pause still applies after a rename. A rule is
 * looked up by name or identity among the operator's rules and in recent runs, because a pause of a nonexistent rule
 * would silently have no effect.
 */
export async function findPauseScope(
  scope: PauseScope,
  operatorRules: () => Promise<readonly string[]>,
  store: PauseStore,
): Promise<FoundScope> {
  if (scope.kind === 'all') return { scope };
  if (scope.kind === 'repository') {
    const { items } = await store.listDeliveries({ search: scope.name, limit: 50 });
    const known = items.find(({ repository }) => repository?.toLowerCase() === scope.name.toLowerCase());
    const repositoryId = known?.repositoryId;
    return { scope: repositoryId === undefined ? scope : { ...scope, repositoryId } };
  }
  const isMeant = (id: string): boolean => id === scope.name || nameOfRule(id) === scope.name;
  const ofOperator = await operatorRules();
  if (ofOperator.some(isMeant)) return { scope };
  const { items: runs } = await store.listRuns({ limit: recentRuns });
  const known = new Set([...ofOperator, ...runs.flatMap(({ rules }) => rules.map(({ rule }) => rule))]);
  return [...known].some(isMeant) ? { scope } : { known: [...known].toSorted() };
}
