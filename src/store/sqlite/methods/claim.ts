import type { DatabaseSync } from 'node:sqlite';
import type { Leases } from '../../leases.ts';
import type { Store } from '../../store.ts';
import { createLanes } from '../claims/lanes.ts';
import { createRoutings } from '../claims/routing.ts';
import { createCrashes } from '../crashes.ts';
import { createRepeats } from '../repeats/repeats.ts';
import type { StoreContext } from './context.ts';
import type { SettledCount } from './settled-count.ts';

/** A clock that goes back by more than this was set: retries are held against it again. */
const clockToleranceMs = 1_000;

/**
 * Returns the methods of the store that give deliveries to lanes and claim them. With `takeBack`, what an earlier process
 * had claimed is given back now.
 */
export function createClaimMethods(
  database: DatabaseSync,
  options: {
    readonly context: StoreContext;
    readonly leases: Leases;
    readonly settled: SettledCount;
    readonly takeBack: boolean;
    /** Names a disk's refusal as a store error. */
    readonly asStoreError: (error: unknown) => unknown;
  },
): Pick<Store, 'unrouted' | 'route' | 'claim' | 'heartbeat'> {
  const { context, leases, settled, asStoreError } = options;
  const { writeUnsynced, read, requireWorker, clock } = context;
  const repeats = createRepeats(database);
  const routings = createRoutings(database, repeats);
  const lanes = createLanes(database, repeats);
  const crashes = createCrashes(database);
  /** What the wall clock was ahead of the monotonic one when retries were last held against it. */
  let aheadMs = Number.POSITIVE_INFINITY;
  if (options.takeBack) crashes.takeBack();

  const loadRepeats = async (): Promise<void> => {
    try {
      await repeats.load();
    } catch (error) {
      throw asStoreError(error);
    }
  };

  return {
    unrouted: async (limit) => read(() => routings.unrouted(limit)),
    async route(given) {
      requireWorker();
      await loadRepeats();
      // Not synced: after a power failure, the delivery is accepted and is routed again.
      settled.add(await writeUnsynced(() => routings.route(given, clock.now())));
    },
    async claim({ limit, leaseMs, avoid = [], only }) {
      requireWorker();
      await loadRepeats();
      const nowMs = clock.monotonicMs();
      const now = clock.now();
      const ended = leases.endedBy(nowMs);
      // Not synced: a power failure ends the attempt as well, and the delivery is claimed again either way.
      const claims = await writeUnsynced(() => {
        lanes.reclaim(ended);
        if (now.getTime() - nowMs < aheadMs - clockToleranceMs) lanes.clampRetries(now);
        aheadMs = now.getTime() - nowMs;
        const turn = crashes.turn(nowMs);
        if (turn === 'wait') return [];
        // What is handled alone comes in its own turn, and may need the forge.
        if (turn !== 'free' && only !== undefined) return [];
        const claims = turn === 'free' ? lanes.claim(limit, now, { avoid, only }) : [lanes.claimOne(turn)];
        // Recorded before the COMMIT: if the disk refused it, these leases would otherwise never end.
        for (const claim of claims) {
          leases.grant(claim.lease, nowMs + leaseMs);
          crashes.claimed(Number(claim.id), nowMs);
        }
        return claims;
      });
      for (const lease of ended) leases.end(lease);
      return claims;
    },
    async heartbeat(claim, leaseMs) {
      leases.extend(claim, clock.monotonicMs(), leaseMs);
    },
  };
}
