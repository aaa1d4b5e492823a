import type { DatabaseSync } from 'node:sqlite';
import { type Deletions, type Expiry, pruneBatch, pruneStretch } from '../prune.ts';
import { sampleSeconds } from '../samples.ts';
import type { StoreContext } from './methods/context.ts';

/** What deleting takes, to be called inside a transaction. */
export type DeletionSteps = {
  readonly [Step in keyof Deletions]: (
    ...given: Parameters<Deletions[Step]>
  ) => Awaited<ReturnType<Deletions[Step]>>;
};

/** Prepares the retention. */
export function createDeletions(database: DatabaseSync): DeletionSteps {
  const following = database.prepare(
    // The newest stays whatever its age: ids go on from it.
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
  const deleteMemory = database.prepare(
    `DELETE FROM memory WHERE key IN
       (SELECT key FROM memory WHERE key >= ? AND key < ? AND json_extract(value, '$.at') < ? LIMIT ${pruneBatch})`,
  );
  const deleteHistory = database.prepare(
    `DELETE FROM queue_history WHERE id IN
       (SELECT id FROM queue_history WHERE at < ? ORDER BY at LIMIT ${pruneBatch})`,
  );
  // A pause is kept until it is ended, and a foreign write until the checks of the base have passed.
  const deleteRested = database.prepare(
    `DELETE FROM queues WHERE (repository_id, base) IN
       (SELECT repository_id, base FROM queues WHERE updated_at < ? AND json_array_length(state, '$.entries') = 0
          AND json_array_length(state, '$.outbox') = 0 AND json_extract(state, '$.paused') IS NULL
          AND json_extract(state, '$.blocked') IS NULL LIMIT ${pruneBatch})`,
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
      if (seen === pruneStretch || found.settled.length + found.dead.length === pruneBatch)
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
    deleteQueues: (before) => Number(deleteRested.run(before).changes),
    ...createSharedDeletions(database),
    // Pages of the file that hold something: freed pages are used again before the file grows.
    bytesInUse: () => Number(size.get()?.bytes),
  };
}

/** Returns what deletes rows that belong to no single delivery. */
function createSharedDeletions(
  database: DatabaseSync,
): Pick<DeletionSteps, 'deleteHeaderSets' | 'deleteSamples'> {
  const deleteSets = database.prepare(
    `DELETE FROM header_sets WHERE id IN (SELECT id FROM header_sets WHERE used_at < ? LIMIT ${pruneBatch})`,
  );
  const deleteSampled = database.prepare(
    `DELETE FROM samples WHERE minutes = ? AND (at, name) IN
       (SELECT at, name FROM samples WHERE minutes = ? AND at < ? LIMIT ${pruneBatch})`,
  );
  return {
    deleteHeaderSets: (before) => Number(deleteSets.run(before).changes),
    deleteSamples: (minutes, before) =>
      Number(deleteSampled.run(minutes, minutes, sampleSeconds(before)).changes),
  };
}

function isBefore(date: unknown, limit: string | undefined): boolean {
  return limit !== undefined && String(date) < limit;
}

/** Returns deletions that take each step in a transaction of its own. */
export function deleteInTurn(
  steps: DeletionSteps,
  { write, read }: Pick<StoreContext, 'write' | 'read'>,
): Deletions {
  return {
    deleteExpired: (expiry, after) => write(() => steps.deleteExpired(expiry, after)),
    deleteLooseRuns: (before) => write(() => steps.deleteLooseRuns(before)),
    deleteMemory: (prefix, before) => write(() => steps.deleteMemory(prefix, before)),
    deleteQueueHistory: (before) => write(() => steps.deleteQueueHistory(before)),
    deleteQueues: (before) => write(() => steps.deleteQueues(before)),
    deleteHeaderSets: (before) => write(() => steps.deleteHeaderSets(before)),
    deleteSamples: (minutes, before) => write(() => steps.deleteSamples(minutes, before)),
    bytesInUse: async () => read(steps.bytesInUse),
  };
}
