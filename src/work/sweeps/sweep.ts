import { z } from 'zod';
import { createReadOnlyMemory } from '../../actions/memory.ts';
import type { Client } from '../../client/client.ts';
import type { Subject } from '../../contract/events/subject.ts';
import type { Deferral } from '../../engine/budget/deferral.ts';
import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import { createRepositoryScope } from '../../patterns/glob.ts';
import { createSweepMeter } from '../../rules/expressions/budget.ts';
import { isInScope } from '../../rules/match.ts';
import type { RuleSet } from '../../rules/rule.ts';
import { budgetSourceOf, createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import type { HandleJob, Lease } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import type { LeaveWaiting } from '../runs/waiting.ts';
import { DriftBook } from './drift.ts';
import {
  describeProgress,
  noteSweepResult,
  type SweepCheckpoint,
  type SweepFailure,
  type SweepProgress,
  SweepStore,
  SweepTally,
} from './progress.ts';
import {
  failureOfList,
  refusedAsFailure,
  type ServedBy,
  type Target,
  type TargetPage,
} from './targets/repositories.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';
import { eachTarget } from './targets/targets.ts';
import {
  createLeash,
  createWaitingClient,
  FailureWatch,
  itemsAtOnce,
  type Leash,
  mapConcurrently,
  runItem,
} from './walk.ts';

/** What a sweep's job says. */
const SweepPayload = z.object({
  /** Id of the rule. */
  rule: z.string(),
  slot: z.string(),
  /** Patterns of a person on the command line, beside the rule's own `in`. */
  in: z.array(z.string()).optional(),
});

/** Creates the handler of sweeps. A rule that is no longer there has nothing left to do. */
export function createSweepHandler(
  reeve: Reeve,
  leaveWaiting: LeaveWaiting,
  find: (id: string) => Promise<LoadedRule | undefined>,
): HandleJob {
  return async (job, payload, lease) => {
    const asked = SweepPayload.parse(payload);
    const rule = await find(asked.rule);
    if (rule === undefined) {
      reeve.log.info({ rule: asked.rule, slot: asked.slot }, 'a sweep has nothing to do: its rule is gone');
      return { runs: [] };
    }
    const order: SweepOrder = {
      rule,
      slot: asked.slot,
      job: job.id,
      door: job.door === 'cli' ? 'cli' : 'cron',
      isInScope: scopeOfSweep(rule, asked.in),
      isPartial: asked.in !== undefined,
      // The border to the store: a checkpoint of this job was written by the sweep alone.
      ...(job.checkpoint === null || job.checkpoint === undefined
        ? {}
        : { checkpoint: job.checkpoint as SweepCheckpoint }),
    };
    const { deferral } = await runSweep(reeve, { ...order, leaveWaiting }, lease);
    // A later job with the same items does what this one was kept from.
    const key = JSON.stringify(asked.in ?? []);
    return { runs: [], deferral: deferral && { ...deferral, key } };
  };
}

/** Returns whether a sweep takes a subject: it is the rule's own, in its scope, and among what a person named. */
export function scopeOfSweep(
  rule: LoadedRule,
  patterns: readonly string[] | undefined,
): (subject: Subject) => boolean {
  const named = patterns === undefined ? () => true : createRepositoryScope(patterns);
  const meter = createSweepMeter(budgetSourceOf(rule));
  return (subject) => isOfHome(rule, subject) && isInScope(rule, subject, meter) && named(nameOf(subject));
}

/** Returns what a rule walks over: that of a repository over this one alone. */
export function servedTo(rule: LoadedRule, served: ServedBy): ServedBy {
  // The path of a repository's rule file begins with its full name.
  return rule.level === 'repository'
    ? { ...served, only: [rule.source.split('/').slice(0, 2).join('/')] }
    : served;
}

/** Rules of a repository or organization walk over what is theirs, and nothing else. */
export function isOfHome({ level, home }: LoadedRule, { repository, organization }: Subject): boolean {
  if (level === 'operator') return true;
  if (home === undefined) return false;
  if ('repositoryId' in home) return repository?.id === home.repositoryId;
  return (repository?.owner ?? organization ?? '').toLowerCase() === home.organization.toLowerCase();
}

function nameOf({ repository, organization }: Subject): string {
  return repository ? `${repository.owner}/${repository.name}` : (organization ?? '*');
}

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
  /** Stores what the rules of a run wait for; absent: they do not wait. */
  readonly leaveWaiting?: LeaveWaiting;
  /** Requests that one slot may make; what is left is for the next. Default 100,000. */
  readonly maxRequests?: number;
};

