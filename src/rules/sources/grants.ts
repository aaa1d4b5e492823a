import type { RepositoryRef } from '../../contract/events/subject.ts';
import { compileGlob, createRepositoryScope } from '../../patterns/glob.ts';
import type { Pattern, ScopedGrant } from '../rule.ts';

/**
 * A grant by the operator: names of actions and facts that certain files may use in addition to the default set, and
 * where.
 */
export type Grant = {
  /**
   * Patterns of repositories. The grant applies to these repositories: it is given to their own files and to the files
   * of their organizations.
   */
  readonly in?: readonly string[] | undefined;
  /** Patterns of repositories whose own files get the grant. */
  readonly repositories: readonly string[];
  /** Organizations whose rules repositories get the grant, for all repositories of the organization. */
  readonly organizations: readonly string[];
  readonly names: readonly string[];
  /** Patterns of the branches covered; absent: only the default branch. */
  readonly branches?: readonly string[] | undefined;
  /** Whether the grant covers branches of forks; default: no. */
  readonly forks?: boolean | undefined;
};

/** Looks up the grants of rule files. */
export interface Grants {
  /** Returns the grants of a repository's file. */
  ofRepository(at: RepositoryRef): readonly ScopedGrant[];
  /** Returns the grants of an organization's files. */
  ofOrganization(name: string): readonly ScopedGrant[];
}

/**
 * Creates the lookup of the operator's grants. Names from one grant are never combined with the coverage of another
 * grant.
 */
export function createGrants(grants: readonly Grant[]): Grants {
  const rows = grants.map((grant) => {
    const { names, forks = false } = grant;
    const common = { names, forks, ...branchesOf(grant) };
    const byFile = scopeOf([...(grant.in ?? []), ...grant.repositories]);
    const byName = scopeOf(grant.in ?? []);
    const organizations = new Set(grant.organizations.map((name) => name.toLowerCase()));
    return { common, byFile, byName, reaches: ownersOf(grant.in ?? []), organizations };
  });
  return {
    ofRepository: ({ owner, name }) =>
      rows
        .filter(({ byFile }) => byFile(`${owner}/${name}`))
        .map(({ common, byFile }) => ({ ...common, covers: byFile })),
    ofOrganization: (name) =>
      rows.flatMap(({ common, byName, reaches, organizations }): readonly ScopedGrant[] => {
        const isNamed = organizations.has(name.toLowerCase());
        return [
          ...(isNamed ? [{ ...common, covers: scopeOf([`${name}/*`]) }] : []),
          ...(reaches(name) ? [{ ...common, covers: byName }] : []),
        ];
      }),
  };
}

function scopeOf(patterns: readonly string[]): (fullName: string) => boolean {
  return patterns.length === 0 ? () => false : createRepositoryScope(patterns);
}

/** Returns a function that tests whether the patterns could match a repository of an owner. */
function ownersOf(patterns: readonly string[]): (owner: string) => boolean {
  const owners = patterns.filter((pattern) => !pattern.startsWith('!')).map((one) => one.split('/')[0] ?? '');
  return scopeOf(owners.map((owner) => `${owner}/*`));
}

function branchesOf({ branches }: Grant): { readonly branches?: Pattern } {
  return branches === undefined ? {} : { branches: { written: branches, matches: compileGlob(branches) } };
}
