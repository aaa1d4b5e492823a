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

/** Why the function is called: at an interval, after `wake`, or by `tick`. */
export type LookReason = 'poll' | 'woken' | 'asked';

/** Calls a function at intervals, and immediately after `wake`. Calls never overlap. */
export class WakeLoop {
  readonly #look: (why: LookReason) => Promise<void>;
  readonly #timer: Timer;
  readonly #pollMs: number;
  #state: 'resting' | 'started' | 'stopped' = 'resting';
  #isAwake = false;
  #looking: Promise<void> | undefined;
  #cancelPoll = (): void => {};

  /** `look` must not reject. */
  constructor(options: {
    readonly look: (why: LookReason) => Promise<void>;
    readonly timer: Timer;
    readonly pollMs: number;
  }) {
    this.#look = options.look;
    this.#timer = options.timer;
    this.#pollMs = options.pollMs;
  }

  start(): void {
    if (this.#state !== 'resting') return;
    this.#state = 'started';
    this.#cancelPoll = this.#timer(() => this.#poll(), 0);
  }

  /** Calls the function as soon as the event loop is free. No effect before `start` and after `stop`. */
  wake(): void {
    if (this.#state !== 'started' || this.#isAwake) return;
    this.#isAwake = true;
    setImmediate(() => this.#lookAgain());
  }

  /** Calls the function now, or joins the call in progress. */
  tick(): Promise<void> {
    return this.#tick('asked');
  }

  /** Starts no further call, and resolves when the one in progress has ended. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#cancelPoll();
    await this.#looking;
  }

  async #tick(why: LookReason): Promise<void> {
    // One at a time: a second call would count the same slots as free.
    this.#looking ??= this.#look(why).finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #poll(): Promise<void> {
    await this.#looking;
    if (this.#state === 'started') await this.#tick('poll');
    if (this.#state === 'started') this.#cancelPoll = this.#timer(() => this.#poll(), this.#pollMs);
  }

  async #lookAgain(): Promise<void> {
    this.#isAwake = false;
    // A delivery stored during a call may have been too late for it.
    await this.#looking;
    // The store may be closed as soon as `stop` resolves.
    if (this.#state !== 'stopped') await this.#tick('woken');
  }
}
