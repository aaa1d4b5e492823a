import { deliveryColumns, deliveryWithBodyOf, turnOf } from '../../rows.ts';
import type { Routing, Store } from '../../store.ts';
import type { PostgresContext } from '../context.ts';
import { prepareOnce } from '../link/connections.ts';
import { indexableText, storableOrNull } from '../link/text.ts';
import { nowSql } from '../link/time.ts';

/** Bodies handed out for routing at once. */
const maxUnroutedBytes = 16 * 2 ** 20;

/** Returns the methods that give accepted deliveries their lanes. */
export function createRoutingMethods({
  database,
  at,
  requireWorker,
  announceWork,
}: Pick<PostgresContext, 'database' | 'at' | 'requireWorker' | 'announceWork'>): Pick<
  Store,
  'unrouted' | 'route'
> {
  const routeAll = async (routings: readonly Routing[]): Promise<void> => {
    await database.query(route, [...valuesOf(routings), at()]);
  };

  return {
    async unrouted(limit) {
      const { rows } = await database.query(unrouted, [limit]);
      return rows.map(deliveryWithBodyOf);
    },
    async route(routings) {
      requireWorker();
      if (routings.length === 0) return;
      await routeAll(routings);
      // Usually one process routes for all.
      if (routings.some(({ to }) => to === 'lane')) announceWork();
    },
  };
}

function valuesOf(routings: readonly Routing[]): readonly unknown[] {
  const lanes = routings.map((routing) =>
    'lane' in routing && routing.lane !== undefined ? indexableText(routing.lane) : null,
  );
  return [
    routings.map(({ id }) => Number(id)),
    routings.map(({ to }) => (to === 'lane' ? 'accepted' : to)),
    lanes,
    lanes.map((lane) => (lane === null ? null : turnOf(lane))),
    routings.map((routing) => ('repositoryId' in routing ? (routing.repositoryId ?? null) : null)),
    routings.map((routing) => ('repository' in routing ? storableOrNull(routing.repository) : null)),
    routings.map((routing) =>
      'digest' in routing && routing.digest !== undefined
        ? Buffer.from(routing.digest).toString('hex')
        : null,
    ),
    routings.map((routing) => ('reason' in routing ? storableOrNull(routing.reason) : null)),
  ];
}

const unrouted = prepareOnce(`
  WITH waiting AS (
    SELECT id, sum(bytes) OVER (ORDER BY id) AS up_to, row_number() OVER (ORDER BY id) AS position
    FROM (SELECT id, bytes FROM deliveries WHERE state = 'accepted' AND NOT routed ORDER BY id LIMIT $1) AS first
  )
  SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id)
  WHERE id = ANY (ARRAY(SELECT id FROM waiting WHERE position = 1 OR up_to <= ${maxUnroutedBytes}))
  ORDER BY id`);

/**
 * One statement, because a process may stand still between two. Rows are locked in the order of their ids: several processes route
 * the same ones. A delivery repeats the oldest one with its digest that was not given up.
 */
const route = `
  WITH given AS MATERIALIZED (
    SELECT id, state, lane, turn, repository_id, repository, decode(digest, 'hex') AS digest, reason
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
      AS given (id, state, lane, turn, repository_id, repository, digest, reason)
  ), open AS MATERIALIZED (
    SELECT id FROM deliveries WHERE id = ANY ($1::bigint[]) AND state = 'accepted' AND NOT routed ORDER BY id FOR UPDATE
  ), firsts AS MATERIALIZED (
    SELECT digest, min(id) AS id FROM given JOIN open USING (id) WHERE digest IS NOT NULL GROUP BY digest
  ), noted AS (
    INSERT INTO digests (delivery, digest) SELECT id, digest FROM given JOIN open USING (id) WHERE digest IS NOT NULL
    ON CONFLICT (delivery) DO UPDATE SET digest = excluded.digest
  )
  UPDATE deliveries SET routed = true, state = given.state,
    lane = coalesce(given.lane, deliveries.lane), turn = coalesce(given.turn, deliveries.turn),
    repository_id = CASE WHEN given.state = 'accepted' THEN given.repository_id
      ELSE coalesce(given.repository_id, deliveries.repository_id) END,
    repository = CASE WHEN given.state = 'accepted' THEN given.repository
      ELSE coalesce(given.repository, deliveries.repository) END,
    reason = coalesce(given.reason, deliveries.reason),
    settled_at = CASE WHEN given.state <> 'accepted' THEN ${nowSql(9)} END,
    repeat_of = CASE WHEN given.digest IS NOT NULL THEN least(
      (SELECT earlier.delivery FROM digests AS earlier JOIN deliveries AS it ON it.id = earlier.delivery
        WHERE earlier.digest = given.digest AND earlier.delivery < given.id AND it.state <> 'dead'
        ORDER BY earlier.delivery LIMIT 1),
      nullif(firsts.id, given.id)) END
  FROM given JOIN open USING (id) LEFT JOIN firsts USING (digest) WHERE deliveries.id = given.id`;
