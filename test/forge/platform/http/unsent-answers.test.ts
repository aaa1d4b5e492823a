import { connect, type Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { limitUnsentAnswers } from '../../../../src/forge/platform/http/unsent-answers.ts';

const mebibyte = 1024 * 1024;
let app: FastifyInstance;
let url: URL;
const sockets: Socket[] = [];
beforeEach(async () => {
  app = fastify();
  limitUnsentAnswers(app, { maxBytes: 50 * mebibyte });
  app.get('/large', async () => 'a'.repeat(24 * mebibyte));
  app.get('/small', async () => 'a');
  url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

/** Requests a large response and reads only its beginning. */
async function askSlowly(): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  sockets.push(socket);
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  await new Promise((resolve) => socket.once('readable', resolve));
  return socket;
}
const statusOf = async (path: string): Promise<number> => {
  const response = await fetch(new URL(path, url));
  await response.arrayBuffer();
  return response.status;
};

it('A6: large responses that clients do not read are limited, and small ones are still sent', async () => {
  const first = await askSlowly();
  await askSlowly();

  const beyond = [await statusOf('/large'), await statusOf('/large'), await statusOf('/small')];
  first.destroy();
  await expect.poll(() => statusOf('/large')).toBe(200);

  expect(beyond).toEqual([503, 503, 200]);
  // Responses that were read completely no longer count.
  expect([await statusOf('/large'), await statusOf('/large')]).toEqual([200, 200]);
});
