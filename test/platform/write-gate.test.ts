import { afterEach, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { createMessageSender } from '../../src/platform/http/message-sender.ts';
import { holdWrites } from '../../src/platform/write-gate.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

const open: BareServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** Starts a server and the work of an attempt whose writes are held. `methods` are the requests that arrived. */
async function start() {
  const methods: string[] = [];
  const server = await startBareServer(({ method }, response) => {
    methods.push(method);
    json(response, { id: 1, login: 'reeve' });
  });
  open.push(server);
  const { signal } = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  holdWrites(signal, promise);
  const client = createClient({ url: server.url }).counted({ signal });
  return { methods, client, signal, server, resolve, reject };
}
const deletion = { params: { owner: 'acme', repo: 'demo', id: 3 } };

it('a write waits until its delivery is durable, and a read does not', async () => {
  const { methods, client, resolve } = await start();

  const written = client.call(operations.deleteLabel, deletion).catch(() => {});
  await client.call(operations.getSelf, {});
  const before = [...methods];
  resolve();
  await written;

  expect([before, methods]).toEqual([['GET'], ['GET', 'DELETE']]);
});

it('a write is not sent if its delivery could not be stored', async () => {
  const { methods, client, reject } = await start();

  const written = client.call(operations.deleteLabel, deletion);
  reject(new Error('EIO'));

  await expect(written).rejects.toThrow('EIO');
  expect(methods).toEqual([]);
});

it('a message waits as a write does', async () => {
  const { methods, client, signal, server, resolve } = await start();
  const send = createMessageSender({ hosts: ['127.0.0.1'] });

  const sent = send(
    { url: server.url, secret: 'CHAT', contentType: 'application/json', content: '{}', id: '1' },
    signal,
  );
  await client.call(operations.getSelf, {});
  const before = [...methods];
  resolve();
  await sent;

  expect([before, methods]).toEqual([['GET'], ['GET', 'POST']]);
});
