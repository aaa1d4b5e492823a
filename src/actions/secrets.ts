import { createHmac } from 'node:crypto';
import type { AnyInput } from '../contract/operation.ts';
import { ReeveError } from '../platform/errors.ts';
import { createRedactor } from '../platform/redactor.ts';

/** A secret as it appears in rule files, changes, plans, logs and the store: only its name. */
type SecretName = { readonly secret: string };

/**
 * The operator's named secrets. Actions see only fingerprints; the value of a secret is inserted only into the request
 * that needs it.
 */
export interface NamedSecrets {
  /** Returns a keyed fingerprint of the value, or undefined for an unknown name. */
  fingerprint(name: string): string | undefined;
  /**
   * Returns the input of a request with every `{ secret: NAME }` in its body replaced by the value. Throws for an
   * unknown name.
   */
  reveal(input: AnyInput): AnyInput;
  /** Returns a text with each value replaced by its name, because a forge may repeat request values in its response. */
  redact(text: string): string;
}

/** Creates the named secrets. Without `key`, guessed values cannot be tested against the fingerprints. */
export function createNamedSecrets(values: ReadonlyMap<string, string>, key: Uint8Array): NamedSecrets {
  const reveal = (value: unknown): unknown => {
    if (isSecretName(value)) {
      const found = values.get(value.secret);
      if (found === undefined) throw new ReeveError('settings', unknownSecret(value.secret));
      return found;
    }
    if (Array.isArray(value)) return value.map(reveal);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, reveal(member)]));
  };
  return {
    fingerprint(name) {
      const value = values.get(name);
      return value === undefined ? undefined : createHmac('sha256', key).update(value).digest('base64url');
    },
    reveal: (input) => ('body' in input ? { ...input, body: reveal(input.body) } : input),
    redact: createRedactor([...values].map(([name, value]) => ({ value, mark: `{secret: ${name}}` }))),
  };
}

/** Returns the error message for a rule that refers to an unknown secret. */
export function unknownSecret(name: string): string {
  return `there is no secret named "${name}": define it under named-secrets in the operator file, or as REEVE_SECRET_${name}`;
}

/** Returns whether a value is a reference to a secret. */
function isSecretName(value: unknown): value is SecretName {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 1 &&
    'secret' in value &&
    typeof value.secret === 'string'
  );
}

/** Returns whether the body of an input contains a reference to a secret. */
export function namesSecret(value: unknown): boolean {
  if (isSecretName(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(namesSecret);
}
