import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from 'vitest';
import type { Clock } from '../../../src/platform/clock.ts';
import { type ErrorCode, ReeveError } from '../../../src/platform/errors.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../../src/work/deliveries/worker.ts';
import { makeDelivery } from '../../store/make.ts';
import { makeClock } from '../../support/make-clock.ts';

/** Store and worker of each test, with a clock that stands still until the test moves it. */
export interface WorkerBench {
  /** In-memory store, initially empty. */
  readonly store: Store;
  /** Worker that the last call of `start` created. */
  readonly worker: Worker;
  readonly now: Date;
  readonly clock: Clock;
  /** Number of pending timers. */
  readonly timerCount: number;
  /** Creates the worker, without its loop. */
  start(options?: Partial<WorkerOptions>): void;
  /** Replaces the store with an empty one. */
  renewStore(): Promise<void>;
  /** Accepts a push to a repository, or, with an index, the opening of that issue. Returns the id. */
  accept(repository: number, index?: number): Promise<string>;
  /** Lets the worker look for work once, and waits for everything that it starts. */
  pass(): Promise<void>;
  /** Advances the clock and fires timers, and waits until everything that they start has settled. */
  advance(ms: number): Promise<void>;
  /** Advances only the clock, without running timers. */
  moveClockMs(ms: number): void;
}

/** Opens an in-memory store before each test of the calling file, and closes it after the test. */
export function createWorkerBench(): WorkerBench {
  let now: Date;
  let store: Store;
  let worker: Worker;
  let timers: { run: () => void; atMs: number }[];
  const clock = makeClock({ now: () => now, monotonicMs: () => now.getTime() });
  const open = () => openSqliteStore({ path: ':memory:', role: 'worker', clock });

  beforeEach(async () => {
    now = new Date('2026-03-01T12:00:00.000Z');
    timers = [];
    store = await open();
  });
  afterEach(() => store.close());

  return {
    get store() {
      return store;
    },
    get worker() {
      return worker;
    },
    get now() {
      return now;
    },
    clock,
    get timerCount() {
      return timers.length;
    },
    start(options = {}) {
      worker = createWorker({
        store,
        handle: async () => nothing,
        log: silentLog,
        clock,
        timer: (run, ms) => {
          const entry = { run, atMs: now.getTime() + ms };
          timers.push(entry);
          return () => {
            timers = timers.filter((each) => each !== entry);
          };
        },
        backoff: { random: () => 0.5 },
        breaker: { random: () => 0.5 },
        ...options,
      });
    },
    async renewStore() {
      await store.close();
      store = await open();
    },
    async accept(repository, index) {
      const eventType = index === undefined ? 'push' : 'issues';
      const { id } = await store.accept(
        makeDelivery({ eventType, receivedAt: now, body: bodyOf(repository, index) }),
      );
      return id;
    },
    async pass() {
      await worker.tick();
      await worker.idle();
    },
    async advance(ms) {
      const untilMs = now.getTime() + ms;
      for (;;) {
        timers.sort((a, b) => a.atMs - b.atMs);
        const next = timers[0];
        if (next === undefined || next.atMs > untilMs) break;
        timers.shift();
        now = new Date(next.atMs);
        next.run();
        await settle();
      }
      now = new Date(untilMs);
    },
    moveClockMs(ms) {
      now = new Date(now.getTime() + ms);
    },
  };
}

/** Result of a handler with nothing to record. */
export const nothing = { runs: [] };

/** Waits until everything that was started has settled. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns the body of a push to a repository or, with an index, of the opening of that issue. */
export function bodyOf(repository: number, index?: number): Buffer {
  const inner = { id: repository, full_name: `acme/r${repository}`, owner: { id: 1 } };
  const issue = index === undefined ? {} : { action: 'opened', number: index, issue: { number: index } };
  const push = { ref: 'refs/heads/main', before: '0', after: randomUUID() };
  return Buffer.from(
    JSON.stringify({ ...push, ...issue, repository: inner, sender: { id: 1, login: 'ada' } }),
  );
}

/** Returns a handler that always fails with this code. */
export function failing(code: ErrorCode, options: { retryAfterMs?: number } = {}): () => Promise<never> {
  return async () => {
    throw new ReeveError(code, `it said ${code}`, options);
  };
}
