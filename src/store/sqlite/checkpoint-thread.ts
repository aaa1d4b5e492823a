import { Worker } from 'node:worker_threads';
import { messageOf } from '../../platform/errors.ts';

/**
 * The thread, as text: it must run from sources, from a bundle and inside a package, where no separate file can be relied
 * on. It answers each message with SQLite's result: frames in the log, frames copied; or with the error.
 *
 * SQLite's rows are read as arrays: a row as an object leaves about 100 bytes in the old generation, which V8 collects after
 * tens of thousands of passes, when they are megabytes.
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

export type Pass = { readonly log: number; readonly checkpointed: number } | { readonly error: string };

/** The thread that copies the log into the database. It starts with the first pass. */
export interface CheckpointThread {
  /** Runs one pass. */
  pass(): Promise<Pass>;
  /** Returns why the last pass failed. */
  failure(): string | undefined;
  /** Keeps the process alive while the thread works; a checkpoint alone is no reason to. */
  ref(): void;
  unref(): void;
  close(): Promise<void>;
}

/** Creates the thread for the database at `path`. `onBroken` is called when it cannot work any more. */
export function createCheckpointThread(path: string, onBroken: () => void): CheckpointThread {
  let worker: Worker | undefined;
  /** Takes the result of the pass under way. */
  let finish: ((pass: Pass) => void) | undefined;
  let failure: string | undefined;

  const start = (): Worker => {
    const started = new Worker(thread, {
      eval: true,
      execArgv: [],
      workerData: path,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    });
    started.on('message', (pass: Pass) => finish?.(pass));
    started.on('error', (error: Error) => {
      worker = undefined;
      onBroken();
      finish?.({ error: error.message });
    });
    // A checkpoint is no reason to keep the process alive.
    started.unref();
    return started;
  };

  return {
    async pass() {
      const result = await new Promise<Pass>((resolve) => {
        finish = resolve;
        try {
          worker ??= start();
          worker.postMessage('checkpoint');
        } catch (error) {
          // The system may refuse a thread.
          onBroken();
          resolve({ error: messageOf(error) });
        }
      });
      finish = undefined;
      failure = 'error' in result ? result.error : undefined;
      return result;
    },
    failure: () => failure,
    ref: () => worker?.ref(),
    unref: () => worker?.unref(),
    async close() {
      const ending = worker;
      if (ending === undefined) return;
      await new Promise<void>((resolve) => {
        ending.once('exit', () => resolve());
        ending.postMessage('close');
      });
    },
  };
}
