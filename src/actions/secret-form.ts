import { z } from 'zod';
import type { PlanContext } from './plan-context.ts';
import { unknownSecret } from './secrets.ts';

/** Reference to a secret by its name, which is the last part of an environment variable's name. */
export const SecretForm = z.strictObject({
  secret: z.string().regex(/^[A-Za-z]\w{0,63}$/, 'the name of a secret consists of letters, digits and _'),
});
export type SecretForm = z.output<typeof SecretForm>;

/**
 * Returns the fingerprint of a secret that a rule names; undefined in a what-if, which has no secrets. Throws for an
 * unknown name, and for a rule below the operator level, because such a rule could send any secret to its own URL.
 */
export function fingerprintSecret({ secret }: SecretForm, context: PlanContext): string | undefined {
  const { secrets, level } = context;
  if (level !== 'operator') throw new Error('only rules of the operator may name secrets');
  if (secrets === undefined) return undefined;
  const found = secrets.fingerprint(secret);
  if (found === undefined) throw new Error(unknownSecret(secret));
  return found;
}
