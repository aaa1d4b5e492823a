import { IncomingMessage } from 'node:http';
import { release } from './buffer-pool.ts';

/** Limits of reading what is refused. */
type LingerLimits = {
  /** How long a refused body is still read, so that its sender reads the answer: forges give up after five seconds. */
  readonly lingerMs: number;
  /** Read limit of all refused bodies together in 20 ms: refused senders cannot keep the process busy. */
  readonly turnBytes: number;
  /** Read limit of one refused body. Then its sender has to stop, and gets the answer if it reads while it writes. */
  readonly lingerBytes: number;
};

const standardLimits: LingerLimits = { lingerMs: 5_000, turnBytes: 2 * 2 ** 20, lingerBytes: 64 * 2 ** 20 };

const turnMs = 20;
/** Minimum read of one body per turn: the amount that Node reads from a socket at once. */
const leastBytes = 65_536;

/** Refused requests whose bodies are still arriving. */
export interface Lingering {
  /**
   * Reads and discards the rest of a refused body, and closes the connection if it does not end in time. Closing
   * immediately makes the kernel reset the connection, and the sender gets "connection reset" instead of the answer.
   */
  add(request: IncomingMessage): void;
  /** Closes the connections: they are not idle, and would delay the shutdown of the server. */
  end(): void;
}

/** Creates the set of refused requests, empty. */
export function createLingering({
  lingerMs,
  turnBytes,
  lingerBytes,
}: LingerLimits = standardLimits): Lingering {
  /** Remaining bytes of each in this turn, in the order of their turns. */
  const rest = new Map<IncomingMessage, number>();
  const requests = new Set<IncomingMessage>();
  let timer: NodeJS.Timeout | undefined;

  const takeTurns = (): void => {
    const share = Math.max(turnBytes / rest.size, leastBytes);
    for (const request of [...rest.keys()].slice(0, turnBytes / share)) {
      rest.delete(request);
      rest.set(request, share);
      request.resume();
    }
    if (rest.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };

  return {
    add(request) {
      // A request that a test injects never says that it is complete.
      if (request.complete || request.readableEnded || request.destroyed) return;
      const deadline = setTimeout(() => request.destroy(), lingerMs);
      deadline.unref();
      const stop = (): void => {
        clearTimeout(deadline);
        requests.delete(request);
        rest.delete(request);
      };
      let read = 0;
      request.on('data', (chunk: Buffer) => {
        read += chunk.length;
        const left = (rest.get(request) ?? 0) - chunk.length;
        if (request instanceof IncomingMessage) release(chunk);
        if (read > lingerBytes) rest.delete(request);
        else rest.set(request, left);
        if (left <= 0 || read > lingerBytes) request.pause();
      });
      // The request is answered; errors of its connection are ignored.
      request
        .on('error', () => {})
        .on('end', stop)
        .on('close', stop);
      requests.add(request);
      rest.set(request, 0);
      request.resume();
      timer ??= setInterval(takeTurns, turnMs).unref();
    },
    end() {
      for (const request of requests) request.destroy();
    },
  };
}
