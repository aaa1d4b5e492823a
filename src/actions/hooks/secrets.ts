import { z } from 'zod';
import type { ActionMemory } from '../memory.ts';
import type { PlanContext } from '../plan-context.ts';
import { unknownSecret } from '../secrets.ts';
import type { HookForm } from './forms.ts';

/** What a forge never shows of a hook: fingerprints of its secrets, as they were when Reeve wrote them. */
const KnownHook = z.object({
  /** `none`: it sends no header. */
  authorization: z.string().optional(),
  hmac: z.string().optional(),
  /** Hooks that this one takes the place of; they go once it works. */
  replaces: z.array(z.number()).optional(),
});
export type KnownHook = z.output<typeof KnownHook>;

const keyOf = (id: number): string => `sync-hooks/${id}`;

/** Returns what is remembered of a hook; nothing for one that Reeve did not write. */
export async function recallHook(memory: ActionMemory, id: number): Promise<KnownHook | undefined> {
  const found = KnownHook.safeParse(await memory.get(keyOf(id)));
  return found.success ? found.data : undefined;
}

/** Remembers a hook; undefined forgets it. */
export async function keepHook(
  memory: ActionMemory,
  id: number,
  known: KnownHook | undefined,
): Promise<void> {
  await memory.set(keyOf(id), known);
}

/** Fingerprints of the secrets that a rule names; a member is absent where nothing is named, or nobody knows. */
export type Prints = { readonly authorization?: string; readonly hmac?: string };

/**
 * Returns the fingerprints of the secrets that a hook's declaration names. In a what-if there are none. Throws for a name
 * that nobody gave, and for a rule that is not the operator's: it could send any secret to an address of its own.
 */
export function printsOf(wanted: Pick<HookForm, 'authorization' | 'hmac'>, context: PlanContext): Prints {
  const { secrets, level } = context;
  const print = (name: string): string | undefined => {
    if (level !== 'operator') throw new Error('only rules of the operator may name secrets');
    if (secrets === undefined) return undefined;
    const found = secrets.fingerprint(name);
    if (found === undefined) throw new Error(unknownSecret(name));
    return found;
  };
  const { authorization, hmac } = wanted;
  const header = authorization === 'none' ? 'none' : authorization && print(authorization.secret);
  const signature = hmac && print(hmac.secret);
  return { ...(header && { authorization: header }), ...(signature && { hmac: signature }) };
}