/** How a sweep went, and when it is to be done again for the items that an hourly budget stopped. */
type SweepEnd = { readonly progress: SweepProgress; readonly deferral?: Deferral | undefined };

/**
 * Holds every item of a rule's `each` against the rule, page by page. Each page ends with a checkpoint; a run in which
 * something happened is recorded at once. An item that fails is reported and left behind; a forge that fails item after item
 * ends the attempt, which a later one takes up at the checkpoint. Items that an hourly budget stopped are no reason to wait: the
 * sweep goes on with the others, and is to be done again when there is room. Where the rule limits the items of a slot, the
 * sweep ends at the first one for which there is no room.
 */
export async function runSweep(reeve: Reeve, order: SweepOrder, lease: Lease): Promise<SweepEnd> {
  const { rule, isInScope, checkpoint, maxRequests = 100_000 } = order;
  await reeve.account();
  const drift = await DriftBook.open(reeve.store, rule.id);
  const limit = await SlotLimit.open(reeve.store, rule, order);
  const sweep = new Sweep(reeve, order, { lease, drift, limit });
  const results = new SweepStore(reeve.store);
  const pages = eachTarget(rule.each ?? { kind: 'repository' }, {
    client: sweep.listing,
    served: servedTo(rule, reeve.served),
    rule,
    isInScope,
    runners: createRunnerMemory(reeve.store),
    now: sweep.now,
    from: checkpoint?.next ?? (await results.readRest(rule.id)),
  });
  let rest: unknown;
  for await (const page of refusedAsFailure(pages)) {
    // Looked at when there is more to do: a sweep that has just reached its end is complete.
    if (rest !== undefined && page.targets.length > 0) {
      await results.keepRest(rule.id, rest);
      const about = { rule: rule.id, ...sweep.tally.progress() };
      reeve.log.warn(about, 'a sweep has used its requests; the next slot goes on');
      return { progress: await sweep.end(false) };
    }
    await sweep.take(page);
    if (limit?.isReached) return { progress: await sweep.end(false) };
    rest = sweep.tally.progress().requests >= maxRequests ? page.next : undefined;
  }
  return { progress: await sweep.end(true), deferral: laterOf(sweep.deferrals) };
}

/** A sweep under way. */
class Sweep {
  readonly now: Date;
  /** The client that lists; items have their own. */
  readonly listing: Client;
  readonly tally: SweepTally;
  /** When the items that were stopped have room. */
  readonly deferrals: Deferral[] = [];
  readonly #reeve: Reeve;
  readonly #order: SweepOrder;
  readonly #lease: Lease;
  readonly #leash: Leash;
  readonly #drift: DriftBook;
  readonly #limit: SlotLimit | undefined;
  readonly #rules: RuleSet;
  readonly #failures = new FailureWatch();

