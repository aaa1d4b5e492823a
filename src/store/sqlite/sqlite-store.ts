import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { packageVersion } from '../../platform/package.ts';
import { createPrivateFile, createPrivateFolder } from '../../platform/private-files.ts';
import { markKey, requireFinished } from '../copy/copy-mark.ts';
import { createIncidents } from '../incidents.ts';
import { Leases } from '../leases.ts';
import { createMemory, putValue, selectValue } from '../memory.ts';
import { createPauses } from '../pauses.ts';
import { prune } from '../prune.ts';
import { createQueries } from '../queries.ts';
import { createQueues } from '../queues.ts';
import { createRuleTexts, ruleTextLimits } from '../rule-texts.ts';
import { createSamples } from '../samples.ts';
import { createMemorySessions } from '../session-rows.ts';
import type { StoreClock } from '../sql.ts';
import type { CommittedWork, Health, MemoryRows, SharedStore, Store } from '../store.ts';
import { createAccept } from './accept.ts';
import { createClaims } from './claims.ts';
import {
  type Checkpoints,
  Commits,
  checkpointPages,
  createLogDurability,
  createThreadedCheckpoints,
  logLimitBytes,
  noCheckpoints,
  noDurability,
} from './commits.ts';
import { createEndings } from './complete.ts';
import { SettledCount, type SqliteContext } from './context.ts';
import { asStoreError } from './failures.ts';
import { takeWorkerLock, type WorkerLock } from './lock.ts';
import { migrate } from './migrations.ts';
import { createDeletions } from './retention.ts';
import { SqliteSql } from './sqlite-sql.ts';

export type SqliteOptions = {
  /** The file, created with mode 0600 if it does not exist; or `:memory:`. */
  readonly path: string;
  /** `worker` accepts and claims, exclusively on one store; `reader` runs beside it, reads, and inserts jobs. */
  readonly role: 'worker' | 'reader';
  /**
   * Location of the worker's checkpoints. A thread delays no delivery, and uses 14 MB; otherwise SQLite runs them in a
   * COMMIT. Default: in a thread. A reader has no thread, because it writes little.
   */
  readonly checkpoints?: 'in-thread' | 'in-commits';
  /** Default: the system's clock. */
  readonly clock?: StoreClock;
  /** Maximum size of the file: a write that needs more is `store-unwritable`. Default: limited only by the disk. */
  readonly maxFileBytes?: number;
  /**
   * Called once when a file of the store was removed or replaced: the store no longer writes anything (`store-lost`).
   */
  readonly onLost?: (error: ReeveError) => void;
};

/**
 * SQLite's default. Each changed row writes its whole page to the log, so the page size decides how much a lone event
 * writes: with pages of 32 KiB, seven times as much. A file keeps the page size that it was created with.
 */
export const pageBytes = 4_096;

