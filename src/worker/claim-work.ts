import type { WorkerStore } from '../store/lease.ts';
import type { Claim } from '../store/store.ts';
import type { Breaker } from './breaker.ts';

/** Claims work for so many free places. */
type ClaimWork = (places: number) => Promise<readonly Claim[]>;

/**
 * Creates the function that claims as much work as there is room for. While the breaker is open it claims from
 * `localLanes` alone; where one delivery is tried after an outage, it takes one of a lane that did not fail in it.
 */
export function createClaimWork(options: {
  readonly store: Pick<WorkerStore, 'claim'>;
  readonly breaker: Pick<Breaker, 'state' | 'room' | 'suspects'>;
  readonly leaseMs: number;
  /** Lanes whose work needs no forge. */
  readonly localLanes: readonly string[];
}): ClaimWork {
  const { store, breaker, leaseMs, localLanes } = options;
  return async (places) => {
    if (breaker.state() === 'open' && localLanes.length > 0 && places > 0)
      return store.claim({ limit: places, leaseMs, only: localLanes });
    const limit = breaker.room(places);
    if (limit <= 0) return [];
    const avoid = breaker.state() === 'closed' ? [] : breaker.suspects();
    const claims = await store.claim({ limit, leaseMs, avoid });
    return claims.length > 0 || avoid.length === 0 ? claims : store.claim({ limit, leaseMs });
  };
}
