import { once } from 'node:events';
import { connect } from 'node:net';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { serverOptions } from '../../src/receiver/limits.ts';
import { receiver } from '../../src/receiver/route.ts';

const authorization = 'Bearer a-value-that-only-the-hook-knows';

it.each([
  ['taken', authorization, 202],
  ['refused', 'another one', 401],
])('a delivery that is %s while the server stops does not hold the stop', async (_, header, status) => {
  let isAsked: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const app = fastify({ ...serverOptions(), logger: false, forceCloseConnections: 'idle' });
  app.register(receiver, {
    secrets: [{ name: 'a', scope: ['*'], authorization: [authorization], hmac: [] }],
    store: { accept: async () => ({ id: '1', known: false }) },
    log: silentLog,
  });
  app.addHook('onRequest', async () => isAsked());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as { port: number };
  const body =
    '{"ref":"refs/heads/main","before":"0","after":"0","repository":{"id":1,"full_name":"a/b","name":"b","owner":{"id":1,"login":"a"}}}';
  const head = [
    'POST /webhook HTTP/1.1',
    'Host: a',
    `Authorization: ${header}`,
    'Content-Type: application/json',
  ];
  const named = [
    'X-Gitea-Delivery: 1',
    'X-Gitea-Event: push',
    'X-Gitea-Event-Type: push',
    `Content-Length: ${body.length}`,
  ];
  const socket = connect(port, '127.0.0.1');
  let seen = '';
  socket.on('data', (chunk) => {
    seen += chunk;
  });
  socket.write(`${[...head, ...named].join('\r\n')}\r\n\r\n`);
  await asked;

  const started = performance.now();
  const closed = app.close();
  setTimeout(() => socket.write(body), 100);
  await Promise.all([closed, once(socket, 'close')]);

  expect(seen).toContain(`HTTP/1.1 ${status}`);
  expect(performance.now() - started).toBeLessThan(5_000);
});
