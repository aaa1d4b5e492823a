/**
 * Bounds how many calls are under way at one forge, and adapts the bound: an answer that took much longer than the best
 * ones seen, a time-out or a "too many" halves it, quick answers let it grow again by one for each full round.
 */
export interface Limiter {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Tells how a call went; `ms` is its duration. */
  observe(ms: number, overloaded: boolean): void;
  readonly limit: number;
}

/** Creates a limiter that stays between 1 and `max` calls at once. */
export function createLimiter(options: { max: number }): Limiter {
  let limit = Math.min(4, options.max);
  let running = 0;
  let quickInARow = 0;
  let best = Number.POSITIVE_INFINITY;
  const waiting: (() => void)[] = [];

  const startNext = (): void => {
    while (running < Math.floor(limit) && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  };

  return {
    get limit() {
      return Math.floor(limit);
    },
    async run(work) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        startNext();
      });
      try {
        return await work();
      } finally {
        running -= 1;
        startNext();
      }
    },
    observe(ms, overloaded) {
      // The best time slowly forgets, so that a forge that became slower for good is not held back for ever.
      best = Math.min(best * 1.01, ms);
      const slow = ms > 2_000 && ms > best * 8;
      if (overloaded || slow) {
        limit = Math.max(1, limit / 2);
        quickInARow = 0;
        return;
      }
      quickInARow += 1;
      if (quickInARow >= limit) {
        limit = Math.min(options.max, limit + 1);
        quickInARow = 0;
      }
    },
  };
}
