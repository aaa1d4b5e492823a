import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import { shareReads } from '../../src/client/shared-reads.ts';
import { operations } from '../../src/contract/operations.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

let server: BareServer;
let asked: string[];
let status: number;
let client: Client;
beforeEach(async () => {
  asked = [];
  status = 200;
  server = await startBareServer(({ method, path }, response) => {
    asked.push(`${method} ${path}`);
    const [, name = ''] = /repos\/acme\/(\w+)/.exec(path) ?? [];
    const owner = { id: 1, login: 'acme' };
    json(
      response,
      { id: 7, name, full_name: `acme/${name}`, owner, description: `answer ${asked.length}` },
      status,
    );
  });
  client = createClient({ url: server.url });
});
afterEach(() => server.close());

const read = async (name = 'demo', from = client): Promise<unknown> =>
  (await from.call(operations.getRepository, { params: { owner: 'acme', repo: name } })).description;

it('parts of an attempt share reads of a repository that are in progress or recent, across all counted clients', async () => {
  const seen = await shareReads(async () => [
    ...(await Promise.all([read(), read('demo', client.counted())])),
    await read(),
    await read('other'),
    await read('demo', createClient({ url: server.url })),
  ]);

  expect(seen).toEqual(['answer 1', 'answer 1', 'answer 1', 'answer 2', 'answer 3']);
});

it('different attempts share no reads, and other work shares none at all', async () => {
  expect([
    await shareReads(() => read()),
    await shareReads(() => read()),
    await read(),
    await read(),
  ]).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4']);
});

it('a read after or during a write is not shared, nor is a read after 250 ms', async () => {
  const removal = { params: { owner: 'acme', repo: 'demo', id: 3 } };
  const seen = await shareReads(async () => {
    const first = await read();
    const writing = client.call(operations.deleteLabel, removal);
    const during = await read();
    await writing;
    const after = await read();
    await wait(300);
    return [first, during, after, await read()];
  });

  expect(new Set(seen).size).toBe(4);
});

it('a failed read is not shared', async () => {
  await shareReads(async () => {
    status = 404;
    await expect(read()).rejects.toMatchObject({ code: 'forge-not-found' });
    status = 200;
    expect(await read()).toBe('answer 2');
  });
});
