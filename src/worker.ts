import type { Event } from './contract/events.ts';
import { parsePayload } from './contract/parse-payload.ts';
import type { Run } from './engine/record.ts';
import { messageOf, ReeveError } from './errors.ts';
import type { Log } from './log.ts';
import type { Claim, Store } from './store/store.ts';
import { type BackoffOptions, createBackoff } from './worker/backoff.ts';
import { type BreakerOptions, createBreaker } from './worker/breaker.ts';
import { Cut, type Ending, endingOf } from './worker/ending.ts';
import { type Heart, startHeart, type Timer } from './worker/heart.ts';
import { eventOf, routingOf } from './worker/routing.ts';

/** What a handler may do with the lease of its work. */
export type Lease = {
  /** Aborted when the attempt is over before the handler is: what it does after that is not recorded. */
  readonly signal: AbortSignal;
  /** Aborted when the process is asked to stop: long work ends at its next step by throwing what `giveBack` returns. */
  readonly stopping: AbortSignal;
  /** Returns what to throw so that the work returns to its place as if it had not been begun, with its checkpoint. */
  giveBack(reason: string): Error;
  /** Records a job's part and where to go on after a crash, together. Also shows that the work does not hang. */
  advance(part: { runs: readonly Run[]; repositoryId?: number; checkpoint: unknown }): Promise<void>;
};

/** What a handler did with a delivery. */
export type Handled = {
  readonly runs: readonly Run[];
  /** Why there is no run, for people: kept with the delivery. */
  readonly reason?: string;
};

/** What the worker needs of the store. */
export type WorkerStore = Pick<
  Store,
  'unrouted' | 'route' | 'claim' | 'heartbeat' | 'settle' | 'advance' | 'retry' | 'release' | 'bury'
>;

export type WorkerOptions = {
  readonly store: WorkerStore;
  /** Handles a forge's event; its runs are appended as the delivery is settled. */
  readonly handle: (delivery: Claim, event: Event, lease: Lease) => Promise<Handled>;
  /** Handles a job of our own; `payload` is what was enqueued. Without it jobs die. */
  readonly handleJob?: (job: Claim, payload: unknown, lease: Lease) => Promise<readonly Run[]>;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: { now(): Date };
  /** Default: `setTimeout`. */
  readonly timer?: Timer;
  /** Deliveries handled at once; default 8. */
  readonly concurrency?: number;
  /** Length of a lease; the heart beats four times in it. Default 60 s. */
  readonly leaseMs?: number;
  /** Longest time without an end or an `advance`, then the attempt has failed. Default 10 min. */
  readonly stallMs?: number;
  /** How often to look for work that nobody announced: retries, jobs of other processes. Default 1 s. */
  readonly pollMs?: number;
  readonly backoff?: BackoffOptions;
  readonly breaker?: BreakerOptions;
  /** Told how each delivery that was claimed or routed ended: for metrics. */
  readonly onEnd?: (how: Ending['how'], eventType: string) => void;
};

/** A loop that knows nothing: claim, handle, and say how it ended. */
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
  status(): { readonly active: number; readonly breaker: 'closed' | 'open' | 'half-open' };
}

type Task = { readonly cut: AbortController; readonly done: Promise<void> };

/** Deliveries routed between two claims: parsing them must not keep the lanes waiting. */
const routingBatch = 200;

/** Time that a handler has to come to its end once its attempt is over. */
const endingMs = 1_000;

const systemTimer: Timer = (run, ms) => {
  const timeout = setTimeout(run, ms);
  return () => clearTimeout(timeout);
};

