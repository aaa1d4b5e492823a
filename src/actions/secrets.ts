import { createHmac } from 'node:crypto';
import type { AnyInput } from '../contract/operation.ts';
import { ReeveError } from '../errors.ts';
import { createRedactor } from '../redactor.ts';

/** How a value that must never be written stands in rule files, changes, plans, logs and the store: by its name. */
type SecretName = { readonly secret: string };

/**
 * The values that the operator gave a name. Actions see fingerprints alone; a value leaves this object only inside the
 * request it is for.
 */
export interface NamedSecrets {
  /** Returns a keyed fingerprint of the value, or undefined where nobody gave this name. */
  fingerprint(name: string): string | undefined;
  /** Returns the input of a request with every `{ secret: NAME }` of its body replaced. Throws for an unknown name. */
  reveal(input: AnyInput): AnyInput;
  /** Returns a text with each value replaced by its name: a forge may repeat in its answer what it was sent. */
  redact(text: string): string;
}

/** Creates the named secrets. Who has the fingerprints without `key` cannot try values against them. */
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

/** Returns what to tell somebody whose rule names a secret that nobody gave. */
export function unknownSecret(name: string): string {
  return `there is no secret named "${name}": give it under named-secrets in the operator file, or as REEVE_SECRET_${name}`;
}

/** Says whether a value is the name of a secret and nothing else. */
function isSecretName(value: unknown): value is SecretName {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 1 &&
    'secret' in value &&
    typeof value.secret === 'string'
  );
}

/** Says whether the body of an input names a secret anywhere. */
export function namesSecret(value: unknown): boolean {
  if (isSecretName(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(namesSecret);
}
