import { type ActionMemory, createReadOnlyMemory } from '../../actions/memory.ts';
import type { Run } from '../../engine/record.ts';
import type { RunContext } from '../../engine/run-context.ts';
import { createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import { slotByHand } from './by-hand.ts';
import { type OpenParts, openTargets } from './open-items.ts';
import { describeLimit, type SweepProgress } from './progress.ts';
import { openKeyOf, readTurn, scopeOfSweep, servedTo } from './sweep.ts';
import {
  failureOfList,
  refusedAsFailure,
  type ServedBy,
  type SweepFailure,
  type Walk,
} from './targets/repositories.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';
import { countTotals, eachTarget, type Totals } from './targets/targets.ts';
import { createWaitingClient, FailureWatch, itemsAtOnce, mapConcurrently, runItem } from './walk.ts';

/** Context for planning a sweep, apart from the rule. It is not modified. */
type SweepPlanContext = RunContext & {
  readonly account: () => Promise<{ readonly id: number }>;
  readonly actionMemory: ActionMemory;
  readonly served: ServedBy;
  /** Reads plain data from the store; undefined if there is none. */
  readonly recall: (key: string) => Promise<unknown>;
  readonly signal: AbortSignal;
  /** Set to plan the rule for open items instead of for the items of its `each`. */
  readonly open?: OpenParts | undefined;
};

/** Plans of some items, in listing order. */
export type PlannedPage = {
  readonly runs: readonly Run[];
  /** Plans that exceed the limit of one slot. They are shown as refused. */
  readonly later: ReadonlySet<Run>;
  /** Number of items that had their turn in an earlier slot. */
  readonly passedOver: number;
  /** Total number of items, if known. */
  readonly total: number | undefined;
  /** Number of repositories reached so far, and of those to visit. */
  readonly repositories: SweepProgress['repositories'];
  /** Lists that could not be read. */
  readonly failures: readonly SweepFailure[];
  /** Number of listing requests so far. */
  readonly listingRequests: number;
};

/**
 * Plans a rule for every item of its `each`, or for open items, page by page, as a sweep would currently run it. Writes nothing: no
 * changes, memory, checkpoint, waiting rows or budget. Throws if the forge fails for several consecutive items.
 */
export async function* planSweep(
  rule: LoadedRule,
  patterns: readonly string[] | undefined,
  context: SweepPlanContext,
): AsyncGenerator<PlannedPage> {
  const { clock, signal, recall, open } = context;
  await context.account();
  const pause = async (ms: number): Promise<void> => {
    await clock.sleep(ms, signal).catch(() => {});
    signal.throwIfAborted();
  };
  const listing = createWaitingClient(context.client.counted({ signal }), pause);
  const runners = createReadOnlyMemory({ get: recall });
  const walk: Walk = {
    client: listing,
    served: servedTo(rule, context.served),
    rule,
    isInScope: scopeOfSweep(rule, patterns),
    runners: createRunnerMemory({ recall: runners.get, revise: runners.revise }),
    now: clock.now(),
    from: undefined,
  };
  const pages = open ? openTargets(open, walk) : eachTarget(rule.each, walk);
  const key = open ? openKeyOf(rule) : rule.id;
  const rules = createRuleSet([rule]);
  const openRules = new Map([...(open ?? [])].map(([kind, part]) => [kind, createRuleSet([part])]));
  const { items: limit = Number.POSITIVE_INFINITY } = rule.mode === 'enforce' ? rule.limits : {};
  const turn = patterns === undefined && Number.isFinite(limit) ? await readTurn(recall, key) : new Set();
  let changed = 0;
  let reached = 0;
  let totals: Totals | undefined;
  const watch = new FailureWatch();
  for await (const page of refusedAsFailure(pages)) {
    const { targets, failures = [] } = page;
    totals ??= page.total === undefined && !open ? await countTotals(rule.each, walk) : {};
    reached += page.reached ?? 0;
    const planned = new Map<string, Run>();
    const due = targets.filter(({ key }) => !turn.has(key));
    await mapConcurrently(due, itemsAtOnce, async (target) => {
      signal.throwIfAborted();
      const actionMemory = createReadOnlyMemory(context.actionMemory);
      const of = openRules.get(target.subject.kind) ?? rules;
      // What is open has no schedule: only a person starts this.
      const slot = open ? { slot: slotByHand(key, walk.now) } : {};
      const request = { door: 'cli', mode: 'plan', rules: of, pause, signal, ...slot } as const;
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
      total: page.total ?? totals.items,
      repositories: totals.repositories === undefined ? undefined : { reached, total: totals.repositories },
      failures: failures.map(failureOfList),
      listingRequests: listing.requests,
    };
  }
}

/** Returns the plan of an item with its changes left to a later slot. */
function leftForLater(run: Run, limit: number): Run {
  const why = `${describeLimit(limit)}: it follows in a later slot`;
  const refused = run.changes.map((change) => ({ change, why }));
  return { ...run, changes: [], outcomes: [], refused: [...run.refused, ...refused] };
}
