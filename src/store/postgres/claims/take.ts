import { copyWindowMs } from '../../fingerprint.ts';
import { deliveryColumns, deliveryWithBodyOf } from '../../rows.ts';
import type { Claim } from '../../store.ts';
import { prepareOnce, type Sql } from '../link/connections.ts';
import { nowSql } from '../link/time.ts';

/** Which deliveries to claim: each the oldest of its lane. */
export type Choice =
  | {
      readonly by: 'turn';
      /** Repositories, and of each the lane whose turn was last. */
      readonly turns: readonly (readonly [turn: string, lastLane: string])[];
      /** Lanes that are to be left out. */
      readonly busy: readonly string[];
      /** Lanes of one repository. */
      readonly lanes: number;
    }
  | { readonly by: 'lane'; readonly lanes: readonly (readonly [turn: string, lane: string])[] }
  | { readonly by: 'id'; readonly id: number };

/** For whom, and when. */
type Taking = { readonly worker: string | undefined; readonly at: string | null; readonly limit: number };

/** Claims the chosen deliveries. What another process claims at the same time is left out. */
export async function takeClaims(sql: Sql, choice: Choice, taking: Taking): Promise<readonly Claim[]> {
  const values = [taking.worker, taking.at, taking.limit, copyWindowMs, ...valuesOf(choice)];
  const { rows } = await sql.query(statements[choice.by], values);
  return rows.map((row) => ({ ...deliveryWithBodyOf(row), lease: String(row.lease) }));
}

function valuesOf(choice: Choice): readonly unknown[] {
  if (choice.by === 'id') return [choice.id];
  const pairs = choice.by === 'turn' ? choice.turns : choice.lanes;
  const lists = [pairs.map(([turn]) => turn), pairs.map(([, lane]) => lane)];
  return choice.by === 'turn' ? [...lists, choice.busy, choice.lanes] : lists;
}

const waiting = "state = 'accepted' AND routed";
/**
 * The same where the id is known, in a form that only the primary key serves. A plan that was made while nothing waited would
 * read the index of waiting deliveries from end to end, and is kept.
 */
const waitingById = "coalesce(state, '') = 'accepted' AND coalesce(routed, false)";
const inTurn = `${waiting} AND turn = given.turn`;

/**
 * Jumps from lane to lane of a repository, from `after` on as far as `upTo` allows; returns the oldest delivery of each. The lanes
 * with a claim are an array, read once: joined, they would make the server jump through all lanes before it returns the first one.
 */
const walk = (after: string, upTo = ''): string => `
  (WITH RECURSIVE lanes AS (
    (SELECT lane, id, 1 AS step FROM deliveries WHERE ${inTurn} AND lane > ${after} ${upTo} ORDER BY lane, id LIMIT 1)
    UNION ALL
    SELECT next.lane, next.id, lanes.step + 1 FROM lanes CROSS JOIN LATERAL
      (SELECT lane, id FROM deliveries WHERE ${inTurn} AND lane > lanes.lane ${upTo} ORDER BY lane, id LIMIT 1) AS next
  ) SELECT id, step FROM lanes WHERE lane <> ALL ($7::text[])
    AND lane <> ALL (ARRAY(SELECT held.lane FROM deliveries AS held WHERE held.state = 'claimed' AND held.lane IS NOT NULL)))`;

/**
 * Makes this commit wait for the disk, if anything is claimed: a claim that a restart of the server forgets would be given to
 * another process while this one handles it.
 */
const durable = "set_config('synchronous_commit', 'on', true)";

/** First the next lane of each repository, then the one after that. */
const headsByTurn = `
  SELECT found.id, row_number() OVER (ORDER BY found.round, given.position) AS place
  FROM unnest($5::text[], $6::text[]) WITH ORDINALITY AS given (turn, last, position) CROSS JOIN LATERAL (
    SELECT id, row_number() OVER (ORDER BY part, step) AS round FROM (
      SELECT id, step, part FROM (
        SELECT id, step, 1 AS part FROM ${walk('given.last')} AS later
        UNION ALL
        SELECT id, step, 2 AS part FROM ${walk("''", 'AND lane <= given.last')} AS earlier
      ) AS both_parts LIMIT $8::integer
    ) AS few
  ) AS found
  ORDER BY place LIMIT $3::integer`;

