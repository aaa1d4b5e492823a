import { BoundedMap } from '../cache/bounded-map.ts';
import type { WallClock } from '../clock.ts';

/** Counts the failures of each address within a minute, in a table of bounded size. */
export interface FailureThrottle {
  /** Returns whether the address has reached the limit; its requests are then rejected unread. Counts nothing. */
  isBlocked(address: string): boolean;
  /** Records a failure; returns whether the address has exceeded the limit. */
  recordFailure(address: string): boolean;
}

/** Maximum number of addresses; the address whose last failure is oldest is evicted. */
const maxAddresses = 10_000;
const windowMs = 60_000;

/** Creates a throttle. Only failures are counted: an address without failures is never slowed down. */
export function createFailureThrottle({
  perMinute,
  clock,
}: {
  perMinute: number;
  clock: WallClock;
}): FailureThrottle {
  const seen = new BoundedMap<string, { startMs: number; failures: number }>(maxAddresses);
  const find = (address: string, nowMs: number) => {
    const last = seen.get(address);
    return last !== undefined && Math.abs(nowMs - last.startMs) < windowMs ? last : undefined;
  };
  return {
    isBlocked: (address) => (find(address, clock.now().getTime())?.failures ?? 0) >= perMinute,
    recordFailure(address) {
      const nowMs = clock.now().getTime();
      const entry = find(address, nowMs) ?? { startMs: nowMs, failures: 0 };
      entry.failures += 1;
      // Set again, so that the map is ordered by the last failure.
      seen.set(address, entry);
      return entry.failures > perMinute;
    },
  };
}
