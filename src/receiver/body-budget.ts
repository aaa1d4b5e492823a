import type { Clock } from '../clock.ts';
/** A body in the memory budget. */
export interface BudgetedBody {
  /** Address of the sender. */
  readonly address: string;
  /** Called when a waiting body may continue. */
  resume(): void;
  /** Called when the body is dropped. It must be released in this call. */
  drop(): void;
}

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

/** A body up to this size always gets memory: deliveries are rarely larger. */
export const smallBytes = 256 * 1024;

/** A large body that is still arriving after this time may be dropped in favour of others. */
const slowAfterMs = 1_000;

/** Interval of the check for slow bodies while others wait. */
const lookMs = 100;

type OpenBody = {
  readonly body: BudgetedBody;
  readonly openedMs: number;
  bytes: number;
  isComplete: boolean;
  /** While it waits: since when, and for how many bytes. Time spent waiting does not make a body slow. */
  wait: { readonly sinceMs: number; readonly bytes: number } | undefined;
  waitedMs: number;
};

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
  /** In order of their first byte. */
  const entries = new Map<BudgetedBody, OpenBody>();
  const waiting = new Set<OpenBody>();
  const largeOf = new Map<string, number>();
  let large = 0;
  let small = 0;
  let isLookDue = false;
  let timer: NodeJS.Timeout | undefined;

  const hold = (entry: OpenBody, bytes: number): void => {
    count(entry, -1);
    entry.bytes = bytes;
    count(entry, 1);
  };
  const count = ({ bytes, body }: OpenBody, sign: 1 | -1): void => {
    if (bytes <= smallBytes) {
      small += sign * bytes;
      return;
    }
    large += sign * bytes;
    const ofAddress = (largeOf.get(body.address) ?? 0) + sign * bytes;
    if (ofAddress > 0) largeOf.set(body.address, ofAddress);
    else largeOf.delete(body.address);
  };

  const isSlow = (entry: OpenBody): boolean => {
    const waitedMs = entry.waitedMs + (entry.wait ? clock.monotonicMs() - entry.wait.sinceMs : 0);
    return !entry.isComplete && clock.monotonicMs() - entry.openedMs - waitedMs > slowAfterMs;
  };

  const isOf = (entry: OpenBody, address: string | undefined): boolean =>
    entry.bytes > smallBytes && (address === undefined || entry.body.address === address);

  /** Returns the largest slow body above 256 KiB, optionally of one address. */
  const findSlow = (address?: string): OpenBody | undefined => {
    let found: OpenBody | undefined;
    for (const entry of entries.values()) {
      if (isOf(entry, address) && entry.bytes > (found?.bytes ?? 0) && isSlow(entry)) found = entry;
    }
    return found;
  };

  /** Returns whether another large body, optionally of one address, is being read and will release memory. */
  const hasProgress = (self: OpenBody, address: string | undefined): boolean => {
    for (const entry of entries.values()) {
      if (entry !== self && entry.wait === undefined && isOf(entry, address)) return true;
    }
    return false;
  };

  /** Grants the bytes if they fit, or if dropping slow bodies makes them fit. */
  const isGranted = (entry: OpenBody, bytes: number): boolean => {
    const extra = bytes - (entry.bytes > smallBytes ? entry.bytes : 0);
    const { address } = entry.body;
    for (;;) {
      const isFull = large + extra > maxBytes;
      const isAddressFull = (largeOf.get(address) ?? 0) + extra > maxBytes / 2;
      if (!isFull && !isAddressFull) break;
      // If every large body waits, none would ever finish: the first one is read to its end.
      if (!hasProgress(entry, isFull ? undefined : address)) break;
      const slow = (isAddressFull ? findSlow(address) : undefined) ?? (isFull ? findSlow() : undefined);
      if (slow === undefined) return false;
      drop(slow);
      if (slow === entry) return false;
    }
    hold(entry, bytes);
    return true;
  };

  const drop = (entry: OpenBody): void => {
    forget(entry);
    entry.body.drop();
  };

  const forget = (entry: OpenBody): void => {
    if (!entries.delete(entry.body)) return;
    waiting.delete(entry);
    count(entry, -1);
    lookSoon();
  };

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

  const growSmall = (entry: OpenBody, bytes: number): Growth => {
    hold(entry, bytes);
    while (small > maxBytes) {
      const oldest = firstSmall();
      if (oldest === undefined) break;
      drop(oldest);
      if (oldest === entry) return 'dropped';
    }
    return 'granted';
  };
  const firstSmall = (): OpenBody | undefined => {
    for (const entry of entries.values()) if (!entry.isComplete && entry.bytes <= smallBytes) return entry;
    return undefined;
  };

  const entryOf = (body: BudgetedBody): OpenBody => {
    const known = entries.get(body);
    if (known !== undefined) return known;
    const entry: OpenBody = {
      ...{ body, openedMs: clock.monotonicMs(), bytes: 0, isComplete: false, wait: undefined, waitedMs: 0 },
    };
    entries.set(body, entry);
    return entry;
  };

  return {
    grow(body, bytes) {
      const entry = entryOf(body);
      if (bytes <= smallBytes) return growSmall(entry, bytes);
      if (isGranted(entry, bytes)) return 'granted';
      if (!entries.has(body)) return 'dropped';
      entry.wait = { sinceMs: clock.monotonicMs(), bytes };
      waiting.add(entry);
      lookSoon();
      return 'waits';
    },
    complete(body) {
      const entry = entries.get(body);
      if (entry !== undefined) entry.isComplete = true;
    },
    release(body) {
      const entry = entries.get(body);
      if (entry !== undefined) forget(entry);
    },
  };
}
