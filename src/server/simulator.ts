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

/** Time that one simulation has; its calls end then. */
const limitMs = 20_000;

/**
 * Returns the simulation of the dashboard: what the rules in force would do with a subject as it is now. It writes nothing:
 * rule files are read by a source of its own, which reports on none; one simulation runs at a time.
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
    /** Begins the time of one simulation: its calls end with the signal. Default: 20 s. */
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
      served: { starred: async () => [] },
      operatorRules: rules.operator(),
      offered: rules.offered(),
      organizations,
      grants,
      pins: {
        recall: (key) => store.recall(key),
        remember: async () => {},
        revise: async (key, edit) => edit(await store.recall(key)),
      },
      clock,
    });
    // A ledger of its own: the one of the deliveries also counts what is planned.
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
      isServed,
      rulesFor: (event) => source.rulesFor(event),
    };
    const found = await simulate({ subject }, context).catch((error: unknown) => {
      throw signal.aborted ? tooLong() : error;
    });
    // A call that ended with the time is a fact that cannot be read, and the plan would be another one.
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
