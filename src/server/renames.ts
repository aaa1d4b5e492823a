import { renameIn, syncRepository } from '../actions/sync-repository.ts';
import { readMember } from '../contract/events/payload-members.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import type { RunSettings } from '../engine/run-context.ts';
import { createRepositoryScope } from '../patterns/glob.ts';
import { createUnlimitedMeter } from '../patterns/meter.ts';
import { isInScope } from '../rules/match.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type { Grant } from '../rules/sources/grants.ts';
import type { OrganizationSource } from '../rules/sources/organization.ts';
import { createEntryScope, type SecretEntry } from './receiver/secrets.ts';

/** The settings that name repositories. */
type NamingSettings = {
  readonly secrets: readonly Pick<SecretEntry, 'name' | 'scope'>[];
  readonly repositories: readonly string[];
  readonly organizations?: readonly OrganizationSource[];
  readonly grants?: readonly Grant[];
  readonly report?: { readonly repository?: string | undefined } | undefined;
};

/**
 * Creates the check of new names of repositories (`RunSettings.barToRename`). A repository must not leave anything that
 * names it: nothing else would say that its deliveries are refused from then on, that it is no longer served, or that
 * rules and grants do not apply any more. `rulesOf` returns the rules of the operator and of an organization.
 */
export function createBarToRename(
  { secrets, repositories, organizations = [], grants = [], report }: NamingSettings,
  rulesOf: (owner: string) => Promise<readonly LoadedRule[]>,
): NonNullable<RunSettings['barToRename']> {
  const leaves = (patterns: readonly string[], from: string, to: string): boolean => {
    if (patterns.length === 0) return false;
    const covers = createRepositoryScope(patterns);
    return covers(from) && !covers(to);
  };
  return async (from, to) => {
    const isFrom = (name: string | undefined): boolean => name?.toLowerCase() === from.toLowerCase();
    // 1. Settings of the operator. A delivery is verified with the secret of its hook, so another secret that covers the
    // new name does not help.
    const left = secrets.find(({ scope }) => {
      const covers = createEntryScope(scope);
      return covers(from) && !covers(to);
    });
    if (left !== undefined) return `the scope of the secret "${left.name}" includes ${from} and not ${to}`;
    if (leaves(repositories, from, to))
      return `repositories of the operator file includes ${from} and not ${to}`;
    const grant = grants.find((one) => leaves([...(one.in ?? []), ...one.repositories], from, to));
    if (grant !== undefined) return `the grant of ${grant.names.join(', ')} covers ${from} and not ${to}`;
    const organization = organizations.find(({ rules }) => isFrom(rules));
    if (organization !== undefined)
      return `the operator file names ${from} as the repository with the rules of ${organization.name}`;
    if (isFrom(report?.repository)) return `the operator file names ${from} as the repository of the report`;
    // 2. Other rules.
    const [owner = '', name = ''] = from.split('/');
    const rules = await rulesOf(owner);
    const meter = createUnlimitedMeter();
    const takes = (rule: LoadedRule, fullName: string): boolean => {
      const repository: RepositoryRef = { id: 0, owner, name: fullName.split('/')[1] ?? name };
      return isInScope(rule, { kind: 'repository', repository }, meter);
    };
    const losing = rules.find((rule) => takes(rule, from) && !takes(rule, to));
    if (losing !== undefined) return `the in of rule ${losing.id} includes ${from} and not ${to}`;
    // 3. Other new names: two repositories must not want one name, and one repository not two, one after the other.
    for (const rule of rules) {
      for (const rename of renamesBy(rule)) {
        const isSame = isFrom(rename.from) && rename.to.toLowerCase() === to.toLowerCase();
        const names = [rename.from, rename.to].map((one) => one.toLowerCase());
        if (!isSame && [from, to].some((one) => names.includes(one.toLowerCase())))
          return `rule ${rule.id} renames ${rename.from} to ${rename.to}`;
      }
    }
    return undefined;
  };
}

/** Returns the renames that the steps of a rule describe. */
function renamesBy({ steps, scopes }: LoadedRule) {
  const written = scopes.map((scope) => scope.written);
  return steps.flatMap(({ action, arguments: given }) => {
    const name = action.name === syncRepository.name ? readMember(given.written, 'name') : undefined;
    const rename = typeof name === 'string' ? renameIn(written, name) : undefined;
    return rename === undefined || 'why' in rename ? [] : [rename];
  });
}