/** Creates the worker, at rest. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, log, clock = { now: () => new Date() }, timer = systemTimer, onEnd = () => {} } = options;
  const { concurrency = 8, leaseMs = 60_000, stallMs = 600_000, pollMs = 1_000 } = options;
  const maxAttempts = options.backoff?.maxAttempts ?? 12;
  const backoff = createBackoff(options.backoff);
  const breaker = createBreaker(options.breaker);
  const tasks = new Set<Task>();
  const stopping = new AbortController();
  let isStarted = false;
  let isStopping = false;
  let isAwake = false;
  let ticking: Promise<void> | undefined;
  let callOffPoll = (): void => {};

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const callOff = timer(resolve, ms);
      signal?.addEventListener('abort', () => {
        callOff();
        resolve();
      });
    });

  const free = (): number => {
    const state = breaker.state(clock.now());
    if (isStopping || state === 'open') return 0;
    return state === 'half-open' ? 1 - tasks.size : concurrency - tasks.size;
  };

  /** Returns whether there may be more. */
  const route = async (): Promise<boolean> => {
    const deliveries = await store.unrouted(routingBatch);
    if (deliveries.length === 0) return false;
    const routed = deliveries.map((delivery) => ({ delivery, routing: routingOf(delivery) }));
    await store.route(routed.map(({ routing }) => routing));
    for (const { delivery, routing } of routed) {
      if (routing.to === 'lane') continue;
      if (routing.to === 'dead') {
        log.warn({ delivery: delivery.id, reason: routing.reason }, 'a delivery is malformed');
      }
      onEnd(routing.to, delivery.eventType);
    }
    return true;
  };

  const look = async (): Promise<void> => {
    try {
      const hasMore = await route();
      const limit = free();
      if (limit > 0) for (const claim of await store.claim({ limit, leaseMs })) begin(claim);
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
    const how = await record(claim, ending, cut.signal);
    heart.stop();
    onEnd(how, claim.eventType);
  };

  const attempt = async (claim: Claim, signal: AbortSignal, heart: Heart): Promise<Ending> => {
    const startedAt = clock.now();
    if (claim.attempts > maxAttempts) {
      return { how: 'dead', reason: `begun ${maxAttempts} times and never ended: it takes the process down` };
    }
    const work = handle(claim, signal, heart);
    try {
      const handled = await Promise.race([work, rejectionOf(signal)]);
      breaker.reached();
      return { how: 'settled', ...handled };
    } catch (error) {
      // Its calls end with the signal. What it has written by then is recorded while the lease is still held.
      if (signal.aborted) await Promise.race([work.catch(() => {}), sleep(endingMs)]);
      if (error instanceof ReeveError && error.code === 'forge-unreachable') {
        breaker.failed(startedAt, clock.now());
      } else if (!(error instanceof Cut)) {
        breaker.reached();
      }
      return endingOf(error, claim, backoff, clock.now());
    }
  };

  const handle = async (claim: Claim, signal: AbortSignal, heart: Heart): Promise<Handled> => {
    const lease: Lease = {
      signal,
      stopping: stopping.signal,
      giveBack: (reason) => new Cut('released', reason),
      async advance(part) {
        heart.progress();
        await store.advance(claim, part);
      },
    };
    if (claim.door === 'webhook') return options.handle(claim, eventOf(claim), lease);
    if (options.handleJob === undefined) {
      throw new ReeveError('internal', `nobody handles jobs of kind ${claim.eventType}`);
    }
    return { runs: await options.handleJob(claim, parsePayload(claim.body), lease) };
  };

  /** Records an ending; as long as the disk refuses, again and again: the work is done and must not be done twice. */
  const record = async (claim: Claim, ending: Ending, signal: AbortSignal): Promise<Ending['how']> => {
    for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 30_000)) {
      try {
        await write(claim, ending);
        logEnding(claim, ending);
        return ending.how;
      } catch (error) {
        const mayPass = error instanceof ReeveError && error.code === 'store-unwritable' && !isStopping;
        log.warn(
          { delivery: claim.id, error: messageOf(error) },
          `could not record that it was ${ending.how}`,
        );
        if (!mayPass) return 'lost';
        await sleep(waitMs, signal);
        if (signal.aborted) return 'lost';
      }
    }
  };

  const write = async (claim: Claim, ending: Ending): Promise<void> => {
    if (ending.how === 'settled') return store.settle(claim, ending.runs, ending.reason);
    if (ending.how === 'retry') return store.retry(claim, ending);
    if (ending.how === 'dead') return store.bury(claim, ending.reason);
    if (ending.how === 'released') return store.release(claim);
  };

  const logEnding = (claim: Claim, ending: Ending): void => {
    const { id, eventType, attempts, entry } = claim;
    if (ending.how === 'settled') log.debug({ delivery: id, eventType, attempts }, 'settled');
    else log.warn({ delivery: id, eventType, attempts, entry, ...ending }, `a delivery is ${ending.how}`);
  };

  const poll = async (): Promise<void> => {
    await tick();
    if (isStarted && !isStopping) callOffPoll = timer(poll, pollMs);
  };

  const lookAgain = async (): Promise<void> => {
    isAwake = false;
    // What was stored while a look was under way may have come too late for it.
    await ticking;
    // The store may be closed as soon as `stop` has seen that nothing is under way.
    if (!isStopping) await tick();
  };

  const wake = (): void => {
    if (!isStarted || isStopping || isAwake) return;
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
      callOffPoll = timer(poll, 0);
    },
    wake,
    tick,
    idle,
    async stop({ graceMs = 8_000 } = {}) {
      isStopping = true;
      stopping.abort();
      callOffPoll();
      await ticking;
      const finished = new AbortController();
      await Promise.race([idle(), sleep(graceMs, finished.signal)]);
      finished.abort();
      for (const task of tasks) task.cut.abort(new Cut('released', 'the process is stopping'));
      await idle();
    },
    status: () => ({ active: tasks.size, breaker: breaker.state(clock.now()) }),
  };
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
