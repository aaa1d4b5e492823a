import type { Client } from '../../client/client.ts';
import type { Settings } from '../../config.ts';
import type { Hook } from '../../contract/hooks.ts';
import { operations } from '../../contract/operations.ts';
import { messageOf, ReeveError } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import { type KnownHook, type Match, matchHooks, recallHook } from '../connection/hook-match.ts';
import { listHooksAt, type Place, placesOf, titleOf } from '../connection/places.ts';

/** What was seen at one place that shall have a hook; `hidden`: why nothing could be. */
export type HookLook = {
  readonly place: Place;
  readonly hidden?: string;
  readonly live: readonly Hook[];
  readonly match: Match;
  readonly known: KnownHook | undefined;
};

/** Reads the hooks of every place that the operator file names. */
export async function lookAtHooks(
  client: Client,
  settings: Settings,
  store: Pick<Store, 'recall'>,
): Promise<readonly HookLook[]> {
  const { webhook } = settings;
  if (webhook === undefined) return [];
  const looks: HookLook[] = [];
  for (const place of placesOf(webhook)) {
    const known = await recallHook(store, place);
    const seen = await listVisible(client, place);
    if ('hidden' in seen) looks.push({ place, known, ...seen, live: [], match: { duplicates: [] } });
    else looks.push({ place, known, ...seen, match: matchHooks(seen.live, webhook.url, known) });
  }
  return looks;
}

async function listVisible(
  client: Client,
  place: Place,
): Promise<{ live: readonly Hook[] } | { hidden: string }> {
  try {
    if (place.level === 'user') {
      const { login } = await client.call(operations.getSelf, {});
      if (login.toLowerCase() !== place.name.toLowerCase())
        return { hidden: `${titleOf(place)}: only a token of @${place.name} shows its hooks` };
    }
    return { live: await listHooksAt(client, place) };
  } catch (error) {
    if (!(error instanceof ReeveError) || (error.status !== 403 && error.status !== 404)) throw error;
    return { hidden: `${titleOf(place)}: ${messageOf(error)}` };
  }
}
