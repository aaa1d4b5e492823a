import { standardDeliveryLifetimeMs } from '../../engine/limits.ts';
import { Slots } from '../../platform/cache/slots.ts';
import { type Clock, createSteadyClock, systemClock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { holdWrites } from '../../platform/write-gate.ts';
import type { HandleEvent, HandleJob, WorkerStore } from '../../store/leases.ts';
import type { Claim, Routing } from '../../store/store.ts';
import {
  AttemptAborted,
  type BackoffOptions,
  createAttempt,
  createBackoff,
  createRecorder,
  type Ending,
  type OnRecorded,
  startHeartbeat,
} from './attempt.ts';
import { Breaker, type BreakerOptions, type BreakerState, type ForgeState, ForgeWatch } from './breaker.ts';
import { RoutedEvents, Router } from './router.ts';
import { createSleep, type LookReason, type Sleep, systemTimer, type Timer, WakeLoop } from './wake-loop.ts';

export type WorkerOptions = {
  readonly store: WorkerStore;
  readonly handle: HandleEvent;
  /** Absent: jobs become dead. */
  readonly handleJob?: HandleJob;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Probes the forge after a failure; rejects while the forge fails. Default: none, a delivery is tried instead. */
  readonly probe?: () => Promise<unknown>;
  /** Returns the number of forge responses so far; default: every attempt counts as answered. */
  readonly answers?: (() => number) | undefined;
  /** Default: `setTimeout`. */
  readonly timer?: Timer;
  /** Maximum number of deliveries handled concurrently; default 8. */
  readonly concurrency?: number | undefined;
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
  /** Called with runs that were stored, and the repository that they are about. */
  readonly onRecorded?: OnRecorded | undefined;
  /** Called with the ending of an attempt once it is stored. */
  readonly onEnded?: ((claim: Claim, ending: Ending) => void) | undefined;
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
  const { answers = countUp(), onRecorded = () => {}, onEnded = () => {} } = options;
  const { concurrency = 8, leaseMs = 60_000, stallMs = 600_000, pollMs = 1_000, localLanes = [] } = options;
  const sleep = createSleep(timer);
  const breaker = new Breaker(clock, options.breaker);
  const watch = new ForgeWatch({ breaker, probe: options.probe, clock, log, onAnswer: () => loop.wake() });
  const stopping = new AbortController();
  const events = new RoutedEvents();
  const router = new Router({ store, events, log, timer, onOverdue: () => loop.wake() });
  const claimWork = createClaimWork({ store, breaker, leaseMs, localLanes });
  const record = createRecorder({ store, sleep, log, stopping: stopping.signal, onRecorded, onEnded });
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
    onHostFailure: (error) => watch.failed(error),
    onRecorded,
  });
  const pace = new Pace();
  const tasks = new Tasks(concurrency, timer);

  /** Whether the last claim used all free slots. */
  let isFull = false;

  const claim = async (): Promise<readonly Claim[]> => {
    if (stopping.signal.aborted) return [];
    watch.look();
    const places = tasks.places(breaker.state() === 'closed' ? pace.ahead : 1);
    const prepared = router.takePrepared();
    const startMs = clock.monotonicMs();
    const claims = await claimWork(
      places,
      prepared.map(({ routing }) => routing),
    );
    if (claims.length > 0) pace.claimed(clock.monotonicMs() - startMs);
    router.routed(prepared);
    isFull = claims.length >= places;
    return claims;
  };

  const look = async (why: LookReason): Promise<void> => {
    try {
      const hasMore = await router.route(why);
      for (const claimed of await claim())
        tasks.begin(
          (abortController) => attend(claimed, abortController),
          () => loop.wake(),
        );
      if (hasMore) loop.wake();
    } catch (error) {
      router.arrived();
      // The next check is the next poll: a refusing disk must not cause a busy loop.
      log.error({ error: messageOf(error) }, 'the worker cannot use its store');
    }
  };

  /** Handles one delivery and records the ending. Never rejects. */
  const attend = async (claim: Claim, abortController: AbortController): Promise<void> => {
    const heartbeat = startHeartbeat(claim, abortController, { store, timer, leaseMs, stallMs, log });
    const { durable } = claim;
    if (durable !== undefined) {
      durable.catch(() =>
        abortController.abort(new AttemptAborted('released', 'its delivery could not be stored')),
      );
      holdWrites(abortController.signal, durable);
    }
    // The delivery that tries a forge after an outage begins beside attempts that still wait for the forge.
    const needsSlot = breaker.state() === 'closed';
    const { signal } = abortController;
    const ending = await tasks.handle({ signal, needsSlot }, async (turn): Promise<Ending> => {
      // The state of the forge is unknown to a claim that waited: it is claimed again when the breaker permits it.
      if (turn === 'late' || (turn === 'waited' && breaker.state() !== 'closed')) {
        if (turn === 'late') pace.slow();
        return { how: 'released', reason: 'no slot was free', isUnbegun: true };
      }
      const startMs = clock.monotonicMs();
      const ended = await attempt(claim, abortController.signal, heartbeat);
      pace.handled(clock.monotonicMs() - startMs);
      return ended;
    });
    // The slot of the attempt is free while its ending is recorded.
    if (isFull) loop.wake();
    await record(claim, ending, abortController.signal);
    heartbeat.stop();
  };

  const loop = new WakeLoop({ look, timer, pollMs });

  return {
    start() {
      store.onCommitted?.((work) => {
        router.prepare(work);
        loop.wake();
      });
      loop.start();
    },
    wake() {
      router.arrived();
      loop.wake();
    },
    tick: () => loop.tick(),
    idle: () => tasks.idle(),
    async stop({ graceMs = 8_000 } = {}) {
      stopping.abort();
      await loop.stop();
      tasks.endWaits();
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

type Task = { readonly cut: AbortController; readonly done: Promise<void> };

/** Number of claims for each slot while attempts are quicker than a claim. */
const maxAhead = 4;
/** Duration of a claim below which the number of claims does not matter. A claim in a file takes less. */
const cheapClaimMs = 1;
/** Weight of the last duration in an average. */
const newest = 1 / 8;
/** Assumed duration of an attempt at first: some thirty quick attempts have to follow. */
const slowAttemptMs = 100;

/**
 * Decides how many deliveries are claimed ahead. Most events concern no rule, and end sooner than PostgreSQL responds to
 * a claim; the claims then limit a process. Claims ahead wait for a slot, at most for `maxWaitMs`.
 */
class Pace {
  #claimMs = 0;
  #attemptMs = slowAttemptMs;

  /** Number of claims for each slot. */
  get ahead(): number {
    return this.#claimMs >= cheapClaimMs && this.#attemptMs < this.#claimMs ? maxAhead : 1;
  }

  claimed(ms: number): void {
    this.#claimMs += (ms - this.#claimMs) * newest;
  }

  handled(ms: number): void {
    this.#attemptMs += (ms - this.#attemptMs) * newest;
  }

  /** Records that attempts have become slow, before one has ended. */
  slow(): void {
    this.#attemptMs = slowAttemptMs;
  }
}

/**
 * Maximum number of endings that are recorded in parallel with further attempts. If the store is slow, those attempts
 * wait for it.
 */
const maxRecorded = 16;
/** Time that a claim waits for a slot. Then it is given back, because another process may have one. */
const maxWaitMs = 250;

/** How a task got its slot. `late`: it got none. */
type Turn = 'at once' | 'waited' | 'late';

/** The attempts in progress, those that wait for a slot, and those whose ending is being recorded. */
class Tasks {
  readonly #tasks = new Slots<Task>();
  readonly #concurrency: number;
  readonly #timer: Timer;
  readonly #waiting = new Set<(turn: Turn) => void>();
  #handled = 0;

  constructor(concurrency: number, timer: Timer) {
    this.#concurrency = concurrency;
    this.#timer = timer;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /**
   * Returns how many tasks may begin, with `ahead` tasks for each slot. A task whose ending is being recorded has freed
   * its slot.
   */
  places(ahead: number): number {
    const all = this.#concurrency * ahead;
    return Math.min(all - this.#handled - this.#waiting.size, all + maxRecorded - this.#tasks.size);
  }

  /** Calls the handler of a task: as soon as a slot is free, or with `late`; at once if it needs none. */
  async handle<Result>(
    { signal, needsSlot }: { readonly signal: AbortSignal; readonly needsSlot: boolean },
    work: (turn: Turn) => Promise<Result>,
  ): Promise<Result> {
    let turn: Turn = 'at once';
    // A slot that becomes free is passed on, and stays counted.
    if (!needsSlot || this.#handled < this.#concurrency) this.#handled += 1;
    else turn = await this.#wait(signal);
    if (turn === 'late') return work(turn);
    try {
      return await work(turn);
    } finally {
      const [next] = this.#waiting;
      if (next === undefined || this.#handled > this.#concurrency) this.#handled -= 1;
      else next('waited');
    }
  }

  /** Ends the waits for a slot. */
  endWaits(): void {
    for (const end of [...this.#waiting]) end('late');
  }

  #wait(signal: AbortSignal): Promise<Turn> {
    return new Promise((resolve) => {
      const end = (turn: Turn): void => {
        this.#waiting.delete(end);
        cancel();
        signal.removeEventListener('abort', abort);
        resolve(turn);
      };
      const abort = (): void => end('late');
      const cancel = this.#timer(abort, maxWaitMs);
      signal.addEventListener('abort', abort);
      this.#waiting.add(end);
    });
  }

  /** Runs an attempt, which must not reject. Aborting `cut` ends it early. `onEnd` is called at its end. */
  begin(run: (abortController: AbortController) => Promise<void>, onEnd: () => void): void {
    const abortController = new AbortController();
    const done = run(abortController).finally(() => {
      this.#tasks.take(slot);
      onEnd();
    });
    const slot = this.#tasks.add({ cut: abortController, done });
  }

  /** Resolves when no attempt is in progress. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all([...this.#tasks].map((task) => task.done));
  }

  /** Waits up to `graceMs` for the attempts in progress, then aborts them and waits for their ends. */
  async finish(graceMs: number, sleep: Sleep): Promise<void> {
    const finished = new AbortController();
    await Promise.race([this.idle(), sleep(graceMs, finished.signal)]);
    finished.abort();
    for (const task of this.#tasks) task.cut.abort(new AttemptAborted('released', 'the process is stopping'));
    await this.idle();
  }
}

/** Routes prepared deliveries, and claims work for a number of free slots. */
type ClaimWork = (places: number, routings: readonly Routing[]) => Promise<readonly Claim[]>;

/**
 * Creates the function that claims work for the free slots. While the breaker is open it claims only from
 * `localLanes`; the delivery that is tried after an outage is from a lane that did not fail during it.
 */
export function createClaimWork(options: {
  readonly store: WorkerStore;
  readonly breaker: Breaker;
  readonly leaseMs: number;
  /** Lanes whose work needs no forge. */
  readonly localLanes: readonly string[];
}): ClaimWork {
  const { store, breaker, leaseMs, localLanes } = options;
  return async (places, routings) => {
    if (breaker.state() === 'open' && localLanes.length > 0 && places > 0)
      return store.claim({ limit: places, leaseMs, only: localLanes, routings });
    const limit = breaker.room(places);
    if (limit <= 0) {
      if (routings.length > 0) await store.route(routings);
      return [];
    }
    const avoid = breaker.state() === 'closed' ? [] : breaker.suspects();
    const claims = await store.claim({ limit, leaseMs, avoid, routings });
    return claims.length > 0 || avoid.length === 0 ? claims : store.claim({ limit, leaseMs });
  };
}
