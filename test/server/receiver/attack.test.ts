import { connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { cpuMs } from '../../support/cpu-time.ts';
import { makeEntry, makeHeaders, makePush, makeReceiver } from './make.ts';

const kiB = 1024;
const miB = 1024 * kiB;
/**
 * Timeout of the forge, measured in CPU time including that of the attackers, because other load on the machine must
 * not count.
 */
const forgeTimeoutMs = 5_000;
/** Limits longer than a test, because every request is slow on a busy machine. */
const limits = { headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 };

const block = Buffer.alloc(64 * kiB, 'x');
const chunk = Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]);
const headOf = (headers: Record<string, string>): string =>
  `POST /webhook HTTP/1.1\r\nhost: localhost\r\n${Object.entries({
    ...makeHeaders(''),
    authorization: 'guessed',
    ...headers,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/**
 * Behaviour of a hostile connection. `next` returns what the connection sends after this many bytes, or undefined to
 * send nothing more and stay open.
 */
type Kind = {
  readonly head: string;
  readonly next: (sent: number) => Buffer | undefined;
  readonly everyMs?: number;
};
const upTo =
  (bytes: number, piece = block) =>
  (sent: number): Buffer | undefined =>
    sent < bytes ? piece : undefined;
const withLength = (bytes: number): string => headOf({ 'content-length': String(bytes) });
const chunked = headOf({ 'transfer-encoding': 'chunked' });
const kinds: Readonly<Record<string, Kind>> = {
  'a large body without its end': { head: withLength(8 * miB), next: upTo(7.9 * miB) },
  'a large body in chunks without its end': { head: chunked, next: upTo(7.9 * miB, chunk) },
  'chunks that never end': { head: chunked, next: () => chunk },
  'a body just above what always passes': { head: withLength(8 * miB), next: upTo(300 * kiB) },
  'a small body without its end': { head: withLength(200 * kiB), next: upTo(199 * kiB, Buffer.alloc(kiB)) },
  'a dripping body': { head: withLength(8 * miB), next: () => Buffer.from('x'), everyMs: 20 },
  'more than its length says': { head: withLength(100), next: upTo(8 * miB) },
  'no body at all': { head: withLength(8 * miB), next: () => undefined },
};

/** Keeps one hostile connection open until `stop`, and reopens it if it is closed. */
function attack(
  { head, next, everyMs = 0 }: Kind,
  port: number,
): { readonly hasBegun: Promise<void>; stop(): void } {
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  let isGoing = true;
  let socket: Socket;
  const go = (): void => {
    let sent = 0;
    socket = connect(port, '127.0.0.1');
    const feed = (): void => {
      for (let data = next(sent); data !== undefined && !socket.destroyed; data = next(sent)) {
        sent += data.length;
        const hasRoom = socket.write(data);
        if (everyMs > 0) return void setTimeout(feed, everyMs);
        if (!hasRoom) return void socket.once('drain', feed);
      }
    };
    socket
      .on('connect', begin)
      .on('error', () => {})
      .resume();
    socket.on('close', () => isGoing && setTimeout(go, 5));
    socket.write(head);
    feed();
  };
  go();
  return {
    hasBegun,
    stop() {
      isGoing = false;
      socket.destroy();
    },
  };
}

let app: FastifyInstance;
afterEach(() => app.close());

/**
 * Sends honest deliveries of 8 to 200 KB over four connections, and returns those not acknowledged within the forge's
 * timeout.
 */
async function sendHonest(port: number, count: number): Promise<string[]> {
  const missed: string[] = [];
  let begun = 0;
  const line = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const bytes = 8_000 + Math.floor((192_000 * (begun % 16)) / 15);
      const body = JSON.stringify({ ...makePush(), pad: 'x'.repeat(bytes) });
      const options = { method: 'POST', headers: makeHeaders(body), body };
      const startedMs = cpuMs();
      await fetch(`http://127.0.0.1:${port}/webhook`, options)
        .then(({ status }) => {
          const ms = Math.ceil(cpuMs() - startedMs);
          if (status !== 202 || ms > forgeTimeoutMs) missed.push(`${bytes} bytes: ${status} after ${ms} ms`);
        })
        .catch((error: Error) => missed.push(`${bytes} bytes: ${error.message}`));
    }
  };
  await Promise.all(Array.from({ length: 4 }, line));
  return missed;
}

const guards = {
  'a signature': [makeEntry({ authorization: [] })],
  'an authorization header and a signature': [makeEntry()],
};

it.each(Object.entries(guards))(
  '64 hostile connections cost no honest delivery if entries require %s',
  async (_title, secrets) => {
    ({ app } = await makeReceiver({ secrets, failuresPerMinute: 1e9, limits }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const port = Number(new URL(app.listeningOrigin).port);
    const forms = Object.values(kinds);
    const attacks = Array.from({ length: 64 }, (_, at) => attack(forms[at % forms.length] as Kind, port));
    try {
      // The attacks start before the honest deliveries.
      await Promise.all(attacks.map(({ hasBegun }) => hasBegun));

      expect(await sendHonest(port, 96)).toEqual([]);
    } finally {
      for (const { stop } of attacks) stop();
    }
  },
);
