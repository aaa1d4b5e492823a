import type { Clock } from '../../src/platform/clock.ts';

/** A clock that stands still, and never sleeps; a test gives what moves. */
export function makeClock(parts: Partial<Clock> = {}): Clock {
  return { now: () => new Date(0), monotonicMs: () => 0, sleep: async () => {}, ...parts };
}
