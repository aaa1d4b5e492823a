import type { DatabaseSync } from 'node:sqlite';
import type { NewDelivery } from '../store.ts';
import { KnownHeaderSets } from '../stored-headers.ts';

/** Stores headers of deliveries, the same ones once; to be called inside a transaction. */
export interface HeaderSetTable {
  /** Returns the number of a delivery's headers; null if it came without. */
  store(delivery: Pick<NewDelivery, 'headers' | 'receivedAt'>): number | null;
  /** Forgets what was stored: it may have been rolled back. */
  clear(): void;
}

/** Prepares the statement. */
export function createHeaderSetTable(database: DatabaseSync): HeaderSetTable {
  const known = new KnownHeaderSets();
  const put = database.prepare(
    `INSERT INTO header_sets (id, headers, used_at) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET used_at = max(used_at, excluded.used_at)`,
  );
  return {
    store({ headers, receivedAt }) {
      if (headers === undefined) return null;
      const { id, isNew } = known.find(headers, receivedAt);
      if (isNew) {
        put.run(id, headers, receivedAt.toISOString());
        known.add(headers, id, receivedAt);
      }
      return id;
    },
    clear: () => known.clear(),
  };
}
