import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';
import { packageVersion } from '../../platform/package.ts';
import { createPrivateFile, createPrivateFolder } from '../../platform/private-files.ts';
import { markKey, requireFinished } from '../copy/copy-mark.ts';
import { Leases } from '../leases.ts';
import { prune } from '../prune.ts';
import type { QueueRows } from '../queue-rows.ts';
import { maxSamplesRead, type Sample, type SampleRows, samplePointOf, sampleSeconds } from '../samples.ts';
import { createMemorySessions } from '../session-rows.ts';
import type { SharedStore } from '../shared-store.ts';
import type { Store, StoreQueries } from '../store.ts';
import { createAccept } from './accept.ts';
import { createNoteAudit } from './audit.ts';
import { type Checkpoints, createThreadedCheckpoints, logLimitBytes, noCheckpoints } from './checkpoints.ts';
import { Commits } from './commits.ts';
import { createCompletion } from './complete.ts';
import { type Counts, createCounts } from './counts.ts';
import { createLogDurability, noDurability } from './durability.ts';
import { asStoreError } from './failures.ts';
import { createHealthCheck } from './health.ts';
import { createIncidentTable, type IncidentTable } from './incident-table.ts';
import { takeWorkerLock, type WorkerLock } from './lock.ts';
import { createClaimMethods } from './methods/claim.ts';
import { createCompleteMethods } from './methods/complete.ts';
import type { StoreContext } from './methods/context.ts';
import { createMemoryMethods } from './methods/memory.ts';
import { createPauseMethods } from './methods/pauses.ts';
import { SettledCount } from './methods/settled-count.ts';
import { migrate } from './migrations.ts';
import { createQueries } from './queries.ts';
import { createQueueTable } from './queue-table.ts';
import { createRedrive } from './redrive.ts';
import { createDeletions, deleteInTurn } from './retention.ts';
import { createUnsyncedWrites, type UnsyncedWrites } from './unsynced.ts';

export type SqliteOptions = {
  /** The file, made with mode 0600 where it does not exist; or `:memory:`. */
  readonly path: string;
  /**
   * `worker` accepts and claims, and is alone in that on one store; `reader` stands beside it, reads, and inserts jobs.
   */
  readonly role: 'worker' | 'reader';
  /**
   * Where checkpoints of the worker run. A thread delays no delivery, and holds 14 MB; SQLite runs them in a COMMIT otherwise.
   * Default: in a thread. A reader has none: it writes little.
   */
  readonly checkpoints?: 'in-thread' | 'in-commits';
  /** Default: the system's clock. */
  readonly clock?: Pick<Clock, 'now' | 'monotonicMs'>;
  /** The file never grows beyond this: a write that needs more is `store-unwritable`. Default: no limit but the disk. */
  readonly maxFileBytes?: number;
  /** Called once when a file of the store was removed or replaced: it stores nothing any more (`store-lost`). */
  readonly onLost?: (error: ReeveError) => void;
};

/**
 * Bodies of 8 KB are the common case: in pages of this size four share one, and a batch of them is a third fewer writes
 * than with SQLite's own 4 KB.
 */
const pageBytes = 32_768;

