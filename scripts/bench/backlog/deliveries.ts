import { randomUUID } from 'node:crypto';
import type { Store } from '../../../src/store/store.ts';

/** Repositories and issues of each: 1,000 lanes. */
const repositories = 50;
const issues = 20;

/** An event of about 1 KB. */
export type BacklogEvent = {
  readonly repository: { readonly id: number };
  readonly issue: { readonly number: number };
};

/** Returns the event with that number, from 0 on; the lanes take turns. */
export function backlogEvent(number: number): BacklogEvent {
  const index = (Math.floor(number / repositories) % issues) + 1;
  return {
    action: 'edited',
    number: index,
    issue: { number: index },
    repository: { id: (number % repositories) + 1, full_name: 'acme/tool', owner: { id: 1 } },
    sender: { id: 1, login: 'ada' },
    at: number,
    pad: 'x'.repeat(1_000),
  } as BacklogEvent;
}

/** Stores so many deliveries, a thousand at a time. */
export async function storeBacklog(store: Pick<Store, 'accept'>, deliveries: number): Promise<void> {
  for (let from = 0; from < deliveries; from += 1_000) {
    await Promise.all(
      Array.from({ length: Math.min(1_000, deliveries - from) }, (_, at) =>
        store.accept({
          uuid: randomUUID(),
          eventType: 'issues',
          entry: 'bench',
          contentType: 'application/json',
          receivedAt: new Date(),
          body: Buffer.from(JSON.stringify(backlogEvent(from + at))),
        }),
      ),
    );
  }
}
