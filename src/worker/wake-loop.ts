import type { Timer } from './timer.ts';

/** Calls a function again and again: at intervals, and at once after `wake`. Never two calls at a time. */
export interface WakeLoop {
  start(): void;
  /** Looks as soon as the event loop is free. Does nothing before `start` and after `stop`. */
  wake(): void;
  /** Looks now; joins the look that is under way. */
  tick(): Promise<void>;
  /** Begins no further look, and resolves when the one under way is over. */
  stop(): Promise<void>;
}

/** Creates the loop, at rest. `look` must not reject. */
export function createWakeLoop(options: {
  readonly look: () => Promise<void>;
  readonly timer: Timer;
  readonly pollMs: number;
}): WakeLoop {
  const { look, timer, pollMs } = options;
  let state: 'resting' | 'started' | 'stopped' = 'resting';
  let isAwake = false;
  let looking: Promise<void> | undefined;
  let cancelPoll = (): void => {};

  const tick = async (): Promise<void> => {
    // One at a time: a second would count the same places as free.
    looking ??= look().finally(() => {
      looking = undefined;
    });
    await looking;
  };

  const poll = async (): Promise<void> => {
    await tick();
    if (state === 'started') cancelPoll = timer(poll, pollMs);
  };

  const lookAgain = async (): Promise<void> => {
    isAwake = false;
    // What was stored while a look was under way may have come too late for it.
    await looking;
    // The store may be closed as soon as `stop` has seen that nothing is under way.
    if (state !== 'stopped') await tick();
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
    tick,
    async stop() {
      state = 'stopped';
      cancelPoll();
      await looking;
    },
  };
}
