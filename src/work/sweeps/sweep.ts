import { z } from 'zod';
import { createReadOnlyMemory } from '../../actions/memory.ts';
import type { Client } from '../../client/client.ts';
import type { Subject } from '../../contract/events/subject.ts';
import type { Deferral } from '../../engine/budget/deferral.ts';
import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import { createRepositoryScope } from '../../patterns/glob.ts';
import { count } from '../../platform/count.ts';
import { createSweepMeter } from '../../rules/expressions/budget.ts';
import { isInScope } from '../../rules/match.ts';
import type { RuleSet } from '../../rules/rule.ts';
import { budgetSourceOf, createRuleSet, type LoadedRule } from '../../rules/rule.ts';
import type { HandleJob, Lease } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import type { LeaveWaiting } from '../runs/waiting.ts';
import { DriftBook } from './drift.ts';
import { createLeash, type Leash } from './leash.ts';
import { type OpenParts, onOpenItems, openTargets } from './open-items.ts';
import {
  describeProgress,
  lastSightOf,
  noteSweepResult,
  type SweepCheckpoint,
  type SweepProgress,
  type SweepResult,
  SweepStore,
  SweepTally,
} from './progress.ts';
import {
  failureOfList,
  refusedAsFailure,
  type ServedBy,
  type SweepFailure,
  type Target,
  type TargetPage,
  type Walk,
} from './targets/repositories.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';
import { countTotals, eachTarget } from './targets/targets.ts';
import { createWaitingClient, FailureWatch, itemsAtOnce, mapConcurrently, runItem } from './walk.ts';

/** Payload of a sweep's job. */
const SweepPayload = z.object({
  /** Id of the rule. */
  rule: z.string(),
  slot: z.string(),
  /** Patterns given on the command line, in addition to the rule's own `in`. */
  in: z.array(z.string()).optional(),
  /** Set if the rule runs for the issues and pull requests that are open now, instead of for the items of its `each`. */
  open: z.literal(true).optional(),
});

/** Returns the key of the stored results of a sweep over open items, which are apart from those of the schedule. */
export function openKeyOf({ id }: { readonly id: string }): string {
  return `${id}#open`;
}

/** Creates the handler of sweeps. The sweep of a rule that no longer exists does nothing. */
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
    const open = asked.open ? onOpenItems(rule) : undefined;
    if (open && 'why' in open)
      return { runs: [], reason: `the rule cannot run on what is open: ${open.why}` };
    const order: SweepOrder = {
      rule,
      open: open?.parts,
      slot: asked.slot,
      job: job.id,
      door: job.door === 'cli' ? 'cli' : 'cron',
      isInScope: scopeOfSweep(rule, asked.in),
      isPartial: asked.in !== undefined,
      // Store boundary: only the sweep writes the checkpoint of this job.
      ...(job.checkpoint === null || job.checkpoint === undefined
        ? {}
        : { checkpoint: job.checkpoint as SweepCheckpoint }),
    };
    const { deferral } = await runSweep(reeve, { ...order, leaveWaiting }, lease);
    // A later job for the same items includes the changes that were deferred here.
    const key = JSON.stringify([...(asked.in ?? []), ...(asked.open ? [{ open: true }] : [])]);
    return { runs: [], deferral: deferral && { ...deferral, key } };
  };
}

/**
 * Returns a function that tests whether a sweep includes a subject: the subject must belong to the rule's home, to its
 * scope, and to the patterns of the command line.
 */
export function scopeOfSweep(
  rule: LoadedRule,
  patterns: readonly string[] | undefined,
): (subject: Subject) => boolean {
  const named = patterns === undefined ? () => true : createRepositoryScope(patterns);
  const meter = createSweepMeter(budgetSourceOf(rule));
  return (subject) => isOfHome(rule, subject) && isInScope(rule, subject, meter) && named(nameOf(subject));
}

/**
 * Returns the repositories that a rule processes. A rule of a repository processes only that repository; archived ones
 * are processed by the rules that say whether a repository is archived.
 */
