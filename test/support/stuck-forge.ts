import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** Amount of a response that a stuck forge sends. */
export const stuckAnswers = {
  'never answers': '',
  'sends headers and never a body':
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n',
} as const;

export type StuckForge = {
  readonly url: string;
  /** Resolves when this many requests have arrived. */
  asked(count: number): Promise<void>;
  /** Returns the number of open connections. */
  connections(): number;
  close(): Promise<void>;
};

/** Starts a TCP server on a free loopback port that accepts every request and completes none. */
export async function startStuckForge(answer: keyof typeof stuckAnswers): Promise<StuckForge> {
  const sockets = new Set<Socket>();
  const listeners = new Set<() => void>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // The other side may reset what it no longer waits for.
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', () => {
      requests += 1;
      if (stuckAnswers[answer] !== '') socket.write(stuckAnswers[answer]);
      for (const listener of listeners) listener();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (requests < count) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
    connections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
