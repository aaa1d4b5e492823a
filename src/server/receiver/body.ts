import { IncomingMessage } from 'node:http';
import { Slots } from '../../platform/cache/slots.ts';
import type { MonotonicClock } from '../../platform/clock.ts';
import { systemClock } from '../../platform/clock.ts';

/** Pool of reused buffers. Allocating memory for every request would burden the garbage collector. */
export interface BufferPool {
  /**
   * Returns a buffer of at least `bytes` bytes that begins with the first `used` bytes of `from`, which is returned to
   * the pool. The remaining bytes are undefined.
   */
  enlarge(from: Buffer | undefined, used: number, bytes: number): Buffer;
  /** Returns a buffer to the pool. The buffer and its views must not be used afterwards. */
  give(buffer: Buffer): void;
}

/**
 * The pooled sizes. A typical delivery fits into the first; larger buffers are rare and left to the garbage collector.
 */
const pooledSizes = [16_384, 65_536, 262_144] as const;

/** Maximum total size of idle buffers of one size. */
const maxIdleBytes = 4 * 2 ** 20;

/** Creates an empty pool. */
export function createBufferPool(): BufferPool {
  const idle = new Map<number, Buffer[]>(pooledSizes.map((size) => [size, []]));

  const take = (bytes: number): Buffer => {
    const size = pooledSizes.find((each) => each >= bytes) ?? bytes;
    return idle.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size);
  };

  const give = (buffer: Buffer): void => {
    const same = idle.get(buffer.length);
    if (same === undefined) release(buffer);
    else if ((same.length + 1) * buffer.length <= maxIdleBytes) same.push(buffer);
  };

  return {
    enlarge(from, used, bytes) {
      const larger = take(bytes);
      if (from === undefined) return larger;
      from.copy(larger, 0, 0, used);
      give(from);
      return larger;
    },
    give,
  };
}

/**
 * Frees the memory of a buffer immediately, because the garbage collector keeps large buffers for seconds. The buffer
 * and its views must not be used afterwards. A buffer that shares its memory with others is left to the garbage
 * collector.
 */
export function release(buffer: Buffer): void {
  const memory = buffer.buffer;
  if (memory instanceof ArrayBuffer && memory.byteLength === buffer.byteLength) memory.transfer(0);
}

/** A body in the memory budget. */
export interface BudgetedBody {
  /** Address of the sender. */
  readonly address: string;
  /** Called when a waiting body may continue. */
  resume(): void;
  /** Called when the body is dropped. The callee must release the body during this call. */
  drop(): void;
  /** Entry in the budget while the body is open; set only by the budget. */
  entry?: OpenBody | undefined;
}

/** Size up to which a body always gets memory; deliveries are rarely larger. */
const smallBytes = 256 * 1024;

/** Time after which a large body that is still arriving may be dropped in favour of others. */
const slowAfterMs = 1_000;

type OpenBody = {
  readonly body: BudgetedBody;
  slot: number;
  /** Increases with each body. */
  readonly serial: number;
  readonly openedMs: number;
  bytes: number;
  isComplete: boolean;
  /** While the body waits: since when, and for how many bytes. Time spent waiting does not make a body slow. */
  wait: { readonly sinceMs: number; readonly bytes: number } | undefined;
  waitedMs: number;
};

/** The bodies in memory, with their sizes. */
class ArrivingBodies {
  readonly #clock: MonotonicClock;
  readonly #open = new Slots<OpenBody>();
  #serial = 0;
  readonly #largeOf = new Map<string, number>();
  #large = 0;
  #small = 0;

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  /** Bytes of all bodies above 256 KiB. */
  get large(): number {
    return this.#large;
  }

  /** Bytes of all bodies up to 256 KiB. */
  get small(): number {
    return this.#small;
  }

  /** Returns the bytes of one address's bodies above 256 KiB. */
  largeOf(address: string): number {
    return this.#largeOf.get(address) ?? 0;
  }

  /** Returns the entry of a body; a new body is added. */
  open(body: BudgetedBody): OpenBody {
    if (body.entry !== undefined) return body.entry;
    this.#serial += 1;
    const entry: OpenBody = {
      body,
      slot: 0,
      serial: this.#serial,
      openedMs: this.#clock.monotonicMs(),
      bytes: 0,
      isComplete: false,
      wait: undefined,
      waitedMs: 0,
    };
    entry.slot = this.#open.add(entry);
    body.entry = entry;
    return entry;
  }

  /** Sets the number of bytes that a body holds. */
  hold(entry: OpenBody, bytes: number): void {
    this.#count(entry, -1);
    entry.bytes = bytes;
    this.#count(entry, 1);
  }

  /** Removes a body. */
  remove(entry: OpenBody): void {
    this.#open.take(entry.slot);
    entry.body.entry = undefined;
    this.#count(entry, -1);
  }

