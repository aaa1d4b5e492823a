import type { IncomingMessage } from 'node:http';

/** How long a refused body is still read, so that its sender reads the answer: the forge gives up after five seconds. */
const lingerMs = 5_000;
/** How much of it is read. Then its sender has to stop writing, and finds the answer where it reads meanwhile. */
const lingerBytes = 64 * 2 ** 20;

/** Refused requests whose bodies are still arriving. */
export interface Lingering {
  /**
   * Reads the rest of a refused body without keeping it, and closes the connection where it does not end in time. Closing
   * at once makes the kernel reset the connection, and the sender finds "connection reset" instead of the answer.
   */
  add(request: IncomingMessage): void;
  /** Closes the connections: they are not idle, and would hold the stop of the server. */
  end(): void;
}

/** Creates the set of refused requests, empty. */
export function createLingering(): Lingering {
  const requests = new Set<IncomingMessage>();
  return {
    add(request) {
      if (request.complete || request.destroyed) return;
      requests.add(request);
      const timer = setTimeout(() => request.destroy(), lingerMs);
      timer.unref();
      const stop = (): void => {
        clearTimeout(timer);
        requests.delete(request);
      };
      let rest = lingerBytes;
      request.on('data', (chunk: Buffer) => {
        rest -= chunk.length;
        if (rest < 0) request.pause();
      });
      // The request is answered; how its connection ends does not matter.
      request
        .on('error', () => {})
        .on('end', stop)
        .on('close', stop);
      request.resume();
    },
    end() {
      for (const request of requests) request.destroy();
    },
  };
}