const headsByLane = `
  SELECT head.id, given.position AS place
  FROM unnest($5::text[], $6::text[]) WITH ORDINALITY AS given (turn, lane, position) CROSS JOIN LATERAL
    (SELECT id FROM deliveries WHERE ${inTurn} AND lane = given.lane ORDER BY id LIMIT 1) AS head
  WHERE NOT EXISTS (SELECT FROM deliveries WHERE state = 'claimed' AND lane = given.lane)
  ORDER BY place LIMIT $3::integer`;

const headById = 'SELECT $5::bigint AS id, 1 AS place LIMIT $3::integer';

/**
 * One statement. The row of the process is locked until the claim is committed, and nothing is claimed once that row is gone: see
 * `takeovers.ts`. The unique index on the lane of claimed rows refuses the whole statement where a lane was claimed meanwhile.
 *
 * What a delivery repeats may have died since it was routed: then this one is the first that is handled. Copies that another
 * process stored at the same time are settled now, when the first of them is claimed. They are found and locked apart from their
 * end: in one step, a server without statistics reads all waiting deliveries.
 */
const take = (heads: string): string => `
  WITH heads AS MATERIALIZED (${heads}),
  self AS MATERIALIZED (SELECT id FROM workers WHERE id = $1 FOR KEY SHARE),
  picked AS MATERIALIZED (
    SELECT id, mark, event_type, bytes, received_at, attempts, door, redriven_at FROM deliveries
    WHERE id = ANY (ARRAY(SELECT id FROM heads)) AND ${waitingById} AND EXISTS (SELECT FROM self)
    FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE deliveries SET state = 'claimed', worker = $1, lease = gen_random_uuid(), attempts = deliveries.attempts + 1,
      repeat_of = CASE WHEN repeat_of IS NOT NULL THEN (
        SELECT earlier.delivery FROM digests AS own JOIN digests AS earlier USING (digest)
          JOIN deliveries AS it ON it.id = earlier.delivery
        WHERE own.delivery = deliveries.id AND earlier.delivery < deliveries.id AND it.state <> 'dead'
        ORDER BY earlier.delivery LIMIT 1) END
    FROM picked WHERE deliveries.id = picked.id RETURNING deliveries.*
  ), found AS MATERIALIZED (
    SELECT picked.id AS original, copy.id FROM picked CROSS JOIN LATERAL (
      SELECT later.id FROM deliveries AS later
      WHERE later.door = 'webhook' AND later.state = 'accepted' AND later.attempts = 0 AND later.redriven_at IS NULL
        AND later.mark = picked.mark AND later.id > picked.id AND later.event_type = picked.event_type
        AND later.bytes = picked.bytes AND later.id <> ALL (ARRAY(SELECT id FROM picked))
        AND abs(extract(epoch FROM later.received_at - picked.received_at)) * 1000 <= $4::integer
        AND (SELECT body FROM bodies WHERE bodies.id = later.id) = (SELECT body FROM bodies WHERE bodies.id = picked.id)
      FOR UPDATE OF later
    ) AS copy
    WHERE picked.door = 'webhook' AND picked.attempts = 0 AND picked.redriven_at IS NULL
  ), copies AS (
    UPDATE deliveries AS later SET state = 'settled', settled_at = ${nowSql(2)}, copy_of = found.original,
      reason = 'copy of delivery ' || found.original
    FROM found WHERE later.id = ANY (ARRAY(SELECT id FROM found)) AND later.id = found.id
  )
  SELECT ${deliveryColumns}, lease, body, ${durable} FROM taken AS deliveries JOIN bodies USING (id) JOIN heads USING (id)
  ORDER BY place`;

const statements: Readonly<Record<Choice['by'], string>> = {
  turn: prepareOnce(take(headsByTurn)),
  lane: prepareOnce(take(headsByLane)),
  id: prepareOnce(take(headById)),
};
