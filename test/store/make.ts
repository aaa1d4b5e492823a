import { randomUUID } from 'node:crypto';
import type { Run } from '../../src/engine/record.ts';
import type { NewDelivery } from '../../src/store/store.ts';

let number = 0;

/** Creates a delivery that differs from all others. */
export function makeDelivery(given: Partial<NewDelivery> = {}): NewDelivery {
  number += 1;
  return {
    uuid: randomUUID(),
    eventType: 'push',
    entry: 'default',
    contentType: 'application/json',
    receivedAt: new Date('2026-03-01T12:00:00.000Z'),
    body: Buffer.from(JSON.stringify({ number })),
    ...given,
  };
}

/** Creates a run in which nothing happened. */
export function makeRun({ id = randomUUID() as string, at = '2026-03-01T12:00:00.000Z', requests = 0 }): Run {
  return {
    schema: 1,
    id,
    mode: 'enforce',
    trigger: { door: 'webhook', kind: 'push', activity: '', at },
    rules: [],
    changes: [],
    refused: [],
    outcomes: [],
    requests,
    ms: 1,
  };
}

/** Returns the results of `count` consecutive calls. */
export async function collect<Item>(count: number, make: (index: number) => Promise<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for (let index = 0; index < count; index += 1) items.push(await make(index));
  return items;
}
