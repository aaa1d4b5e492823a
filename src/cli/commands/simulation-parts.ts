import { createActionMemory } from '../../actions/memory.ts';
import { createNamedSecrets } from '../../actions/secrets.ts';
import { findAccount } from '../../client/account.ts';
import type { Client } from '../../client/client.ts';
import { createBudgetLedger } from '../../engine/budget/ledger.ts';
import type { RunSettings } from '../../engine/make-run.ts';
import { createFactMemory } from '../../facts/ask.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createEnrolment } from '../../rules/sources/admission.ts';
import type { Settings } from '../../server/settings/config.ts';
import { readFingerprintKey } from '../../server/settings/secrets/installation-secret.ts';
import { createStoredMemory } from '../../store/action-memory.ts';
import type { Store } from '../../store/store.ts';
import type { SimulationParts } from '../../work/runs/simulation/simulate.ts';
import type { Terminal } from '../output/terminal.ts';
import { clientOf, openStoreIfThere } from './open-store.ts';
import { findRulesToTry } from './rules-to-try.ts';

/** What is known beside the parts: plain data of the store, if there is one, and the name of the account. */
type SimulationStore = {
  readonly recall: (key: string) => Promise<unknown>;
  readonly login: () => Promise<string>;
};

/** What a plan from live state needs, wherever its rules come from. */
type PlanningParts = Omit<SimulationParts, 'rulesFor'>;

/** Calls a function with what a simulation needs, as a server with these settings has it. Nothing is written. */
export async function withSimulationParts<Result>(
  given: {
    readonly settings: Settings;
    readonly rules: string | undefined;
    readonly terminal: Terminal;
    readonly clock?: Clock;
  },
  work: (parts: SimulationParts, more: SimulationStore) => Promise<Result>,
): Promise<Result> {
  const { settings, rules, terminal, clock } = given;
  const add = async (parts: PlanningParts, more: SimulationStore): Promise<Result> => {
    const rulesFor = await findRulesToTry({ only: rules, settings, client: parts.client }, terminal);
    return work({ ...parts, rulesFor }, more);
  };
  return withPlanningParts(settings, add, clock);
}

/**
 * Calls a function with what a plan from live state needs: what actions and budgets remember comes from the store, if there
 * is one. Nothing is written.
 */
export async function withPlanningParts<Result>(
  settings: Settings,
  work: (parts: PlanningParts, more: SimulationStore) => Promise<Result>,
  clock: Clock = systemClock,
): Promise<Result> {
  const client = clientOf(settings);
  const account = await findAccount(client, { allowAdmin: true });
  const store = await openStoreIfThere(settings);
  try {
    const parts: PlanningParts = {
      client,
      account: async () => account,
      served: createEnrolment({
        client,
        login: async () => account.login,
        listed: settings.repositories,
        clock,
      }),
      memory: createFactMemory(clock),
      actionMemory: store ? createStoredMemory(store) : createActionMemory(),
      settings: await readRunSettings(settings, { client, store, clock }),
      clock,
    };
    return await work(parts, { recall: async (key) => store?.recall(key), login: async () => account.login });
  } finally {
    await store?.close();
  }
}

async function readRunSettings(
  { budgets, namedSecrets, data }: Settings,
  {
    client,
    store,
    clock,
  }: { readonly client: Client; readonly store: Store | undefined; readonly clock: Clock },
): Promise<RunSettings> {
  // The first start of the server generates the key: a plan writes nothing.
  const key = await readFingerprintKey(data, store);
  return {
    capabilities: () => client.capabilities(),
    budgets,
    secrets: key && createNamedSecrets(namedSecrets, key),
    ledger:
      store &&
      createBudgetLedger({
        now: clock.now,
        readRuns: (repositoryId, before) =>
          store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) }),
      }),
  };
}
