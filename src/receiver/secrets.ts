import { messageOf } from '../errors.ts';
import { createGlob } from '../patterns/glob.ts';
import { isWholeScope } from './scope.ts';

/** Who may send deliveries, and about which repositories. One entry must pass with everything it configures. */
export type SecretEntry = {
  /** Stands in the log and with each delivery that it vouched for. */
  readonly name: string;
  /** Patterns over `owner/name`, `acme/*`; see `isWholeScope` for those that mean the whole forge. */
  readonly scope: readonly string[];
  /** Live values of the `Authorization` header; none: the header is not asked for. */
  readonly authorization: readonly string[];
  /** Live secrets of the signature; none: no signature is asked for. */
  readonly hmac: readonly string[];
};

/** Shorter values can be guessed, or are a person's password. */
export const minSecretBytes = 24;

/**
 * Returns everything that is wrong with the entries, as texts for the operator; none when they can be used. A value is
 * never repeated in a text, only its place.
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
      problems.push(`${label}: scope "${pattern}" names no repository; write "${pattern}/*"`);
      continue;
    }
    try {
      createGlob(pattern);
    } catch (error) {
      problems.push(`${label}: scope "${pattern}" is no pattern: ${messageOf(error)}`);
    }
  }
  return problems;
}

function examineValues(entry: SecretEntry, label: string): string[] {
  const problems: string[] = [];
  if (entry.authorization.length + entry.hmac.length === 0) {
    problems.push(`${label} has neither an authorization nor an hmac value: it would let everybody in`);
  }
  for (const kind of ['authorization', 'hmac'] as const) {
    for (const [index, value] of entry[kind].entries()) {
      const bytes = Buffer.byteLength(value);
      if (bytes < minSecretBytes) {
        problems.push(
          `${label}: ${kind} value ${index + 1} has ${bytes} bytes, at least ${minSecretBytes} are needed`,
        );
      }
      // What a header loses on its way can never be equal.
      if (kind === 'authorization' && (value.trim() !== value || /[^\x20-\x7e]/.test(value))) {
        problems.push(`${label}: ${kind} value ${index + 1} has characters that no header carries`);
      }
    }
  }
  return problems;
}
