import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from '../platform/clock.ts';

/**
 * Maximum age of a response that is shared, if we have written nothing since. A fact that decides about a write may be
 * equally old (`engine/apply.ts`).
 */
const maxAgeMs = 250;

type SharedRead = { readonly value: Promise<unknown>; answeredAtMs: number | undefined };

const reads = new AsyncLocalStorage<Map<string, SharedRead>>();

/**
 * Runs work in which several parts read the same object, such as an attempt at a delivery: admission, rule files and
 * facts all read its repository. Nothing is shared between attempts, since a later one may follow a change.
 */
export function shareReads<Result>(work: () => Result): Result {
  return reads.run(new Map(), work);
}

/** Returns the value of a read, or of the same read within the current work. Rejected reads are not shared. */
export function readShared(key: string, read: () => Promise<unknown>): Promise<unknown> {
  const shared = reads.getStore();
  if (shared === undefined) return read();
  const known = shared.get(key);
  const isRecent =
    known !== undefined &&
    (known.answeredAtMs === undefined || systemClock.monotonicMs() - known.answeredAtMs <= maxAgeMs);
  if (isRecent) return known.value;
  const entry: SharedRead = { value: read(), answeredAtMs: undefined };
  shared.set(key, entry);
  entry.value.then(
    () => {
      entry.answeredAtMs = systemClock.monotonicMs();
    },
    () => {
      if (shared.get(key) === entry) shared.delete(key);
    },
  );
  return entry.value;
}

/** Forgets all reads of the current work. Called before and after each write. */
export function forgetReads(): void {
  reads.getStore()?.clear();
}