  /** Returns the largest slow body above 256 KiB; if an address is given, only among the bodies of this address. */
  findSlow(address?: string): OpenBody | undefined {
    let found: OpenBody | undefined;
    for (const entry of this.#open) {
      if (!isOf(entry, address) || !this.#isSlow(entry)) continue;
      if (found === undefined || entry.bytes > found.bytes) found = entry;
    }
    return found;
  }

  /**
   * Returns whether another large body is being read and will make room; if an address is given, only bodies of this
   * address count.
   */
  hasProgress(self: OpenBody, address: string | undefined): boolean {
    for (const entry of this.#open) {
      if (entry !== self && entry.wait === undefined && isOf(entry, address)) return true;
    }
    return false;
  }

  /** Returns the small body that has been arriving longest. */
  firstSmall(): OpenBody | undefined {
    let found: OpenBody | undefined;
    for (const entry of this.#open) {
      if (entry.isComplete || entry.bytes > smallBytes) continue;
      if (found === undefined || entry.serial < found.serial) found = entry;
    }
    return found;
  }

  #count({ bytes, body }: OpenBody, sign: 1 | -1): void {
    if (bytes <= smallBytes) {
      this.#small += sign * bytes;
      return;
    }
    this.#large += sign * bytes;
    const ofAddress = (this.#largeOf.get(body.address) ?? 0) + sign * bytes;
    if (ofAddress > 0) this.#largeOf.set(body.address, ofAddress);
    else this.#largeOf.delete(body.address);
  }

  #isSlow(entry: OpenBody): boolean {
    const nowMs = this.#clock.monotonicMs();
    const waitedMs = entry.waitedMs + (entry.wait ? nowMs - entry.wait.sinceMs : 0);
    return !entry.isComplete && nowMs - entry.openedMs - waitedMs > slowAfterMs;
  }
}

function isOf(entry: OpenBody, address: string | undefined): boolean {
  return entry.bytes > smallBytes && (address === undefined || entry.body.address === address);
}

/** Result of a request for more memory. */
type Growth = 'granted' | 'waits' | 'dropped';

/** Limits the memory of all bodies together, so that slow senders cannot take memory from the others. */
export interface BodyBudget {
  /** Requests memory for this many bytes in total. `waits`: stop reading until `resume`. */
  grow(body: BudgetedBody, bytes: number): Growth;
  /** Records that the body is complete. A complete body is no longer dropped. */
  complete(body: BudgetedBody): void;
  /** Releases the memory of the body. Idempotent. */
  release(body: BudgetedBody): void;
}

/**
 * Creates the budget. Bodies above 256 KiB share `maxBytes`; the bodies of one address share half of it. If such a body
 * does not fit, the largest one that has been arriving for more than a second is dropped; if there is none, the body
 * waits. Smaller bodies never wait. Together they may use another `maxBytes`; beyond that, the one that has been open
 * longest is dropped.
 */
export function createBodyBudget({
  maxBytes,
  clock,
}: {
  maxBytes: number;
  clock: MonotonicClock;
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
      // If every large body waited, none would ever finish, so the first one is read to its end.
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

/** Interval of the check for slow bodies while other bodies wait. */
const lookMs = 100;

/** Creates the queue of bodies waiting for memory. After each change, memory is granted in order. */
function createWaitingLine(options: {
  readonly clock: MonotonicClock;
  readonly isGranted: (entry: OpenBody, bytes: number) => boolean;
}) {
  const { clock, isGranted } = options;
  const waiting = new Set<OpenBody>();
  let isLookDue = false;
  let timer: NodeJS.Timeout | undefined;

  /** Grants the requests of waiting bodies in order, where they fit. */
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
    // Checked again later, because a body becomes slow as time passes.
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
    /** Records that a body, which may be waiting, no longer holds memory. */
    remove(entry: OpenBody): void {
      waiting.delete(entry);
      lookSoon();
    },
  };
}

/** Why a body cannot be read: it is incomplete, it is too large, or it was dropped in favour of others. */
export class BodyError extends Error {
  readonly status: 400 | 413 | 503;

  constructor(status: 400 | 413 | 503, message: string) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
  }
}

/** A body in memory. `bytes` must not be used after `release`, because the memory is reused for the next body. */
export type HeldBody = { readonly bytes: Buffer; readonly release: () => void };

export interface Bodies {
  /** Returns why a body is refused unread: its Content-Length exceeds the limit. Undefined for other bodies. */
  refuse(request: IncomingMessage): BodyError | undefined;
  /**
   * Reads a request's body. Throws BodyError: 413 beyond the limit, regardless of Content-Length, 400 if the body is
   * incomplete, and 503 if it was dropped.
   */
  read(request: IncomingMessage): Promise<HeldBody>;
}

