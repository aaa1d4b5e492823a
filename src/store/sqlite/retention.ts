import { type Deletions, type Expiry, pruneBatch, pruneStretch } from '../prune.ts';
import type { SqliteContext } from './context.ts';
import { asStoreError } from './failures.ts';

/** Returns the deletions of a file. */
export function createDeletions({ database, path, commits }: SqliteContext): Deletions {
  const following = database.prepare(
    // The newest delivery stays regardless of its age, because ids continue from it.
    `SELECT id, state, coalesce(settled_at, received_at) AS ended_at FROM deliveries
     WHERE id > ? AND id < (SELECT max(id) FROM deliveries) ORDER BY id LIMIT ${pruneStretch}`,
  );
  const deleteDelivery = database.prepare('DELETE FROM deliveries WHERE id = ?');
  const deleteBody = database.prepare('DELETE FROM bodies WHERE id = ?');
  const deleteRuns = database.prepare('DELETE FROM runs WHERE delivery = ?');
  const deleteLoose = database.prepare(
    `DELETE FROM runs WHERE number IN
       (SELECT number FROM runs WHERE delivery IS NULL AND started_at < ? ORDER BY started_at LIMIT ${pruneBatch})`,
  );
  const size = database.prepare(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );

  /**
   * Finds the next expired deliveries. Each delivery is judged by its own date: dates are in id order only while no
   * clock is set, and a date in the future must not block later deliveries.
   */
  const findExpired = (
    { settled, dead }: Expiry,
    after: number,
  ): { settled: number[]; dead: number[]; next: number | undefined } => {
    const found = { settled: [] as number[], dead: [] as number[] };
    let seen = 0;
    for (const row of following.iterate(after)) {
      const id = Number(row.id);
      seen += 1;
      if (row.state === 'settled' && isBefore(row.ended_at, settled)) found.settled.push(id);
      if (row.state === 'dead' && isBefore(row.ended_at, dead)) found.dead.push(id);
      if (seen === pruneStretch || found.settled.length + found.dead.length === pruneBatch)
        return { ...found, next: id };
    }
    return { ...found, next: undefined };
  };

  return {
    deleteExpired: (expiry, after) =>
      commits.write(() => {
        const { settled, dead, next } = findExpired(expiry, after);
        let runs = 0;
        for (const id of [...settled, ...dead]) {
          runs += Number(deleteRuns.run(id).changes);
          deleteBody.run(id);
          deleteDelivery.run(id);
        }
        return { settled: settled.length, dead: dead.length, runs, next };
      }),
    deleteLooseRuns: (before) => commits.write(() => Number(deleteLoose.run(before).changes)),
    async bytesInUse() {
      try {
        // Used pages of the file: freed pages are reused before the file grows.
        return Number(size.get()?.bytes);
      } catch (error) {
        throw asStoreError(error, path);
      }
    },
  };
}

function isBefore(date: unknown, limit: string | undefined): boolean {
  return limit !== undefined && String(date) < limit;
}
