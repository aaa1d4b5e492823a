/** Calls `run` once after this many milliseconds; the returned function cancels the call. */
export type Timer = (run: () => void, ms: number) => () => void;

/** Resolves after this many milliseconds, or as soon as the signal is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** The timer of the runtime, which runs on the monotonic clock. */
export const systemTimer: Timer = (run, ms) => {
  const timeout = setTimeout(run, ms);
  return () => clearTimeout(timeout);
};

export function createSleep(timer: Timer): Sleep {
  return (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const cancel = timer(resolve, ms);
      signal?.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
}
