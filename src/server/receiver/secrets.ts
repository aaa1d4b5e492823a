import { createGlob } from '../../patterns/glob.ts';
import { messageOf } from '../../platform/errors.ts';

/**
 * Secrets that verify deliveries of the repositories in a scope. A delivery is verified if it passes all checks
 * configured by one entry.
 */
export type SecretEntry = {
  /** Name that is shown in the log and stored with each delivery that the entry verified. */
  readonly name: string;
  /** Patterns for `owner/name`, such as `acme/*`; see `isWholeScope` for patterns that cover the whole forge. */
  readonly scope: readonly string[];
  /** Accepted values of the `Authorization` header; none: the header is not checked. */
  readonly authorization: readonly string[];
  /** Accepted secrets of the signature; none: the signature is not checked. */
  readonly hmac: readonly string[];
};

/** Minimum length of a secret. Shorter values can be guessed, or may be a user's password. */
export const minSecretBytes = 24;

/**
 * Returns all problems of the entries, as texts for the operator; empty if the entries are valid. A text contains only
 * the position of a value, never the value.
 */
export function examineSecrets(entries: readonly SecretEntry[]): readonly string[] {
  const problems: string[] = [];
  if (!entries.some((entry) => entry.authorization.length + entry.hmac.length > 0)) {
    problems.push(
      'no webhook secret is configured: set WEBHOOK_AUTHORIZATION or WEBHOOK_SECRET, or name entries, or REEVE_POLL, to poll without hooks',
    );
  }
  const names = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const label = entry.name === '' ? `webhook entry ${index + 1}` : `webhook entry "${entry.name}"`;
    if (entry.name === '') problems.push(`${label} has no name`);
    if (names.has(entry.name)) problems.push(`${label} appears twice`);
    names.add(entry.name);
    problems.push(...examineScope(entry.scope, label), ...examineValues(entry, label));
  }
  return problems;
}

function examineScope(scope: readonly string[], label: string): string[] {
  if (scope.length === 0) return [`${label} has no scope: name repositories ("acme/*"), or "*" for all`];
  const problems: string[] = [];
  for (const pattern of scope) {
    if (isWholeScope([pattern])) continue;
    if (!pattern.includes('/')) {
      problems.push(`${label}: scope "${pattern}" covers no repository; write "${pattern}/*"`);
      continue;
    }
    try {
      createGlob(pattern);
    } catch (error) {
      problems.push(`${label}: scope "${pattern}" is not a pattern: ${messageOf(error)}`);
    }
  }
  return problems;
}

function examineValues(entry: SecretEntry, label: string): string[] {
  const problems: string[] = [];
  if (entry.authorization.length + entry.hmac.length === 0) {
    problems.push(`${label} has neither an authorization nor an hmac value: it would accept every request`);
  }
  for (const kind of ['authorization', 'hmac'] as const) {
    for (const [index, value] of entry[kind].entries()) {
      const bytes = Buffer.byteLength(value);
      if (bytes < minSecretBytes) {
        problems.push(
          `${label}: ${kind} value ${index + 1} has ${bytes} bytes, at least ${minSecretBytes} are needed`,
        );
      }
      // A header value loses such characters in transit, so it would never match.
      if (kind === 'authorization' && (value.trim() !== value || /[^\x20-\x7e]/.test(value))) {
        problems.push(`${label}: ${kind} value ${index + 1} has characters that a header cannot contain`);
      }
    }
  }
  return problems;
}

const wholePatterns: ReadonlySet<string> = new Set(['*', '**', '*/*']);

/**
 * Returns whether a scope covers the whole forge: one of its patterns is `*`, `**` or a star on both sides of the
 * slash. Only such a scope covers events without a repository, and only its deliveries are accepted before parsing.
 */
export function isWholeScope(scope: readonly string[]): boolean {
  return scope.some((pattern) => wholePatterns.has(pattern));
}

/**
 * Returns a function that tests whether a repository (`owner/name`; undefined for an event without one) is in the
 * scope. Comparison is case-insensitive, like names on a forge.
 */
export function createEntryScope(scope: readonly string[]): (repository: string | undefined) => boolean {
  if (isWholeScope(scope)) return () => true;
  // Each pattern separately: in a list, a pattern with a leading `!` would exclude, but a scope only includes.
  const globs = scope.map((pattern) => createGlob(pattern.toLowerCase()));
  return (repository) =>
    repository !== undefined && globs.some((matches) => matches(repository.toLowerCase()));
}

/**
 * Returns a function that tests whether the named entry covers a repository. It returns undefined if there is no such
 * entry.
 */
export function createCoverage(
  entries: readonly { readonly name: string; readonly scope: readonly string[] }[],
): (entry: string, repository: string | undefined) => boolean | undefined {
  const scopes = new Map(entries.map(({ name, scope }) => [name, createEntryScope(scope)]));
  return (entry, repository) => scopes.get(entry)?.(repository);
}
