import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryState } from '../store.ts';

/** How many deliveries are in each state. */
export interface Counts {
  /** Counts all but the settled, which are the many, from small indexes. */
  countWaiting(): Record<Exclude<DeliveryState, 'settled'>, number>;
  countSettled(): number;
  oldestWaiting(): Date | undefined;
}

/** Prepares the counts. */
export function createCounts(database: DatabaseSync): Counts {
  const settled = database.prepare("SELECT count(*) AS n FROM deliveries WHERE state = 'settled'");
  // The same words as the partial indexes, or SQLite reads the whole table.
  const waiting = database.prepare(
    `SELECT (SELECT count(*) FROM deliveries WHERE state = 'accepted' AND routed = 0)
          + (SELECT count(*) FROM deliveries WHERE state = 'accepted' AND routed = 1) AS accepted,
       (SELECT count(*) FROM deliveries WHERE state = 'claimed') AS claimed,
       (SELECT count(*) FROM deliveries WHERE state = 'retry') AS retry,
       (SELECT count(*) FROM deliveries WHERE state = 'deferred') AS deferred,
       (SELECT count(*) FROM deliveries WHERE state = 'dead') AS dead`,
  );
  const oldest = database.prepare(
    `SELECT received_at AS at FROM deliveries WHERE id IN (
       (SELECT min(id) FROM deliveries INDEXED BY unrouted WHERE state = 'accepted' AND routed = 0),
       (SELECT min(id) FROM deliveries INDEXED BY waiting WHERE state = 'accepted' AND routed = 1),
       (SELECT min(id) FROM deliveries INDEXED BY retrying WHERE state = 'retry')
     ) ORDER BY id LIMIT 1`,
  );

  return {
    countWaiting() {
      const row = waiting.get();
      const of = (state: string): number => Number(row?.[state]);
      return {
        accepted: of('accepted'),
        claimed: of('claimed'),
        retry: of('retry'),
        deferred: of('deferred'),
        dead: of('dead'),
      };
    },

    countSettled: () => Number(settled.get()?.n),

    oldestWaiting() {
      const row = oldest.get();
      return row === undefined ? undefined : new Date(String(row.at));
    },
  };
}
