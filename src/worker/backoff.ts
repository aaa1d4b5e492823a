import type { Delivery } from '../store/store.ts';

export type BackoffOptions = {
  /** Wait after the first failed attempt; doubles with each. Default 10 s. */
  readonly firstMs?: number;
  /** Longest wait of our own making. Default 2 h. */
  readonly maxMs?: number;
  /** Attempts in all. Default 12. */
  readonly maxAttempts?: number;
  /** How long after the first failure the last attempt may begin. Default 24 h. */
  readonly maxAgeMs?: number;
  /** A number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
};

/** Returns what comes after a failed attempt: when to try again, or why not. */
export type Backoff = (
  delivery: Pick<Delivery, 'attempts' | 'failingSince'>,
  failure: { readonly now: Date; readonly retryAfterMs: number | undefined },
) => { readonly at: Date } | { readonly giveUp: string };

/**
 * Creates the schedule of retries: base 2, jitter of ±20 % so that a thousand deliveries that failed together do not come
 * back together, never before the instant that the other side asked for.
 */
export function createBackoff(options: BackoffOptions = {}): Backoff {
  const { firstMs = 10_000, maxMs = 7_200_000, maxAttempts = 12, maxAgeMs = 86_400_000 } = options;
  const random = options.random ?? Math.random;
  return ({ attempts, failingSince }, { now, retryAfterMs = 0 }) => {
    if (attempts >= maxAttempts) return { giveUp: `failed ${attempts} times` };
    const doubled = firstMs * 2 ** Math.min(attempts - 1, 40);
    const jittered = Math.min(doubled * (0.8 + 0.4 * random()), maxMs);
    const at = new Date(now.getTime() + Math.max(jittered, retryAfterMs));
    const since = failingSince ?? now;
    if (at.getTime() - since.getTime() > maxAgeMs) {
      return { giveUp: `failing since ${since.toISOString()}` };
    }
    return { at };
  };
}
