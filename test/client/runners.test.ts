import { afterEach, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

let server: BareServer;
afterEach(() => server.close());

async function runnersFrom(answer: unknown, headers: Record<string, string> = {}) {
  server = await startBareServer((_request, response) => json(response, answer, 200, headers));
  const client = createClient({ url: server.url });
  const found: unknown[] = [];
  for await (const runner of client.items(operations.listOrganizationRunners, { params: { org: 'acme' } })) {
    found.push(runner);
  }
  return found;
}

const expected = [
  { id: 1, name: 'one', status: 'online', busy: true, labels: [{ name: 'linux' }] },
  { id: 2, name: 'two', status: 'offline', labels: [] },
];

it('runners are read from an object with their count', async () => {
  const runners = [
    { id: 1, name: 'one', status: 'online', busy: true, labels: [{ id: 0, name: 'linux', type: 'custom' }] },
    { id: 2, name: 'two', status: 'offline', busy: false, labels: null },
  ];

  expect(await runnersFrom({ runners, total_count: 2 })).toMatchObject(expected);
});

it("runners are read from a plain list, with Forgejo's field names", async () => {
  const runners = [
    { id: 1, uuid: 'a', owner_id: 3, name: 'one', status: 'active', version: 'v6', labels: ['linux'] },
    { id: 2, uuid: 'b', owner_id: 3, name: 'two', status: 'offline', version: 'v6', labels: null },
  ];

  expect(await runnersFrom(runners, { 'x-total-count': '2' })).toMatchObject(expected);
  expect(server.requests).toHaveLength(1);
});

it("a single runner is read with Forgejo's field names", async () => {
  server = await startBareServer((_request, response) =>
    json(response, { id: 1, name: 'one', status: 'idle', labels: ['linux'] }),
  );
  const params = { org: 'acme', runner_id: 1 };

  expect(
    await createClient({ url: server.url }).call(operations.getOrganizationRunner, { params }),
  ).toMatchObject({ status: 'online', busy: false, labels: [{ name: 'linux' }] });
});
