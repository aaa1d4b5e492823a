import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import type { Health } from '../../src/store/store.ts';
import { makeDashboardApp } from '../support/dashboard-app.ts';
import { makeStore } from '../support/make-store.ts';

const body =
  '{"ref":"refs/heads/main","before":"0","after":"0","repository":{"id":1,"full_name":"a/b","name":"b","owner":{"id":1,"login":"a"}},"sender":{"id":2,"login":"b"}}';
const delivery = (authorization: string): readonly string[] => [
  ...[
    'POST /webhook HTTP/1.1',
    'Host: a',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
  ],
  ...[
    'X-Gitea-Delivery: 1',
    'X-Gitea-Event: push',
    'X-Gitea-Event-Type: push',
    `Content-Length: ${body.length}`,
  ],
];

// A connection kept alive after its response would delay the stop for as long as the client likes.
it.each([
  ['a delivery that is taken', delivery('x'.repeat(24)), 202],
  ['a delivery that is refused', delivery('another one'), 401],
  ['a page that is shown', ['GET /readyz HTTP/1.1', 'Host: a'], 200],
])('%s while the server stops does not delay the stop', async (_, head, status) => {
  const made = await makeStore();
  let isAsked: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  let look: () => void = () => {};
  const looked = new Promise<Health>((resolve) => {
    look = () => resolve({ ok: true, freeBytes: undefined });
  });
  const app = makeDashboardApp({ ...made.store, healthy: () => looked });
  app.addHook('onRequest', async () => isAsked());
  await app.listen({ port: 0, host: '127.0.0.1' });
  // With this timeout, a stop that waits for idle connections to time out exceeds the time limit of a test.
  app.server.keepAliveTimeout = 3_600_000;
  const { port } = app.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  let seen = '';
  socket.on('data', (chunk) => {
    seen += chunk;
  });
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await asked;

  const closed = app.close();
  setTimeout(() => {
    look();
    if (head[0]?.startsWith('POST')) socket.write(body);
  }, 100);
  await Promise.all([closed, once(socket, 'close')]);

  expect(seen).toContain(`HTTP/1.1 ${status}`);
  await made.close();
});
