import { createGlob } from '../../patterns/glob.ts';
import { messageOf } from '../../platform/errors.ts';
import { isWholeScope } from './scope.ts';

/** Secrets that verify deliveries of the repositories in a scope. One entry must pass all checks that it configures. */
export type SecretEntry = {
  /** Shown in the log and stored with each delivery that it verified. */
  readonly name: string;
  /** Patterns for `owner/name`, such as `acme/*`; see `isWholeScope` for those that cover the whole forge. */
  readonly scope: readonly string[];
  /** Accepted values of the `Authorization` header; none: the header is not checked. */
  readonly authorization: readonly string[];
  /** Accepted secrets of the signature; none: the signature is not checked. */
  readonly hmac: readonly string[];
};

/** Shorter values can be guessed, or may be a user's password. */
export const minSecretBytes = 24;

/**
 * Returns all problems of the entries, as texts for the operator; none if they are valid. A value is
 * never part of a text, only its position.
 */
export function examineSecrets(entries: readonly SecretEntry[]): readonly string[] {
  const problems: string[] = [];
  if (!entries.some((entry) => entry.authorization.length + entry.hmac.length > 0)) {
    problems.push(
      'no webhook secret is configured: set WEBHOOK_AUTHORIZATION or WEBHOOK_SECRET, or name entries',
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
      // A header value loses such characters in transit and would never match.
      if (kind === 'authorization' && (value.trim() !== value || /[^\x20-\x7e]/.test(value))) {
        problems.push(`${label}: ${kind} value ${index + 1} has characters that a header cannot contain`);
      }
    }
  }
  return problems;
}
