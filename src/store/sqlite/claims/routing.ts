import type { DatabaseSync } from 'node:sqlite';
import { deliveryColumns, deliveryWithBodyOf, type SqlRow, turnOf } from '../../rows.ts';
import type { DeliveryWithBody, Routing } from '../../store.ts';
import type { Repeats } from '../repeats/repeats.ts';

/** Bodies handed out for routing at once. */
const maxUnroutedBytes = 16 * 2 ** 20;

/** The step from accepted to a lane, to be called inside a transaction. */
interface Routings {
  /** Returns accepted deliveries without a lane, in order of acceptance. */
  unrouted(limit: number): DeliveryWithBody[];
  /** Returns how many were settled. */
  route(routings: readonly Routing[], at: Date): number;
}

/** Prepares the routings. */
export function createRoutings(database: DatabaseSync, repeats: Pick<Repeats, 'note'>): Routings {
  const unrouted = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id)
     WHERE state = 'accepted' AND routed = 0 ORDER BY deliveries.id LIMIT ?`,
  );
  const toLane = database.prepare(
    `UPDATE deliveries SET routed = 1, lane = ?, turn = ?, repository_id = ?, repository = ?, repeat_of = ?
     WHERE id = ? AND state = 'accepted' AND routed = 0`,
  );
  const toEnd = database.prepare(
    `UPDATE deliveries SET routed = 1, state = ?, reason = ?, settled_at = ?, lane = coalesce(?, lane),
       repository_id = coalesce(?, repository_id), repository = coalesce(?, repository)
     WHERE id = ? AND state = 'accepted' AND routed = 0`,
  );

  return {
    unrouted(limit) {
      const found: DeliveryWithBody[] = [];
      let bytes = 0;
      for (const row of unrouted.iterate(limit)) {
        // The border to SQLite: every value of a row is one of the five storage classes.
        const delivery = deliveryWithBodyOf(row as SqlRow);
        bytes += delivery.bytes;
        if (found.length > 0 && bytes > maxUnroutedBytes) break;
        found.push(delivery);
      }
      return found;
    },

    route(routings, at) {
      let settled = 0;
      for (const routing of routings) {
        const repository = 'repository' in routing ? (routing.repository ?? null) : null;
        const repositoryId = 'repositoryId' in routing ? (routing.repositoryId ?? null) : null;
        if (routing.to === 'lane') {
          const { lane, digest } = routing;
          const id = Number(routing.id);
          const original = digest === undefined ? undefined : repeats.note(id, digest);
          toLane.run(lane, turnOf(lane), repositoryId, repository, original ?? null, id);
          continue;
        }
        const lane = 'lane' in routing ? (routing.lane ?? null) : null;
        const id = Number(routing.id);
        const { to, reason } = routing;
        const { changes } = toEnd.run(to, reason, at.toISOString(), lane, repositoryId, repository, id);
        if (to === 'settled') settled += Number(changes);
      }
      return settled;
    },
  };
}
