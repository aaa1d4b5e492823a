import { afterEach, beforeEach } from 'vitest';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Claim, Store } from '../../../src/store/store.ts';
import { makeDelivery } from '../make.ts';

/** Kind of store that the common suite tests. */
export interface Backend {
  /** Opens a store. Each `name` is a separate store, which is empty when first opened. */
  open(options: {
    name: string;
    role: 'worker' | 'reader';
    clock: Pick<Clock, 'now' | 'monotonicMs'>;
  }): Promise<Store>;
}

/** Store of each test, with a clock that stands still until the test moves it. */
export interface StoreBench {
  /** The store, opened as the worker. */
  readonly store: Store;
  /** Time of the wall clock. */
  readonly now: Date;
  /** Opens the store a second time, next to the instances that are open. */
  open(role?: 'worker' | 'reader'): Promise<Store>;
  /** Closes the store and opens it again; `between` runs while it is closed. */
  reopen(options?: { between?: () => void }): Promise<void>;
  /** Advances the wall clock and the monotonic clock. */
  advanceMs(ms: number): void;
  /** Advances only the monotonic clock. */
  advanceUptimeMs(ms: number): void;
  /** Sets the wall clock ahead, or back if `ms` is negative; the monotonic clock does not change. */
  moveWallClockMs(ms: number): void;
  /** Accepts a delivery, assigns it to a lane, and returns its id. */
  acceptInLane(lane: string): Promise<string>;
  /** Starts a sweep in a lane of its own, as the schedule does. */
  startSweep(payload: Readonly<Record<string, unknown>>): Promise<void>;
  /** Claims everything available for a minute, and returns the ids. */
  claimIds(limit?: number): Promise<string[]>;
  /** Claims one delivery for a minute; throws if there is none. */
  claimOne(): Promise<Claim>;
}

/** Opens an empty store before each test of the calling suite, and closes it after the test. */
export function createStoreBench(backend: Backend): StoreBench {
  let number = 0;
  let name: string;
  let now: Date;
  let uptimeMs: number;
  let opened: Store[];
  let store: Store;

  const open = async (role: 'worker' | 'reader' = 'worker'): Promise<Store> => {
    const clock = { now: () => now, monotonicMs: () => uptimeMs };
    const another = await backend.open({ name, role, clock });
    opened.push(another);
    return another;
  };
  const moveWallClockMs = (ms: number): void => {
    now = new Date(now.getTime() + ms);
  };
  const advanceUptimeMs = (ms: number): void => {
    uptimeMs += ms;
  };

  beforeEach(async () => {
    number += 1;
    name = `store-${number}`;
    now = new Date('2026-03-01T12:00:00.000Z');
    uptimeMs = 1_000;
    opened = [];
    store = await open();
  });
  afterEach(async () => {
    for (const each of opened) await each.close();
  });

  return {
    get store() {
      return store;
    },
    get now() {
      return now;
    },
    open,
    async reopen({ between } = {}) {
      await store.close();
      between?.();
      store = await open();
    },
    advanceMs(ms) {
      moveWallClockMs(ms);
      advanceUptimeMs(ms);
    },
    advanceUptimeMs,
    moveWallClockMs,
    async acceptInLane(lane) {
      const { id } = await store.accept(makeDelivery({ receivedAt: now }));
      await store.route([{ id, to: 'lane', lane }]);
      return id;
    },
    async startSweep(payload) {
      await store.enqueue({
        door: 'cron',
        uuid: 'sweep@1',
        kind: 'sweep',
        lane: 'sweep',
        receivedAt: now,
        payload,
      });
      const [job] = await store.unrouted(1);
      await store.route([{ id: job?.id ?? '', to: 'lane', lane: 'sweep' }]);
    },
    async claimIds(limit = 10) {
      return (await store.claim({ limit, leaseMs: 60_000 })).map((claim) => claim.id);
    },
    async claimOne() {
      const [claim] = await store.claim({ limit: 1, leaseMs: 60_000 });
      if (claim === undefined) throw new Error('nothing to claim');
      return claim;
    },
  };
}
