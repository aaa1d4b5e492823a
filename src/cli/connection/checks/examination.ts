import { existsSync } from 'node:fs';
import type { Capabilities } from '../../../client/capabilities.ts';
import { type Client, createClient } from '../../../client/client.ts';
import type { Hook } from '../../../contract/resources/hooks.ts';
import type { User } from '../../../contract/resources/users.ts';
import { isDenied, messageOf, ReeveError } from '../../../platform/errors.ts';
import { type FolderFile, loadRuleFiles } from '../../../rules/sources/folder.ts';
import { type Match, matchHooks, recallSetupHook, type SetupHook } from '../../../server/hooks/match.ts';
import {
  type HookLocation,
  hookLocations,
  locationName,
  readHooks,
  type Signed,
} from '../../../server/hooks/places.ts';
import type { Settings, Variables } from '../../../server/settings/config.ts';
import { openStoreAt, storeFileOf } from '../../../store/open-store.ts';
import type { PostgresState } from '../../../store/postgres/examine.ts';
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts';
import type { MemoryRows, Store } from '../../../store/store.ts';
import { type BlindSpot, findBlindSpots } from '../../../work/alarms/blind-spots.ts';
import { readServed, type Served } from '../../../work/served.ts';
import type { Finding } from '../finding.ts';
import { checkAccount, checkForge } from '../forge-findings.ts';
import { type DeliveryListener, type ListenFailure, openListener } from '../hooks/listener.ts';
import { readServedRules, type ServedRules } from './served-rules.ts';

/** Data for the checks. Each item is fetched once, on first use. */
export interface Examination {
  readonly environment: Variables;
  readonly envFile: string | undefined;
  readonly settings: Settings;
  /** Whether hooks may be tested; `thorough` includes hooks whose test needs a temporary repository. */
  readonly test: 'none' | 'repositories' | 'thorough';
  readonly forgeUrl: string;
  readonly client: Client;
  capabilities(): Promise<{ version: string; capabilities: Capabilities }>;
  account(): Promise<User>;
  rules(): Promise<readonly FolderFile[]>;
  /** The served repositories: at most a thousand. */
  served(): Promise<Served>;
  /** The rules that served repositories and their organizations have on the forge. */
  servedRules(): Promise<ServedRules>;
  /** What the operator's rules cannot see or do there. */
  blindSpots(): Promise<readonly BlindSpot[]>;
  store(): Promise<Store>;
  /** State of the server of DATABASE_URL; undefined if the store is a file. */
  database(): Promise<PostgresState | undefined>;
  hooks(): Promise<HookStates>;
  listening(): Promise<DeliveryListener | ListenFailure>;
  close(): Promise<void>;
}

/** Starts an examination. Throws `usage` if no forge is configured, because there would be nothing to examine. */
export function examine(
  given: Pick<Examination, 'environment' | 'envFile' | 'settings' | 'test'>,
): Examination {
  const { settings } = given;
  if (settings.forge === undefined)
    throw new ReeveError(
      'usage',
      'no forge is connected: set FORGE_URL, name --settings, or run reeve setup',
    );
  const client = createClient(settings.forge);
  const { url } = settings.forge;
  const closing: (() => Promise<void>)[] = [];
  const account = once(async () => (await checkAccount(client)).value);
  const rules = once(async () =>
    settings.rules === undefined ? [] : loadRuleFiles([settings.rules], { isOperators: true }),
  );
  const served = once(() => readServed(client, settings.repositories, { max: 1_000 }));
  const store = once(async () => {
    // An examination creates no files: a server that runs as another user could not write them.
    const isThere = settings.databaseUrl !== undefined || existsSync(storeFileOf(settings));
    const opened = isThere
      ? await openStoreAt(settings, { role: 'reader' })
      : await openSqliteStore({ path: ':memory:', role: 'reader' });
    closing.push(() => opened.close());
    return opened;
  });
  return {
    ...given,
    forgeUrl: url,
    client,
    capabilities: once(async () => {
      const { finding, value } = await checkForge(client, url);
      return { version: finding.text, capabilities: value };
    }),
    account,
    rules,
    served,
    servedRules: once(async () => readServedRules(client, settings, await served())),
    blindSpots: once(async () => {
      const loaded = (await rules()).flatMap((file) => file.rules);
      const by = { login: async () => (await account()).login, listed: settings.repositories };
      return findBlindSpots(loaded, { client, ...(await served()), served: by });
    }),
    store,
    database: once(async () => {
      if (settings.databaseUrl === undefined) return undefined;
      const { examinePostgres } = await import('../../../store/postgres/examine.ts');
      return examinePostgres(settings.databaseUrl);
    }),
    hooks: once(async () => {
      const signed = [{ client, login: (await account()).login }];
      if (settings.setupToken !== undefined) {
        const setupClient = createClient({ url, credentials: { token: settings.setupToken } });
        signed.unshift({ client: setupClient, login: (await checkAccount(setupClient)).value.login });
      }
      return readHookStates(signed, settings, await store());
    }),
    listening: once(async () => {
      const [entry] = settings.secrets;
      if (entry === undefined) throw new ReeveError('settings', 'no webhook secret is configured');
      const listener = await openListener(settings, entry);
      if ('close' in listener) closing.push(() => listener.close());
      return listener;
    }),
    async close() {
      for (const end of closing.reverse()) await end();
    },
  };
}

function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let asked: Promise<Value> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
}

/** A check of the doctor. The reference page is generated from the table of checks. */
export type Check = {
  readonly id: string;
  /** What the check examines. */
  readonly looks: string;
  /** Condition under which the check fails. */
  readonly fails: string;
  readonly remedy: string;
  /** Checks that this one depends on. It is skipped unless all of them pass. */
  readonly after?: readonly string[];
  readonly run: (examination: Examination) => Promise<Finding>;
};

/** State of the hooks at one wanted location. */
export type HookState = {
  readonly location: HookLocation;
  /** Client of the account that may read and test the hooks there. */
  readonly client: Client;
  readonly live: readonly Hook[];
  readonly match: Match;
  readonly known: SetupHook | undefined;
};

/** State of the hooks at the locations of the operator file, and for each unreadable location the reason. */
type HookStates = {
  readonly readable: readonly HookState[];
  readonly unreadable: readonly string[];
  readonly unreadableLocations: readonly HookLocation[];
};

/** Reads the hooks at every location of the operator file. */
async function readHookStates(
  signed: readonly Signed[],
  { webhook }: Settings,
  store: MemoryRows,
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
      if (!isDenied(error)) throw error;
      unreadableLocations.push(location);
      unreadable.push(`${locationName(location)} (${messageOf(error)})`);
    }
  }
  return { readable, unreadable, unreadableLocations };
}