export function servedTo(rule: LoadedRule, served: ServedBy): ServedBy {
  const withArchived = rule.steps.some(
    ({ action, arguments: { written } }) => action.visitsArchived?.(written) === true,
  );
  // The path of a repository's rule file begins with its full name.
  return rule.level === 'repository'
    ? { ...served, only: [rule.source.split('/').slice(0, 2).join('/')] }
    : { ...served, withArchived };
}

/** Returns whether a subject belongs to the home of a rule, which is its repository or organization. */
export function isOfHome({ level, home }: LoadedRule, { repository, organization }: Subject): boolean {
  if (level === 'operator') return true;
  if (home === undefined) return false;
  if ('repositoryId' in home) return repository?.id === home.repositoryId;
  return (repository?.owner ?? organization ?? '').toLowerCase() === home.organization.toLowerCase();
}

function nameOf({ repository, organization }: Subject): string {
  return repository ? `${repository.owner}/${repository.name}` : (organization ?? '*');
}

/** One sweep: a rule, the slot that requested the sweep, and the position at which an earlier attempt stopped. */
export type SweepOrder = {
  readonly rule: LoadedRule;
  /** Set if the rule runs for open items instead of for the items of its `each`. */
  readonly open?: OpenParts | undefined;
  readonly slot: string;
  /** Id of the job in the store. */
  readonly job: string;
  readonly door: 'cron' | 'cli';
  readonly isInScope: (subject: Subject) => boolean;
  /** Whether only some items were requested on the command line. */
  readonly isPartial?: boolean;
  /** Position at which an earlier attempt stopped. */
  readonly checkpoint?: SweepCheckpoint;
  /** Stores the waiting rules of a run; absent: rules do not wait. */
  readonly leaveWaiting?: LeaveWaiting;
  /** Maximum number of requests in one slot. The remaining items are left to the next slot. Default 100,000. */
  readonly maxRequests?: number;
};

/** Result of a sweep, and when to repeat it for the items that an hourly budget stopped. */
type SweepEnd = { readonly progress: SweepProgress; readonly deferral?: Deferral | undefined };

/**
 * Evaluates a rule for every item of its `each`, page by page. Each page ends with a checkpoint; a run that has a
 * result is recorded at once. A failed item is reported and skipped. Consecutive failures of the forge end the attempt,
 * and a later attempt continues at the checkpoint. Items that an hourly budget stops do not delay the others: the sweep
 * continues, and is repeated once there is room. If the rule limits the number of items per slot, the sweep ends at the
 * first item without room.
 */
export async function runSweep(reeve: Reeve, order: SweepOrder, lease: Lease): Promise<SweepEnd> {
  const { rule, open, isInScope, checkpoint, maxRequests = 100_000 } = order;
  await reeve.account();
  const key = open ? openKeyOf(rule) : rule.id;
  // Only a sweep that is repeated can find drift.
  const drift = open ? undefined : await DriftBook.open(reeve.store, key);
  const limit = await SlotLimit.open(reeve.store, { ...rule, id: key }, order);
  const sweep = new Sweep(reeve, order, { lease, drift, limit });
  const results = new SweepStore(reeve.store);
  const from = checkpoint?.next ?? (await results.readRest(key));
  // Earlier parts of this sweep, which are not visited again, may have seen something.
  sweep.hasSeen = from !== undefined;
  const walk: Walk = {
    client: sweep.listing,
    served: servedTo(rule, reeve.served),
    rule,
    isInScope,
    runners: createRunnerMemory(reeve.store),
    now: sweep.now,
    from,
  };
  const pages = open ? openTargets(open, walk) : eachTarget(rule.each, walk);
  // Only for a sweep that someone watches from its beginning: counting costs a listing of the repositories.
  let isCounted = open !== undefined || order.door !== 'cli' || from !== undefined;
  let rest: unknown;
  for await (const page of refusedAsFailure(pages)) {
    if (!isCounted && page.total === undefined) sweep.tally.setTotals(await countTotals(rule.each, walk));
    isCounted = true;
    // Checked only if items remain, because a sweep that has just reached its end is complete.
    if (rest !== undefined && page.targets.length > 0) {
      await results.keepRest(key, rest);
      const about = { rule: rule.id, ...sweep.tally.progress() };
      reeve.log.warn(about, 'a sweep has used up its requests; the next slot continues');
      return { progress: await sweep.end(false) };
    }
    await sweep.take(page);
    if (limit?.isReached) return { progress: await sweep.end(false) };
    rest = sweep.tally.progress().requests >= maxRequests ? page.next : undefined;
  }
  return { progress: await sweep.end(true), deferral: laterOf(sweep.deferrals) };
}

