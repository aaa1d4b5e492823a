import type { Operation } from '../../contract/operation.ts';

/** A part of a repository that has an access level of its own. */
export type Unit = 'code' | 'issues' | 'pulls' | 'wiki' | 'releases';
const units: readonly Unit[] = ['code', 'issues', 'pulls', 'wiki', 'releases'];

/** Every name a team's `units` and `units_map` know, in Gitea's order. */
export const unitNames = [
  'repo.code',
  'repo.issues',
  'repo.pulls',
  'repo.releases',
  'repo.wiki',
  'repo.ext_wiki',
  'repo.ext_issues',
  'repo.projects',
  'repo.packages',
  'repo.actions',
] as const;

/**
 * Returns the unit whose access decides about an operation of a repository; undefined where the repository as a whole
 * does. `isPull`: the number in the path is a pull request's.
 */
export function unitOf({ target }: Operation, isPull: boolean): Unit | undefined {
  if (target === 'issues-or-pulls') return isPull ? 'pulls' : 'issues';
  return units.find((unit) => unit === target);
}
