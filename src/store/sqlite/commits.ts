import { closeSync, fdatasync, fstatSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { asStoreError } from './failures.ts';

const syncData = promisify(fdatasync);

type CommitStep = {
  readonly write: () => unknown;
  readonly weight: number;
  readonly onCommitted: ((result: unknown) => void) | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** Limits of one transaction, so that the next one waits only a few milliseconds for the disk. */
const maxSteps = 256;
const maxWeight = 4 * 2 ** 20;

/**
 * The transactions of a database. SQLite writes each COMMIT to the log without a sync (`synchronous=NORMAL`);
 * `durability` syncs the log outside the event loop, and `checkpoints` copies the log into the database before it grows
 * too large.
 * `write` is a group commit: all writes that arrive during the sync of a transaction are combined in the next one, so
 * that one sync serves many deliveries. `writeUnsynced` waits for no sync.
 */
export class Commits {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #durability: Durability;
  readonly #checkpoints: Checkpoints;
  readonly #onRefused: () => void;
  readonly #onCommitted: () => void;
  readonly #begin: { run(): unknown };
  readonly #commit: { run(): unknown };
  #steps: CommitStep[] = [];
  #draining: Promise<void> | undefined;
  /** Unsynced writes that wait for the end of a checkpoint. */
  #unsynced: (() => void)[] = [];
  #syncing: Promise<number> | undefined;
  #refusedBytes = 0;
  #isClosed = false;

  /**
   * `onRefused` is called when writes were refused, some of which may still be in the database; `onCommitted` after the
   * COMMIT of synced writes, before their sync has ended. Neither may throw.
   */
  constructor(
    database: DatabaseSync,
    options: {
      path: string;
      durability: Durability;
      checkpoints: Checkpoints;
      onRefused: () => void;
      onCommitted?: () => void;
    },
  ) {
    this.#database = database;
    this.#path = options.path;
    this.#durability = options.durability;
    this.#checkpoints = options.checkpoints;
    this.#onRefused = options.onRefused;
    this.#onCommitted = options.onCommitted ?? (() => {});
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /**
   * Runs a synchronous write in the next transaction, and resolves after the sync that covers it, in call order.
   * `weight` is its size in bytes, if relevant; `onCommitted` is called after the COMMIT, before the sync ends, and
   * must not throw. Only a write that throws is rolled back; a write may run twice, so its effects outside the database
   * must be idempotent.
   */
  write<Result>(write: () => Result, weight = 0, onCommitted?: (result: Result) => void): Promise<Result> {
    if (this.#isClosed) return Promise.reject(this.#closed());
    return new Promise<Result>((resolve, reject) => {
      // Queue boundary: the value of a step is passed to the promise created with it.
      this.#steps.push({
        write,
        weight,
        onCommitted: onCommitted as CommitStep['onCommitted'],
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#draining ??= this.#drain();
    });
  }

  /**
   * Runs a synchronous write in a separate transaction, without a sync. It survives a crash of the process; a power
   * failure may revert it, unless a later write was synced. If it runs during a sync, it sees the writes that are being
   * synced, so anything that depends on them must wait for `syncing`.
   */
  writeUnsynced<Result>(write: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#unsynced.push(() => {
        try {
          if (!this.#database.isOpen) throw this.#closed();
          const result = this.#run(write);
          this.#checkpoints.committed(0);
          resolve(result);
        } catch (error) {
          reject(asStoreError(error, this.#path));
        }
      });
      this.#runUnsynced();
    });
  }

  /** The sync in progress. It rejects if it fails. */
  get syncing(): Promise<unknown> | undefined {
    return this.#syncing;
  }

  /** Weight of the largest transaction that the disk has refused, until one of that weight is written; 0: none. */
  get refusedBytes(): number {
    return this.#refusedBytes;
  }

  /** Accepts no more writes, and resolves when all pending ones are written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    // Other writes of this turn of the event loop join the first transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#steps.length > 0) {
      const gap = this.#checkpoints.gap();
      if (gap !== undefined) await gap;
      await this.#flush(this.#take());
    }
    this.#draining = undefined;
  }

  #take(): CommitStep[] {
    let weight = 0;
    let count = 0;
    for (const step of this.#steps) {
      if (count > 0 && (count >= maxSteps || weight + step.weight > maxWeight)) break;
      weight += step.weight;
      count += 1;
    }
    return this.#steps.splice(0, count);
  }

  async #flush(batch: readonly CommitStep[]): Promise<void> {
    const bytes = batch.reduce((sum, { weight }) => sum + weight, 0);
    try {
      const results = this.#run(() => batch.map((step) => step.write()));
      const synced = this.#sync();
      for (const [index, step] of batch.entries()) step.onCommitted?.(results[index]);
      this.#onCommitted();
      const logBytes = await synced;
      for (const [index, step] of batch.entries()) step.resolve(results[index]);
      if (bytes >= this.#refusedBytes) this.#refusedBytes = 0;
      this.#checkpoints.committed(bytes, logBytes);
    } catch (error) {
      this.#onRefused();
      const refused = asStoreError(error, this.#path);
      const isDisk =
        refused instanceof ReeveError && ['store-unwritable', 'store-lost'].includes(refused.code);
      if (isDisk) this.#refusedBytes = Math.max(this.#refusedBytes, bytes);
      if (isDisk || batch.length === 1) {
        for (const step of batch) step.reject(refused);
        return;
      }
      // One failing write must not fail the others.
      for (const step of batch) await this.#flush([step]);
    }
  }

  /** Runs a transaction; if it throws, nothing was written. */
  #run<Result>(work: () => Result): Result {
    this.#durability.prepare();
    try {
      this.#begin.run();
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      try {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      } catch {
        // SQLite has already rolled back (after disk errors); the caller must get the first error.
      }
      throw error;
    }
  }

  #sync(): Promise<number> {
    const syncing = this.#durability.sync().finally(() => {
      this.#syncing = undefined;
    });
    this.#syncing = syncing;
    return syncing;
  }

  #runUnsynced(): void {
    const gap = this.#checkpoints.gap();
    if (gap !== undefined) void gap.then(() => this.#runUnsynced());
    else for (const step of this.#unsynced.splice(0)) step();
  }

  #closed(): ReeveError {
    return new ReeveError('store-unwritable', `the store ${this.#path} is closed`);
  }
}

