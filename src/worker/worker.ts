import { type Clock, createSteadyClock, systemClock } from '../clock.ts';
import { standardDeliveryLifetimeMs } from '../engine/delivery-lifetime.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { HandleEvent, HandleJob, WorkerStore } from '../store/lease.ts';
import type { Claim } from '../store/store.ts';
import { createAttempt } from './attempt.ts';
import { type BackoffOptions, createBackoff } from './backoff.ts';
import { type BreakerOptions, type BreakerState, createBreaker } from './breaker.ts';
import { Cut } from './ending.ts';
import { createForgeWatch, type ForgeState } from './forge-watch.ts';
import { startHeart } from './heartbeat.ts';
import { createRecorder } from './recorder.ts';
import { createRouter } from './router.ts';
import { createSleep, systemTimer, type Timer } from './timer.ts';

export type WorkerOptions = {
  readonly store: WorkerStore;
  readonly handle: HandleEvent;
  /** Without it jobs die. */
  readonly handleJob?: HandleJob;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Asks the forge one small question after it failed; rejects while it does. Default: none, it is tried by a delivery. */
  readonly probe?: () => Promise<unknown>;
  /** Returns how many answers the forge has given so far; default: every attempt counts as answered. */
  readonly answers?: () => number;
  /** Default: `setTimeout`. */
  readonly timer?: Timer;
  /** Deliveries handled at once; default 8. */
  readonly concurrency?: number;
  /** Length of a lease; the heart beats four times in it. Default 60 s. */
  readonly leaseMs?: number;
  /** Longest time without an end or an `advance`, then the attempt has failed. Default 10 min. */
  readonly stallMs?: number;
  /** How often to look for work that was not announced: retries, jobs of other processes. Default 1 s. */
  readonly pollMs?: number;
  readonly backoff?: BackoffOptions | undefined;
  readonly breaker?: BreakerOptions;
  /** Lanes whose work needs no forge: it goes on while the forge is away. Default: none. */
  readonly localLanes?: readonly string[];
};

/** The loop that routes, claims and handles what the store holds. */
export interface Worker {
  /** Looks for work until stopped. */
  start(): void;
  /** Looks for work at once: something was stored. Does nothing before `start`. */
  wake(): void;
  /** Routes what waits, claims what may run and begins it; `idle` waits for the ends. */
  tick(): Promise<void>;
  /** Resolves when nothing is being handled. */
  idle(): Promise<void>;
  /** Stops claiming, waits up to `graceMs` for what is being handled (default 8 s), then cuts it and gives it back. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  status(): { readonly active: number; readonly breaker: BreakerState; readonly forge: ForgeState };
}

type Task = { readonly cut: AbortController; readonly done: Promise<void> };

/** Creates the worker, at rest. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, log, clock = systemClock, timer = systemTimer } = options;
  const { answers = countUp() } = options;
  const { concurrency = 8, leaseMs = 60_000, stallMs = 600_000, pollMs = 1_000, localLanes = [] } = options;
  const sleep = createSleep(timer);
  const breaker = createBreaker({ ...options.breaker, clock });
  const watch = createForgeWatch({ breaker, probe: options.probe, clock, log, onAnswer: () => wake() });
  const stopping = new AbortController();
  const route = createRouter({ store, log });
  const record = createRecorder({ store, sleep, log, stopping: stopping.signal });
  const attempt = createAttempt({
    store,
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
  const tasks = new Set<Task>();
  let isStarted = false;
  let isAwake = false;
  let ticking: Promise<void> | undefined;
  let cancelPoll = (): void => {};

  /** Claims as many as there is room for; where one is tried after an outage, of a lane that did not fail in it. */
  const claim = async (): Promise<readonly Claim[]> => {
    if (stopping.signal.aborted) return [];
    watch.look();
    const places = concurrency - tasks.size;
    if (breaker.state() === 'open' && localLanes.length > 0 && places > 0)
      return store.claim({ limit: places, leaseMs, only: localLanes });
    const limit = breaker.room(places);
    if (limit <= 0) return [];
    const avoid = breaker.state() === 'closed' ? [] : breaker.suspects();
    const claims = await store.claim({ limit, leaseMs, avoid });
    return claims.length > 0 || avoid.length === 0 ? claims : store.claim({ limit, leaseMs });
  };

  const look = async (): Promise<void> => {
    try {
      const hasMore = await route();
      for (const claimed of await claim()) begin(claimed);
      if (hasMore) wake();
    } catch (error) {
      // The next look comes with the poll: a disk that refuses is not asked in a circle.
      log.error({ error: messageOf(error) }, 'the worker cannot use its store');
    }
  };

  const tick = async (): Promise<void> => {
    // One at a time: a second would count the same places as free.
    ticking ??= look().finally(() => {
      ticking = undefined;
    });
    await ticking;
  };

  const begin = (claim: Claim): void => {
    const cut = new AbortController();
    const done = attend(claim, cut).finally(() => {
      tasks.delete(task);
      wake();
    });
    const task = { cut, done };
    tasks.add(task);
  };

  /** Handles one delivery and records how that ended. Never rejects. */
  const attend = async (claim: Claim, cut: AbortController): Promise<void> => {
    const heart = startHeart(claim, cut, { store, timer, leaseMs, stallMs, log });
    const ending = await attempt(claim, cut.signal, heart);
    await record(claim, ending, cut.signal);
    heart.stop();
  };

  const poll = async (): Promise<void> => {
    await tick();
    if (isStarted && !stopping.signal.aborted) cancelPoll = timer(poll, pollMs);
  };

  const lookAgain = async (): Promise<void> => {
    isAwake = false;
    // What was stored while a look was under way may have come too late for it.
    await ticking;
    // The store may be closed as soon as `stop` has seen that nothing is under way.
    if (!stopping.signal.aborted) await tick();
  };

  const wake = (): void => {
    if (!isStarted || stopping.signal.aborted || isAwake) return;
    isAwake = true;
    setImmediate(lookAgain);
  };

  const idle = async (): Promise<void> => {
    while (tasks.size > 0) await Promise.all([...tasks].map((task) => task.done));
  };

  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      cancelPoll = timer(poll, 0);
    },
    wake,
    tick,
    idle,
    async stop({ graceMs = 8_000 } = {}) {
      stopping.abort();
      cancelPoll();
      await ticking;
      const finished = new AbortController();
      await Promise.race([idle(), sleep(graceMs, finished.signal)]);
      finished.abort();
      for (const task of tasks) task.cut.abort(new Cut('released', 'the process is stopping'));
      await idle();
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
