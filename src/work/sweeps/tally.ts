import type { Run } from '../../engine/record.ts';
import type { Clock } from '../../platform/clock.ts';
import { beginProgress, type SweepFailure, type SweepProgress, withFailures } from './progress.ts';

/** What is counted again when a page is taken up from its beginning; what was changed and asked stays counted. */
type Recounted = Pick<SweepProgress, 'items' | 'pending' | 'failed' | 'refused' | 'failures'>;

/** Where a sweep goes on, and how far it is. `before` is what was counted where it goes on. */
export type SweepCheckpoint = {
  readonly next: unknown;
  readonly progress: SweepProgress;
  readonly before?: Recounted;
};

/** Counts how a sweep goes, over all of its attempts. */
export interface SweepTally {
  /** Returns what is counted so far, with requests and time. */
  progress(): SweepProgress;
  /** Returns where the sweep goes on after a crash. */
  checkpoint(): SweepCheckpoint;
  addRun(run: Run): void;
  addFailure(failure: SweepFailure): void;
  /** Counts requests that were made beside those of the runs. */
  addRequests(requests: number): void;
  /** Notes that the rule allows no more items in this slot. */
  reachLimit(items: number | undefined): void;
  /** Sets how many items there are, where that is known. */
  setTotal(total: number | undefined): void;
  /** Moves the checkpoint to the next page. */
  endPage(next: unknown): void;
}

/** Creates the tally of an attempt, which continues that of the checkpoint. */
export function createTally(
  checkpoint: SweepCheckpoint | undefined,
  options: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly now: Date;
    /** Returns how many requests were made to list items. */
    readonly listingRequests: () => number;
  },
): SweepTally {
  const { clock, now, listingRequests } = options;
  const beganMs = clock.monotonicMs();
  let counted: SweepProgress = checkpoint
    ? { ...checkpoint.progress, ...checkpoint.before }
    : beginProgress(now);
  const earlier = counted;
  let before = recountedOf(counted);
  let itemRequests = 0;
  let next = checkpoint?.next;

  const progress = (): SweepProgress => ({
    ...counted,
    requests: earlier.requests + itemRequests + listingRequests(),
    ms: earlier.ms + Math.round(clock.monotonicMs() - beganMs),
  });

  return {
    progress,
    checkpoint: () => ({ next, progress: progress(), before }),
    addRun(run) {
      itemRequests += run.requests;
      counted = addOutcomes(counted, run);
    },
    addFailure(failure) {
      counted = withFailures(counted, [failure]);
    },
    addRequests(requests) {
      itemRequests += requests;
    },
    reachLimit(limit) {
      counted = { ...counted, limit };
    },
    setTotal(total) {
      counted = { ...counted, total: total ?? counted.total };
    },
    endPage(after) {
      next = after;
      before = recountedOf(counted);
    },
  };
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
