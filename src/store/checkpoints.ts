import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

/** Carries the log into the database from time to time. */
export interface Checkpoints {
  /** Notes that a transaction of about so many bytes was committed. */
  committed(bytes: number): void;
  close(): Promise<void>;
}

/** For a database that does it itself. */
export const noCheckpoints: Checkpoints = { committed() {}, async close() {} };

/** After so much the thread begins; SQLite's own habit, but beside the event loop. */
const beginBytes = 16 * 2 ** 20;
/** Beyond this the loop finishes what the thread could not: a log only starts again when all of it was carried over. */
const maxLogBytes = 64 * 2 ** 20;
/** What a transaction writes again of pages that were written before. */
const overheadBytes = 3 * 32_768;

/**
 * The thread, as text: it must run from sources, from a bundle and inside a package, where no file of its own can be
 * relied on. It answers each question with what SQLite says: frames in the log, and frames carried over.
 */
const thread = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(workerData, { timeout: 1000 });
database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -512');
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
parentPort.on('message', (question) => {
  if (question === 'close') { database.close(); parentPort.close(); return; }
  try { parentPort.postMessage(checkpoint.get()); } catch { parentPort.postMessage({ log: 0, checkpointed: 0 }); }
});
`;

/**
 * Creates the checkpoints of the database at `path`. A checkpoint syncs twice; inside a COMMIT it made every hundredth
 * delivery wait for tens of milliseconds. The thread starts when the first is due.
 */
export function createThreadedCheckpoints(
  database: DatabaseSync,
  path: string,
  pageBytes: number,
): Checkpoints {
  database.exec('PRAGMA wal_autocheckpoint = 0');
  const finish = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  let worker: Worker | undefined;
  let isUnderWay = false;
  let sinceBytes = 0;

  const start = (): Worker => {
    const started = new Worker(thread, {
      eval: true,
      execArgv: [],
      workerData: path,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    });
    started.on('message', ({ log, checkpointed }: { log: number; checkpointed: number }) => {
      isUnderWay = false;
      if (checkpointed < log && log * pageBytes > maxLogBytes) finish.get();
    });
    started.on('error', () => {
      // Without its thread the database goes back to doing it itself: slower, and as safe.
      worker = undefined;
      isUnderWay = true;
      database.exec('PRAGMA wal_autocheckpoint = 512');
    });
    // A checkpoint is no reason to keep the process alive.
    started.unref();
    return started;
  };

  return {
    committed(bytes) {
      sinceBytes += bytes + overheadBytes;
      if (isUnderWay || sinceBytes < beginBytes) return;
      sinceBytes = 0;
      isUnderWay = true;
      worker ??= start();
      worker.postMessage('checkpoint');
    },
    async close() {
      const ending = worker;
      if (ending === undefined) return;
      await new Promise<void>((resolve) => {
        ending.once('exit', () => resolve());
        ending.ref();
        ending.postMessage('close');
      });
    },
  };
}
