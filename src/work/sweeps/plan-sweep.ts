import { type ActionMemory, createReadOnlyMemory } from '../../actions/memory.ts';
import type { Run } from '../../engine/record.ts';
import type { RunContext } from '../../engine/run-context.ts';
import { createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import { describeLimit, type SweepFailure } from './progress.ts';
import { readTurn, scopeOfSweep, servedTo } from './sweep.ts';
import { failureOfList, refusedAsFailure, type ServedBy } from './targets/repositories.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';
import { eachTarget } from './targets/targets.ts';
import { createWaitingClient, FailureWatch, itemsAtOnce, mapConcurrently, runItem } from './walk.ts';

/** What planning a sweep needs, beside its rule. Nothing of it is changed. */
type SweepPlanContext = RunContext & {
  readonly account: () => Promise<{ readonly id: number }>;
  readonly actionMemory: ActionMemory;
  readonly served: ServedBy;
  /** Returns plain data of the store; undefined where there is none. */
  readonly recall: (key: string) => Promise<unknown>;
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

/**
 * Plans a rule for every item of its `each`, page by page, as a sweep would run it now, and writes nothing: no change, no memory,
 * no checkpoint, nothing that waits, no budget. Throws where the forge fails item after item.
 */
export async function* planSweep(
  rule: LoadedRule,
  patterns: readonly string[] | undefined,
  context: SweepPlanContext,
): AsyncGenerator<PlannedPage> {
  const { clock, signal, recall } = context;
  await context.account();
  const pause = async (ms: number): Promise<void> => {
    await clock.sleep(ms, signal).catch(() => {});
    signal.throwIfAborted();
  };
  const listing = createWaitingClient(context.client.counted({ signal }), pause);
  const runners = createReadOnlyMemory({ get: recall });
  const pages = eachTarget(rule.each ?? { kind: 'repository' }, {
    client: listing,
    served: servedTo(rule, context.served),
    rule,
    isInScope: scopeOfSweep(rule, patterns),
    runners: createRunnerMemory({ recall: runners.get, revise: runners.revise }),
    now: clock.now(),
    from: undefined,
  });
  const rules = createRuleSet([rule]);
  const { items: limit = Number.POSITIVE_INFINITY } = rule.mode === 'enforce' ? rule.limits : {};
  const turn = patterns === undefined && Number.isFinite(limit) ? await readTurn(recall, rule.id) : new Set();
  let changed = 0;
  const watch = new FailureWatch();
  for await (const { targets, total, failures = [] } of refusedAsFailure(pages)) {
    const planned = new Map<string, Run>();
    const due = targets.filter(({ key }) => !turn.has(key));
    await mapConcurrently(due, itemsAtOnce, async (target) => {
      signal.throwIfAborted();
      const actionMemory = createReadOnlyMemory(context.actionMemory);
      const request = { door: 'cli', mode: 'plan', rules, pause, signal } as const;
      const { run, retry } = await runItem(target, request, { ...context, actionMemory });
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
