import type { Clock } from '../../platform/clock.ts';
import { ArrivingBodies, type BudgetedBody, type OpenBody, smallBytes } from './arriving-bodies.ts';

/** Result of a request for more memory. */
export type Growth = 'granted' | 'waits' | 'dropped';

/** Limits the memory of all bodies together, so that slow senders cannot take it from the others. */
export interface BodyBudget {
  /** Requests memory for this many bytes in total. `waits`: stop reading until `resume`. */
  grow(body: BudgetedBody, bytes: number): Growth;
  /** Records that the body is complete: from now on it is not dropped. */
  complete(body: BudgetedBody): void;
  /** Releases the memory of the body. Idempotent. */
  release(body: BudgetedBody): void;
}

/**
 * Creates the budget. Bodies above 256 KiB share `maxBytes`, those of one address half of it. If a larger body does not
 * fit, the largest one that has been arriving for more than a second is dropped; if there is none, the body waits.
 * Smaller bodies never wait. Together they may use another `maxBytes`; beyond that the one open longest is dropped.
 */
export function createBodyBudget({
  maxBytes,
  clock,
}: {
  maxBytes: number;
  clock: Pick<Clock, 'monotonicMs'>;
}): BodyBudget {
  const bodies = new ArrivingBodies(clock);
  const waiting = createWaitingLine({ clock, isGranted: (entry, bytes) => isGranted(entry, bytes) });

  /** Grants the bytes if they fit, or if dropping slow bodies makes them fit. */
  const isGranted = (entry: OpenBody, bytes: number): boolean => {
    const extra = bytes - (entry.bytes > smallBytes ? entry.bytes : 0);
    const { address } = entry.body;
    for (;;) {
      const isFull = bodies.large + extra > maxBytes;
      const isAddressFull = bodies.largeOf(address) + extra > maxBytes / 2;
      if (!isFull && !isAddressFull) break;
      // If every large body waits, none would ever finish: the first one is read to its end.
      if (!bodies.hasProgress(entry, isFull ? undefined : address)) break;
      const slow =
        (isAddressFull ? bodies.findSlow(address) : undefined) ?? (isFull ? bodies.findSlow() : undefined);
      if (slow === undefined) return false;
      drop(slow);
      if (slow === entry) return false;
    }
    bodies.hold(entry, bytes);
    return true;
  };

  const drop = (entry: OpenBody): void => {
    forget(entry);
    entry.body.drop();
  };

  const forget = (entry: OpenBody): void => {
    bodies.remove(entry);
    waiting.remove(entry);
  };

  const growSmall = (entry: OpenBody, bytes: number): Growth => {
    bodies.hold(entry, bytes);
    while (bodies.small > maxBytes) {
      const oldest = bodies.firstSmall();
      if (oldest === undefined) break;
      drop(oldest);
      if (oldest === entry) return 'dropped';
    }
    return 'granted';
  };

  return {
    grow(body, bytes) {
      const entry = bodies.open(body);
      if (bytes <= smallBytes) return growSmall(entry, bytes);
      if (isGranted(entry, bytes)) return 'granted';
      if (body.entry === undefined) return 'dropped';
      waiting.add(entry, bytes);
      return 'waits';
    },
    complete(body) {
      if (body.entry !== undefined) body.entry.isComplete = true;
    },
    release(body) {
      if (body.entry !== undefined) forget(body.entry);
    },
  };
}

/** Interval of the check for slow bodies while others wait. */
const lookMs = 100;

/** Creates the line of bodies that wait for memory. After each change it looks which of them get it now, in order. */
function createWaitingLine(options: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly isGranted: (entry: OpenBody, bytes: number) => boolean;
}) {
  const { clock, isGranted } = options;
  const waiting = new Set<OpenBody>();
  let isLookDue = false;
  let timer: NodeJS.Timeout | undefined;

  /** Grants the requests of waiting bodies, in order, as far as they fit. */
  const look = (): void => {
    isLookDue = false;
    clearTimeout(timer);
    for (const entry of [...waiting]) {
      const { wait } = entry;
      if (wait === undefined || !waiting.has(entry) || !isGranted(entry, wait.bytes)) continue;
      waiting.delete(entry);
      entry.wait = undefined;
      entry.waitedMs += clock.monotonicMs() - wait.sinceMs;
      entry.body.resume();
    }
    // A body becomes slow as time passes.
    if (waiting.size > 0) timer = setTimeout(lookSoon, lookMs).unref();
  };
  const lookSoon = (): void => {
    if (isLookDue || waiting.size === 0) return;
    isLookDue = true;
    setImmediate(look);
  };

  return {
    add(entry: OpenBody, bytes: number): void {
      entry.wait = { sinceMs: clock.monotonicMs(), bytes };
      waiting.add(entry);
      lookSoon();
    },
    /** Records that a body, which may be waiting, holds nothing any more. */
    remove(entry: OpenBody): void {
      waiting.delete(entry);
      lookSoon();
    },
  };
}
