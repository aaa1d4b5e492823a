import { createGlob } from '../patterns/glob.ts';

const wholePatterns: ReadonlySet<string> = new Set(['*', '**', '*/*']);

/**
 * Says whether a scope is the whole forge: one of its patterns is `*`, `**` or the star on both sides of the slash. Only
 * such a scope covers events that name no repository, and only its senders are taken at their word before parsing.
 */
export function isWholeScope(scope: readonly string[]): boolean {
  return scope.some((pattern) => wholePatterns.has(pattern));
}

/**
 * Returns a function that says whether a repository (`owner/name`; undefined for an event that names none) is inside.
 * Case does not matter: a forge keeps names unique without it.
 */
export function createScope(scope: readonly string[]): (repository: string | undefined) => boolean {
  if (isWholeScope(scope)) return () => true;
  // Each pattern on its own: in a list a leading `!` would take out again, and a scope only ever lets in.
  const globs = scope.map((pattern) => createGlob(pattern.toLowerCase()));
  return (repository) =>
    repository !== undefined && globs.some((matches) => matches(repository.toLowerCase()));
}

/** Returns a function that says whether the entry of a name covers a repository; undefined where no entry has the name. */
export function createCoverage(
  entries: readonly { readonly name: string; readonly scope: readonly string[] }[],
): (entry: string, repository: string | undefined) => boolean | undefined {
  const scopes = new Map(entries.map(({ name, scope }) => [name, createScope(scope)]));
  return (entry, repository) => scopes.get(entry)?.(repository);
}
