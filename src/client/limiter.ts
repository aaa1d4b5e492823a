/**
 * Limits concurrent calls to one forge, and adapts the limit: a response that took much longer than the fastest ones, a
 * timeout or a "too many requests" halves it; quick responses increase it by one per full round.
 */
export interface Limiter {
  /** Runs the work when a slot is free. Rejects with the signal's reason if that is aborted meanwhile. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Reports the result of a call; `ms` is its duration. */
  observe(ms: number, overloaded: boolean): void;
  readonly limit: number;
}

/** Creates a limiter between 1 and `max` concurrent calls. */
export function createLimiter(options: { max: number }): Limiter {
  let limit = Math.min(4, options.max);
  let running = 0;
  let quickInARow = 0;
  let best = Number.POSITIVE_INFINITY;
  /** In call order. */
  const waiting: (() => void)[] = [];

  const startNext = (): void => {
    while (waiting.length > 0 && running < Math.floor(limit)) {
      running += 1;
      waiting.shift()?.();
    }
  };

  const waitForTurn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal?.reason);
      };
      const start = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      waiting.push(start);
      startNext();
    });

  return {
    get limit() {
      return Math.floor(limit);
    },
    async run(work, signal) {
      await waitForTurn(signal);
      try {
        return await work();
      } finally {
        running -= 1;
        startNext();
      }
    },
    observe(ms, overloaded) {
      // The best time decays slowly, so that a permanently slower forge is not limited forever.
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
