import { z } from 'zod';
import type { ActionMemory } from '../memory.ts';
import type { PlanContext } from '../plan-context.ts';
import { fingerprintSecret } from '../secret-form.ts';
import type { HookForm } from './forms.ts';

/** Fingerprints of a hook's secrets, which a forge never shows, as written by Reeve. */
const KnownHook = z.object({
  /** `none`: no header is sent. */
  authorization: z.string().optional(),
  hmac: z.string().optional(),
  /** Hooks that this one replaces; they are deleted once it works. */
  replaces: z.array(z.number()).optional(),
});
export type KnownHook = z.output<typeof KnownHook>;

const hookKey = (id: number): string => `sync-hooks/${id}`;

/** Returns the stored fingerprints of a hook; undefined for one that Reeve did not write. */
export async function recallHook(memory: ActionMemory, id: number): Promise<KnownHook | undefined> {
  const found = KnownHook.safeParse(await memory.get(hookKey(id)));
  return found.success ? found.data : undefined;
}

/** Stores the fingerprints of a hook; undefined deletes them. */
export async function rememberHook(
  memory: ActionMemory,
  id: number,
  known: KnownHook | undefined,
): Promise<void> {
  await memory.set(hookKey(id), known);
}

/** Fingerprints of the secrets that a rule refers to; a member is absent if there is no reference or the value is unknown. */
export type SecretFingerprints = { readonly authorization?: string; readonly hmac?: string };

/** Returns the fingerprints of the secrets in a hook's declaration. In a what-if there are none. */
export function fingerprintSecrets(
  { authorization, hmac }: Pick<HookForm, 'authorization' | 'hmac'>,
  context: PlanContext,
): SecretFingerprints {
  const header =
    authorization === 'none' ? 'none' : authorization && fingerprintSecret(authorization, context);
  const signature = hmac && fingerprintSecret(hmac, context);
  return { ...(header && { authorization: header }), ...(signature && { hmac: signature }) };
}
