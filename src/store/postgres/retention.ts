import { type Deletions, type Expiry, everyAge, pruneBatch, pruneStretch } from '../prune.ts';
import type { Queryable } from './connections.ts';

/** Estimated size of a row in addition to its contents, including index entries. */
const rowBytes = 500;

/** Returns the deletions of a database. Each call is one statement. */
export function createPostgresDeletions(sql: Queryable): Deletions {
  /** Bytes in use, counted once and then reduced by the deleted rows, because counting reads all rows. */
  let used: number | undefined;
  const freed = (bytes: unknown): void => {
    if (used !== undefined) used -= Number(bytes ?? 0);
  };

  return {
    async deleteExpired({ settled, dead }: Expiry, after) {
      const { rows } = await sql.query(deleteExpired, [after, limitInstant(settled), limitInstant(dead)]);
      const [row = {}] = rows;
      freed(row.freed);
      return {
        settled: Number(row.settled),
        dead: Number(row.dead),
        runs: Number(row.runs),
        next: row.next === null ? undefined : Number(row.next),
      };
    },
    async deleteLooseRuns(before) {
      const { rows } = await sql.query(deleteLoose, [before]);
      freed(rows[0]?.freed);
      return Number(rows[0]?.runs);
    },
    async bytesInUse() {
      if (used === undefined) {
        const { rows } = await sql.query(bytesInUse);
        used = Number(rows[0]?.bytes);
      }
      return used;
    },
  };
}

function limitInstant(limit: string | undefined): string | null {
  if (limit === undefined) return null;
  return limit === everyAge ? 'infinity' : limit;
}

/**
 * Deletes the next expired deliveries. Each delivery is judged by its own date: dates are in id order only while no
 * clock is set, and a date in the future must not block later deliveries. The newest delivery stays regardless of its
 * age, as in every store.
 */
const deleteExpired = `
  WITH stretch AS MATERIALIZED (
    SELECT id, state, coalesce(settled_at, received_at) AS ended_at FROM deliveries
    WHERE id > $1 AND id < (SELECT max(id) FROM deliveries) ORDER BY id LIMIT ${pruneStretch}
  ), expired AS MATERIALIZED (
    SELECT id FROM stretch
    WHERE state = 'settled' AND ended_at < $2::timestamptz OR state = 'dead' AND ended_at < $3::timestamptz
    ORDER BY id LIMIT ${pruneBatch}
  ), gone AS (
    DELETE FROM deliveries WHERE id = ANY (ARRAY(SELECT id FROM expired)) AND state IN ('settled', 'dead')
    RETURNING id, state, bytes
  ), bodies_gone AS (DELETE FROM bodies WHERE id IN (SELECT id FROM gone)),
  digests_gone AS (DELETE FROM digests WHERE delivery IN (SELECT id FROM gone)),
  runs_gone AS (DELETE FROM runs WHERE delivery IN (SELECT id FROM gone) RETURNING octet_length(run) AS bytes)
  SELECT (SELECT count(*) FROM gone WHERE state = 'settled') AS settled,
    (SELECT count(*) FROM gone WHERE state = 'dead') AS dead,
    (SELECT count(*) FROM runs_gone) AS runs,
    (SELECT coalesce(sum(bytes + ${rowBytes}), 0) FROM gone)
      + (SELECT coalesce(sum(bytes + ${rowBytes}), 0) FROM runs_gone) AS freed,
    CASE
      WHEN (SELECT count(*) FROM expired) = ${pruneBatch} THEN (SELECT max(id) FROM expired)
      WHEN (SELECT count(*) FROM stretch) = ${pruneStretch} THEN (SELECT max(id) FROM stretch)
    END AS next`;

const deleteLoose = `
  WITH gone AS (
    DELETE FROM runs WHERE number IN
      (SELECT number FROM runs WHERE delivery IS NULL AND started_at < $1 ORDER BY started_at LIMIT ${pruneBatch})
    RETURNING octet_length(run) AS bytes
  )
  SELECT count(*) AS runs, coalesce(sum(bytes + ${rowBytes}), 0) AS freed FROM gone`;

const bytesInUse = `
  SELECT (SELECT coalesce(sum(bytes + ${rowBytes}), 0) FROM deliveries)
    + (SELECT coalesce(sum(octet_length(run) + ${rowBytes}), 0) FROM runs) AS bytes`;
