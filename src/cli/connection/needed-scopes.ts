import type { ScopeCategory } from '../../contract/operation.ts';
import { factsOfRule } from '../../rules/needs.ts';
import type { LoadedRule } from '../../rules/rule.ts';

/** What every Reeve asks of its token, and for what. */
const always: readonly Need[] = [
  { scope: 'read:user', why: 'to know its own account and the repositories it has starred' },
  { scope: 'read:repository', why: 'to read repositories, pull requests and rule files' },
  { scope: 'read:organization', why: 'to read organizations and their labels' },
  { scope: 'write:issue', why: 'to set labels and comment, which every rule file may' },
];

/** A scope of the token, and who needs it. */
export type Need = { readonly scope: string; readonly why: string };

/**
 * Returns the token scopes that Reeve needs for these rules, each once, with the first thing that needs it. Writing
 * includes reading.
 */
export function neededScopes(rules: readonly LoadedRule[]): readonly Need[] {
  const found = new Map(always.map((need) => [need.scope, need]));
  const add = (scope: string, why: string): void => {
    if (!found.has(scope)) found.set(scope, { scope, why });
  };
  for (const rule of rules) {
    if (rule.each?.kind === 'notification')
      add('read:notification', `for rule ${rule.name}, each: notification`);
    for (const fact of factsOfRule(rule)) {
      for (const category of fact.needs.scopes)
        add(`read:${category}`, `for rule ${rule.name}, fact ${fact.name}`);
    }
    for (const { action, arguments: given } of rule.steps) {
      const why = `for rule ${rule.name}, action ${action.name}`;
      for (const category of categoriesOf(rule, action.needs.scopes, given.written))
        add(`write:${category}`, why);
    }
  }
  return [...found.values()].filter(
    ({ scope }) => !found.has(scope.replace(/^read:/, 'write:')) || !scope.startsWith('read:'),
  );
}

/** On an organization or the account, hooks and labels stand under another path, and so under another scope. */
function categoriesOf(
  rule: LoadedRule,
  declared: readonly ScopeCategory[],
  written: unknown,
): readonly ScopeCategory[] {
  const isOfAccount =
    typeof written === 'object' &&
    written !== null &&
    'of-account' in written &&
    written['of-account'] === true;
  if (isOfAccount) return ['user'];
  const isOfOrganization = declared.length > 0 && rule.each?.kind === 'organization';
  return isOfOrganization ? ['organization'] : declared;
}