/** Makes COMMITs durable across power failures. */
export interface Durability {
  /**
   * Called before a transaction; throws `store-unwritable` until a failed sync is repaired, and `store-lost`
   * permanently.
   */
  prepare(): void;
  /**
   * Resolves when everything committed so far is on the disk. Returns the size of the log file. Throws `store-lost`.
   */
  sync(): Promise<number>;
  close(): void;
}

/** For a database without a file. */
export const noDurability: Durability = { prepare() {}, sync: async () => 0, close() {} };

/**
 * Syncs the log of the database at `path` outside SQLite (`synchronous=NORMAL` leaves each COMMIT unsynced), so that
 * the disk works while the event loop accepts the next deliveries: the same guarantee as FULL, and the event loop is
 * blocked for a third of the time.
 * A failed sync may have dropped pages that the kernel now treats as clean, and frames after a gap in the log are lost
 * with it. So nothing is acknowledged until a checkpoint has copied the whole log into the database and synced it.
 * A deleted or replaced file still accepts writes and syncs, and is lost when the process ends. So the paths of all
 * files, and of those in `others`, are compared with the opened files before each sync; `onLost` is called once.
 */
export function createLogDurability(
  database: DatabaseSync,
  path: string,
  options: { readonly others?: readonly string[]; readonly onLost?: (error: ReeveError) => void } = {},
): Durability {
  // SQLite locks the database and its shared memory, never the log: closing this descriptor cannot release a lock.
  const log = openSync(`${path}-wal`, 'r+');
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  // The shared memory as well: a process that opens the store without it creates another one, and both write the log.
  const findGone = watchOpenedFiles([path, `${path}-wal`, `${path}-shm`, ...(options.others ?? [])]);
  let isBroken = false;
  let lost: ReeveError | undefined;

  const requireFiles = (): void => {
    const gone = findGone();
    if (gone === undefined) return;
    lost = new ReeveError(
      'store-lost',
      `${gone} was removed or replaced while Reeve runs: nothing can be stored any more. Put the data folder back as it was, or start with an empty one`,
    );
    options.onLost?.(lost);
    throw lost;
  };

  return {
    prepare() {
      if (lost !== undefined) throw lost;
      if (!isBroken) return;
      const row = checkpoint.get();
      if (row?.busy !== 0) throw refusal(path, new Error('a reader holds the log'));
      isBroken = false;
    },
    async sync() {
      requireFiles();
      try {
        await syncData(log);
        return fstatSync(log).size;
      } catch (error) {
        isBroken = true;
        throw refusal(path, error);
      }
    },
    close: () => closeSync(log),
  };
}

