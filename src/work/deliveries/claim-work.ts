import type { WorkerStore } from '../../store/lease.ts';
import type { Claim } from '../../store/store.ts';
import type { Breaker } from './breaker.ts';

/** Claims work for a number of free slots. */
type ClaimWork = (places: number) => Promise<readonly Claim[]>;

/**
 * Creates the function that claims work for the free slots. While the breaker is open it claims only from
 * `localLanes`; the delivery that is tried after an outage is from a lane that did not fail during it.
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