  constructor(
    reeve: Reeve,
    order: SweepOrder,
    parts: { readonly lease: Lease; readonly drift: DriftBook; readonly limit: SlotLimit | undefined },
  ) {
    const { lease } = parts;
    this.#reeve = reeve;
    this.#order = order;
    this.#lease = lease;
    this.#drift = parts.drift;
    this.#limit = parts.limit;
    this.#rules = createRuleSet([order.rule]);
    this.#leash = createLeash(lease, reeve.clock);
    this.now = reeve.clock.now();
    const listing = createWaitingClient(reeve.client.counted({ signal: lease.signal }), this.#leash.pause);
    this.listing = listing;
    this.tally = new SweepTally(order.checkpoint, reeve.clock, () => listing.requests);
  }

  async take(page: TargetPage): Promise<void> {
    const limit = this.#limit;
    this.#leash.check();
    for (const failure of page.failures ?? []) this.#fail(failureOfList(failure));
    this.tally.setTotal(page.total);
    if (limit) await this.#takeLimited(page.targets, limit);
    else
      await mapConcurrently(page.targets, itemsAtOnce, async (target) => {
        await this.#takeOne(target);
      });
    await this.#drift.save();
    await limit?.save(false);
    if (limit?.isReached) return;
    this.tally.endPage(page.next);
    await this.#lease.advance({ runs: [], checkpoint: this.tally.checkpoint() });
  }

  /** Stores how the sweep went, and returns it. */
  async end(isComplete: boolean): Promise<SweepProgress> {
    const { store, clock, log } = this.#reeve;
    const { rule, slot, isPartial } = this.#order;
    await this.#limit?.save(isComplete);
    const results = new SweepStore(store);
    const { failed, startedAt } = this.tally.progress();
    if (isComplete && failed === 0) this.#drift.close(new Date(startedAt));
    await this.#drift.save();
    const ended = this.tally.progress();
    const isWhole = isComplete && !isPartial && (await results.readRest(rule.id)) === undefined;
    if (isComplete) await results.keepRest(rule.id, undefined);
    const endedAt = clock.now().toISOString();
    const result = { ...ended, slot, endedAt, drift: this.#drift.size, isComplete };
    await results.keepResult(rule.id, result);
    await noteSweepResult(store, rule, { result, isWhole });
    log.info({ rule: rule.id, slot, ...ended }, `sweep ended: ${describeProgress(ended)}`);
    return ended;
  }

  /** Looks at some items at once, and changes one after the other, in their order: no more than there is room for. */
  async #takeLimited(targets: readonly Target[], limit: SlotLimit): Promise<void> {
    const waiting = targets.filter(({ key }) => !limit.passesOver(key));
    for (let from = 0; from < waiting.length; from += itemsAtOnce) {
      const some = waiting.slice(from, from + itemsAtOnce);
      const planned = new Map<Target, Ran>();
      await mapConcurrently(some, itemsAtOnce, async (target) => {
        this.#leash.check();
        planned.set(target, await this.#run(target, 'plan'));
        this.#leash.check();
      });
      for (const target of some) {
        const ran = planned.get(target);
        if (ran === undefined) continue;
        if (ran.run.changes.length === 0) {
          // Nothing is to be sent: to run it would come to the same.
          await this.#note(target, { ...ran, run: { ...ran.run, mode: 'enforce' } });
          continue;
        }
        this.tally.addRequests(ran.run.requests);
        if (!(await limit.begin())) {
          this.tally.reachLimit(limit.items);
          return;
        }
        await limit.end(target.key, await this.#takeOne(target));
      }
    }
  }

  async #takeOne(target: Target): Promise<Run> {
    this.#leash.check();
    const ran = await this.#run(target, 'enforce');
    await this.#note(target, ran);
    return ran.run;
  }

  #run(target: Target, mode: 'enforce' | 'plan'): Promise<Ran> {
    const { slot, job, door } = this.#order;
    const own = this.#reeve.actionMemory;
    const actionMemory = mode === 'plan' ? createReadOnlyMemory(own) : own;
    const { signal } = this.#lease;
    const request = { slot, job, door, mode, rules: this.#rules, pause: this.#leash.pause, signal };
    return runItem(target, request, { ...this.#reeve, actionMemory });
  }

  async #note(target: Target, ran: Ran): Promise<void> {
    const { run, retry, deferral } = ran;
    const { subject, key } = target;
    await this.#order.leaveWaiting?.(ran, { subject, job: { id: `${this.#order.job}#${key}` } });
    // What was written before the end is recorded; whatever else the run says is that it was ended.
    if (this.#lease.signal.aborted) {
      if (hasApplied(run)) {
        this.tally.addRun(run);
        await this.#record(run, subject.repository?.id);
      }
      throw this.#lease.signal.reason;
    }
    this.tally.addRun(run);
    this.#drift.note(key, run, this.#reeve.clock.now());
    if (isTelling(run)) await this.#record(run, subject.repository?.id);
    this.#reeve.metrics.countSweepRun(run);
    if (deferral) this.deferrals.push(deferral);
    const reason = retry?.message ?? run.rules.find(({ verdict }) => verdict === 'failed')?.reason;
    if (reason !== undefined) this.#fail({ item: key, error: reason });
    this.#failures.note(retry);
  }

  #fail(failure: SweepFailure): void {
    this.tally.addFailure(failure);
    this.#reeve.log.warn({ rule: this.#order.rule.id, ...failure }, 'a sweep left an item behind');
  }

  async #record(run: Run, repositoryId: number | undefined): Promise<void> {
    const about = repositoryId === undefined ? {} : { repositoryId };
    await this.#lease.advance({ runs: [run], ...about, checkpoint: this.tally.checkpoint() });
  }
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

/** What is stored of a slot. */
type SlotCount = { readonly slot: string; readonly changed: number };

const countKey = (rule: string): string => `sweep-items ${rule}`;
const turnKey = (rule: string): string => `sweep-turn ${rule}`;

/** Returns the items that were changed in earlier slots while others had to wait. */
export async function readTurn(
  recall: (key: string) => Promise<unknown>,
  rule: string,
): Promise<ReadonlySet<string>> {
  // The border to the store: what is under this key was written below alone.
  return new Set(((await recall(turnKey(rule))) ?? []) as readonly string[]);
}

/**
 * The limit of items that a rule changes in one slot. An item is counted before its changes are sent, and no more once it is
 * known that none was: a sweep that is interrupted and goes on changes fewer items, never more. Items that were changed in a
 * slot are passed over in the following ones until a sweep has come to the end of all items: those that change in each slot
 * do not keep the others from their turn.
 */
export class SlotLimit {
  readonly items: number;
  /** Whether an item has wanted changes for which there was no room. */
  isReached = false;
  readonly #store: Store;
  readonly #rule: string;
  readonly #slot: string;
  readonly #isPartial: boolean;
  #changed = 0;
  /** Items that had their turn before this slot, and in it. */
  #earlier: ReadonlySet<string> = new Set();
  readonly #later = new Set<string>();
  #isSaved = true;

  private constructor(
    store: Store,
    { rule, items, slot, isPartial }: { rule: string; items: number; slot: string; isPartial: boolean },
  ) {
    this.#store = store;
    this.#rule = rule;
    this.items = items;
    this.#slot = slot;
    this.#isPartial = isPartial;
  }

  /**
   * Opens the limit of a rule in a slot; undefined where it has none, or only observes. Where a person asked for some items alone
   * (`isPartial`), no turns are taken.
   */
  static async open(
    store: Store,
    { id: rule, limits: { items }, mode }: LoadedRule,
    { slot, isPartial = false }: { readonly slot: string; readonly isPartial?: boolean | undefined },
  ): Promise<SlotLimit | undefined> {
    if (items === undefined || mode !== 'enforce') return undefined;
    const limit = new SlotLimit(store, { rule, items, slot, isPartial });
    // The border to the store: what is under this key was written here alone.
    const stored = (await store.recall(countKey(rule))) as SlotCount | undefined;
    if (stored?.slot === slot) limit.#changed = stored.changed;
    if (!isPartial) limit.#earlier = await readTurn((key) => store.recall(key), rule);
    return limit;
  }

  /** Returns whether an item was changed in an earlier slot while others had to wait. */
  passesOver(item: string): boolean {
    return this.#earlier.has(item);
  }

  /** Counts an item whose changes are about to be sent; false where the slot has no room for it. */
  async begin(): Promise<boolean> {
    this.isReached = this.#changed >= this.items;
    if (!this.isReached) await this.#count(1);
    return !this.isReached;
  }

  /** Notes the result of the item that was counted last. */
  async end(item: string, { outcomes }: Run): Promise<void> {
    // What failed may have been made all the same.
    if (!outcomes.some(({ status }) => status === 'applied' || status === 'failed')) return this.#count(-1);
    this.#later.add(item);
    this.#isSaved = false;
  }

  /** Stores which items had their turn. `isComplete`: the sweep came to the end of all items. */
  async save(isComplete: boolean): Promise<void> {
    if (this.#isPartial || (this.#isSaved && !isComplete)) return;
    this.#isSaved = true;
    const isOver = isComplete && !this.isReached;
    if (isOver && this.#earlier.size + this.#later.size === 0) return;
    const turn = isOver ? undefined : [...this.#earlier, ...this.#later];
    await this.#store.remember(turnKey(this.#rule), turn);
  }

  async #count(by: number): Promise<void> {
    this.#changed += by;
    const count: SlotCount = { slot: this.#slot, changed: this.#changed };
    await this.#store.remember(countKey(this.#rule), count);
  }
}
