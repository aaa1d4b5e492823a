import { type ActionMemory, createReadOnlyMemory } from '../../actions/memory.ts';
import type { Client } from '../../client/client.ts';
import type { Subject } from '../../contract/events/subject.ts';
import type { Deferral } from '../../engine/budget/deferral.ts';
import type { RunSettings } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import type { FactMemory } from '../../facts/fact.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import type { Lease } from '../../store/leases.ts';
import type { LeaveWaiting } from '../runs/waiting.ts';
import { type DriftBook, openDriftBook } from './drift.ts';
import { createFailureWatch } from './failure-watch.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { describeProgress, type SweepFailure, type SweepProgress } from './progress.ts';
import { openSlotLimit, type SlotLimit } from './slot-limit.ts';
import { runItem } from './sweep-item.ts';
import { type IncidentStore, noteSweepResult, type SweepStore } from './sweep-store.ts';
import { createTally, type SweepCheckpoint, type SweepTally } from './tally.ts';
import type { ServedBy } from './targets/repositories.ts';
import type { RunnerMemory } from './targets/runner-memory.ts';
import { failureOfList, refusedAsFailure, type Target, type TargetPage } from './targets/target.ts';
import { eachTarget } from './targets/targets.ts';
import { createWaitingClient } from './wait-on-429.ts';

/** What a sweep needs, beside its rule. */
export type SweepParts = {
  readonly client: Client;
  readonly account: () => Promise<{ id: number }>;
  readonly served: ServedBy;
  readonly memory: FactMemory;
  readonly actionMemory: ActionMemory;
  readonly runners: RunnerMemory;
  readonly store: SweepStore;
  readonly incidents: IncidentStore;
  readonly clock: Clock;
  readonly log: Log;
  /** What every run of this process is given. */
  readonly settings?: RunSettings | undefined;
  /** Items held against the rule at once; the client's limiter bounds the requests. Default 8. */
  readonly atOnce?: number;
  /** Requests that one slot may make; what is left is for the next. Default 100,000. */
  readonly maxRequests?: number;
  /** Told of every run over an item. */
  readonly onRun?: (run: Run) => void;
  /** Stores what the rules of a run wait for; absent: they do not wait. */
  readonly leaveWaiting?: LeaveWaiting;
};

/** How a sweep went, and when it is to be done again for the items that an hourly budget stopped. */
type SweepEnd = { readonly progress: SweepProgress; readonly deferral?: Deferral | undefined };

/** One sweep: a rule, the slot that asked for it, and where an earlier attempt stopped. */
export type SweepOrder = {
  readonly rule: LoadedRule;
  readonly slot: string;
  /** Our id of the job. */
  readonly job: string;
  readonly door: 'cron' | 'cli';
  readonly isInScope: (subject: Subject) => boolean;
  /** True where a person asked for some items alone. */
  readonly isPartial?: boolean;
  /** Where an earlier attempt stopped. */
  readonly checkpoint?: SweepCheckpoint;
};

const defaults = { atOnce: 8, maxRequests: 100_000 } as const;

/**
 * Holds every item of a rule's `each` against the rule, page by page. Each page ends with a checkpoint; a run in which
 * something happened is recorded at once. An item that fails is reported and left behind; a forge that fails item after item
 * ends the attempt, which a later one takes up at the checkpoint. Returns how it went. Items that an hourly budget stopped
 * are no reason to wait: the sweep goes on with the others, and is to be done again when there is room. Where the rule limits
 * the items of a slot, the sweep ends at the first one for which there is no room.
 */