/**
 * Opens the store in one SQLite file, in WAL mode; every write is on the disk before it resolves (`Commits`,
 * `Durability`). Leases of an earlier process are void. Throws `store-locked`, `store-newer`, `store-unfinished`,
 * `store-unwritable`.
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
export function openSqliteFile(options: { path: string; maxFileBytes?: number }): DatabaseSync {
  const database = new DatabaseSync(options.path, { timeout: 5_000 });
  // fullfsync: on macOS a plain fsync leaves the bytes in the drive's cache; elsewhere it has no effect.
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON; PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = ${checkpointPages};
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
  const { path, role, clock = systemClock, onLost = () => {} } = options;
  const isWorker = role === 'worker';
  const others = lock === undefined ? [] : [lock.file];
  const durability =
    path === ':memory:' ? noDurability : createLogDurability(database, path, { others, onLost });
  const checkpoints = checkpointsFor(database, options);
  const acceptance = createAccept(database);
  const sql = new SqliteSql(database, { path, now: () => clock.now(), write: (work) => commits.write(work) });
  const countSettled = { sql: "SELECT count(*) AS n FROM deliveries WHERE state = 'settled'", values: [] };
  const settled = new SettledCount(() => Number(sql.find(countSettled)?.n), { isAlone: isWorker });
  const committed: CommittedWork[] = [];
  let announce: (work: readonly CommittedWork[]) => void = () => {};
  const commits = new Commits(database, {
    path,
    durability,
    checkpoints,
    onRefused() {
      settled.markStale();
      acceptance.forgetHeaderSets();
    },
    onCommitted() {
      if (committed.length > 0) announce(committed.splice(0));
    },
  });
  const context: SqliteContext = {
    database,
    path,
    clock,
    commits,
    sql,
    leases: new Leases(),
    settled,
    requireWorker() {
      if (!isWorker) throw new ReeveError('internal', 'a store opened as reader neither accepts nor claims');
    },
  };
  const { dropEnded, ...incidents } = createIncidents(sql, clock);
  // The leases of an earlier process end now.
  if (isWorker) database.exec('DELETE FROM queue_leases');

  return {
    async accept(delivery) {
      context.requireWorker();
      const accepted = await commits.write(
        () => acceptance.accept(delivery),
        delivery.body.length,
        ({ id, known, copyOf }) => {
          if (!known && copyOf === undefined) committed.push({ id, delivery });
        },
      );
      if (accepted.copyOf !== undefined) settled.add(1);
      return accepted;
    },
    enqueue: async (job) =>
      commits.write(
        () => acceptance.enqueue(job),
        0,
        ({ id }) => void committed.push({ id }),
      ),
    onCommitted(listener) {
      announce = listener;
    },
    ...createClaims(context, isWorker),
    ...createEndings(context),
    ...createQueries(sql, () => settled.read()),
    ...createFileMemory(context),
    ...createSamples(sql),
    ...createRuleTexts(sql, ruleTextLimits),
    ...createSoleProcess(role, clock),
    ...incidents,
    ...createPauses(sql, () => {}),
    ...createQueues(sql, () => null),

    async prune(limits) {
      await dropEnded();
      return prune(sql, createDeletions(context), limits, (count) => settled.add(-count));
    },

    healthy: createHealthCheck({
      path: path === ':memory:' ? undefined : path,
      async probe(bytes) {
        const value = { at: clock.now().toISOString(), padding: '0'.repeat(bytes) };
        await commits.write(() => sql.run(putValue(sql, 'health', value)), bytes);
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

/** Returns the methods that keep plain data. In a file, a transaction reads, edits and writes atomically. */
function createFileMemory({ sql, commits }: SqliteContext): MemoryRows {
  const memory = createMemory(sql);
  const find = (key: string): unknown => {
    const row = sql.find(selectValue(key));
    return row === undefined ? undefined : JSON.parse(String(row.value));
  };
  return {
    ...memory,
    async revise(key, edit) {
      // Most edits change nothing and need no write.
      const seen = await memory.recall(key);
      if (edit(seen) === seen) return seen;
      return commits.write(() => {
        const before = find(key);
        const after = edit(before);
        if (after !== before) sql.run(putValue(sql, key, after));
        return after;
      });
    },
  };
}

/** Returns the shared part of a store for a store with one process besides its readers. */
function createSoleProcess(role: 'worker' | 'reader', clock: StoreClock): SharedStore {
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

/** Minimum free space of a healthy store, or 5 % of the disk if that is less. */
const leastFreeBytes = 200 * 2 ** 20;

/**
 * Creates the health check of a store. It writes as many bytes as the largest recently refused write, so that a disk
 * that accepts only small writes fails the check. Concurrent calls share one check.
 */
export function createHealthCheck(options: {
  /** The store's file; undefined for a store in memory. */
  readonly path: string | undefined;
  /** Writes this many bytes. */
  readonly probe: (bytes: number) => Promise<void>;
  readonly refusedBytes: () => number;
  /** Reason why the log currently cannot be copied into the database. */
  readonly checkpointFailure: () => string | undefined;
}): () => Promise<Health> {
  let running: Promise<Health> | undefined;

  const look = async (): Promise<Health> => {
    try {
      await options.probe(options.refusedBytes());
      const failure = options.checkpointFailure();
      if (failure !== undefined) {
        return {
          ok: false,
          freeBytes: undefined,
          reason: `the log cannot be copied into the database: ${failure}`,
        };
      }
      return options.path === undefined
        ? { ok: true, freeBytes: undefined }
        : await lookForSpace(options.path);
    } catch (error) {
      return { ok: false, freeBytes: undefined, reason: messageOf(error) };
    }
  };

  return () => {
    running ??= look().finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function lookForSpace(path: string): Promise<Health> {
  const { bavail, blocks, bsize } = await statfs(dirname(path));
  const freeBytes = bavail * bsize;
  if (freeBytes >= Math.min(leastFreeBytes, 0.05 * blocks * bsize)) return { ok: true, freeBytes };
  return { ok: false, freeBytes, reason: `only ${Math.floor(freeBytes / 2 ** 20)} MB free at ${path}` };
}