/**
 * Opens the store in one SQLite file, in WAL mode; every write is on the disk before it resolves (`Commits`,
 * `Durability`). Leases of an earlier process are void. Throws `store-locked`, `store-newer`,
 * `store-unfinished`, `store-unwritable`.
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
    database = openSqliteFile(options);
    migrate(database, path);
    const mark = database.prepare('SELECT value FROM memory WHERE key = ?').get(markKey);
    requireFinished(mark?.value, path);
    return createSqliteStore(database, lock, options);
  } catch (error) {
    database?.close();
    lock?.release();
    throw asStoreError(error, path);
  }
}

/** Opens the file with the settings of the store. */
export function openSqliteFile(options: Pick<SqliteOptions, 'path' | 'maxFileBytes'>): DatabaseSync {
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

function checkpointsFor(database: DatabaseSync, options: SqliteOptions): Checkpoints {
  const { path, role, checkpoints = 'in-thread' } = options;
  const needsThread = path !== ':memory:' && role === 'worker' && checkpoints === 'in-thread';
  return needsThread ? createThreadedCheckpoints(database, path) : noCheckpoints;
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
  const checkpoints = checkpointsFor(database, options);
  const counts = createCounts(database);
  const settled = new SettledCount(counts.countSettled, { isAlone: role === 'worker' });
  const acceptance = createAccept(database, { recognise: role === 'worker' });
  const onRefused = (): void => {
    settled.markStale();
    acceptance.forgetHeaderSets();
  };
  const unsynced = createUnsyncedWrites(database, { path, durability, checkpoints });
  const commits = new Commits(database, { path, durability: unsynced.durability, checkpoints, onRefused });
  const context = createContext({ commits, unsynced }, { path, role, clock });
  const { write } = context;
  const incidents = createIncidentTable(database);
  const completion = createCompletion(database, incidents);
  const retention = createDeletions(database);
  const putMemory = database.prepare('INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)');
  const shared = { context, leases: new Leases(), settled };

  return {
    async accept(delivery) {
      context.requireWorker();
      const accepted = await write(() => acceptance.accept(delivery), delivery.body.length);
      if (accepted.copyOf !== undefined) settled.add(1);
      return accepted;
    },
    enqueue: async (job) => write(() => acceptance.enqueue(job)),

    ...createClaimMethods(database, {
      ...shared,
      takeBack: role === 'worker',
      asStoreError: (error) => asStoreError(error, path),
    }),
    ...createCompleteMethods({ completion, redrive: createRedrive(database) }, shared),
    ...createQueryMethods(database, { context, counts, settled }),
    ...createMemoryMethods(database, context),
    ...createSampleMethods(database, context),
    ...createSoleProcess(role, clock),
    ...createIncidentMethods(incidents, context),
    ...createPauseMethods(database, context),
    ...createQueueMethods(database, context, { takeBack: role === 'worker' }),

    async prune(limits) {
      await write(() => incidents.prune(clock.now()));
      const deletions = deleteInTurn(retention, context);
      return prune(deletions, limits, { onSettledGone: (count) => settled.add(-count) });
    },

    healthy: createHealthCheck({
      path: path === ':memory:' ? undefined : path,
      async probe(bytes) {
        const json = JSON.stringify({ at: clock.now().toISOString(), padding: '0'.repeat(bytes) });
        await write(() => putMemory.run('health', json), bytes);
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
}

/** Returns what the groups of methods share. */
function createContext(
  { commits, unsynced }: { readonly commits: Commits; readonly unsynced: UnsyncedWrites },
  { path, role, clock }: Required<Pick<SqliteOptions, 'path' | 'role' | 'clock'>>,
): StoreContext {
  return {
    clock,
    write: (work, weight) => commits.write(work, weight),
    writeUnsynced: unsynced.write,
    read(ask) {
      try {
        return ask();
      } catch (error) {
        throw asStoreError(error, path);
      }
    },
    requireWorker() {
      if (role !== 'worker')
        throw new ReeveError('internal', 'a store opened as reader neither accepts nor claims');
    },
  };
}

/** Returns the methods of the store that are about incidents alone. */
function createIncidentMethods(
  incidents: IncidentTable,
  {
    write,
    read,
    clock,
  }: {
    readonly write: <Result>(work: () => Result) => Promise<Result>;
    readonly read: <Result>(ask: () => Result) => Result;
    readonly clock: Pick<Clock, 'now'>;
  },
): Pick<Store, 'raise' | 'clear' | 'listIncidents'> {
  return {
    async raise(occurrences) {
      if (occurrences.length === 0) return;
      await write(() => {
        for (const occurrence of occurrences) incidents.raise(occurrence);
      });
    },
    async clear(kind, keys, { before } = {}) {
      return keys.length === 0 ? 0 : write(() => incidents.clear(kind, keys, before));
    },
    listIncidents: async () => read(() => incidents.list(clock.now())),
  };
}

/** Returns the methods of the store that only read. */
function createQueryMethods(
  database: DatabaseSync,
  options: {
    readonly context: Pick<StoreContext, 'read'>;
    readonly counts: Counts;
    readonly settled: SettledCount;
  },
): StoreQueries {
  const { counts, settled } = options;
  const { read } = options.context;
  const queries = createQueries(database);
  return {
    listDeliveries: async (query = {}) => read(() => queries.listDeliveries(query)),
    readDelivery: async (id) => read(() => queries.readDelivery(id)),
    describeDelivery: async (id) => read(() => queries.describeDelivery(id)),
    readHeaders: async (id) => read(() => queries.readHeaders(id)),
    listRuns: async (query = {}) => read(() => queries.listRuns(query)),
    readRun: async (id) => read(() => queries.readRun(id)),
    readLatestRuns: async (deliveries) => read(() => queries.readLatestRuns(deliveries)),
    counts: async () => read(() => ({ ...counts.countWaiting(), settled: settled.read() })),
    oldestWaiting: async () => read(() => counts.oldestWaiting()),
  };
}

/** Returns the methods of the store about merge queues. With `takeBack`, the leases of an earlier process end now. */
function createQueueMethods(
  database: DatabaseSync,
  { write, read, clock }: Pick<StoreContext, 'write' | 'read' | 'clock'>,
  { takeBack }: { readonly takeBack: boolean },
): QueueRows {
  const table = createQueueTable(database);
  const note = createNoteAudit(database);
  if (takeBack) table.releaseAll();

  return {
    readQueue: async (key) => read(() => table.read(key)),
    listQueues: async (query = {}) => read(() => table.list(query)),
    async saveQueue(save) {
      const saved = await write(() => {
        const now = clock.now();
        const result = table.save(save, now);
        if (result === 'saved' && save.audit) note({ at: now, ...save.audit });
        return result;
      });
      if (saved === 'lost') {
        const name = `${save.repository} ${save.base}`;
        throw new ReeveError('lease-lost', `the merge queue ${name} is no longer ours: its lease has ended`);
      }
      return saved === 'saved';
    },
    claimQueue: (key, leaseMs) => write(() => table.claim(key, leaseMs, clock.now())),
    extendQueue: (lease, leaseMs) => write(() => table.extend(lease, leaseMs, clock.now())),
    releaseQueue: (lease) => write(() => table.release(lease)),
    listQueueHistory: async (query) => read(() => table.history(query)),
  };
}

/** Returns what processes share of a store that has one process beside its readers. */
function createSoleProcess(
  role: 'worker' | 'reader',
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): Omit<SharedStore, 'revise'> {
  const startedAt = clock.now();
  return {
    isShared: false,
    sessions: createMemorySessions(clock),
    announce() {},
    isLeader: () => role === 'worker',
    async listProcesses() {
      if (role === 'reader') return [];
      const name = `${hostname()} ${process.pid}`;
      const about = { id: String(process.pid), name, role: 'all', version: packageVersion() } as const;
      return [{ ...about, startedAt, seenAt: clock.now(), isLeader: true, isSelf: true }];
    },
  };
}

/** Returns the methods of the store that keep sums and levels over time. */
function createSampleMethods(
  database: DatabaseSync,
  { write, read }: Pick<StoreContext, 'write' | 'read'>,
): SampleRows {
  const put = (merged: string) =>
    database.prepare(
      `INSERT INTO samples (minutes, at, name, amount) VALUES (?, ?, ?, ?)
       ON CONFLICT (minutes, at, name) DO UPDATE SET amount = ${merged}`,
    );
  const merges: Record<Sample['merge'], ReturnType<typeof put>> = {
    sum: put('amount + excluded.amount'),
    max: put('max(amount, excluded.amount)'),
    last: put('excluded.amount'),
  };
  const list = database.prepare(
    `SELECT at, name, amount FROM samples WHERE minutes = ? AND at >= ? ORDER BY at, name LIMIT ${maxSamplesRead}`,
  );
  return {
    async addSamples(samples) {
      if (samples.length === 0) return;
      await write(() => {
        for (const { minutes, at, name, amount, merge } of samples)
          merges[merge].run(minutes, sampleSeconds(at), name, Math.round(amount));
      });
    },
    readSamples: async ({ minutes, since }) =>
      read(() => list.all(minutes, sampleSeconds(since)).map(samplePointOf)),
  };
}
