import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createActionMemory } from '../actions/memory.ts';
import { createNamedSecrets } from '../actions/secrets.ts';
import { findAccount } from '../client/account.ts';
import type { Client } from '../client/client.ts';
import { systemClock } from '../clock.ts';
import { createBudgetLedger } from '../engine/budget/ledger.ts';
import type { RunSettings } from '../engine/make-run.ts';
import { createFactMemory } from '../facts/ask.ts';
import type { SimulationParts } from '../handlers/simulation/simulate.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Settings } from '../settings/config.ts';
import { loadFingerprintKey } from '../settings/secrets/named-secrets.ts';
import { createEnrolment } from '../sources/enrolment.ts';
import { createStoredMemory } from '../store/action-memory.ts';
import type { Store } from '../store/store.ts';
import { clientOf, openStoreIfThere } from './open-store.ts';
import { findRulesToTry } from './rules-to-try.ts';

/** What is known beside the parts: plain data of the store, if there is one, and the name of the account. */
type SimulationStore = {
  readonly recall: (key: string) => Promise<unknown>;
  readonly login: () => Promise<string>;
};

/**
 * Calls a function with what a simulation needs, as a server with these settings has it: what actions and budgets remember
 * comes from the store, if there is one. Nothing is written.
 */
export async function withSimulationParts<Result>(
  given: { readonly settings: Settings; readonly rules: string | undefined; readonly terminal: Terminal },
  work: (parts: SimulationParts, more: SimulationStore) => Promise<Result>,
): Promise<Result> {
  const { settings, rules, terminal } = given;
  const client = clientOf(settings);
  const account = await findAccount(client, { allowAdmin: true });
  const store = await openStoreIfThere(settings);
  try {
    const parts: SimulationParts = {
      client,
      account: async () => account,
      served: createEnrolment({
        client,
        login: async () => account.login,
        listed: settings.repositories,
        clock: systemClock,
      }),
      rulesFor: await findRulesToTry({ only: rules, settings, client }, terminal),
      memory: createFactMemory(systemClock),
      actionMemory: store ? createStoredMemory(store) : createActionMemory(),
      settings: await readRunSettings(settings, client, store),
      clock: systemClock,
    };
    return await work(parts, { recall: async (key) => store?.recall(key), login: async () => account.login });
  } finally {
    await store?.close();
  }
}

async function readRunSettings(
  { budgets, namedSecrets, data }: Settings,
  client: Client,
  store: Store | undefined,
): Promise<RunSettings> {
  // The key is made by the first start of the server: a plan writes no file.
  const hasKey = existsSync(join(data, 'fingerprint.key'));
  return {
    capabilities: () => client.capabilities(),
    budgets,
    secrets: hasKey ? createNamedSecrets(namedSecrets, await loadFingerprintKey(data)) : undefined,
    ledger:
      store &&
      createBudgetLedger({
        now: systemClock.now,
        readRuns: (repositoryId, before) =>
          store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) }),
      }),
  };
}
