import { mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';
import { createPrivateFile, createPrivateFolder } from '../../platform/private-files.ts';
import { markKey, requireFinished } from '../copy/copy-mark.ts';
import { Leases } from '../leases.ts';
import { prune } from '../prune.ts';
import type { Store } from '../store.ts';
import { createAccept } from './accept.ts';
import { type Checkpoints, createThreadedCheckpoints, logLimitBytes, noCheckpoints } from './checkpoints.ts';
import { Commits } from './commits.ts';
import { createCompletion } from './complete.ts';
import { createCounts } from './counts.ts';
import { createLogDurability, noDurability } from './durability.ts';
import { asStoreError } from './failures.ts';
import { createHealthCheck } from './health.ts';
import { createIncidentTable } from './incident-table.ts';
import { takeWorkerLock, type WorkerLock } from './lock.ts';
import { createClaimMethods } from './methods/claim.ts';
import { createCompleteMethods } from './methods/complete.ts';
import type { StoreContext } from './methods/context.ts';
import { createIncidentMethods } from './methods/incidents.ts';
import { createMemoryMethods } from './methods/memory.ts';
import { createPauseMethods } from './methods/pauses.ts';
import { createQueryMethods } from './methods/query.ts';
import { createQueueMethods } from './methods/queues.ts';
import { SettledCount } from './methods/settled-count.ts';
import { createSoleProcess } from './methods/sole-process.ts';
import { migrate } from './migrations.ts';
import { createRedrive } from './redrive.ts';
import { createDeletions, deleteInTurn } from './retention.ts';
import { createSampleMethods } from './sample-table.ts';
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
