import type { Timer } from './timer.ts';

/** Calls a function at intervals, and immediately after `wake`. Never two calls at a time. */
export interface WakeLoop {
  start(): void;
  /** Calls the function as soon as the event loop is free. No effect before `start` and after `stop`. */
  wake(): void;
  /** Calls the function now, or joins the call in progress. */
  tick(): Promise<void>;
  /** Starts no further call, and resolves when the one in progress is over. */
  stop(): Promise<void>;
}

/** Why the function is called: at an interval, after `wake`, or by `tick`. */
export type LookReason = 'poll' | 'woken' | 'asked';

/** Creates the loop, not started. */
export function createWakeLoop(options: {
  /** Must not reject. */
  readonly look: (why: LookReason) => Promise<void>;
  readonly timer: Timer;
  readonly pollMs: number;
}): WakeLoop {
  const { look, timer, pollMs } = options;
  let state: 'resting' | 'started' | 'stopped' = 'resting';
  let isAwake = false;
  let looking: Promise<void> | undefined;
  let cancelPoll = (): void => {};

  const tick = async (why: LookReason): Promise<void> => {
    // One at a time: a second call would count the same slots as free.
    looking ??= look(why).finally(() => {
      looking = undefined;
    });
    await looking;
  };

  const poll = async (): Promise<void> => {
    await looking;
    if (state === 'started') await tick('poll');
    if (state === 'started') cancelPoll = timer(poll, pollMs);
  };

  const lookAgain = async (): Promise<void> => {
    isAwake = false;
    // A delivery stored during a call may have been too late for it.
    await looking;
    // The store may be closed as soon as `stop` resolves.
    if (state !== 'stopped') await tick('woken');
  };

  return {
    start() {
      if (state !== 'resting') return;
      state = 'started';
      cancelPoll = timer(poll, 0);
    },
    wake() {
      if (state !== 'started' || isAwake) return;
      isAwake = true;
      setImmediate(lookAgain);
    },
    tick: () => tick('asked'),
    async stop() {
      state = 'stopped';
      cancelPoll();
      await looking;
    },
  };
}
