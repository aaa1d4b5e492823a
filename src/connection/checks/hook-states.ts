import type { Client } from '../../client/client.ts';
import type { Hook } from '../../contract/resources/hooks.ts';
import { messageOf, ReeveError } from '../../errors.ts';
import type { Settings } from '../../settings/config.ts';
import type { Store } from '../../store/store.ts';
import { type KnownHook, type Match, matchHooks, recallHook } from '../hooks/match.ts';
import { type Place, placesOf, titleOf } from '../hooks/places.ts';
import { type Signed, seeHooks } from '../hooks/read-hooks.ts';

/** What was seen at one place that shall have a hook. */
export type SeenPlace = {
  readonly place: Place;
  /** Of the account that may see and test the hooks there. */
  readonly client: Client;
  readonly live: readonly Hook[];
  readonly match: Match;
  readonly known: KnownHook | undefined;
};

/** What was seen at the places of the operator file, and why nothing was at the others. */
export type HookLooks = {
  readonly seen: readonly SeenPlace[];
  readonly hidden: readonly string[];
  readonly hiddenPlaces: readonly Place[];
};

/** Reads the hooks of every place that the operator file names. */
export async function lookAtHooks(
  signed: readonly Signed[],
  { webhook }: Settings,
  store: Pick<Store, 'recall'>,
): Promise<HookLooks> {
  const seen: SeenPlace[] = [];
  const hidden: string[] = [];
  const hiddenPlaces: Place[] = [];
  for (const place of webhook ? placesOf(webhook) : []) {
    const known = await recallHook(store, place);
    try {
      const { client, live } = await seeHooks(signed, place);
      seen.push({ place, client, live, known, match: matchHooks(live, webhook?.url ?? '', known) });
    } catch (error) {
      if (!(error instanceof ReeveError) || (error.status !== 403 && error.status !== 404)) throw error;
      hiddenPlaces.push(place);
      hidden.push(`${titleOf(place)} (${messageOf(error)})`);
    }
  }
  return { seen, hidden, hiddenPlaces };
}
