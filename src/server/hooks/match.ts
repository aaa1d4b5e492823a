import { z } from 'zod';
import { createNamedSecrets } from '../../actions/secrets.ts';
import { shownEvents } from '../../contract/events/hook-events.ts';
import type { Hook } from '../../contract/resources/hooks.ts';
import type { MemoryRows } from '../../store/store.ts';
import { createEntryScope, type SecretEntry } from '../receiver/secrets.ts';
import { type HookLocation, locationName } from './places.ts';

/** Stored data of a hook created by setup: its id, and fingerprints of the values that no forge shows. */
export const SetupHook = z.object({
  id: z.number(),
  authorization: z.string().optional(),
  hmac: z.string().optional(),
});
export type SetupHook = z.output<typeof SetupHook>;
type HookFingerprints = Omit<SetupHook, 'id'>;

const setupHookKey = (location: HookLocation): string => `setup hook ${locationName(location)}`;

/** Returns the stored data of the hook at a location. */
export async function recallSetupHook(
  store: MemoryRows,
  location: HookLocation,
): Promise<SetupHook | undefined> {
  const found = SetupHook.safeParse(await store.recall(setupHookKey(location)));
  return found.success ? found.data : undefined;
}

/** Stores the data of the hook at a location. */
export async function rememberSetupHook(
  store: MemoryRows,
  location: HookLocation,
  known: SetupHook,
): Promise<void> {
  await store.remember(setupHookKey(location), known);
}

/** Secrets of a hook: the first accepted values of an entry. */
type HookSecrets = { readonly authorization: string; readonly hmac: string };

/**
 * Returns the first accepted values of an entry, which hooks send; empty for values that the entry does not require.
 */
export function hookSecretsOf(entry: SecretEntry): HookSecrets {
  return { authorization: entry.authorization[0] ?? '', hmac: entry.hmac[0] ?? '' };
}

/** Returns the keyed fingerprints of a hook's values. */
export function fingerprintHook(secrets: HookSecrets, key: Uint8Array): HookFingerprints {
  const named = createNamedSecrets(new Map(Object.entries(secrets)), key);
  const print = (name: string): string => named.fingerprint(name) ?? '';
  return { authorization: print('authorization'), hmac: print('hmac') };
}

/** The hooks of a location that concern Reeve. */
export type Match = {
  /** The hook that delivers to the URL: the stored hook, otherwise the first active one, otherwise the first one. */
  readonly found?: Hook;
  /** The stored hook, if it now delivers to another address. In this case, `found` is absent. */
  readonly elsewhere?: Hook;
  /** Further hooks that deliver to the URL. Each of them duplicates every event. */
  readonly duplicates: readonly Hook[];
};

/** Finds Reeve's hook among the hooks of a location. */
export function matchHooks(live: readonly Hook[], url: string, known: SetupHook | undefined): Match {
  const here = live.filter((hook) => hook.config?.url === url);
  const remembered = live.find(({ id }) => id === known?.id);
  if (remembered && !here.includes(remembered)) return { elsewhere: remembered, duplicates: here };
  const found = remembered ?? here.find(({ active }) => active === true) ?? here[0];
  if (found === undefined) return { duplicates: [] };
  return { found, duplicates: here.filter((hook) => hook !== found) };
}

/**
 * Why the hooks of a location do not deliver to this Reeve. `text` continues a sentence after the location; `detail` has
 * the addresses of other receivers, which may contain secrets, and is only for the operator's terminal.
 */
export type HookFault = {
  readonly code: 'missing' | 'elsewhere' | 'inactive';
  readonly text: string;
  readonly detail: string;
};

/** Returns why no hook of a location delivers to the URL; undefined if one does. */
export function hookFault(
  { found, elsewhere }: Match,
  live: readonly Hook[],
  url: string,
): HookFault | undefined {
  if (elsewhere)
    return {
      code: 'elsewhere',
      text: 'has a hook that now points to another address',
      detail: `: ${elsewhere.config?.url}`,
    };
  if (found) return found.active ? undefined : { code: 'inactive', text: 'has a disabled hook', detail: '' };
  const others = live.map((hook) => hook.config?.url).filter((other) => other?.endsWith('/webhook'));
  const detail = others.length > 0 ? ` (but to ${others.join(', ')})` : '';
  return { code: 'missing', text: `has no hook to ${url}`, detail };
}

/** Returns the wanted kinds of events that a hook does not deliver. */
export function missingKinds(hook: Hook, kinds: readonly string[]): readonly string[] {
  const subscribedEvents = shownEvents(hook.events);
  return kinds.filter((kind) => !subscribedEvents.includes(kind));
}

/**
 * Returns the secret entry for the hook of a location: the first entry whose scope covers everything that the hook
 * delivers. Undefined if there is none.
 */
export function entryFor(location: HookLocation, entries: readonly SecretEntry[]): SecretEntry | undefined {
  return entries.find(({ scope }) => {
    const covers = createEntryScope(scope);
    if (location.level === 'system') return covers(undefined);
    // One made-up name stands for all repositories of an owner, so a scope that covers only some of them does not
    // match.
    return covers(location.level === 'repository' ? location.name : `${location.name}/any-repository-of-it`);
  });
}
