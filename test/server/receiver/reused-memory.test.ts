import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { makeEntry, makeHeaders, makePush, makeReceiver } from './make.ts';

it('bodies that arrive at the same time in reused memory are each stored unchanged', async () => {
  const { app, store } = await makeReceiver({ secrets: [makeEntry()] });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const sizes = [100, 4_000, 8_000, 17_000, 60_000, 300_000, 900_000];
  const sent = new Map<string, string>();
  const send = async (size: number): Promise<number> => {
    const body = JSON.stringify({ ...makePush(), text: randomBytes(size / 2).toString('hex') });
    const headers = makeHeaders(body);
    sent.set(headers['x-gitea-delivery'] ?? '', body);
    return (await fetch(`${app.listeningOrigin}/webhook`, { method: 'POST', headers, body })).status;
  };

  const statuses: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    statuses.push(...(await Promise.all([...sizes, ...sizes, ...sizes].map(send))));
  }

  expect(new Set(statuses)).toEqual(new Set([202]));
  const { items } = await store.listDeliveries({ limit: 500 });
  expect(items).toHaveLength(sent.size);
  for (const { id, uuid } of items) {
    const stored = await store.readDelivery(id);
    expect(Buffer.from(stored?.body ?? []).toString() === sent.get(uuid), uuid).toBe(true);
  }
  await app.close();
});
