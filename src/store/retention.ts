import type { DatabaseSync } from 'node:sqlite';

/** Rows deleted in one transaction: an intake waits no longer than this takes. */
const batch = 200;

/** What deleting takes, to be called inside a transaction; each call is one bounded batch. */
export interface Retention {
  /** Deletes settled deliveries with their runs, and runs without a delivery, from the oldest on. */
  deleteBatch(olderThan: Date | undefined): { deliveries: number; runs: number };
  /** Bytes in use: pages of the file that hold something. Freed pages are used again before the file grows. */
  bytesInUse(): number;
}

/** Prepares the retention. */
export function createRetention(database: DatabaseSync): Retention {
  const oldest = database.prepare(
    // The newest stays whatever its age: ids go on from it.
    'SELECT id, state, received_at FROM deliveries WHERE id < (SELECT max(id) FROM deliveries) ORDER BY id',
  );
  const deleteDelivery = database.prepare('DELETE FROM deliveries WHERE id = ?');
  const deleteBody = database.prepare('DELETE FROM bodies WHERE id = ?');
  const deleteRuns = database.prepare('DELETE FROM runs WHERE delivery = ?');
  const deleteLoose = database.prepare(
    `DELETE FROM runs WHERE number IN
       (SELECT number FROM runs WHERE delivery IS NULL AND started_at < ? ORDER BY started_at LIMIT ${batch})`,
  );
  const size = database.prepare(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );

  const settledBefore = (before: string): number[] => {
    const ids: number[] = [];
    for (const row of oldest.iterate()) {
      // In order of id, which is the order of receiving: the first that is too young ends the search.
      if (ids.length === batch || String(row.received_at) >= before) break;
      if (row.state === 'settled') ids.push(Number(row.id));
    }
    return ids;
  };

  return {
    deleteBatch(olderThan) {
      // Beyond every RFC 3339 text.
      const before = olderThan?.toISOString() ?? '~';
      let runs = 0;
      const ids = settledBefore(before);
      for (const id of ids) {
        runs += Number(deleteRuns.run(id).changes);
        deleteBody.run(id);
        deleteDelivery.run(id);
      }
      runs += Number(deleteLoose.run(before).changes);
      return { deliveries: ids.length, runs };
    },

    bytesInUse: () => Number(size.get()?.bytes),
  };
}
