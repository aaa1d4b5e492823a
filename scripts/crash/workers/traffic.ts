import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { nowMs } from './attempts.ts';

const laneCount = 12;

/**
 * Stores deliveries, in each lane one after the one before was acknowledged, for as long as `isGoing` says so of the number of the
 * next one of a lane. `everyMs` is the time between two of a lane. Adds the ids of those that were acknowledged.
 */
export async function feed(
  store: Store,
  accepted: string[],
  { isGoing, everyMs = 0 }: { readonly isGoing: (n: number) => boolean; readonly everyMs?: number },
): Promise<void> {
  const lanes = Array.from({ length: laneCount }, (_, lane) => `${lane % 5}#${lane}`);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let n = 1; isGoing(n * laneCount); n += 1) {
        const delivery = {
          uuid: randomUUID(),
          eventType: 'push',
          entry: 'crash',
          contentType: 'application/json',
          receivedAt: new Date(),
          body: Buffer.from(JSON.stringify({ lane, n })),
        };
        accepted.push((await insist(() => store.accept(delivery))).id);
        if (everyMs > 0) await pause(everyMs);
      }
    }),
  );
}

/** Waits until all are settled, or for a minute without any progress. */
export async function untilSettled(store: Store, count: number): Promise<void> {
  for (let [last, sinceMs] = [-1, nowMs()]; nowMs() - sinceMs < 60_000; ) {
    const { settled } = await insist(() => store.counts());
    if (settled === count) return;
    if (settled !== last) [last, sinceMs] = [settled, nowMs()];
    await pause(50);
  }
}

/** The database says it: a worker can be killed after the server has stored that it settled one, and before it writes so. */
export async function settledIn(store: Store): Promise<ReadonlySet<string>> {
  const settled = new Set<string>();
  for (let before: string | undefined; ; ) {
    const query = { state: 'settled', limit: 500, ...(before === undefined ? {} : { before }) } as const;
    const { items, next } = await insist(() => store.listDeliveries(query));
    for (const { id } of items) settled.add(id);
    if (next === undefined) return settled;
    before = next;
  }
}

/** Asks until the database can be reached. */
export async function insist<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'store-unwritable') throw error;
      await pause(50);
    }
  }
}
