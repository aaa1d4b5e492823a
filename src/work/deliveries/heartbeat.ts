import { ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Claim, Store } from '../../store/store.ts';
import { AttemptAborted } from './ending.ts';
import type { Timer } from './timer.ts';

/** Keeps a lease alive while its work goes on. */
export interface Heartbeat {
  /** Records progress: a hanging handler must not hold its lane for ever. */
  progress(): void;
  stop(): void;
}

/**
 * Sends four heartbeats per lease. Aborts the work when the lease is lost, or after `stallMs` without progress.
 */
export function startHeartbeat(
  claim: Claim,
  abortController: AbortController,
  options: { store: Pick<Store, 'heartbeat'>; timer: Timer; leaseMs: number; stallMs: number; log: Log },
): Heartbeat {
  const { store, timer, leaseMs, stallMs, log } = options;
  let sinceProgressMs = 0;
  let isBeating = true;
  const beat = async (): Promise<void> => {
    sinceProgressMs += leaseMs / 4;
    if (sinceProgressMs > stallMs) {
      abortController.abort(
        new AttemptAborted('retry', `no progress within ${Math.round(stallMs / 1_000)} s`),
      );
      return;
    }
    try {
      await store.heartbeat(claim, leaseMs);
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'lease-lost')
        abortController.abort(new AttemptAborted('lost', error.message));
      // Other errors may pass before the lease ends: three more heartbeats follow.
      else log.warn({ delivery: claim.id, error }, 'a heartbeat failed');
    }
    if (isBeating) callOff = timer(beat, leaseMs / 4);
  };
  let callOff = timer(beat, leaseMs / 4);
  return {
    progress() {
      sinceProgressMs = 0;
    },
    stop() {
      isBeating = false;
      callOff();
    },
  };
}
