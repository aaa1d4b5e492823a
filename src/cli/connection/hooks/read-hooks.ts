import type { Client } from '../../../client/client.ts';
import type { Hook } from '../../../contract/resources/hooks.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { type HookLocation, listHooksAt } from './places.ts';

/** A way to sign in, and whose it is. */
export type Signed = { readonly client: Client; readonly login: string };
/** The hooks of a place, and the client that may see them. */
type VisibleHooks = { readonly client: Client; readonly live: readonly Hook[] };

/**
 * Reads the hooks of a place with the first of these that may. Those of an account are shown to that account alone: with
 * another token the forge would answer for the wrong one. Throws the first refusal where none may.
 */
export async function readHooks(signed: readonly Signed[], location: HookLocation): Promise<VisibleHooks> {
  const isTheirs = ({ login }: Signed): boolean =>
    location.level !== 'user' || login.toLowerCase() === location.name.toLowerCase();
  let refusal = new ReeveError('forge-forbidden', `only a token of @${location.name} can list its hooks`, {
    status: 403,
  });
  let isRefused = false;
  for (const { client } of signed.filter(isTheirs)) {
    try {
      return { client, live: await listHooksAt(client, location) };
    } catch (error) {
      if (!(error instanceof ReeveError) || (error.status !== 403 && error.status !== 404)) throw error;
      if (!isRefused) refusal = error;
      isRefused = true;
    }
  }
  throw refusal;
}
