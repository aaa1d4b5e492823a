import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sendRequest } from '../../src/client/exchange.ts';

let server: Server;
let connections: number;
let answer: RequestListener;

beforeEach(async () => {
  connections = 0;
  server = createServer((request, response) => answer(request, response));
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const ask = (more: { method?: string; body?: string } = {}) => {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a`);
  return sendRequest({ url, method: 'GET', where: 'GET /a', headers: {}, timeoutMs: 10_000, ...more });
};

it('a request returns status, headers and text of the response, and keeps the connection for the next request', async () => {
  answer = (_, response) => response.writeHead(201, { 'X-Total-Count': '3' }).end('Zoë');

  for (const { status, header, text } of [await ask(), await ask()])
    expect([status, header('x-total-count'), header('link'), text]).toEqual([201, '3', null, 'Zoë']);
  expect(connections).toBe(1);
});

it('a DELETE request sends its complete body, with its length', async () => {
  answer = async (request, response) => {
    const pieces = await request.toArray();
    const { 'content-length': length } = request.headers;
    response.end(JSON.stringify([request.method, Buffer.concat(pieces).toString(), length]));
  };

  const body = '{"reviewers":["zoë"]}';
  const length = String(Buffer.byteLength(body));
  expect((await ask({ method: 'DELETE', body })).text).toBe(JSON.stringify(['DELETE', body, length]));
});

it('a request follows no redirect', async () => {
  answer = (_, response) => response.writeHead(302, { location: '/b' }).end();

  const { status, header } = await ask();

  expect([status, header('location')]).toEqual([302, '/b']);
});

it.each<[string, RequestListener, string]>([
  ['has an invalid HTTP status', (_, response) => response.writeHead(999).end(), 'forge-unexpected'],
  [
    'is larger than 64 MiB',
    (_, response) => response.end(Buffer.alloc(64 * 2 ** 20 + 1)),
    'forge-unexpected',
  ],
  [
    'breaks off',
    (_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('1234');
      setImmediate(() => response.destroy());
    },
    'forge-unreachable',
  ],
])('a request rejects if the response %s', async (_, given, code) => {
  answer = given;

  await expect(ask()).rejects.toMatchObject({ code });
});