/** A sweep in progress. */
class Sweep {
  readonly now: Date;
  /** Client for listing. Items have clients of their own. */
  readonly listing: Client;
  readonly tally: SweepTally;
  /** Whether there was anything to visit. */
  hasSeen = false;
  /** Deferrals of the stopped items, with the time at which there is room. */
  readonly deferrals: Deferral[] = [];
  readonly #reeve: Reeve;
  readonly #order: SweepOrder;
  readonly #lease: Lease;
  readonly #leash: Leash;
  readonly #drift: DriftBook | undefined;
  readonly #limit: SlotLimit | undefined;
  readonly #rules: RuleSet;
  /** The rules for the open items of each kind. */
  readonly #open: ReadonlyMap<string, RuleSet>;
  readonly #failures = new FailureWatch();

  constructor(
    reeve: Reeve,
    order: SweepOrder,
    parts: {
      readonly lease: Lease;
      readonly drift: DriftBook | undefined;
      readonly limit: SlotLimit | undefined;
    },
  ) {
    const { lease } = parts;
    this.#reeve = reeve;
    this.#order = order;
    this.#lease = lease;
    this.#drift = parts.drift;
    this.#limit = parts.limit;
    this.#rules = createRuleSet([order.rule]);
    this.#open = new Map([...(order.open ?? [])].map(([kind, rule]) => [kind, createRuleSet([rule])]));
    this.#leash = createLeash(lease, reeve.clock);
    const listing = createWaitingClient(reeve.client.counted({ signal: lease.signal }), this.#leash.pause);
    this.listing = listing;
    this.tally = new SweepTally(order.checkpoint, reeve.clock, () => listing.requests);
    // Not before the start that the tally notes: what this sweep observes is not older than the sweep.
    this.now = reeve.clock.now();
  }

  async take(page: TargetPage): Promise<void> {
    const limit = this.#limit;
    this.#leash.check();
    for (const failure of page.failures ?? []) this.#fail(failureOfList(failure));
    this.tally.setTotal(page.total);
    this.hasSeen ||= page.targets.length > 0;
    if (limit) await this.#takeLimited(page.targets, limit);
    else
      await mapConcurrently(page.targets, itemsAtOnce, async (target) => {
        await this.#takeOne(target);
      });
    await this.#drift?.save();
    await limit?.save(false);
    if (limit?.isReached) return;
    this.tally.endPage(page.next, page.reached ?? 0);
    await this.#lease.advance({ runs: [], checkpoint: this.tally.checkpoint() });
  }

  /** Stores the result of the sweep, and returns it. */
  async end(isComplete: boolean): Promise<SweepProgress> {
    const { store, clock, log } = this.#reeve;
    const { rule, open, slot, isPartial } = this.#order;
    const key = open ? openKeyOf(rule) : rule.id;
    await this.#limit?.save(isComplete);
    const results = new SweepStore(store);
    const { failed, failedChanges = 0, startedAt } = this.tally.progress();
    // The drift of an item whose change failed is known.
    if (isComplete && failed === failedChanges) this.#drift?.close(new Date(startedAt));
    await this.#drift?.save();
    const ended = this.tally.progress();
    const isWhole = isComplete && !isPartial && (await results.readRest(key)) === undefined;
    if (isComplete) await results.keepRest(key, undefined);
    const endedAt = clock.now().toISOString();
    const result: SweepResult = {
      ...ended,
      slot,
      endedAt,
      drift: this.#drift?.size ?? 0,
      isComplete,
      ...(isPartial ? { isPartial } : {}),
      ...(this.#isBlind(ended) ? await blindness(results, key) : {}),
    };
    await results.keepResult(key, result);
    // No later sweep would end an incident of a single pass, whose failures the command shows.
    if (open === undefined) await noteSweepResult(store, rule, { result, isWhole });
    log.info({ rule: rule.id, slot, ...ended }, `sweep ended: ${describeProgress(ended)}`);
    return ended;
  }

  /**
   * Returns whether the sweep could see nothing. No open issue is no blindness, but rules about repositories,
   * organizations and runners are written for some that exist.
   */
  #isBlind({ items, refused = 0 }: SweepProgress): boolean {
    if (this.hasSeen || items > 0) return false;
    const { rule, open } = this.#order;
    return refused > 0 || (open === undefined && isAboutPlaces(rule));
  }

  /** Evaluates several items concurrently, and then changes them sequentially, in order, up to the limit. */
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
          // There is nothing to send, so an enforcing run would have the same result.
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
    const rules = this.#open.get(target.subject.kind) ?? this.#rules;
    const request = { slot, job, door, mode, rules, pause: this.#leash.pause, signal };
    return runItem(target, request, { ...this.#reeve, actionMemory });
  }

  async #note(target: Target, ran: Ran): Promise<void> {
    const { run, retry, deferral } = ran;
    const { subject, key } = target;
    await this.#order.leaveWaiting?.(ran, { subject, job: { id: `${this.#order.job}#${key}` } });
    // Writes made before the abort are recorded. The rest of the run only reports the abort.
    if (this.#lease.signal.aborted) {
      if (hasApplied(run)) {
        this.tally.addRun(run);
        await this.#record(run, subject.repository?.id);
      }
      throw this.#lease.signal.reason;
    }
    this.tally.addRun(run);
    this.#drift?.note(key, run, this.#reeve.clock.now());
    if (isTelling(run)) await this.#record(run, subject.repository?.id);
    this.#reeve.metrics.countSweepRun(run);
    if (deferral) this.deferrals.push(deferral);
    const record = isTelling(run) ? { run: run.id } : {};
    const reason = retry?.message ?? run.rules.find(({ verdict }) => verdict === 'failed')?.reason;
    const refusal = errorOfChanges(run);
    if (reason !== undefined) this.#fail({ item: key, error: reason, ...record });
    // The log of failed changes already has it.
    else if (refusal !== undefined)
      this.tally.addFailure({ item: key, error: refusal, isChange: true, ...record });
    this.#failures.note(retry);
  }

  #fail(failure: SweepFailure): void {
    this.tally.addFailure(failure);
    this.#reeve.log.warn({ rule: this.#order.rule.id, ...failure }, 'a sweep could not process an item');
  }

  async #record(run: Run, repositoryId: number | undefined): Promise<void> {
    const about = repositoryId === undefined ? {} : { repositoryId };
    await this.#lease.advance({ runs: [run], ...about, checkpoint: this.tally.checkpoint() });
  }
}

