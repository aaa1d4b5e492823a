import type { Sql } from '../link/connections.ts';
import { nowSql } from '../link/time.ts';

/** At most this many deliveries return from their wait in one statement; the rest return in the next. */
const maxReturning = 500;

/** Returns deliveries whose wait is over, for a retry or for room in a budget, to their lanes. */
export async function endWaits(sql: Sql, at: string | null): Promise<void> {
  await sql.query(endOf('retry'), [at]);
  await sql.query(endOf('deferred'), [at]);
}

/** Brings those nearer that are further away than they were when they began to wait: the clock was set back. */
export async function clampWaits(sql: Sql, at: string | null): Promise<void> {
  const nearest = `${nowSql(1)} + retry_wait_ms * interval '1 ms'`;
  // One statement for each: their indexes are not used for both states at once.
  for (const state of ['retry', 'deferred'])
    await sql.query(
      `UPDATE deliveries SET retry_at = ${nearest} WHERE state = '${state}' AND retry_at > ${nearest}`,
      [at],
    );
}

function endOf(state: 'retry' | 'deferred'): string {
  return `UPDATE deliveries SET state = 'accepted', retry_at = NULL, deferral_key = NULL WHERE state = '${state}' AND id = ANY (ARRAY(
    SELECT id FROM deliveries WHERE state = '${state}' AND retry_at <= ${nowSql(1)}
    ORDER BY retry_at LIMIT ${maxReturning} FOR UPDATE SKIP LOCKED))`;
}
