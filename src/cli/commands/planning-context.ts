import { type ActionMemory, createActionMemory } from '../../actions/memory.ts';
import { createNamedSecrets } from '../../actions/secrets.ts';
import { type Client, findAccount } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { createBudgetLedger } from '../../engine/budget/ledger.ts';
import type { RunContext, RunSettings } from '../../engine/run-context.ts';
import { createFactMemory } from '../../facts/ask.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createEnrolment } from '../../rules/sources/admission.ts';
import { createBarToRename } from '../../server/renames.ts';
import type { Settings } from '../../server/settings/config.ts';
import { readFingerprintKey } from '../../server/settings/secrets/installation-secret.ts';
import { createStoredMemory } from '../../store/action-memory.ts';
import type { Store } from '../../store/store.ts';
import type { SimulationContext } from '../../work/runs/simulate.ts';
import type { Terminal } from '../output/terminal.ts';
import { clientOf, openStoreIfThere } from './open-store.ts';
import { findRulesToTry, rulesInForce } from './rules-to-try.ts';

/** Additional context of a simulation: data of the store, if there is a store, and the name of the account. */
type SimulationStore = {
  readonly recall: (key: string) => Promise<unknown>;
  readonly login: () => Promise<string>;
};

/**
 * Context of a plan from live state, for rules from any source. It is the same context as in a server with these
 * settings.
 */
type PlanningContext = RunContext & {
  readonly account: () => Promise<{ readonly id: number }>;
  readonly actionMemory: ActionMemory;
  readonly isServed: (repository: RepositoryRef) => Promise<boolean>;
};

/** Calls a function with the context of a simulation, which writes nothing. */
export async function withSimulation<Result>(
  given: {
    readonly settings: Settings;
    readonly rules: string | undefined;
    readonly terminal: Terminal;
    readonly clock?: Clock;
  },
  work: (context: PlanningContext & SimulationContext, more: SimulationStore) => Promise<Result>,
): Promise<Result> {
  const { settings, rules, terminal, clock } = given;
  return withPlanningContext(
    settings,
    async (context, more) => {
      const { client } = context;
      const rulesFor = await findRulesToTry({ only: rules, settings, client }, terminal);
      return work({ ...context, own: settings.own, rulesFor }, more);
    },
    clock,
  );
}

/**
 * Calls a function with the context of a plan from live state, which writes nothing. The memory of actions and budgets
 * comes from the store, if there is a store.
 */
export async function withPlanningContext<Result>(
  settings: Settings,
  work: (context: PlanningContext, more: SimulationStore) => Promise<Result>,
  clock: Clock = systemClock,
): Promise<Result> {
  const client = clientOf(settings);
  const account = await findAccount(client, { allowAdmin: true });
  const login = async (): Promise<string> => account.login;
  const store = await openStoreIfThere(settings);
  const served = createEnrolment({ client, login, listed: settings.repositories, clock });
  try {
    const context: PlanningContext = {
      ...(await readRunSettings(settings, { client, store, clock })),
      client,
      account: async () => account,
      clock,
      memory: createFactMemory(clock),
      actionMemory: store ? createStoredMemory(store) : createActionMemory(),
      isServed: (repository) => served.has(repository),
    };
    return await work(context, { recall: async (key) => store?.recall(key), login });
  } finally {
    await store?.close();
  }
}

async function readRunSettings(
  settings: Settings,
  {
    client,
    store,
    clock,
  }: { readonly client: Client; readonly store: Store | undefined; readonly clock: Clock },
): Promise<RunSettings> {
  const { budgets, namedSecrets, data } = settings;
  // Not generated here, because a plan writes nothing; the first start of the server generates the key.
  const key = await readFingerprintKey(data, store);
  return {
    capabilities: () => client.capabilities(),
    budgets,
    barToRename: createBarToRename(settings, async (owner) =>
      (await rulesInForce(settings, client)).rulesAbove(owner),
    ),
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
