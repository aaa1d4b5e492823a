import type { Connections } from './link/connections.ts';

/** How a process shows that it is alive, in milliseconds. */
export type Liveness = {
  /** Between two heartbeats. */
  readonly beatMs: number;
  /** A process that has lost its lock and was silent for longer is dead. */
  readonly silentMs: number;
  /** So is one that was silent for longer whether or not it has its lock. For so long, processes may be on their way back. */
  readonly lifeMs: number;
};

export const standardLiveness: Liveness = { beatMs: 1_000, silentMs: 3_000, lifeMs: 15_000 };

/**
 * Takes over what dead processes had claimed, for the process `self`. Without `mayJudge`, only those count as dead that have said
 * good-bye; likewise if the last heartbeat of `self` is old, because it stood still since then, perhaps with the others.
 *
 * A claim holds the row of its process until it is committed, and claims nothing once that row is gone (`claims/take.ts`). So
 * the row is deleted first; what is claimed without a row is given back then, and nothing can be added to it.
 */
type TakeOver = (options: { readonly self: string; readonly mayJudge: boolean }) => Promise<void>;

/** Prepares it. `lockClass` is the class of the locks that live processes hold. */
export function createTakeovers(
  database: Connections,
  lockClass: number,
  { liveness, onTakeover }: { readonly liveness: Liveness; readonly onTakeover: (count: number) => void },
): TakeOver {
  return async ({ self, mayJudge }) => {
    const values = [mayJudge, lockClass, liveness.silentMs, liveness.lifeMs, self];
    const { rows } = await database.query(findDead, values);
    if (rows[0]?.is_needed !== true) return;
    const taken = await database.transaction(async (sql) => {
      await sql.query(removeDead, values);
      const { count } = await sql.query(giveBack);
      await sql.query(
        'DELETE FROM queue_leases WHERE worker IS NOT NULL AND worker NOT IN (SELECT id FROM workers)',
      );
      return count;
    });
    if (taken > 0) onTakeover(taken);
  };
}

/** Whether the lock of a row of `workers` is held; the class is parameter `number`. */
export function hasSessionLock(number: number): string {
  return `EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND classid = $${number}::bigint::oid AND objid = workers.lock::bigint::oid
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;
}

/** Parameter 1: whether processes are judged that have not said good-bye; 2: the class of their locks; 3, 4: `Liveness`; 5: who judges. */
const isDead = `(alive_until = '-infinity' OR $1
  AND EXISTS (SELECT FROM workers AS self
    WHERE self.id = $5 AND self.seen_at >= statement_timestamp() - $3::integer * interval '1 ms')
  AND statement_timestamp() - pg_postmaster_start_time() > $4::integer * interval '1 ms'
  AND (alive_until < statement_timestamp()
    OR seen_at < statement_timestamp() - $3::integer * interval '1 ms' AND NOT ${hasSessionLock(2)}))`;

const findDead = `SELECT EXISTS (SELECT FROM workers WHERE ${isDead})
  OR EXISTS (SELECT FROM deliveries WHERE state = 'claimed' AND worker NOT IN (SELECT id FROM workers)) AS is_needed`;

const removeDead = `DELETE FROM workers WHERE id IN (SELECT id FROM workers WHERE ${isDead} FOR UPDATE SKIP LOCKED)`;

/**
 * The deliveries of a process that died return to their lanes. If there was one, its attempt is spent, and the crash is counted.
 * If there were several, no attempt is spent, and each is suspected (`claims/suspects.ts`).
 */
const giveBack = `
  WITH orphans AS (
    SELECT id, count(*) OVER (PARTITION BY worker) AS together FROM deliveries
    WHERE state = 'claimed' AND worker NOT IN (SELECT id FROM workers)
  )
  UPDATE deliveries SET state = 'accepted', lease = NULL, worker = NULL,
    crashes = crashes + (together = 1)::integer,
    suspicion = suspicion + (together > 1)::integer,
    attempts = attempts - (together > 1)::integer
  FROM orphans WHERE deliveries.id = orphans.id AND state = 'claimed' AND worker NOT IN (SELECT id FROM workers)`;