/**
 * Creates the body reader. One body has at most `maxBytes`; all bodies together get the memory that `createBodyBudget`
 * grants from `budgetBytes`. Memory is allocated as bytes arrive, regardless of Content-Length, and is reused for the
 * next body.
 */
export function createBodies(options: {
  maxBytes: number;
  budgetBytes: number;
  /** Default: the system's clock. */
  clock?: MonotonicClock;
}): Bodies {
  const { maxBytes, budgetBytes, clock = systemClock } = options;
  const budget = createBodyBudget({ maxBytes: budgetBytes, clock });
  const pool = createBufferPool();
  return {
    refuse: (request) =>
      Number(request.headers['content-length']) > maxBytes ? tooLarge(maxBytes) : undefined,
    read: (request) =>
      new Promise((resolve, reject) => {
        new BodyReading(request, { maxBytes, budget, pool, resolve, reject }).start();
      }),
  };
}

type BodyParts = {
  readonly maxBytes: number;
  readonly budget: ReturnType<typeof createBodyBudget>;
  readonly pool: BufferPool;
  readonly resolve: (body: HeldBody) => void;
  readonly reject: (error: BodyError) => void;
};

/**
 * One body that is being read into memory. It is a class because a reading has state, and closures for each callback
 * are costly at this rate.
 */
class BodyReading implements BudgetedBody {
  readonly address: string;
  entry: OpenBody | undefined;
  readonly #request: IncomingMessage;
  readonly #parts: BodyParts;
  #buffer: Buffer | undefined;
  #length = 0;
  /**
   * Whether the chunks belong to the reader, as for a network request. Chunks of an injected request belong to the
   * caller.
   */
  readonly #ownsChunks: boolean;
  /** A chunk that has arrived and waits for memory. */
  #pending: Buffer | undefined;

  constructor(request: IncomingMessage, parts: BodyParts) {
    this.#request = request;
    this.#parts = parts;
    this.#ownsChunks = request instanceof IncomingMessage;
    this.address = request.socket.remoteAddress ?? '';
  }

  start(): void {
    this.#request
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('error', this.#onBreak)
      .on('close', this.#onBreak);
  }

  resume(): void {
    const chunk = this.#pending;
    this.#pending = undefined;
    if (chunk !== undefined) this.#append(chunk, true);
    this.#request.resume();
  }

  drop(): void {
    this.#fail(new BodyError(503, 'the body arrived too slowly while memory was short'));
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#length + chunk.length > this.#parts.maxBytes) this.#fail(tooLarge(this.#parts.maxBytes));
    else this.#append(chunk, false);
  };

  #append(chunk: Buffer, isGranted: boolean): void {
    const length = this.#length + chunk.length;
    if (length > (this.#buffer?.length ?? 0) && !this.#grow(chunk, length, isGranted)) return;
    this.#buffer?.set(chunk, this.#length);
    this.#length = length;
    if (this.#ownsChunks) release(chunk);
  }

  /** Moves the body into a larger buffer. Returns false if the chunk has to wait or the body was dropped. */
  #grow(chunk: Buffer, length: number, isGranted: boolean): boolean {
    const bytes = sizeFor(length, this.#parts.maxBytes);
    const growth = isGranted ? 'granted' : this.#parts.budget.grow(this, bytes);
    if (growth === 'waits') {
      this.#pending = chunk;
      this.#request.pause();
    }
    if (growth !== 'granted') return false;
    this.#buffer = this.#parts.pool.enlarge(this.#buffer, this.#length, bytes);
    return true;
  }

  readonly #onEnd = (): void => {
    this.#request.off('close', this.#onBreak);
    this.#parts.budget.complete(this);
    const bytes = this.#buffer?.subarray(0, this.#length) ?? Buffer.alloc(0);
    this.#parts.resolve({ bytes, release: () => this.#release() });
  };

  readonly #onBreak = (): void => this.#fail(new BodyError(400, 'the body is incomplete'));

  #fail(error: BodyError): void {
    this.#request
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onBreak)
      .off('close', this.#onBreak)
      // The request is already refused; a later error changes nothing.
      .on('error', () => {});
    this.#release();
    this.#parts.reject(error);
  }

  #release(): void {
    this.#parts.budget.release(this);
    if (this.#buffer !== undefined) this.#parts.pool.give(this.#buffer);
    this.#buffer = undefined;
    this.#pending = undefined;
  }
}

const [firstBytes] = pooledSizes;

/** Returns the buffer size for this many bytes: sizes grow by a factor of four, then by a factor of two. */
function sizeFor(length: number, maxBytes: number): number {
  const pooled = pooledSizes.find((size) => size >= length);
  if (pooled !== undefined) return pooled;
  let size: number = firstBytes;
  while (size < length) size *= 2;
  return Math.min(size, maxBytes);
}

function tooLarge(maxBytes: number): BodyError {
  return new BodyError(413, `the body is larger than ${maxBytes} bytes`);
}