/**
 * Maximum time that a repetition waits after the first item has room, so that other items are repeated with it. Each
 * repetition processes all items.
 */
const gatherMs = 600_000;

/** Combines the deferrals of all items into one. */
function laterOf(deferrals: readonly Deferral[]): Deferral | undefined {
  const [first] = deferrals.toSorted((a, b) => a.afterMs - b.afterMs);
  if (first === undefined) return undefined;
  const afterMs = Math.min(Math.max(...deferrals.map((one) => one.afterMs)), first.afterMs + gatherMs);
  const isPaused = deferrals.some((one) => one.isPaused);
  return {
    afterMs,
    why: `${first.why} (${count(deferrals.length, 'item')})`,
    ...(isPaused ? { isPaused } : {}),
  };
}

/** Returns whether the items of a rule are places, of which it expects some. */
function isAboutPlaces({ each }: LoadedRule): boolean {
  return ['repository', 'organization', 'runner'].includes(each?.[0]?.kind ?? 'repository');
}

/** Returns what the result of a blind sweep says about earlier ones. */
async function blindness(results: SweepStore, key: string): Promise<Pick<SweepResult, 'isBlind' | 'sawAt'>> {
  const before = await results.readResult(key);
  const sawAt = before && lastSightOf(before);
  return { isBlind: true, ...(sawAt === undefined ? {} : { sawAt }) };
}

