import type { Client } from '../../../client/client.ts';
import type { Hook } from '../../../contract/resources/hooks.ts';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import type { Store } from '../../../store/store.ts';
import { type Match, matchHooks, recallSetupHook, type SetupHook } from '../hooks/match.ts';
import { type HookLocation, hookLocations, locationName } from '../hooks/places.ts';
import { readHooks, type Signed } from '../hooks/read-hooks.ts';

/** What was seen at one place that shall have a hook. */
export type HookState = {
  readonly location: HookLocation;
  /** Of the account that may see and test the hooks there. */
  readonly client: Client;
  readonly live: readonly Hook[];
  readonly match: Match;
  readonly known: SetupHook | undefined;
};

/** What was seen at the places of the operator file, and why nothing was at the others. */
export type HookStates = {
  readonly readable: readonly HookState[];
  readonly unreadable: readonly string[];
  readonly unreadableLocations: readonly HookLocation[];
};

/** Reads the hooks of every place that the operator file names. */
export async function readHookStates(
  signed: readonly Signed[],
  { webhook }: Settings,
  store: Pick<Store, 'recall'>,
): Promise<HookStates> {
  const readable: HookState[] = [];
  const unreadable: string[] = [];
  const unreadableLocations: HookLocation[] = [];
  for (const location of webhook ? hookLocations(webhook) : []) {
    const known = await recallSetupHook(store, location);
    try {
      const { client, live } = await readHooks(signed, location);
      readable.push({ location, client, live, known, match: matchHooks(live, webhook?.url ?? '', known) });
    } catch (error) {
      if (!(error instanceof ReeveError) || (error.status !== 403 && error.status !== 404)) throw error;
      unreadableLocations.push(location);
      unreadable.push(`${locationName(location)} (${messageOf(error)})`);
    }
  }
  return { readable, unreadable, unreadableLocations };
}
