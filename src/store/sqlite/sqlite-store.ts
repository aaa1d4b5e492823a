import { mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../clock.ts';
import { ReeveError } from '../../errors.ts';
import { createPrivateFile, createPrivateFolder } from '../../private-files.ts';
import type { Claim, Store } from '../store.ts';
import { createIntake } from './accept.ts';
import { createThreadedCheckpoints, logLimitBytes, noCheckpoints } from './checkpoints.ts';
import { Commits } from './commits.ts';
import { createSettlements, encodeRuns } from './complete.ts';
import { createCrashes } from './crashes.ts';
import { createLogDurability, noDurability } from './durability.ts';
import { asStoreError } from './failures.ts';
import { createHealthCheck } from './health.ts';
import { createIncidentMethods } from './incident-methods.ts';
import { createIncidentTable } from './incident-table.ts';
import { createLanes } from './lanes.ts';
import { takeWorkerLock, type WorkerLock } from './lock.ts';
import { createMemoryMethods } from './memory-methods.ts';
import { migrate } from './migrations.ts';
import { createReadings } from './queries.ts';
import { createRepeats } from './repeats.ts';
import { createRetention, prune } from './retention.ts';

export type SqliteOptions = {
  /** The file, made with mode 0600 where it does not exist; or `:memory:`. */
  readonly path: string;
  /**
   * `worker` accepts and claims, and is alone in that on one store; `reader` stands beside it, reads, and inserts jobs.
   */
  readonly role: 'worker' | 'reader';
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now' | 'monotonicMs'>;
  /** The file never grows beyond this: a write that needs more is `store-unwritable`. Default: no limit but the disk. */
  readonly maxFileBytes?: number;
  /** Called once when a file of the store was removed or replaced: it stores nothing any more (`store-lost`). */
  readonly onLost?: (error: ReeveError) => void;
};

/** A clock that goes back by more than this was set: retries are held against it again. */
const clockToleranceMs = 1_000;

/**
 * Bodies of 8 KB are the common case: in pages of this size four share one, and a batch of them is a third fewer writes
 * than with SQLite's own 4 KB.
 */
const pageBytes = 32_768;

/**
 * Opens the store in one SQLite file, in WAL mode; every write is on the disk before it resolves (`Commits`,
 * `Durability`). Leases of an earlier process are void. Throws `store-locked`, `store-newer`, `store-unwritable`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, role } = options;
  let lock: WorkerLock | undefined;
  let database: DatabaseSync | undefined;
  try {
    if (path !== ':memory:') {
      if (role === 'worker') createPrivateFolder(dirname(path), { holds: basename(path) });
      else mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      if (role === 'worker') lock = takeWorkerLock(path);
      createPrivateFile(path);
    }
    database = openDatabase(options);
    migrate(database, path);
    return createSqliteStore(database, lock, options);
  } catch (error) {
    database?.close();
    lock?.release();
    throw asStoreError(error, path);
  }
}

function openDatabase(options: SqliteOptions): DatabaseSync {
  const database = new DatabaseSync(options.path, { timeout: 5_000 });
  // fullfsync: on macOS a plain fsync leaves the bytes in the drive's cache; elsewhere it means nothing.
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON; PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = 512;
    PRAGMA journal_size_limit = ${logLimitBytes}; PRAGMA foreign_keys = ON`);
  if (options.maxFileBytes !== undefined) {
    database.exec(`PRAGMA max_page_count = ${Math.max(Math.floor(options.maxFileBytes / pageBytes), 1)}`);
  }
  return database;
}

function createSqliteStore(
  database: DatabaseSync,
  lock: WorkerLock | undefined,
  options: SqliteOptions,
): Store {
  const { path, role, clock = systemClock } = options;
  const others = lock === undefined ? [] : [lock.file];
  const { onLost = () => {} } = options;
  const durability =
    path === ':memory:' ? noDurability : createLogDurability(database, path, { others, onLost });
  // A reader writes so little that SQLite may carry its log over itself.
  const checkpoints =
    path === ':memory:' || role === 'reader' ? noCheckpoints : createThreadedCheckpoints(database, path);
  let isCountStale = false;
  const commits = new Commits(database, {
    path,
    durability,
    checkpoints,
    onRefused: () => {
      isCountStale = true;
    },
  });
  const intake = createIntake(database, { recognise: role === 'worker' });
  const repeats = createRepeats(database);
  const lanes = createLanes(database, repeats);
  const incidents = createIncidentTable(database);
  const settlements = createSettlements(database, incidents);
  const readings = createReadings(database);
  const retention = createRetention(database);
  const putMemory = database.prepare('INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)');
  /** Leases of this process and when they end, in monotonic milliseconds: a clock that jumps ends none. */
  const leases = new Map<string, number>();
  const crashes = createCrashes(database);
  /** What the wall clock was ahead of the monotonic one when retries were last held against it. */
  let aheadMs = Number.POSITIVE_INFINITY;
  if (role === 'worker') crashes.takeBack();
  /** Only a worker settles, so its count stays right without asking; a reader has to count. */
  let settled = role === 'worker' ? readings.countSettled() : 0;

  /** Reads, and calls a disk's refusal by our name. */
  const read = <Result>(ask: () => Result): Result => {
    try {
      return ask();
    } catch (error) {
      throw asStoreError(error, path);
    }
  };

  const loadRepeats = async (): Promise<void> => {
    try {
      await repeats.load();
    } catch (error) {
      throw asStoreError(error, path);
    }
  };

  const asWorker = (): void => {
    if (role !== 'worker')
      throw new ReeveError('internal', 'a store opened as reader neither accepts nor claims');
  };

  /** Writes under a lease. The write says whether it was still held; it must not throw, or the whole batch runs again. */
  const fenced = async (claim: Claim, write: () => boolean): Promise<void> => {
    asWorker();
    if (await commits.write(write)) return;
    leases.delete(claim.lease);
    throw new ReeveError('lease-lost', `delivery ${claim.id} is no longer ours: its lease has ended`);
  };

  const store: Store = {
    async accept(delivery) {
      asWorker();
      const accepted = await commits.write(() => intake.accept(delivery), delivery.body.length);
      if (accepted.copyOf !== undefined) settled += 1;
      return accepted;
    },
    enqueue: async (job) => commits.write(() => intake.enqueue(job)),

    unrouted: async (limit) => read(() => lanes.unrouted(limit)),
    async route(routings) {
      asWorker();
      await loadRepeats();
      const ended = await commits.write(() => lanes.route(routings, clock.now()));
      // Not `settled += await …`: that reads the count before the wait, and loses what was settled meanwhile.
      settled += ended;
    },
    async claim({ limit, leaseMs, avoid = [], only }) {
      asWorker();
      await loadRepeats();
      const nowMs = clock.monotonicMs();
      const now = clock.now();
      const ended = [...leases].filter(([, endMs]) => endMs <= nowMs).map(([lease]) => lease);
      const claims = await commits.write(() => {
        lanes.reclaim(ended);
        if (now.getTime() - nowMs < aheadMs - clockToleranceMs) lanes.clampRetries(now);
        aheadMs = now.getTime() - nowMs;
        const turn = crashes.turn(nowMs);
        if (turn === 'wait') return [];
        // What is handled alone comes in its own turn, and may need the forge.
        if (turn !== 'free' && only !== undefined) return [];
        const claims = turn === 'free' ? lanes.claim(limit, now, { avoid, only }) : [lanes.claimOne(turn)];
        // Here, not after the sync: were that to fail, nobody else would know these leases and end them.
        for (const claim of claims) {
          leases.set(claim.lease, nowMs + leaseMs);
          crashes.claimed(Number(claim.id), nowMs);
        }
        return claims;
      });
      for (const lease of ended) leases.delete(lease);
      return claims;
    },
    async heartbeat(claim, leaseMs) {
      // A lease that has ended but was not yet given to anybody else is not taken up again: fewer cases to be wrong in.
      if ((leases.get(claim.lease) ?? 0) <= clock.monotonicMs()) {
        throw new ReeveError('lease-lost', `delivery ${claim.id} is no longer ours: its lease has ended`);
      }
      leases.set(claim.lease, clock.monotonicMs() + leaseMs);
    },
    async settle(claim, runs, reason) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      await fenced(claim, () => settlements.settle(claim, encoded, clock.now(), reason));
      leases.delete(claim.lease);
      settled += 1;
    },
    async advance(claim, { runs, repositoryId, checkpoint }) {
      const encoded = encodeRuns(runs, repositoryId ?? claim.repositoryId);
      const json = JSON.stringify(checkpoint ?? null);
      await fenced(claim, () => settlements.advance(claim, encoded, repositoryId, json));
    },
    async retry(claim, again) {
      await fenced(claim, () => settlements.retry(claim, again, clock.now()));
      leases.delete(claim.lease);
    },
    async defer(claim, runs, wait) {
      const encoded = encodeRuns(runs);
      let superseded = 0;
      await fenced(claim, () => {
        const count = settlements.defer(claim, encoded, wait, clock.now());
        superseded = count ?? 0;
        return count !== undefined;
      });
      leases.delete(claim.lease);
      settled += superseded;
    },
    async endDeferral(id, reason) {
      if (await commits.write(() => settlements.endDeferral(id, reason, clock.now()))) settled += 1;
    },
    async release(claim) {
      await fenced(claim, () => settlements.release(claim));
      leases.delete(claim.lease);
    },
    async bury(claim, reason, runs = []) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      await fenced(claim, () => settlements.bury(claim, encoded, reason, clock.now()));
      leases.delete(claim.lease);
    },

    async appendRuns(runs, { repositoryId } = {}) {
      const encoded = encodeRuns(runs);
      await commits.write(() => settlements.append(encoded, undefined, repositoryId));
    },
    listDeliveries: async (query = {}) => read(() => readings.listDeliveries(query)),
    readDelivery: async (id) => read(() => readings.readDelivery(id)),
    describeDelivery: async (id) => read(() => readings.describeDelivery(id)),
    listRuns: async (query = {}) => read(() => readings.listRuns(query)),
    readRun: async (id) => read(() => readings.readRun(id)),
    async redrive(ids, by, { settled: also = false } = {}) {
      const { dead, settled: ended } = await commits.write(() =>
        settlements.redrive(ids, by, clock.now(), also),
      );
      settled -= ended;
      return dead + ended;
    },
    counts: async () =>
      read(() => {
        if (role === 'reader' || isCountStale) settled = readings.countSettled();
        isCountStale = false;
        return { ...readings.countWaiting(), settled };
      }),
    oldestWaiting: async () => read(() => readings.oldestWaiting()),

    ...createMemoryMethods(database, { write: (work) => commits.write(work), read }),
    ...createIncidentMethods(incidents, { write: (work) => commits.write(work), read, clock }),

    async prune(limits) {
      await commits.write(() => incidents.prune(clock.now()));
      return prune({ ...retention, bytesInUse: () => read(retention.bytesInUse) }, limits, {
        write: (write) => commits.write(write),
        onSettledGone: (count) => {
          settled -= count;
        },
      });
    },

    healthy: createHealthCheck({
      path: path === ':memory:' ? undefined : path,
      async probe(bytes) {
        const json = JSON.stringify({ at: clock.now().toISOString(), padding: '0'.repeat(bytes) });
        await commits.write(() => putMemory.run('health', json), bytes);
      },
      refusedBytes: () => commits.refusedBytes,
      checkpointFailure: checkpoints.failure,
    }),

    async close() {
      if (!database.isOpen) return;
      await commits.close();
      await checkpoints.close();
      if (!database.isOpen) return;
      durability.close();
      database.close();
      lock?.release();
    },
  };
  return store;
}
