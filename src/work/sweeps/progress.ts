import { shorten } from '../../engine/incidents/incident.ts';
import type { Run } from '../../engine/record.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { Store } from '../../store/store.ts';

/** One item that a sweep could not finish, or a list that the forge refused. */
export type SweepFailure = {
  readonly item: string;
  readonly error: string;
  /** The request and the status by which the forge refused a list: `GET /orgs/acme/actions/runners: 403`. */
  readonly refused?: string;
};

/** How far a sweep is: part of its checkpoint, so that a reader sees the same after a restart. */
export type SweepProgress = {
  /** RFC 3339. */
  readonly startedAt: string;
  /** Items held against the rule. */
  readonly items: number;
  /** How many there are in all, where that is known. */
  readonly total: number | undefined;
  /** Changes that were made. */
  readonly changes: number;
  /** Changes that are wanted and were not made: the rule observes, or they were refused or failed. */
  readonly pending: number;
  readonly failed: number;
  /** Lists that the forge refused, which are among those that failed; absent in sweeps of earlier versions. */
  readonly refused?: number;
  /** The first failures; lists come before items. */
  readonly failures: readonly SweepFailure[];
  /** The limit of items of one slot, where it was reached. */
  readonly limit?: number | undefined;
  /** Requests to the forge. */
  readonly requests: number;
  /** Milliseconds at work, over all attempts. */
  readonly ms: number;
};

/** Failures that are listed; the rest are counted. */
const maxListed = 20;

/** Returns the progress of a sweep that begins. */
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
    failures: [...(lists ?? []), ...(items ?? [])].slice(0, maxListed),
  };
}

/** Returns the progress as one sentence. */
export function describeProgress(progress: SweepProgress): string {
  const { items, total, changes, pending, failed, refused = 0, requests, limit } = progress;
  const of = total === undefined ? '' : ` of ${total}`;
  const refusal = refused === 0 ? '' : `: ${describeRefusals(progress)}`;
  const rest = pending === 0 ? '' : `, ${pending} wanted and not made`;
  const others = failed - refused;
  const wrong = others === 0 ? '' : `, ${others} failed`;
  const end = limit === undefined ? '' : `: ${describeLimit(limit)}`;
  return `${items}${of} items${refusal}, ${changes} changes${rest}${wrong}, ${requests} requests${end}`;
}

/** Returns that a slot has changed as many items as its rule allows. */
export function describeLimit(items: number): string {
  return `at most ${items === 1 ? '1 item is' : `${items} items are`} changed in one slot`;
}

/** Returns which lists the forge refused: `refused in acme, GET /orgs/acme/actions/runners: 403, and 2 more`. */
function describeRefusals({ failures, refused = 0 }: SweepProgress): string {
  const first = failures.find((failure) => failure.refused !== undefined);
  if (first === undefined) return '';
  const more = refused === 1 ? '' : `, and ${refused - 1} more`;
  return `refused in ${first.item}, ${first.refused}${more}`;
}

/** What is counted again when a page is taken up from its beginning; what was changed and asked stays counted. */
type Recounted = {
  readonly items: number;
  readonly pending: number;
  readonly failed: number;
  readonly refused?: number;
  readonly failures: readonly SweepFailure[];
};

/** Where a sweep goes on, and how far it is. `before` is what was counted where it goes on. */
export type SweepCheckpoint = {
  readonly next: unknown;
  readonly progress: SweepProgress;
  readonly before?: Recounted;
};

/** Counts how a sweep goes, over all of its attempts: it continues the count of the checkpoint. */
export class SweepTally {
  readonly #clock: Clock;
  readonly #listingRequests: () => number;
  readonly #beganMs: number;
  readonly #earlier: SweepProgress;
  #counted: SweepProgress;
  #before: Recounted;
  #itemRequests = 0;
  #next: unknown;

  /** `listingRequests` returns how many requests were made to list items. */
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

  /** Returns what is counted so far, with requests and time. */
  progress(): SweepProgress {
    return {
      ...this.#counted,
      requests: this.#earlier.requests + this.#itemRequests + this.#listingRequests(),
      ms: this.#earlier.ms + Math.round(this.#clock.monotonicMs() - this.#beganMs),
    };
  }

  /** Returns where the sweep goes on after a crash. */
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

  /** Counts requests that were made beside those of the runs. */
  addRequests(requests: number): void {
    this.#itemRequests += requests;
  }

  /** Notes that the rule allows no more items in this slot. */
  reachLimit(limit: number | undefined): void {
    this.#counted = { ...this.#counted, limit };
  }

  /** Sets how many items there are, where that is known. */
  setTotal(total: number | undefined): void {
    this.#counted = { ...this.#counted, total: total ?? this.#counted.total };
  }

  /** Moves the checkpoint to the next page. */
  endPage(next: unknown): void {
    this.#next = next;
    this.#before = recountedOf(this.#counted);
  }
}

function recountedOf({ items, pending, failed, refused = 0, failures }: SweepProgress): Recounted {
  return { items, pending, failed, refused, failures };
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

/** How the latest sweep of a rule went. */
export type SweepResult = SweepProgress & {
  readonly slot: string;
  /** RFC 3339. */
  readonly endedAt: string;
  /** Things that are not as the rule wants them. */
  readonly drift: number;
  /** False where the budget of requests ran out before the last item. */
  readonly isComplete: boolean;
};

/** What sweeps keep between slots, by the rule's id. */
export class SweepStore {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Keeps where the next slot goes on; undefined where it begins anew. */
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
    // The border to the store: what is under this key was written by `keepResult` alone.
    return (await this.#store.recall(`sweep ${rule}`)) as SweepResult | undefined;
  }
}

/**
 * Counts a sweep that could not list everything as an incident. One that looked at every item there is (`isWhole`) ends
 * that incident, and the failures that earlier sweeps of the rule met: what still fails was counted again in this one.
 */
export async function noteSweepResult(
  store: Store,
  { id, level, source, revision, home }: LoadedRule,
  { result, isWhole }: { readonly result: SweepResult; readonly isWhole: boolean },
): Promise<void> {
  const { refused = 0, startedAt, endedAt, items } = result;
  if (refused > 0) {
    const about = home && 'repositoryId' in home ? { repositoryId: home.repositoryId } : {};
    const reason = shorten(`${items} items: ${describeRefusals(result)}`);
    const occurrence = { key: id, at: new Date(endedAt), reason, level, source, revision, ...about };
    await store.raise([{ kind: 'sweep-failed', ...occurrence }]);
    return;
  }
  if (!isWhole) return;
  await store.clear('sweep-failed', [id]);
  const failed = (await store.listIncidents()).some(
    ({ kind, key, isSweep }) => kind === 'rule-failed' && key === id && isSweep,
  );
  if (failed) await store.clear('rule-failed', [id], { before: new Date(startedAt) });
}
