import type { IncomingMessage } from 'node:http';

/** Why a body could not be had. */
export class BodyError extends Error {
  readonly status: 400 | 413;

  constructor(status: 400 | 413, message: string) {
    super(message);
    this.name = 'BodyError';
    this.status = status;
  }
}

/** A body in memory. `release` gives its place back once nobody needs the bytes. */
export type HeldBody = { readonly bytes: Buffer; readonly release: () => void };

export interface Bodies {
  /** Reads a request's body. Throws BodyError: 413 beyond the limit, whatever Content-Length says, 400 when it breaks off. */
  read(request: IncomingMessage): Promise<HeldBody>;
}

/** How long, and how much of, a body that was refused is still taken from the wire, so that its sender sees the answer. */
const lingerMs = 2_000;
const lingerBytes = 64 * 2 ** 20;

/**
 * Creates the reader of bodies. One body holds at most `maxBytes`; all together `budgetBytes`: beyond that only the
 * oldest is read on, the others wait on the wire. Somebody without any secret can so fill no more than the budget.
 */
export function createBodies({ maxBytes, budgetBytes }: { maxBytes: number; budgetBytes: number }): Bodies {
  let held = 0;
  /** In order of their first byte. */
  const open = new Map<IncomingMessage, number>();

  const hold = (request: IncomingMessage, bytes: number): void => {
    held += bytes;
    open.set(request, (open.get(request) ?? 0) + bytes);
    if (held > budgetBytes && eldest() !== request) request.pause();
  };
  const eldest = (): IncomingMessage | undefined => open.keys().next().value;
  const release = (request: IncomingMessage): void => {
    held -= open.get(request) ?? 0;
    open.delete(request);
    for (const waiting of open.keys()) {
      if (waiting.isPaused()) waiting.resume();
      if (held > budgetBytes) break;
    }
  };

  return {
    read(request) {
      return new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        let length = 0;
        const stop = (error: BodyError): void => {
          request.off('data', onData).off('end', onEnd).off('error', onBreak).off('close', onBreak);
          chunks.length = 0;
          release(request);
          if (error.status === 413) linger(request);
          reject(error);
        };
        const onData = (chunk: Buffer): void => {
          length += chunk.length;
          if (length > maxBytes) {
            stop(new BodyError(413, `the body is larger than ${maxBytes} bytes`));
            return;
          }
          chunks.push(chunk);
          hold(request, chunk.length);
        };
        const onEnd = (): void => {
          request.off('close', onBreak);
          const [only] = chunks;
          const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length);
          resolve({ bytes, release: () => release(request) });
        };
        const onBreak = (): void => stop(new BodyError(400, 'the body broke off'));
        if (Number(request.headers['content-length']) > maxBytes) {
          stop(new BodyError(413, `the body is larger than ${maxBytes} bytes`));
          return;
        }
        request.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak);
      });
    },
  };
}

/**
 * Takes the rest of a refused body from the wire without keeping it, then closes. Closing at once makes the kernel reset
 * the connection, and the sender reads "connection reset" where it should read 413.
 */
function linger(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), lingerMs);
  timer.unref();
  let rest = lingerBytes;
  request.on('data', (chunk: Buffer) => {
    rest -= chunk.length;
    if (rest < 0) request.destroy();
  });
  // The refusal was the answer; how the connection ends after it is of no interest.
  request.on('error', () => {}).on('close', () => clearTimeout(timer));
  request.resume();
}