export async function runSweep(parts: SweepParts, order: SweepOrder, lease: Lease): Promise<SweepEnd> {
  const sweep = await openSweep(parts, order, lease);
  const { log, store } = parts;
  const { rule } = order;
  const pages = eachTarget(rule.each ?? { kind: 'repository' }, {
    client: sweep.listing,
    served: parts.served,
    rule,
    isInScope: order.isInScope,
    runners: parts.runners,
    now: sweep.now,
    from: order.checkpoint?.next ?? (await store.readRest(rule.id)),
  });
  const maxRequests = parts.maxRequests ?? defaults.maxRequests;
  let rest: unknown;
  for await (const page of refusedAsFailure(pages)) {
    // Looked at when there is more to do: a sweep that has just reached its end is complete.
    if (rest !== undefined && page.targets.length > 0) {
      await store.keepRest(rule.id, rest);
      log.warn(
        { rule: rule.id, ...sweep.progress() },
        'a sweep has used its requests; the next slot goes on',
      );
      return { progress: await sweep.end(false) };
    }
    await sweep.take(page);
    if (sweep.isLimitReached()) return { progress: await sweep.end(false) };
    rest = sweep.progress().requests >= maxRequests ? page.next : undefined;
  }
  const deferral = sweep.deferral();
  return { progress: await sweep.end(true), deferral };
}

/** A sweep under way. */
type Sweep = {
  readonly now: Date;
  /** The client that lists; items have their own. */
  readonly listing: Client;
  take(page: TargetPage): Promise<void>;
  progress(): SweepProgress;
  /** Returns whether the slot has changed as many items as the rule allows, and another one is to be changed. */
  isLimitReached(): boolean;
  /** Returns when the items that were stopped have room; undefined where none was. */
  deferral(): Deferral | undefined;
  end(isComplete: boolean): Promise<SweepProgress>;
};

async function openSweep(parts: SweepParts, order: SweepOrder, lease: Lease): Promise<Sweep> {
  const { clock, log, store } = parts;
  const { rule, checkpoint } = order;
  const account = await parts.account();
  const rules = createRuleSet([rule]);
  const drift: DriftBook = await openDriftBook(store, rule.id);
  const now = clock.now();
  const failures = createFailureWatch();
  const deferrals: Deferral[] = [];

  const mayGoOn = (): void => {
    if (lease.signal.aborted) throw lease.signal.reason;
    if (lease.stopping.aborted) throw lease.giveBack('the process is stopping; it goes on at its checkpoint');
  };

  const stop = AbortSignal.any([lease.signal, lease.stopping]);
  const pause = async (ms: number): Promise<void> => {
    // A long wait ends as soon as the process is asked to stop; what that means is said below.
    await clock.sleep(ms, stop).catch(() => {});
    mayGoOn();
  };
  const listing = createWaitingClient(parts.client.counted({ signal: lease.signal }), pause);

  const tally = createTally(checkpoint, { clock, now, listingRequests: () => listing.requests });

  const fail = (failure: SweepFailure): void => {
    tally.addFailure(failure);
    log.warn({ rule: rule.id, ...failure }, 'a sweep left an item behind');
  };

  const limit = await openSlotLimit(store, rule, order);
  const given = { order, rules, account, pause, signal: lease.signal };

  const takeOne = async (target: Target): Promise<Run> => {
    mayGoOn();
    const ran = await runItem(target, { ...given, parts });
    await noteRun(target, ran);
    return ran.run;
  };

  const noteRun = async (target: Target, ran: Ran): Promise<void> => {
    const { run, retry, deferral } = ran;
    await parts.leaveWaiting?.(ran, { subject: target.subject, job: { id: `${order.job}#${target.key}` } });
    // What was written before the end is recorded; whatever else the run says is that it was ended.
    if (lease.signal.aborted) {
      if (hasApplied(run)) {
        tally.addRun(run);
        await record(run, target.subject.repository?.id);
      }
      throw lease.signal.reason;
    }
    tally.addRun(run);
    drift.note(target.key, run, clock.now());
    if (isTelling(run)) await record(run, target.subject.repository?.id);
    parts.onRun?.(run);
    if (deferral) deferrals.push(deferral);
    const reason = retry?.message ?? run.rules.find(({ verdict }) => verdict === 'failed')?.reason;
    if (reason !== undefined) fail({ item: target.key, error: reason });
    failures.note(retry);
  };

  /** Looks at some items at once, and changes one after the other, in their order: no more than there is room for. */
  const takeLimited = async (
    targets: readonly Target[],
    { passesOver, begin, end }: SlotLimit,
  ): Promise<void> => {
    const planning = { ...parts, actionMemory: createReadOnlyMemory(parts.actionMemory) };
    const waiting = targets.filter(({ key }) => !passesOver(key));
    const atOnce = parts.atOnce ?? defaults.atOnce;
    for (let from = 0; from < waiting.length; from += atOnce) {
      const some = waiting.slice(from, from + atOnce);
      const planned = new Map<Target, Ran>();
      await mapConcurrently(some, atOnce, async (target) => {
        mayGoOn();
        planned.set(target, await runItem(target, { ...given, parts: planning, mode: 'plan' }));
        mayGoOn();
      });
      for (const target of some) {
        const ran = planned.get(target);
        if (ran === undefined) continue;
        if (ran.run.changes.length === 0) {
          // Nothing is to be sent: to run it would come to the same.
          await noteRun(target, { ...ran, run: { ...ran.run, mode: 'enforce' } });
          continue;
        }
        tally.addRequests(ran.run.requests);
        if (!(await begin())) {
          tally.reachLimit(limit?.items);
          return;
        }
        await end(target.key, await takeOne(target));
      }
    }
  };

  const record = async (run: Run, repositoryId: number | undefined): Promise<void> => {
    const about = repositoryId === undefined ? {} : { repositoryId };
    await lease.advance({ runs: [run], ...about, checkpoint: tally.checkpoint() });
  };

  return {
    now,
    listing,
    progress: tally.progress,
    isLimitReached: () => limit?.isReached ?? false,
    deferral: () => laterOf(deferrals),
    async take(page) {
      mayGoOn();
      for (const failure of page.failures ?? []) fail(failureOfList(failure));
      tally.setTotal(page.total);
      if (limit) await takeLimited(page.targets, limit);
      else
        await mapConcurrently(page.targets, parts.atOnce ?? defaults.atOnce, async (target) => {
          await takeOne(target);
        });
      await drift.save();
      await limit?.save(false);
      if (limit?.isReached) return;
      tally.endPage(page.next);
      await lease.advance({ runs: [], checkpoint: tally.checkpoint() });
    },
    async end(isComplete) {
      await limit?.save(isComplete);
      return endSweep(parts, order, { tally, drift, isComplete });
    },
  };
}