function refusal(path: string, cause: unknown): ReeveError {
  return new ReeveError('store-unwritable', `the store ${path} cannot be synced: ${messageOf(cause)}`, {
    cause,
    retryAfterMs: 5_000,
  });
}

type Opened = { readonly path: string; readonly device: number; readonly inode: number };

/**
 * Remembers the files at these paths. The returned function returns the first path that now refers to another file, or
 * to none: writes to a removed file are lost with the process, although every write and sync succeeds.
 */
export function watchOpenedFiles(paths: readonly string[]): () => string | undefined {
  const opened: readonly Opened[] = paths.map((path) => {
    const { dev, ino } = statSync(path);
    return { path, device: dev, inode: ino };
  });
  return () => opened.find(isGone)?.path;
}

function isGone({ path, device, inode }: Opened): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined || found.ino !== inode || found.dev !== device;
}

/** Copies the write-ahead log into the database periodically, so that the log stays small. */
export interface Checkpoints {
  /** Records a committed transaction: its approximate size, and the size of the log file after it if that is known. */
  committed(bytes: number, logBytes?: number): void;
  /**
   * Returns a promise if the next transaction must wait for a checkpoint, undefined otherwise. Call it between
   * transactions: the last pass of a checkpoint is complete only while no transaction appends to the log. All callers
   * wait for the same pass.
   */
  gap(): Promise<void> | undefined;
  /** Returns why the last checkpoint failed; undefined once one succeeds. */
  failure(): string | undefined;
  close(): Promise<void>;
}

/** For a database with automatic checkpoints. */
export const noCheckpoints: Checkpoints = {
  committed() {},
  gap: () => undefined,
  failure: () => undefined,
  async close() {},
};

/** Pages of the log after which SQLite itself checkpoints in a COMMIT, if no thread does: 16 MiB. */
export const checkpointPages = 4_096;
/** Estimated bytes in the log after which a checkpoint begins. */
const beginBytes = 12 * 2 ** 20;
/**
 * A log file above this size starts a checkpoint regardless of the estimate. `journal_size_limit` must be the same:
 * SQLite then truncates the file when the log restarts, so a larger file means a larger log and not a former peak.
 */
export const logLimitBytes = 32 * 2 ** 20;
/** A log file above this size makes transactions wait until the current checkpoint is complete. */
const maxLogBytes = 44 * 2 ** 20;
/** Estimated bytes of a transaction in addition to its payload: changed pages of tables and indexes. */
const overheadBytes = 8 * 4_096;
/** After an incomplete checkpoint (a reader used the log, the disk refused), the next begins after this many bytes. */
const retryBytes = 2 ** 20;

/**
 * Number of passes in parallel with transactions before the one in a gap: each has less to copy than the previous one.
 */
const passesBeside = 2;

/**
 * Creates the checkpoints of the database at `path`. They run in a thread, since a checkpoint syncs twice; the thread
 * starts with the first one.
 * SQLite restarts the log only when a transaction begins while every frame is copied. Under steady load a checkpoint
 * concurrent with transactions never reaches that state: new frames arrive while it copies. So two concurrent passes
 * copy nearly everything, and a third copies the rest in a gap between two transactions, which waits for it.
 */
