import { type ActionMemory, createReadOnlyMemory } from '../actions/memory.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { RunSettings } from '../engine/make-run.ts';
import type { Run } from '../engine/record.ts';
import type { FactMemory } from '../facts/fact.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { createRuleSet } from '../rules/rule-set.ts';
import { createFailureWatch } from './failure-watch.ts';
import { mapConcurrently } from './map-concurrently.ts';
import type { SweepFailure } from './progress.ts';
import { runItem } from './sweep-item.ts';
import { scopeOfSweep, servedTo } from './sweep-job.ts';
import { failureOfList, refusedAsFailure } from './targets/list-failures.ts';
import type { ServedBy } from './targets/repositories.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';
import { eachTarget } from './targets/targets.ts';
import { createWaitingClient } from './wait-on-429.ts';

/** What planning a sweep needs, beside its rule. Nothing of it is changed. */
type SweepPlanParts = {
  readonly client: Client;
  readonly account: () => Promise<{ readonly id: number }>;
  readonly served: ServedBy;
  readonly memory: FactMemory;
  /** What actions remember; it is read only. */
  readonly actionMemory: ActionMemory;
  /** Returns plain data of the store; undefined where there is none. */
  readonly recall: (key: string) => Promise<unknown>;
  readonly settings?: RunSettings | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** The plans of some items, in the order in which they are listed. */
export type PlannedPage = {
  readonly runs: readonly Run[];
  /** How many items there are in all, where that is known. */
  readonly total: number | undefined;
  /** What could not be listed. */
  readonly failures: readonly SweepFailure[];
  /** Requests so far by which items were listed. */
  readonly listingRequests: number;
};

/** Items that are planned at once. */
const atOnce = 8;

/**
 * Plans a rule for every item of its `each`, page by page, as a sweep would run it now, and writes nothing: no change, no memory,
 * no checkpoint, nothing that waits, no budget. Throws where the forge fails item after item.
 */
export async function* planSweep(
  rule: LoadedRule,
  patterns: readonly string[] | undefined,
  parts: SweepPlanParts,
): AsyncGenerator<PlannedPage> {
  const { clock, signal } = parts;
  const account = await parts.account();
  const pause = async (ms: number): Promise<void> => {
    await clock.sleep(ms, signal).catch(() => {});
    signal.throwIfAborted();
  };
  const listing = createWaitingClient(parts.client.counted({ signal }), pause);
  const runners = createReadOnlyMemory({ get: parts.recall });
  const pages = eachTarget(rule.each ?? { kind: 'repository' }, {
    client: listing,
    served: servedTo(rule, parts.served),
    rule,
    isInScope: scopeOfSweep(rule, patterns),
    runners: createRunnerMemory({ recall: runners.get, revise: runners.revise }),
    now: clock.now(),
    from: undefined,
  });
  const rules = createRuleSet([rule]);
  const watch = createFailureWatch();
  for await (const { targets, total, failures = [] } of refusedAsFailure(pages)) {
    const runs = new Map<string, Run>();
    await mapConcurrently(targets, atOnce, async (target) => {
      signal.throwIfAborted();
      const { run, retry } = await runItem(target, {
        parts: { ...parts, actionMemory: createReadOnlyMemory(parts.actionMemory) },
        order: { door: 'cli' },
        mode: 'plan',
        rules,
        account,
        pause,
        signal,
      });
      signal.throwIfAborted();
      runs.set(target.key, run);
      watch.note(retry);
    });
    yield {
      runs: targets.flatMap(({ key }) => runs.get(key) ?? []),
      total,
      failures: failures.map(failureOfList),
      listingRequests: listing.requests,
    };
  }
}
