import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values of headers, spelled as received. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
};

/**
 * Settings of an embedded forge whose hooks point to this machine, which may be busy for longer than the default
 * timeout of a hook.
 */
export const localHooks = { hookHosts: ['loopback'], hookTimeoutMs: 120_000 } as const;

/** Receiver of webhooks that records its requests. */
export interface HookReceiver {
  readonly url: string;
  readonly received: Received[];
  /** Returns the payloads of one Event-Type, the oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  payloads(type: string): any[];
  /** Returns the Event-Types in order of arrival. */
  types(): string[];
  close(): Promise<void>;
}

/** Response of the receiver to a request: status and body, or undefined to never answer. */
type Behaviour = (request: Received) => { status: number; body?: string; location?: string } | undefined;

/** Starts a receiver on a free port. By default, it responds with 200. */
export async function startReceiver(behave: Behaviour = () => ({ status: 200 })): Promise<HookReceiver> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const entry = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(pieces).toString('utf8'),
      };
      received.push(entry);
      const answer = behave(entry);
      if (answer === undefined) return;
      response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location });
      response.end(answer.body ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const typeOf = (entry: Received): string => String(entry.headers['x-gitea-event-type']);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    types: () => received.map(typeOf),
    payloads: (type) =>
      received.filter((entry) => typeOf(entry) === type).map((entry) => JSON.parse(entry.body)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