export function createThreadedCheckpoints(database: DatabaseSync, path: string): Checkpoints {
  database.exec('PRAGMA wal_autocheckpoint = 0');
  let state: 'idle' | 'beside' | 'due' | 'unavailable' = 'idle';
  let beside: Promise<void> | undefined;
  let inGap: Promise<void> | undefined;
  let sinceBytes = 0;
  let nextBytes = beginBytes;
  let logBytes = 0;
  const copying = new CheckpointThread(path, () => {
    // Without the thread, the database checkpoints in its COMMITs: slower, and equally safe.
    state = 'unavailable';
    database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  });

  const runBeside = async (): Promise<void> => {
    for (let done = 0; done < passesBeside && state === 'beside'; done += 1) await copying.pass();
    if (state === 'beside') state = 'due';
  };

  const runInGap = async (): Promise<void> => {
    // A waiting transaction keeps the process alive.
    copying.ref();
    await beside;
    if (state !== 'due') return;
    const result = await copying.pass();
    copying.unref();
    if (state === 'due') state = 'idle';
    const isComplete = !('error' in result) && result.checkpointed === result.log;
    sinceBytes = 0;
    nextBytes = isComplete ? beginBytes : retryBytes;
  };

  /**
   * Returns whether a checkpoint is due: immediately for a log file above the limit, unless the last attempt was
   * incomplete.
   */
  const isDue = (): boolean =>
    sinceBytes >= nextBytes || (logBytes > logLimitBytes && sinceBytes >= retryBytes);

  return {
    committed(bytes, size) {
      sinceBytes += bytes + overheadBytes;
      logBytes = size ?? logBytes;
      if (state !== 'idle' || !isDue()) return;
      state = 'beside';
      beside = runBeside();
    },
    gap() {
      if (state === 'due' || (state === 'beside' && logBytes > maxLogBytes))
        inGap ??= runInGap().finally(() => {
          inGap = undefined;
        });
      return inGap;
    },
    failure: () => copying.failure(),
    async close() {
      copying.ref();
      await beside;
      await copying.close();
    },
  };
}

/**
 * Source text of the thread: it must run from sources, from a bundle and inside a package, where no separate file is
 * available. It answers each message with SQLite's result: frames in the log, frames copied; or with the error.
 * SQLite's rows are read as arrays: a row as an object leaves about 100 bytes in the old generation, which V8 collects
 * only after tens of thousands of passes, at several megabytes.
 */
const thread = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(workerData, { timeout: 1000 });
database.exec('PRAGMA synchronous = NORMAL; PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -512');
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
checkpoint.setReturnArrays(true);
const pass = () => { const [, log, checkpointed] = checkpoint.get(); return { log, checkpointed }; };
parentPort.on('message', (message) => {
  if (message === 'close') { database.close(); parentPort.close(); return; }
  try { parentPort.postMessage(pass()); } catch (error) { parentPort.postMessage({ error: error.message }); }
});
`;

type Pass = { readonly log: number; readonly checkpointed: number } | { readonly error: string };

/** The thread that copies the log of the database at `path` into it. It starts with the first pass. */
export class CheckpointThread {
  readonly #path: string;
  readonly #onBroken: () => void;
  #worker: Worker | undefined;
  /** Receives the result of the pass in progress. */
  #finish: ((pass: Pass) => void) | undefined;
  #failure: string | undefined;

  /** `onBroken` is called when the thread has failed permanently. */
  constructor(path: string, onBroken: () => void) {
    this.#path = path;
    this.#onBroken = onBroken;
  }

  /** Runs one pass. */
  async pass(): Promise<Pass> {
    const result = await new Promise<Pass>((resolve) => {
      this.#finish = resolve;
      try {
        this.#worker ??= this.#start();
        this.#worker.postMessage('checkpoint');
      } catch (error) {
        // The system may fail to create a thread.
        this.#onBroken();
        resolve({ error: messageOf(error) });
      }
    });
    this.#finish = undefined;
    this.#failure = 'error' in result ? result.error : undefined;
    return result;
  }

  /** Returns why the last pass failed. */
  failure(): string | undefined {
    return this.#failure;
  }

  /** Keeps the process alive while the thread works. Without this call, a pass does not. */
  ref(): void {
    this.#worker?.ref();
  }

  unref(): void {
    this.#worker?.unref();
  }

  async close(): Promise<void> {
    const ending = this.#worker;
    if (ending === undefined) return;
    await new Promise<void>((resolve) => {
      ending.once('exit', () => resolve());
      ending.postMessage('close');
    });
  }

  #start(): Worker {
    const started = new Worker(thread, {
      eval: true,
      execArgv: [],
      workerData: this.#path,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    });
    started.on('message', (pass: Pass) => this.#finish?.(pass));
    started.on('error', (error: Error) => {
      this.#worker = undefined;
      this.#onBroken();
      this.#finish?.({ error: error.message });
    });
    started.unref();
    return started;
  }
}
