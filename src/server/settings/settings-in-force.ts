import { createHmac } from 'node:crypto';
import { secretsOf } from '../../client/credentials.ts';
import type { MemoryRows } from '../../store/store.ts';
import type { Settings } from './config.ts';

/** The settings that a server reads only at its start. Absent members have their defaults. */
type StartSettings = Partial<Pick<Settings, Compared>> & { readonly forge: NonNullable<Settings['forge']> };
type Compared =
  | ('rules' | 'signIn' | 'dashboard' | 'namedSecrets' | 'repositories' | 'organizations' | 'grants')
  | ('budgets' | 'preview' | 'reportProblems' | 'own' | 'repeated' | 'notifyHosts' | 'accounts')
  | ('allowAdmin' | 'backoff' | 'concurrency' | 'maxBodyBytes' | 'retention');

const key = 'settings in force';

/** Settings by the name that a person knows, as plain data. Values of files that are read again are left out. */
const groups: Readonly<Record<string, (settings: StartSettings) => unknown>> = {
  FORGE_URL: ({ forge }) => forge.url,
  'the token': ({ forge }) => (forge.readCredentials ? 'in a file' : secretsOf(forge.credentials)),
  REEVE_RULES: ({ rules }) => rules,
  'the OAuth2 application': ({ signIn, dashboard }) => [dashboard, signIn?.clientId, signIn?.clientSecret],
  'named secrets': ({ namedSecrets }) => [...(namedSecrets ?? [])],
  'the operator file': (settings) => [
    [settings.repositories, settings.organizations, settings.grants, settings.budgets, settings.preview],
    [settings.reportProblems, settings.own, settings.repeated, settings.notifyHosts, settings.accounts],
    [settings.allowAdmin, settings.backoff, settings.concurrency, settings.maxBodyBytes, settings.retention],
  ],
};

/** Returns keyed fingerprints of the settings, by name. */
function fingerprints(settings: StartSettings, secret: Uint8Array): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(groups).map(([name, read]) => {
      const text = JSON.stringify(read(settings)) ?? '';
      return [name, createHmac('sha256', secret).update(text).digest('base64url')];
    }),
  );
}

/** Stores fingerprints of the settings with which a server starts. */
export async function rememberSettings(
  store: MemoryRows,
  settings: StartSettings,
  secret: Uint8Array,
): Promise<void> {
  await store.remember(key, Object.fromEntries(fingerprints(settings, secret)));
}

/**
 * Returns the names of the settings that differ from those with which the last server started; empty if no server has
 * started.
 */
export async function changedSettings(
  store: MemoryRows,
  settings: StartSettings,
  secret: Uint8Array,
): Promise<readonly string[]> {
  const before: unknown = await store.recall(key);
  if (typeof before !== 'object' || before === null) return [];
  return [...fingerprints(settings, secret)].flatMap(([name, print]) =>
    Reflect.get(before, name) === print ? [] : [name],
  );
}