/** Stores how a sweep went, and returns it. */
async function endSweep(
  { store, clock, log, incidents }: SweepParts,
  order: SweepOrder,
  { tally, drift, isComplete }: { tally: SweepTally; drift: DriftBook; isComplete: boolean },
): Promise<SweepProgress> {
  const { rule } = order;
  const { failed, startedAt } = tally.progress();
  if (isComplete && failed === 0) drift.close(new Date(startedAt));
  await drift.save();
  const ended = tally.progress();
  const isWhole = isComplete && !order.isPartial && (await store.readRest(rule.id)) === undefined;
  if (isComplete) await store.keepRest(rule.id, undefined);
  const endedAt = clock.now();
  const result = {
    ...ended,
    slot: order.slot,
    endedAt: endedAt.toISOString(),
    drift: drift.size,
    isComplete,
  };
  await store.keepResult(rule.id, result);
  await noteSweepResult(incidents, rule, { result, isWhole });
  log.info({ rule: rule.id, slot: order.slot, ...ended }, `sweep ended: ${describeProgress(ended)}`);
  return ended;
}

/** Items that have room soon after the first wait for it together: each time costs a walk over all items. */
const gatherMs = 600_000;

/** Returns one deferral for all items. */
function laterOf(deferrals: readonly Deferral[]): Deferral | undefined {
  const [first] = deferrals.toSorted((a, b) => a.afterMs - b.afterMs);
  if (first === undefined) return undefined;
  const afterMs = Math.min(Math.max(...deferrals.map((one) => one.afterMs)), first.afterMs + gatherMs);
  const isPaused = deferrals.some((one) => one.isPaused);
  return { afterMs, why: `${first.why} (${deferrals.length} items)`, ...(isPaused ? { isPaused } : {}) };
}

function hasApplied({ outcomes }: Run): boolean {
  return outcomes.some(({ status }) => status === 'applied');
}

/** A run in which nothing happened is counted and not kept: thousands of them a day would bury the others. */
function isTelling(run: Run): boolean {
  return (
    run.changes.length > 0 || run.refused.length > 0 || run.rules.some(({ verdict }) => verdict === 'failed')
  );
}
