import { z } from 'zod';
import { createNamedSecrets } from '../../../actions/secrets.ts';
import { shownEvents } from '../../../contract/events/hook-events.ts';
import type { Hook } from '../../../contract/resources/hooks.ts';
import { createEntryScope, type SecretEntry } from '../../../server/receiver/secrets.ts';
import type { MemoryRows } from '../../../store/store.ts';
import { type HookLocation, locationName } from './places.ts';

/** What setup remembers of a hook it made: its id, and fingerprints of what no forge shows. */
export const SetupHook = z.object({
  id: z.number(),
  authorization: z.string().optional(),
  hmac: z.string().optional(),
});
export type SetupHook = z.output<typeof SetupHook>;
type HookFingerprints = Omit<SetupHook, 'id'>;

const setupHookKey = (location: HookLocation): string => `setup hook ${locationName(location)}`;

/** Returns what is remembered of the hook at a place. */
export async function recallSetupHook(
  store: MemoryRows,
  location: HookLocation,
): Promise<SetupHook | undefined> {
  const found = SetupHook.safeParse(await store.recall(setupHookKey(location)));
  return found.success ? found.data : undefined;
}

/** Remembers the hook at a place. */
export async function rememberSetupHook(
  store: MemoryRows,
  location: HookLocation,
  known: SetupHook,
): Promise<void> {
  await store.remember(setupHookKey(location), known);
}

/** The values a hook is made with: the first live ones of an entry. */
type HookSecrets = { readonly authorization: string; readonly hmac: string };

/** Returns the first live values of an entry, which are the ones that hooks send; empty where it asks for none. */
export function hookSecretsOf(entry: SecretEntry): HookSecrets {
  return { authorization: entry.authorization[0] ?? '', hmac: entry.hmac[0] ?? '' };
}

/** Returns the keyed fingerprints of a hook's values. */
export function fingerprintHook(secrets: HookSecrets, key: Uint8Array): HookFingerprints {
  const named = createNamedSecrets(new Map(Object.entries(secrets)), key);
  const print = (name: string): string => named.fingerprint(name) ?? '';
  return { authorization: print('authorization'), hmac: print('hmac') };
}

/** The hooks of a place that are about Reeve. */
export type Match = {
  /** The hook that delivers here: the one that is remembered, else the first that is active. */
  readonly found?: Hook;
  /** The remembered hook, where it delivers to somewhere else now; then none of the others is `found`. */
  readonly elsewhere?: Hook;
  /** Further hooks that deliver here: each event comes once more by each. */
  readonly duplicates: readonly Hook[];
};

/** Finds Reeve's hook among those of a place. */
export function matchHooks(live: readonly Hook[], url: string, known: SetupHook | undefined): Match {
  const here = live.filter((hook) => hook.config?.url === url);
  const remembered = live.find(({ id }) => id === known?.id);
  if (remembered && !here.includes(remembered)) return { elsewhere: remembered, duplicates: here };
  const found = remembered ?? here.find(({ active }) => active === true) ?? here[0];
  if (found === undefined) return { duplicates: [] };
  return { found, duplicates: here.filter((hook) => hook !== found) };
}

/** Returns the kinds that a hook shall hear and does not. */
export function missingKinds(hook: Hook, kinds: readonly string[]): readonly string[] {
  const subscribedEvents = shownEvents(hook.events);
  return kinds.filter((kind) => !subscribedEvents.includes(kind));
}

/**
 * Returns the entry of secrets whose values the hook of a place shall send: the first that may speak for everything the
 * hook hears. Undefined where none may.
 */
export function entryFor(location: HookLocation, entries: readonly SecretEntry[]): SecretEntry | undefined {
  return entries.find(({ scope }) => {
    const covers = createEntryScope(scope);
    if (location.level === 'system') return covers(undefined);
    // Any repository of an owner stands for all of them: a scope that names only some does not match this one.
    return covers(location.level === 'repository' ? location.name : `${location.name}/any-repository-of-it`);
  });
}
