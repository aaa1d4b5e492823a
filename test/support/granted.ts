import type { ScopedGrant } from '../../src/rules/rule.ts';

/** Returns grants of these names that cover every repository and branch. */
export function granted(names: readonly string[]): readonly ScopedGrant[] {
  return [{ names, covers: () => true, branches: { written: ['**'], matches: () => true }, forks: false }];
}
