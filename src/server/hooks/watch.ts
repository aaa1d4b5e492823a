import type { Client } from '../../client/client.ts';
import { type Occurrence, shorten } from '../../engine/incidents/incident.ts';
import { isDenied } from '../../platform/errors.ts';
import type { MemoryRows, Store } from '../../store/store.ts';
import { noteIncidents } from '../../work/alarms/alarms.ts';
import type { MaintenanceJob } from '../../work/sweeps/schedule/maintenance.ts';
import type { WebhookForm } from '../settings/operator-file.ts';
import { type HookFault, hookFault, matchHooks, recallSetupHook } from './match.ts';
import { type HookLocation, hookLocations, locationName, readHooks } from './places.ts';

/** Up to this number of locations, the hooks are examined every ten minutes; beyond it, every hour. */
const fewLocations = 20;
const kind = 'hook-silent';

/** What to do about a fault. Setup on a machine that Reeve has left would take the hook from the new one. */
const remedies: Readonly<Record<HookFault['code'], string>> = {
  missing: 'reeve setup corrects it',
  inactive: 'reeve setup corrects it',
  elsewhere:
    'another Reeve may run at that address: run reeve setup here only if that one is stopped for good; otherwise stop this one',
};

type WatchOptions = {
  readonly webhook: WebhookForm;
  readonly client: Client;
  readonly login: () => Promise<string>;
  readonly store: Store;
};

/**
 * Returns the job that notices hooks of the operator file that were deleted, disabled or changed on the forge: events
 * then arrive late, or never. Locations whose hooks the account may not list are left out.
 */
export function hookJob({ webhook, client, login, store }: WatchOptions): MaintenanceJob {
  const locations = hookLocations(webhook);
  return {
    cron: '*/10 * * * *',
    atStart: true,
    async run(now, slot) {
      const isFirst = now.getUTCMinutes() < 10 || slot.startsWith('start@');
      const hasOpen = (await store.listIncidents([kind])).length > 0;
      if (locations.length > fewLocations && !isFirst && !hasOpen) return;
      const signed = [{ client, login: await login() }];
      const found: Occurrence[] = [];
      for (const location of locations) {
        const fault = await faultAt(location, { url: webhook.url, signed, store });
        if (fault === undefined) continue;
        const reason = shorten(`${fault.text}: its events arrive late or never; ${remedies[fault.code]}`);
        found.push({ kind, key: locationName(location), at: now, level: 'operator', reason });
      }
      await noteIncidents(store, [kind], found);
    },
  };
}

/** Returns why no hook of a location delivers here; undefined if one does, or if the account may not list them. */
async function faultAt(
  location: HookLocation,
  {
    url,
    signed,
    store,
  }: {
    readonly url: string;
    readonly signed: Parameters<typeof readHooks>[0];
    readonly store: MemoryRows;
  },
): Promise<HookFault | undefined> {
  try {
    const { live } = await readHooks(signed, location);
    if (live.some(({ active, config }) => active && config?.url === url)) return undefined;
    return hookFault(matchHooks(live, url, await recallSetupHook(store, location)), live, url);
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw error;
  }
}
