import type { DatabaseSync } from 'node:sqlite';
import type { Pruned, PruneLimits } from '../store.ts';

/** Rows deleted in one transaction: an intake waits no longer than this takes. */
const batch = 200;
/** Rows looked at in one transaction. */
const stretch = 2_000;

/** Which ended deliveries to delete: those that ended before these instants, as RFC 3339; none where undefined. */
type Expiry = { readonly settled: string | undefined; readonly dead: string | undefined };

/** Beyond every RFC 3339 text. */
const everyAge = '~';

/** What a batch deleted. `next` is where the following one goes on; undefined at the end. */
type Batch = {
  readonly settled: number;
  readonly dead: number;
  readonly runs: number;
  readonly next: number | undefined;
};

/** What deleting takes. */
export interface Deletions {
  /** Deletes expired deliveries with their runs, beginning after an id. One bounded batch, to be called inside a transaction. */
  deleteExpired(expiry: Expiry, after: number): Batch;
  /** Deletes runs without a delivery that started before an instant. One bounded batch, to be called inside a transaction. */
  deleteLooseRuns(before: string): number;
  /** Deletes plain data of keys with a prefix that is from before an instant. One bounded batch, to be called inside a transaction. */
  deleteMemory(prefix: string, before: string): number;
  /** Deletes history of queues from before an instant. One bounded batch, to be called inside a transaction. */
  deleteQueueHistory(before: string): number;
  /** Bytes in use: pages of the file that hold something. Freed pages are used again before the file grows. */
  bytesInUse(): number;
}

/** Prepares the retention. */
export function createDeletions(database: DatabaseSync): Deletions {
  const following = database.prepare(
    // The newest stays whatever its age: ids go on from it.
    `SELECT id, state, coalesce(settled_at, received_at) AS ended_at FROM deliveries
     WHERE id > ? AND id < (SELECT max(id) FROM deliveries) ORDER BY id LIMIT ${stretch}`,
  );
  const deleteDelivery = database.prepare('DELETE FROM deliveries WHERE id = ?');
  const deleteBody = database.prepare('DELETE FROM bodies WHERE id = ?');
  const deleteRuns = database.prepare('DELETE FROM runs WHERE delivery = ?');
  const deleteLoose = database.prepare(
    `DELETE FROM runs WHERE number IN
       (SELECT number FROM runs WHERE delivery IS NULL AND started_at < ? ORDER BY started_at LIMIT ${batch})`,
  );
  const deleteMemory = database.prepare(
    `DELETE FROM memory WHERE key IN
       (SELECT key FROM memory WHERE key >= ? AND key < ? AND json_extract(value, '$.at') < ? LIMIT ${batch})`,
  );
  const deleteHistory = database.prepare(
    `DELETE FROM queue_history WHERE id IN
       (SELECT id FROM queue_history WHERE at < ? ORDER BY at LIMIT ${batch})`,
  );
  const size = database.prepare(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );

  /**
   * Finds the next expired ones. Each is judged by its own date: the order of dates is that of ids only while no clock is
   * set, and one that is dated in the future must not keep all later ones.
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
      if (seen === stretch || found.settled.length + found.dead.length === batch)
        return { ...found, next: id };
    }
    return { ...found, next: undefined };
  };

  return {
    deleteExpired(expiry, after) {
      const { settled, dead, next } = findExpired(expiry, after);
      let runs = 0;
      for (const id of [...settled, ...dead]) {
        runs += Number(deleteRuns.run(id).changes);
        deleteBody.run(id);
        deleteDelivery.run(id);
      }
      return { settled: settled.length, dead: dead.length, runs, next };
    },
    deleteLooseRuns: (before) => Number(deleteLoose.run(before).changes),
    deleteMemory: (prefix, before) => Number(deleteMemory.run(prefix, `${prefix}\u{10ffff}`, before).changes),
    deleteQueueHistory: (before) => Number(deleteHistory.run(before).changes),
    bytesInUse: () => Number(size.get()?.bytes),
  };
}

function isBefore(date: unknown, limit: string | undefined): boolean {
  return limit !== undefined && String(date) < limit;
}

/** Deletes what the limits do not keep, batch by batch. `onSettledGone` is called with the settled deliveries of each. */
export async function prune(
  retention: Deletions,
  { olderThan, deadOlderThan, maxBytes = Number.POSITIVE_INFINITY, memory = [] }: PruneLimits,
  parts: {
    readonly write: <Result>(write: () => Result) => Promise<Result>;
    readonly onSettledGone: (count: number) => void;
  },
): Promise<Pruned> {
  const gone = { deliveries: 0, dead: 0, runs: 0 };

  const deleteDeliveries = async (expiry: Expiry, mayGoOn: () => boolean): Promise<void> => {
    let after: number | undefined = 0;
    while (after !== undefined && mayGoOn()) {
      const from: number = after;
      const deleted: Batch = await parts.write(() => retention.deleteExpired(expiry, from));
      parts.onSettledGone(deleted.settled);
      gone.deliveries += deleted.settled + deleted.dead;
      gone.dead += deleted.dead;
      gone.runs += deleted.runs;
      after = deleted.next;
    }
  };
  const deleteRuns = async (before: string, mayGoOn: () => boolean): Promise<void> => {
    for (let runs = batch; runs === batch && mayGoOn(); gone.runs += runs) {
      runs = await parts.write(() => retention.deleteLooseRuns(before));
    }
  };

  const deleteMemory = async (prefix: string, before: string): Promise<void> => {
    for (let notes = batch; notes === batch; )
      notes = await parts.write(() => retention.deleteMemory(prefix, before));
  };

  const deleteHistory = async (before: string): Promise<void> => {
    for (let rows = batch; rows === batch; )
      rows = await parts.write(() => retention.deleteQueueHistory(before));
  };

  const settled = olderThan?.toISOString();
  const dead = deadOlderThan?.toISOString();
  if (settled !== undefined || dead !== undefined) await deleteDeliveries({ settled, dead }, () => true);
  if (settled !== undefined) {
    await deleteRuns(settled, () => true);
    await deleteHistory(settled);
  }
  for (const { prefix, before } of memory) await deleteMemory(prefix, before.toISOString());
  const isTooLarge = (): boolean => retention.bytesInUse() > maxBytes;
  await deleteDeliveries({ settled: everyAge, dead: undefined }, isTooLarge);
  await deleteRuns(everyAge, isTooLarge);
  await deleteDeliveries({ settled: undefined, dead: everyAge }, isTooLarge);
  return gone;
}
