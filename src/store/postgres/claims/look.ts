import type { SqlRow } from '../../rows.ts';
import { prepareOnce, type Sql } from '../link/connections.ts';
import { nowSql } from '../link/time.ts';

/** What a claim has to know before it chooses. */
export type ClaimLook = {
  /** The instant of the clock that all times of the store are from. */
  readonly now: Date;
  /** Whether the row of this process is still there. */
  readonly isAlive: boolean;
  /** Whether waits are over. */
  readonly isDue: boolean;
  /** Claims of this process: `id`, `lease`, `suspicion`. */
  readonly own: readonly SqlRow[];
  /** Lanes with a claim of any process. */
  readonly busyLanes: readonly string[];
  /** Waiting deliveries that may have ended a process: `id`, `suspicion`, in the order of their ids. */
  readonly suspects: readonly SqlRow[];
  /** Repositories with waiting deliveries whose turn is next. */
  readonly turns: readonly string[];
};

/** Looks around. `lastTurn` is the repository whose turn was last. */
export async function lookAround(
  sql: Sql,
  given: {
    readonly at: string | null;
    readonly worker: string | undefined;
    readonly lastTurn: string;
    readonly limit: number;
  },
): Promise<ClaimLook> {
  const { rows } = await sql.query(look, [given.at, given.worker, given.lastTurn, given.limit]);
  const [row = {}] = rows;
  // The border to the database: the statement below makes these columns.
  const { own, busy, suspects, turns } = row as unknown as {
    own: readonly SqlRow[];
    suspects: readonly SqlRow[];
    busy: readonly string[];
    turns: readonly string[];
  };
  return {
    now: new Date(String(row.now)),
    isAlive: row.is_alive === true,
    isDue: row.is_due === true,
    own,
    busyLanes: busy,
    suspects,
    turns,
  };
}

const waiting = "state = 'accepted' AND routed";

/**
 * Each of the few values is found by index seeks, however many rows wait: `later` and `earlier` jump from one repository to
 * the next. A condition on waiting rows beside the one on suspicion would make the server read all waiting rows as long as it has
 * no statistics.
 */
const look = prepareOnce(`
  WITH RECURSIVE moment AS (SELECT ${nowSql(1)} AS now),
  held AS MATERIALIZED (SELECT id, lane, lease, worker, suspicion FROM deliveries WHERE state = 'claimed'),
  suspected AS MATERIALIZED (SELECT id, lane, suspicion, ${waiting} AS is_waiting FROM deliveries WHERE suspicion > 0),
  later AS (
    (SELECT turn FROM deliveries WHERE ${waiting} AND turn > $3 ORDER BY turn LIMIT 1)
    UNION ALL
    SELECT next.turn FROM later CROSS JOIN LATERAL
      (SELECT turn FROM deliveries WHERE ${waiting} AND turn > later.turn ORDER BY turn LIMIT 1) AS next
  ), earlier AS (
    (SELECT turn FROM deliveries WHERE ${waiting} AND turn <= $3 ORDER BY turn LIMIT 1)
    UNION ALL
    SELECT next.turn FROM earlier CROSS JOIN LATERAL
      (SELECT turn FROM deliveries WHERE ${waiting} AND turn > earlier.turn AND turn <= $3 ORDER BY turn LIMIT 1) AS next
  )
  SELECT now,
    EXISTS (SELECT FROM workers WHERE id = $2) AS is_alive,
    EXISTS (SELECT FROM deliveries WHERE state = 'retry' AND retry_at <= now)
      OR EXISTS (SELECT FROM deliveries WHERE state = 'deferred' AND retry_at <= now) AS is_due,
    (SELECT coalesce(json_agg(json_build_object('id', id, 'lease', lease, 'suspicion', suspicion)), '[]')
      FROM held WHERE worker = $2) AS own,
    ARRAY(SELECT lane FROM held) AS busy,
    (SELECT coalesce(json_agg(json_build_object('id', id, 'suspicion', suspicion) ORDER BY id), '[]')
      FROM suspected WHERE is_waiting AND NOT EXISTS (SELECT FROM held WHERE held.lane = suspected.lane)) AS suspects,
    ARRAY(SELECT turn FROM (SELECT turn FROM later UNION ALL SELECT turn FROM earlier) AS turns
      LIMIT $4::integer + (SELECT count(*) FROM held)) AS turns
  FROM moment`);
