import type { Clock } from '../../src/platform/clock.ts';

/** Creates a clock that stands still and never sleeps. A test passes the parts that move. */
export function makeClock(parts: Partial<Clock> = {}): Clock {
  return { now: () => new Date(0), monotonicMs: () => 0, sleep: async () => {}, ...parts };
}
