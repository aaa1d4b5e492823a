import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLingering, type Lingering } from '../../../src/server/receiver/answers.ts';

const miB = 2 ** 20;
const limits = { lingerMs: 60_000, turnBytes: 2 * miB, lingerBytes: 64 * miB };

let server: Server;
let port: number;
let lingering: Lingering;
let connections: number;
let refused: IncomingMessage[];
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Starts a server that refuses every request. */
async function start(given: Partial<typeof limits> = {}): Promise<void> {
  lingering = createLingering({ ...limits, ...given });
  connections = 0;
  refused = [];
  server = createServer((request, response) => {
    refused.push(request);
    lingering.add(request);
    response.writeHead(413, { 'content-length': 2 }).end('no');
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
}

/** Sends a body over a keep-alive connection, and returns the status. */
async function send(agent: Agent, bytes: number): Promise<number | undefined> {
  const outgoing = request({ agent, port, host: '127.0.0.1', method: 'POST' });
  outgoing.end(Buffer.alloc(bytes));
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  const received = refused.at(-1);
  if (received?.complete === false) await once(received, 'end');
  return answer.statusCode;
}

/** Starts a body of a gigabyte, and writes as much of it as the server accepts. */
async function begin(write: boolean): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').resume();
  socket.on('error', () => {});
  const block = Buffer.alloc(262_144);
  const fill = (): void => {
    while (write && !socket.closed && socket.write(block));
  };
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n');
  socket.on('drain', fill);
  await once(socket, 'data');
  fill();
  return socket;
}

/** Reads a value after 100 ms. */
const later = async (read: () => number): Promise<number> => {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return read();
};

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.on('close', () => resolve()));

describe('a refused body', () => {
  it('is read to its end, and its connection serves the next request, even if the server stops', async () => {
    await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });

    const statuses = [await send(agent, 3 * miB), await send(agent, 0), await send(agent, miB)];
    lingering.end();
    statuses.push(await send(agent, 10));

    expect(statuses).toEqual([413, 413, 413, 413]);
    expect(connections).toBe(1);
    agent.destroy();
  });

  it('that does not end in time loses its connection', async () => {
    await start({ lingerMs: 30 });
    const socket = await begin(false);

    await closed(socket);

    expect(refused.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  it('loses its connection when the server stops', async () => {
    await start();
    const sockets = [await begin(false), await begin(false)];

    lingering.end();
    await Promise.all(sockets.map(closed));

    expect(refused.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });

  it('is read up to a limit, and then the connection accepts no more', async () => {
    await start({ lingerBytes: 300_000 });
    const socket = await begin(true);
    const read = () => refused[0]?.socket.bytesRead ?? 0;
    await expect.poll(read).toBeGreaterThan(300_000);
    // The server reads nothing more.
    await expect.poll(async () => read() === (await later(read))).toBe(true);
    lingering.end();
    await closed(socket);

    // Node has read slightly more from the connection than it has passed to the server.
    expect(refused[0]?.socket.bytesRead).toBeGreaterThan(300_000);
    expect(refused[0]?.socket.bytesRead).toBeLessThan(miB);
  });

  it('is read no faster than the limit for all bodies together', async () => {
    const turnBytes = 262_144;
    await start({ turnBytes });
    const startedMs = performance.now();
    const sockets = [await begin(true), await begin(true)];
    const read = () => refused.map((request) => request.socket.bytesRead);
    await expect.poll(() => Math.min(...read())).toBeGreaterThan(miB);
    const [sum, turns] = [read().reduce((all, one) => all + one, 0), (performance.now() - startedMs) / 20];
    lingering.end();
    await Promise.all(sockets.map(closed));

    // The limit is one turn every 20 ms, plus the turn in progress, plus what Node has read from each connection beyond
    // its turn.
    expect(sum).toBeLessThan((turns + 2) * turnBytes + 2 * miB);
  });
});
