import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';

/** Work that waits for other servers, apart from the background so that a slow server delays nothing but its own kind. */
export interface SyncQueue {
  /** Adds work under a key. Does nothing while work of this key waits; what it throws is logged. */
  add(key: string, work: () => Promise<void>): void;
  /** Drops what has not begun and waits for what has. */
  close(): Promise<void>;
}

/** Servers that are talked to at the same time. */
const maxRunning = 2;

/** Creates a queue of such work. */
export function createSyncQueue(log: Log): SyncQueue {
  const waiting = new Map<string, () => Promise<void>>();
  const running = new Set<Promise<void>>();
  let isClosed = false;
  function startNext(): void {
    while (!isClosed && running.size < maxRunning) {
      const [next] = waiting;
      if (next === undefined) return;
      const [key, work] = next;
      waiting.delete(key);
      const run = perform(work).finally(() => {
        running.delete(run);
        startNext();
      });
      running.add(run);
    }
  }
  async function perform(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, `synchronization failed: ${messageOf(error)}`);
    }
  }
  return {
    add(key, work) {
      if (isClosed || waiting.has(key)) return;
      waiting.set(key, work);
      startNext();
    },
    async close() {
      isClosed = true;
      waiting.clear();
      await Promise.all(running);
    },
  };
}
