import { setTimeout as wait } from 'node:timers/promises';

/** The wall clock. */
export interface WallClock {
  /** Returns the wall-clock time. The wall clock may be set, wrong at boot, or corrected by hours. */
  now(): Date;
}

/** The monotonic clock. */
export interface MonotonicClock {
  /** Returns the milliseconds of a monotonic clock, for durations, ages and leases. */
  monotonicMs(): number;
}

/** Time source, passed as an argument so that tests can supply their own. */
export interface Clock extends WallClock, MonotonicClock {
  /** Resolves after the given number of milliseconds; rejects as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<unknown>;
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
};

/**
 * If the wall clock and the monotonic clock differ by more than this, the wall clock is assumed to have been set, not
 * gradually corrected.
 */
const jumpMs = 60_000;
/** Time after which a new wall time is accepted. */
const believedAfterMs = 3_600_000;

/**
 * Creates a wall clock for irreversible decisions, such as discarding work because of its age. It continues steadily
 * when the wall clock jumps, and adopts the new time once it has lasted for an hour, so nothing expires when a clock is
 * set by mistake and then set back. `onJump` is called once for each jump.
 */
export function createSteadyClock(options: {
  readonly clock: Clock;
  readonly onJump?: (byMs: number) => void;
}): Clock {
  const { clock, onJump } = options;
  let agreed = { wallMs: clock.now().getTime(), atMs: clock.monotonicMs() };
  let jump: { readonly byMs: number; readonly atMs: number } | undefined;
  return {
    ...clock,
    now() {
      const wallMs = clock.now().getTime();
      const atMs = clock.monotonicMs();
      const expectedMs = agreed.wallMs + (atMs - agreed.atMs);
      const byMs = wallMs - expectedMs;
      const isJump = Math.abs(byMs) > jumpMs;
      if (isJump && (jump === undefined || Math.abs(byMs - jump.byMs) > jumpMs)) {
        jump = { byMs, atMs };
        onJump?.(byMs);
      }
      if (isJump && jump !== undefined && atMs - jump.atMs < believedAfterMs) return new Date(expectedMs);
      agreed = { wallMs, atMs };
      jump = undefined;
      return new Date(wallMs);
    },
  };
}
