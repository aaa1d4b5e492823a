import { readFileSync } from 'node:fs';
import { createServer as createPlain, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/package.ts';

const folder = join(packageRoot, 'test/fixtures/tls');
/** Certificate of TLS receivers. The certificate is its own authority. */
export const certificate = readFileSync(join(folder, 'localhost.crt'), 'utf8');
export const certificatePath = join(folder, 'localhost.crt');

export type ReceivedMessage = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** Receiver of messages that records its requests. */
export interface MessageReceiver {
  readonly port: number;
  readonly received: readonly ReceivedMessage[];
  /** Returns the number of opened connections, including those without a request. */
  connections(): number;
  /** Resolves once this many messages have arrived in total. */
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

type Answer = Parameters<RequestListener>[1];

/** Starts a receiver on a free port of 127.0.0.1. By default, it responds with 204. */
export async function startMessageReceiver({
  secure = false,
  answer = (response) => void response.writeHead(204).end(),
}: {
  readonly secure?: boolean;
  /** Responds to a message. `count` is the number of the message, starting at 1. */
  readonly answer?: (response: Answer, count: number) => void;
} = {}): Promise<MessageReceiver> {
  const received: ReceivedMessage[] = [];
  const waiting = new Set<() => void>();
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      received.push({ method, path, headers, body: Buffer.concat(pieces).toString('utf8') });
      for (const look of waiting) look();
      answer(response, received.length);
    });
  };
  const server = secure
    ? createSecure({ cert: certificate, key: readFileSync(join(folder, 'localhost.key')) }, listener)
    : createPlain(listener);
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => connections,
    waitFor: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (received.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
