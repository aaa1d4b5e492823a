import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { serverOptions } from '../../../src/server/receiver/route.ts';

const kiB = 1024;

/** Returns the number of bytes that a server has read from a connection when it stops reading. */
async function readFrom(connection: Socket): Promise<number> {
  let bytes = -1;
  while (connection.bytesRead === 0 || connection.bytesRead > bytes) {
    bytes = connection.bytesRead;
    await sleep(100);
  }
  return bytes;
}

it('a paused body buffers at most one read of its connection', async () => {
  const app = fastify(serverOptions());
  // The hook reads nothing of the body, like the receiver while its memory budget is used up.
  app.addHook('onRequest', async (_request, reply) => reply.hijack());
  app.post('/', async () => undefined);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const server: Server = app.server;
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  try {
    client.write(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${512 * kiB}\r\n\r\n`);
    client.write(Buffer.alloc(512 * kiB));
    const [connection] = await connected;

    // A read has at most 64 KiB, and the last one starts below the high-water mark of 16 KiB.
    expect(await readFrom(connection)).toBeLessThan((16 + 64) * kiB);
  } finally {
    client.destroy();
    // The server does not notice that the client is gone, because it reads nothing from this connection.
    server.closeAllConnections();
    await app.close();
  }
});
