import { createBudgetLedger } from '../engine/budget/ledger.ts';
import type { RunSettings } from '../engine/make-run.ts';
import { createFactMemory } from '../facts/ask.ts';
import type { Clock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import type { Enrolment } from '../rules/sources/admission.ts';
import type { Grant } from '../rules/sources/grants.ts';
import type { OrganizationSource } from '../rules/sources/organization.ts';
import { createRuleSource, type RuleSource } from '../rules/sources/rule-source.ts';
import { createStoredMemory } from '../store/action-memory.ts';
import type { Store } from '../store/store.ts';
import { simulate } from '../work/runs/simulation/simulate.ts';
import type { DashboardCommands } from './dashboard/data.ts';
import type { ForgeLink } from './forge-link.ts';

/** Time that one simulation has; its calls end then. */
const limitMs = 20_000;

/**
 * Returns the simulation of the dashboard: what the rules in force would do with a subject as it is now. It writes nothing:
 * rule files are read by a source of its own, which reports on none; one simulation runs at a time.
 */
export function createSimulator(
  {
    organizations = [],
    grants = [],
  }: { readonly organizations?: readonly OrganizationSource[]; readonly grants?: readonly Grant[] },
  parts: {
    readonly link: Pick<ForgeLink, 'client' | 'account'>;
    readonly served: Pick<Enrolment, 'has'>;
    readonly rules: { readonly source: Pick<RuleSource, 'operator' | 'offered'> };
    readonly settings: RunSettings;
    readonly store: Store;
    readonly clock: Clock;
    /** Begins the time of one simulation: its calls end with the signal. Default: 20 s. */
    readonly limit?: () => AbortSignal;
  },
): DashboardCommands['simulate'] {
  const { link, served, rules, store, clock } = parts;
  let isBusy = false;

  const simulateNow: DashboardCommands['simulate'] = async (subject) => {
    const signal = parts.limit?.() ?? AbortSignal.timeout(limitMs);
    const client = link.client.counted({ signal });
    const source = createRuleSource({
      client,
      served: { starred: async () => [] },
      operatorRules: rules.source.operator(),
      offered: rules.source.offered(),
      organizations,
      grants,
      pins: {
        recall: (key) => store.recall(key),
        remember: async () => {},
        revise: async (key, edit) => edit(await store.recall(key)),
      },
      clock,
    });
    const { budgets, secrets, capabilities } = parts.settings;
    // A ledger of its own: the one of the deliveries also counts what is planned.
    const ledger = createBudgetLedger({
      now: clock.now,
      readRuns: (repositoryId, before) =>
        store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) }),
    });
    const found = await simulate(
      { subject },
      {
        client,
        account: link.account,
        served,
        rulesFor: (event) => source.rulesFor(event),
        memory: createFactMemory(clock),
        actionMemory: createStoredMemory(store),
        settings: { budgets, secrets, capabilities, ledger },
        clock,
      },
    ).catch((error: unknown) => {
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
