import { IncomingMessage } from 'node:http';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { BudgetedBody, OpenBody } from './arriving-bodies.ts';
import { createBodyBudget } from './body-budget.ts';
import { type BufferPool, createBufferPool, pooledSizes, release } from './buffer-pool.ts';

/** Why a body cannot be read: it is incomplete, too large, or was dropped in favour of others. */
export class BodyError extends Error {
  readonly status: 400 | 413 | 503;

  constructor(status: 400 | 413 | 503, message: string) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
  }
}

/** A body in memory. `bytes` must not be used after `release`: the memory is reused for the next body. */
export type HeldBody = { readonly bytes: Buffer; readonly release: () => void };

export interface Bodies {
  /** Returns why a body is refused unread: its Content-Length exceeds the limit. */
  refuse(request: IncomingMessage): BodyError | undefined;
  /** Reads a request's body. Throws BodyError: 413 beyond the limit, whatever Content-Length says, 400 if it is incomplete. */
  read(request: IncomingMessage): Promise<HeldBody>;
}

/**
 * Creates the reader of bodies. One body has at most `maxBytes`; all together have the memory that `createBodyBudget` grants of
 * `budgetBytes`. Memory is allocated as bytes arrive, whatever Content-Length is, and is reused for the next body.
 */
export function createBodies(options: {
  maxBytes: number;
  budgetBytes: number;
  /** Monotonic milliseconds; default `performance.now`. */
  clock?: Pick<Clock, 'monotonicMs'>;
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

/** One body on its way into memory. A class, since a reading has state and a closure for each callback costs at this rate. */
class BodyReading implements BudgetedBody {
  readonly address: string;
  entry: OpenBody | undefined;
  readonly #request: IncomingMessage;
  readonly #parts: BodyParts;
  #buffer: Buffer | undefined;
  #length = 0;
  /** Chunks of a network request belong to the reader; those of an injected request belong to its caller. */
  readonly #ownsChunks: boolean;
  /** A chunk that arrived and waits for memory. */
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

  /** Moves the body into a larger buffer. Returns false if the chunk has to wait, or the body was dropped. */
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

  readonly #onBreak = (): void => this.#fail(new BodyError(400, 'the body broke off'));

  #fail(error: BodyError): void {
    this.#request
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onBreak)
      .off('close', this.#onBreak)
      // The request is refused; an error that follows changes nothing.
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

/** Returns the size of the buffer for this many bytes: growth by a factor of four, then of two. */
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
