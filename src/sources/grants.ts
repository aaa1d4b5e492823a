import type { RepositoryRef } from '../contract/events/subject.ts';
import { createRepositoryScope } from '../patterns/repository-scope.ts';

/** A grant of the operator: names of actions and facts that some files may use in addition to the default set. */
export type Grant = {
  /** Patterns of repositories whose own file gets the grant. */
  readonly repositories: readonly string[];
  /** Organizations whose rules repository gets the grant. */
  readonly organizations: readonly string[];
  readonly names: readonly string[];
};

/** Looks up the grants of rule files. */
interface Grants {
  /** Returns the names granted to the file of a repository. */
  ofRepository(at: RepositoryRef): readonly string[];
  /** Returns the names granted to the files of an organization. */
  ofOrganization(name: string): readonly string[];
}

/** Creates the lookup from the operator's grants. Names of several matching grants are combined. */
export function createGrants(grants: readonly Grant[]): Grants {
  const rows = grants.map(({ repositories, organizations, names }) => ({
    takes: repositories.length === 0 ? () => false : createRepositoryScope(repositories),
    organizations: new Set(organizations.map((name) => name.toLowerCase())),
    names,
  }));
  const union = (granted: readonly { names: readonly string[] }[]): readonly string[] =>
    [...new Set(granted.flatMap(({ names }) => names))].sort();
  return {
    ofRepository: ({ owner, name }) => union(rows.filter(({ takes }) => takes(`${owner}/${name}`))),
    ofOrganization: (name) =>
      union(rows.filter(({ organizations }) => organizations.has(name.toLowerCase()))),
  };
}
