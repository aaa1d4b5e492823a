import { shorten } from '../../engine/incidents/incident.ts';
import type { Run } from '../../engine/record.ts';
import type { Clock } from '../../platform/clock.ts';
import { count } from '../../platform/count.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { MemoryRows, Store } from '../../store/store.ts';
import type { SweepFailure } from './targets/repositories.ts';
import type { Totals } from './targets/targets.ts';

/** Progress of a sweep. It is part of the checkpoint, so that readers see the same progress after a restart. */
export type SweepProgress = {
  /** Start of the sweep, as RFC 3339. */
  readonly startedAt: string;
  /** Number of evaluated items. */
  readonly items: number;
  /** Total number of items, if known. */
  readonly total: number | undefined;
  /**
   * Number of repositories whose items have been evaluated, and of those to visit; absent if they were not counted, or
   * if the repositories are the items.
   */
  readonly repositories?: { readonly reached: number; readonly total: number } | undefined;
  /** Number of changes made. */
  readonly changes: number;
  /**
   * Number of wanted changes that were not made, because the rule only observes, or because they were refused or
   * failed.
   */
  readonly pending: number;
  readonly failed: number;
  /**
   * Number of lists that the forge refused. They are included in the failures; absent in sweeps of earlier versions.
   */
  readonly refused?: number;
  /**
   * Number of items that were evaluated and of which a change failed. They are included in the failures; absent in
   * sweeps of earlier versions.
   */
  readonly failedChanges?: number;
  /** The first failures. Lists come before items. */
  readonly failures: readonly SweepFailure[];
  /** Maximum number of items per slot, if it was reached. */
  readonly limit?: number | undefined;
  /** Number of requests to the forge. */
  readonly requests: number;
  /** Working time in milliseconds, summed over all attempts. */
  readonly ms: number;
};

/** Maximum number of failures that are listed. Others are only counted. */
const maxListed = 20;

/** Returns the progress at the start of a sweep. */
export function beginProgress(now: Date): SweepProgress {
  const counts = { items: 0, total: undefined, changes: 0, pending: 0, failed: 0, requests: 0, ms: 0 };
  return { startedAt: now.toISOString(), failures: [], ...counts };
}

export function withFailures(progress: SweepProgress, failures: readonly SweepFailure[]): SweepProgress {
  const all = [...progress.failures, ...failures];
  const [lists, items] = [true, false].map((is) =>
    all.filter(({ refused }) => (refused !== undefined) === is),
  );
  return {
    ...progress,
    failed: progress.failed + failures.length,
    refused: (progress.refused ?? 0) + failures.filter(({ refused }) => refused !== undefined).length,
    failedChanges: (progress.failedChanges ?? 0) + failures.filter(({ isChange }) => isChange).length,
    failures: [...(lists ?? []), ...(items ?? [])].slice(0, maxListed),
  };
}

/** Returns the progress as one sentence. */
export function describeProgress(progress: SweepProgress): string {
  const { items, total, repositories, changes, pending, failed, refused = 0, requests, limit } = progress;
  const number = total === undefined ? count(items, 'item') : `${items} of ${count(total, 'item')}`;
  const where =
    repositories === undefined
      ? ''
      : ` in ${repositories.reached} of ${count(repositories.total, 'repository')}`;
  const refusal = refused === 0 ? '' : `: ${describeRefusals(progress)}`;
  const rest = pending === 0 ? '' : `, ${pending} wanted and not made`;
  const others = failed - refused;
  const wrong = others === 0 ? '' : `, ${others} failed`;
  const end = limit === undefined ? '' : `: ${describeLimit(limit)}`;
  return `${number}${where}${refusal}, ${count(changes, 'change')}${rest}${wrong}, ${count(requests, 'request')}${end}`;
}

/** Returns a note that a slot has changed as many items as its rule allows. */
export function describeLimit(items: number): string {
  return `at most ${items === 1 ? '1 item is' : `${items} items are`} changed in one slot`;
}

/**
 * Returns a description of the lists that the forge refused: `refused in acme, GET /orgs/acme/actions/runners: 403, and
 * 2 more`.
 */
function describeRefusals({ failures, refused = 0 }: SweepProgress): string {
  const first = failures.find((failure) => failure.refused !== undefined);
  if (first === undefined) return '';
  const more = refused === 1 ? '' : `, and ${refused - 1} more`;
  return `refused in ${first.item}, ${first.refused}${more}`;
}

/** Counts that restart when a page is repeated from its beginning. Changes and requests are not reset. */
type Recounted = {
  readonly items: number;
  readonly pending: number;
  readonly failed: number;
  readonly refused?: number;
  readonly failedChanges?: number;
  readonly failures: readonly SweepFailure[];
};

/** Position at which a sweep continues, and its progress. `before` contains the counts at that position. */
export type SweepCheckpoint = {
  readonly next: unknown;
  readonly progress: SweepProgress;
  readonly before?: Recounted;
};

/** Counts the progress of a sweep over all of its attempts, continuing from the checkpoint. */
export class SweepTally {
  readonly #clock: Clock;
  readonly #listingRequests: () => number;
  readonly #beganMs: number;
  readonly #earlier: SweepProgress;
  #counted: SweepProgress;
  #before: Recounted;
  #itemRequests = 0;
  #next: unknown;

  /** `listingRequests` returns the number of listing requests. */
  constructor(checkpoint: SweepCheckpoint | undefined, clock: Clock, listingRequests: () => number) {
    this.#clock = clock;
    this.#listingRequests = listingRequests;
    this.#beganMs = clock.monotonicMs();
    this.#counted = checkpoint
      ? { ...checkpoint.progress, ...checkpoint.before }
      : beginProgress(clock.now());
    this.#earlier = this.#counted;
    this.#before = recountedOf(this.#counted);
    this.#next = checkpoint?.next;
  }

