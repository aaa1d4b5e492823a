import type { RepositoryRef } from '../contract/events/subject.ts';
import { createBudgetLedger } from '../engine/budget/ledger.ts';
import { createFactMemory } from '../facts/ask.ts';
import { ReeveError } from '../platform/errors.ts';
import type { Grant } from '../rules/sources/grants.ts';
import type { OrganizationSource } from '../rules/sources/organization.ts';
import { createRuleSource } from '../rules/sources/rule-source.ts';
import type { Reeve } from '../work/reeve.ts';
import { type SimulationContext, simulate } from '../work/runs/simulate.ts';
import type { DashboardCommands } from './dashboard/data.ts';

/** Time limit of one simulation, after which its calls are aborted. */
const limitMs = 20_000;

/**
 * Returns the simulate command of the dashboard, which plans the rules in force for the live state of a subject. It
 * writes nothing: a separate source without reports reads the rule files. Only one simulation runs at a time.
 */
export function createSimulator(
  reeve: Reeve,
  {
    organizations,
    grants,
    isServed,
    limit = () => AbortSignal.timeout(limitMs),
  }: {
    readonly organizations: readonly OrganizationSource[];
    readonly grants: readonly Grant[];
    readonly isServed: (repository: RepositoryRef) => Promise<boolean>;
    /** Starts the time limit of one simulation and returns the signal that aborts its calls. Default: 20 s. */
    readonly limit?: () => AbortSignal;
  },
): DashboardCommands['simulate'] {
  const { store, clock, rules, account, actionMemory, budgets, secrets, capabilities } = reeve;
  let isBusy = false;

  const simulateNow: DashboardCommands['simulate'] = async (subject) => {
    const signal = limit();
    const client = reeve.client.counted({ signal });
    const source = createRuleSource({
      client,
      operatorRules: rules.operator(),
      offered: rules.offered(),
      organizations,
      grants,
      pins: {
        recall: (key) => store.recall(key),
        remember: async () => {},
        revise: async (key, edit) => edit(await store.recall(key)),
      },
      // Only the server's own reading stores and deletes texts.
      texts: { listRuleTexts: (place) => store.listRuleTexts(place), storeRuleTexts: async () => {} },
      clock,
    });
    // A separate ledger, because the ledger of deliveries also counts planned changes.
    const ledger = createBudgetLedger({
      now: () => clock.now(),
      readRuns: (repositoryId, before) =>
        store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) }),
    });
    const context: SimulationContext = {
      client,
      account,
      clock,
      memory: createFactMemory(clock),
      actionMemory,
      budgets,
      secrets,
      capabilities,
      ledger,
      own: reeve.ownWrites === undefined ? 'account' : 'changes',
      isServed,
      rulesFor: (event) => source.rulesFor(event),
    };
    const found = await simulate({ subject }, context).catch((error: unknown) => {
      throw signal.aborted ? tooLong() : error;
    });
    // A call aborted by the time limit counts as an unreadable fact and would change the plan.
    if (signal.aborted) throw tooLong();
    return found;
  };

  return async (subject) => {
    if (isBusy)
      throw new ReeveError('forge-throttled', 'another simulation is running: try again in a moment');
    isBusy = true;
    try {
      return await simulateNow(subject);
    } finally {
      isBusy = false;
    }
  };
}

function tooLong(): ReeveError {
  return new ReeveError('forge-timeout', 'the simulation took too long and was ended; nothing was written');
}
