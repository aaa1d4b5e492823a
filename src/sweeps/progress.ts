/** One item that a sweep could not finish. */
export type SweepFailure = { readonly item: string; readonly error: string };

/** How far a sweep is: part of its checkpoint, so that whoever follows it sees the same as after a restart. */
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
  /** The first of them. */
  readonly failures: readonly SweepFailure[];
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

/** Returns the progress with failures added. */
export function withFailures(progress: SweepProgress, failures: readonly SweepFailure[]): SweepProgress {
  return {
    ...progress,
    failed: progress.failed + failures.length,
    failures: [...progress.failures, ...failures].slice(0, maxListed),
  };
}

/** Returns the progress as one sentence. */
export function describeProgress({
  items,
  total,
  changes,
  pending,
  failed,
  requests,
}: SweepProgress): string {
  const of = total === undefined ? '' : ` of ${total}`;
  const rest = pending === 0 ? '' : `, ${pending} wanted and not made`;
  const wrong = failed === 0 ? '' : `, ${failed} failed`;
  return `${items}${of} items, ${changes} changes${rest}${wrong}, ${requests} requests`;
}
