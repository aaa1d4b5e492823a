import { createGlob } from '../../patterns/glob.ts';

const wholePatterns: ReadonlySet<string> = new Set(['*', '**', '*/*']);

/**
 * Returns whether a scope covers the whole forge: one of its patterns is `*`, `**` or a star on both sides of the slash. Only
 * such a scope covers events without a repository, and only its deliveries are accepted before parsing.
 */
export function isWholeScope(scope: readonly string[]): boolean {
  return scope.some((pattern) => wholePatterns.has(pattern));
}

/**
 * Returns a function that tests whether a repository (`owner/name`; undefined for an event without one) is in the scope.
 * Case-insensitive, like names on a forge.
 */
export function createEntryScope(scope: readonly string[]): (repository: string | undefined) => boolean {
  if (isWholeScope(scope)) return () => true;
  // Each pattern separately: in a list, a leading `!` would exclude, but a scope only includes.
  const globs = scope.map((pattern) => createGlob(pattern.toLowerCase()));
  return (repository) =>
    repository !== undefined && globs.some((matches) => matches(repository.toLowerCase()));
}

/** Returns a function that tests whether the named entry covers a repository; undefined if there is no such entry. */
export function createCoverage(
  entries: readonly { readonly name: string; readonly scope: readonly string[] }[],
): (entry: string, repository: string | undefined) => boolean | undefined {
  const scopes = new Map(entries.map(({ name, scope }) => [name, createEntryScope(scope)]));
  return (entry, repository) => scopes.get(entry)?.(repository);
}
