import { standardDeliveryLifetimeMs } from '../../engine/delivery-lifetime.ts';
import { type Clock, createSteadyClock, systemClock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { HandleEvent, HandleJob, WorkerStore } from '../../store/lease.ts';
import type { Claim } from '../../store/store.ts';
import { createAttempt } from './attempt.ts';
import { type BackoffOptions, createBackoff } from './backoff.ts';
import { type BreakerOptions, type BreakerState, createBreaker } from './breaker.ts';
import { createClaimWork } from './claim-work.ts';
import { createForgeWatch, type ForgeState } from './forge-watch.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createRecorder } from './recorder.ts';
import { createRoutedEvents } from './routed-events.ts';
import { createRouter } from './router.ts';
import { Tasks } from './tasks.ts';
import { createSleep, systemTimer, type Timer } from './timer.ts';
import { createWakeLoop, type LookReason } from './wake-loop.ts';

export type WorkerOptions = {
  readonly store: WorkerStore;
  readonly handle: HandleEvent;
  /** Absent: jobs become dead. */
  readonly handleJob?: HandleJob;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Probes the forge after a failure; rejects while it fails. Default: none, a delivery is tried instead. */
  readonly probe?: () => Promise<unknown>;
  /** Returns the number of answers of the forge so far; default: every attempt counts as answered. */
  readonly answers?: () => number;
  /** Default: `setTimeout`. */
  readonly timer?: Timer;
  /** Maximum concurrent deliveries; default 8. */
  readonly concurrency?: number;
  /** Length of a lease, with four heartbeats. Default 60 s. */
  readonly leaseMs?: number;
  /** Longest time without an end or an `advance`; then the attempt fails. Default 10 min. */
  readonly stallMs?: number;
  /** Polling interval for work without a wake-up: retries, jobs of other processes. Default 1 s. */
  readonly pollMs?: number | undefined;
  readonly backoff?: BackoffOptions | undefined;
  readonly breaker?: BreakerOptions;
  /** Lanes whose work needs no forge: it continues during an outage. Default: none. */
  readonly localLanes?: readonly string[];
};

/** Routes, claims and handles the deliveries and jobs of the store. */
export interface Worker {
  /** Starts the loop. */
  start(): void;
  /** Checks for work immediately, after something was stored. No effect before `start`. */
  wake(): void;
  /** Routes waiting deliveries, claims work and starts it; `idle` waits for its end. */
  tick(): Promise<void>;
  /** Resolves when no work is in progress. */
  idle(): Promise<void>;
  /** Stops claiming, waits up to `graceMs` for work in progress (default 8 s), then aborts and releases it. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  status(): { readonly active: number; readonly breaker: BreakerState; readonly forge: ForgeState };
}

/** Creates the worker, not started. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, log, clock = systemClock, timer = systemTimer } = options;
  const { answers = countUp() } = options;
  const { concurrency = 8, leaseMs = 60_000, stallMs = 600_000, pollMs = 1_000, localLanes = [] } = options;
  const sleep = createSleep(timer);
  const breaker = createBreaker({ ...options.breaker, clock });
  const watch = createForgeWatch({ breaker, probe: options.probe, clock, log, onAnswer: () => loop.wake() });
  const stopping = new AbortController();
  const events = createRoutedEvents();
  const router = createRouter({ store, events, log, timer, onOverdue: () => loop.wake() });
  const claimWork = createClaimWork({ store, breaker, leaseMs, localLanes });
  const record = createRecorder({ store, sleep, log, stopping: stopping.signal });
  const attempt = createAttempt({
    store,
    events,
    handle: options.handle,
    handleJob: options.handleJob,
    breaker,
    answers,
    sleep,
    clock: createSteadyClock({ clock, onJump: (byMs) => logJump(log, byMs) }),
    backoff: createBackoff(options.backoff),
    lifetimeMs: options.backoff?.lifetimeMs ?? standardDeliveryLifetimeMs,
    stopping: stopping.signal,
    onHostFailure: watch.failed,
  });
  const tasks = new Tasks();

  /** Whether the last claim left no place free. */
  let isFull = false;

  const claim = async (): Promise<readonly Claim[]> => {
    if (stopping.signal.aborted) return [];
    watch.look();
    const places = tasks.places(concurrency);
    const claims = await claimWork(places);
    isFull = claims.length >= places;
    return claims;
  };

  const look = async (why: LookReason): Promise<void> => {
    try {
      const hasMore = await router.route(why);
      for (const claimed of await claim())
        tasks.begin((abortController) => attend(claimed, abortController), loop.wake);
      if (hasMore) loop.wake();
    } catch (error) {
      // The next check is the next poll: a refusing disk must not cause a busy loop.
      log.error({ error: messageOf(error) }, 'the worker cannot use its store');
    }
  };

  /** Handles one delivery and records the ending. Never rejects. */
  const attend = async (claim: Claim, abortController: AbortController): Promise<void> => {
    const heartbeat = startHeartbeat(claim, abortController, { store, timer, leaseMs, stallMs, log });
    const ending = await tasks.handle(() => attempt(claim, abortController.signal, heartbeat));
    // Its place is free while its end is recorded.
    if (isFull) loop.wake();
    await record(claim, ending, abortController.signal);
    heartbeat.stop();
  };

  const loop = createWakeLoop({ look, timer, pollMs });

  return {
    start: loop.start,
    wake() {
      router.arrived();
      loop.wake();
    },
    tick: loop.tick,
    idle: () => tasks.idle(),
    async stop({ graceMs = 8_000 } = {}) {
      stopping.abort();
      await loop.stop();
      await tasks.finish(graceMs, sleep);
    },
    status: () => ({ active: tasks.size, breaker: breaker.state(), forge: watch.state() }),
  };
}

function countUp(): () => number {
  let count = 0;
  return () => {
    count += 1;
    return count;
  };
}

function logJump(log: Log, byMs: number): void {
  log.warn({ seconds: Math.round(byMs / 1_000) }, 'the system clock was set; ages follow it after an hour');
}
