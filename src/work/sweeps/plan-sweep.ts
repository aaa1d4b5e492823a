import { type ActionMemory, createReadOnlyMemory } from '../../actions/memory.ts';
import type { Client } from '../../client/client.ts';
import type { RunSettings } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { FactMemory } from '../../facts/fact.ts';
import type { Clock } from '../../platform/clock.ts';
import { createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import { createFailureWatch } from './failure-watch.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { describeLimit, type SweepFailure } from './progress.ts';
import { readTurn } from './slot-limit.ts';
import { runItem } from './sweep-item.ts';
import { scopeOfSweep, servedTo } from './sweep-job.ts';
import type { ServedBy } from './targets/repositories.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';
import { failureOfList, refusedAsFailure } from './targets/target.ts';
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
  /** Those of them whose changes one slot has no room for: they are shown as refused. */
  readonly later: ReadonlySet<Run>;
  /** Items that had their turn in an earlier slot. */
  readonly passedOver: number;
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
  const { items: limit = Number.POSITIVE_INFINITY } = rule.mode === 'enforce' ? rule.limits : {};
  const turn =
    patterns === undefined && Number.isFinite(limit) ? await readTurn(parts.recall, rule.id) : new Set();
  let changed = 0;
  const watch = createFailureWatch();
  for await (const { targets, total, failures = [] } of refusedAsFailure(pages)) {
    const planned = new Map<string, Run>();
    const due = targets.filter(({ key }) => !turn.has(key));
    await mapConcurrently(due, atOnce, async (target) => {
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
      planned.set(target.key, run);
      watch.note(retry);
    });
    const later = new Set<Run>();
    const runs = due
      .flatMap(({ key }) => planned.get(key) ?? [])
      .map((run) => {
        if (run.changes.length === 0) return run;
        changed += 1;
        if (changed <= limit) return run;
        const left = leftForLater(run, limit);
        later.add(left);
        return left;
      });
    yield {
      runs,
      later,
      passedOver: targets.length - due.length,
      total,
      failures: failures.map(failureOfList),
      listingRequests: listing.requests,
    };
  }
}

/** Returns the plan of an item as what comes with a later slot. */
function leftForLater(run: Run, limit: number): Run {
  const why = `${describeLimit(limit)}: it comes with a later one`;
  const refused = run.changes.map((change) => ({ change, why }));
  return { ...run, changes: [], outcomes: [], refused: [...run.refused, ...refused] };
}
