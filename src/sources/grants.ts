import type { RepositoryRef } from '../contract/events/subject.ts';
import { createScope } from '../patterns/repository-scope.ts';

/** What the operator lets some files use beyond the small set: names of actions, and of facts that show more. */
export type Grant = {
  /** Patterns of repositories whose own file gets it. */
  readonly repositories: readonly string[];
  /** Organizations whose rules repository gets it. */
  readonly organizations: readonly string[];
  readonly names: readonly string[];
};

/** Tells what a rule file was granted. */
interface Powers {
  /** Returns the names granted to the file of a repository. */
  ofRepository(at: RepositoryRef): readonly string[];
  /** Returns the names granted to the files of an organization. */
  ofOrganization(name: string): readonly string[];
}

/** Creates the powers of rule files from the operator's grants. A name is granted once, whoever grants it. */
export function createPowers(grants: readonly Grant[]): Powers {
  const rows = grants.map(({ repositories, organizations, names }) => ({
    takes: repositories.length === 0 ? () => false : createScope(repositories),
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