function hasApplied({ outcomes }: Run): boolean {
  return outcomes.some(({ status }) => status === 'applied');
}

/**
 * Returns the first error of the changes of a run that failed; undefined if none failed. A change that a limit or a pause
 * defers is not sent, and has not failed.
 */
function errorOfChanges({ outcomes }: Run): string | undefined {
  const [first, ...others] = outcomes.filter(({ status }) => status === 'failed');
  if (first === undefined) return undefined;
  return `${first.error ?? 'a change failed'}${others.length > 0 ? `; and ${count(others.length, 'other change')}` : ''}`;
}

/**
 * Returns whether a run has a result. Others are counted but not kept, because thousands of them per day would hide the
 * rest.
 */
function isTelling(run: Run): boolean {
  return (
    run.changes.length > 0 || run.refused.length > 0 || run.rules.some(({ verdict }) => verdict === 'failed')
  );
}

/** Stored number of items that a slot has changed. */
type SlotCount = { readonly slot: string; readonly changed: number };

const countKey = (rule: string): string => `sweep-items ${rule}`;
const turnKey = (rule: string): string => `sweep-turn ${rule}`;

/** Returns the items that were changed in earlier slots while others had to wait. */
export async function readTurn(
  recall: (key: string) => Promise<unknown>,
  rule: string,
): Promise<ReadonlySet<string>> {
  // Store boundary: only the code below writes the value under this key.
  return new Set(((await recall(turnKey(rule))) ?? []) as readonly string[]);
}

/**
 * Limit on the number of items that a rule changes in one slot. An item is counted before its changes are sent, and
 * uncounted once it is known that none of them was applied, so an interrupted and resumed sweep changes fewer items but
 * never more. Items changed in a slot are skipped in the following slots until a sweep has reached the end of all
 * items, so that items that change in each slot do not starve the others.
 */
export class SlotLimit {
  readonly items: number;
  /** Whether there was no room for an item with wanted changes. */
  isReached = false;
  readonly #store: Store;
  readonly #rule: string;
  readonly #slot: string;
  readonly #isPartial: boolean;
  #changed = 0;
  /** Items that had their turn before this slot, and in this slot. */
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
   * Loads the limit of a rule in a slot; undefined if the rule has no limit or only observes. If only some items were
   * requested (`isPartial`), turns are not recorded.
   */
  static async open(
    store: Store,
    { id: rule, limits: { items }, mode }: LoadedRule,
    { slot, isPartial = false }: { readonly slot: string; readonly isPartial?: boolean | undefined },
  ): Promise<SlotLimit | undefined> {
    if (items === undefined || mode !== 'enforce') return undefined;
    const limit = new SlotLimit(store, { rule, items, slot, isPartial });
    // Store boundary: only this class writes the value under this key.
    const stored = (await store.recall(countKey(rule))) as SlotCount | undefined;
    if (stored?.slot === slot) limit.#changed = stored.changed;
    if (!isPartial) limit.#earlier = await readTurn((key) => store.recall(key), rule);
    return limit;
  }

  /** Returns whether an item was changed in an earlier slot while others had to wait. */
  passesOver(item: string): boolean {
    return this.#earlier.has(item);
  }

  /** Counts an item whose changes are about to be sent. Returns false if the slot has no room for it. */
  async begin(): Promise<boolean> {
    this.isReached = this.#changed >= this.items;
    if (!this.isReached) await this.#count(1);
    return !this.isReached;
  }

  /** Records the result of the item that was counted last. */
  async end(item: string, { outcomes }: Run): Promise<void> {
    // A failed change may still have been applied.
    if (!outcomes.some(({ status }) => status === 'applied' || status === 'failed')) return this.#count(-1);
    this.#later.add(item);
    this.#isSaved = false;
  }

  /** Stores the items that had their turn. `isComplete`: whether the sweep has reached the end of all items. */
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