  /** Returns the counts so far, with requests and time. */
  progress(): SweepProgress {
    return {
      ...this.#counted,
      requests: this.#earlier.requests + this.#itemRequests + this.#listingRequests(),
      ms: this.#earlier.ms + Math.round(this.#clock.monotonicMs() - this.#beganMs),
    };
  }

  /** Returns the position at which the sweep continues after a crash. */
  checkpoint(): SweepCheckpoint {
    return { next: this.#next, progress: this.progress(), before: this.#before };
  }

  addRun(run: Run): void {
    this.#itemRequests += run.requests;
    this.#counted = addOutcomes(this.#counted, run);
  }

  addFailure(failure: SweepFailure): void {
    this.#counted = withFailures(this.#counted, [failure]);
  }

  /** Adds requests that are not part of the runs. */
  addRequests(requests: number): void {
    this.#itemRequests += requests;
  }

  /** Records that the rule allows no more items in this slot. */
  reachLimit(limit: number | undefined): void {
    this.#counted = { ...this.#counted, limit };
  }

  /** Sets the total number of items, if known. */
  setTotal(total: number | undefined): void {
    this.#counted = { ...this.#counted, total: total ?? this.#counted.total };
  }

  /** Sets the totals that were counted in advance. */
  setTotals({ items, repositories }: Totals): void {
    this.setTotal(items);
    if (repositories !== undefined)
      this.#counted = { ...this.#counted, repositories: { reached: 0, total: repositories } };
  }

  /** Moves the checkpoint to the next page, after a page that reached this number of further repositories. */
  endPage(next: unknown, reached: number): void {
    const { repositories } = this.#counted;
    // Added together with the position, so that a page that is repeated after a crash counts once.
    if (repositories)
      this.#counted = {
        ...this.#counted,
        repositories: { ...repositories, reached: repositories.reached + reached },
      };
    this.#next = next;
    this.#before = recountedOf(this.#counted);
  }
}

function recountedOf(progress: SweepProgress): Recounted {
  const { items, pending, failed, refused = 0, failedChanges = 0, failures } = progress;
  return { items, pending, failed, refused, failedChanges, failures };
}

function addOutcomes(progress: SweepProgress, run: Run): SweepProgress {
  const applied = run.outcomes.filter(({ status }) => status === 'applied').length;
  const skipped = run.outcomes.filter(({ status }) => status === 'skipped').length;
  const pending = run.changes.length - applied - skipped + run.refused.length;
  return {
    ...progress,
    items: progress.items + 1,
    changes: progress.changes + applied,
    pending: progress.pending + pending,
  };
}

/** Result of the latest sweep of a rule. */
export type SweepResult = SweepProgress & {
  readonly slot: string;
  /** End of the sweep, as RFC 3339. */
  readonly endedAt: string;
  /** Number of differences from the desired state. */
  readonly drift: number;
  /** False if the requests, or the items that the rule allows per slot, were used up before the last item. */
  readonly isComplete: boolean;
  /** Set if only some items were requested on the command line. */
  readonly isPartial?: true;
  /** Set if the sweep could see nothing that its rule is about. */
  readonly isBlind?: true;
  /** Of a blind sweep: end of the latest sweep that could see something, as RFC 3339. Absent: there was none. */
  readonly sawAt?: string | undefined;
};

/** Returns when the latest sweep of a rule ended that could see something; undefined if there was none. */
export function lastSightOf({ isBlind, sawAt, endedAt }: SweepResult): string | undefined {
  return isBlind ? sawAt : endedAt;
}

/** Data of sweeps that is kept between slots, by rule id. */
export class SweepStore {
  readonly #store: MemoryRows;

  constructor(store: MemoryRows) {
    this.#store = store;
  }

  /** Stores the position at which the next slot continues; undefined if it starts from the beginning. */
  keepRest(rule: string, next: unknown): Promise<void> {
    return this.#store.remember(`sweep-rest ${rule}`, next);
  }

  readRest(rule: string): Promise<unknown> {
    return this.#store.recall(`sweep-rest ${rule}`);
  }

  keepResult(rule: string, result: SweepResult): Promise<void> {
    return this.#store.remember(`sweep ${rule}`, result);
  }

  async readResult(rule: string): Promise<SweepResult | undefined> {
    // Store boundary: only `keepResult` writes the value under this key.
    return (await this.#store.recall(`sweep ${rule}`)) as SweepResult | undefined;
  }
}

/**
 * Counts a sweep that could not list everything as an incident. A sweep that processed every item (`isWhole`) ends this
 * incident, as well as the failures of earlier sweeps of the rule, because repeated failures have been counted again in
 * this sweep.
 */
export async function noteSweepResult(
  store: Store,
  { id, level, source, revision, home }: LoadedRule,
  { result, isWhole }: { readonly result: SweepResult; readonly isWhole: boolean },
): Promise<void> {
  const { refused = 0, startedAt, endedAt, items } = result;
  if (refused > 0) {
    const about = home && 'repositoryId' in home ? { repositoryId: home.repositoryId } : {};
    const reason = shorten(`${count(items, 'item')}: ${describeRefusals(result)}`);
    const occurrence = { key: id, at: new Date(endedAt), reason, level, source, revision, ...about };
    await store.raise([{ kind: 'sweep-failed', ...occurrence }]);
    return;
  }
  if (!isWhole) return;
  await store.clear('sweep-failed', [id]);
  const failed = (await store.listIncidents(['rule-failed'])).some(
    ({ key, isSweep }) => key === id && isSweep,
  );
  if (failed) await store.clear('rule-failed', [id], { before: new Date(startedAt) });
}
