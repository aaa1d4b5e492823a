import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';

/** Background work, one task after the other, so that requests keep the processor. */
export interface Background {
  /** Adds work to the end; what it throws is logged. After `close` nothing is added any more. */
  add(work: () => Promise<void>): void;
  /** Drops what has not begun and waits for what has. */
  close(): Promise<void>;
}

/** Creates a queue of background work. */
export function createBackground(log: Log): Background {
  let last: Promise<void> = Promise.resolve();
  let isClosed = false;
  async function perform(before: Promise<void>, work: () => Promise<void>): Promise<void> {
    await before;
    if (isClosed) return;
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, `work in the background failed: ${messageOf(error)}`);
    }
  }
  return {
    add(work) {
      if (!isClosed) last = perform(last, work);
    },
    async close() {
      isClosed = true;
      await last;
    },
  };
}
