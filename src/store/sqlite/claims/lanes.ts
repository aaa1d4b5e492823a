import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { deliveryColumns, deliveryWithBodyOf, type SqlRow } from '../../rows.ts';
import type { Claim } from '../../store.ts';
import type { Repeats } from '../repeats/repeats.ts';
import { createHeads } from './heads.ts';
import { createWaits } from './waits.ts';

/** Lanes that a claim leaves out, or is limited to. */
export type LaneChoice = {
  readonly avoid: readonly string[];
  readonly only: readonly string[] | undefined;
};

/** The steps from a lane to a claim, to be called inside a transaction. */
export interface Lanes {
  /** Claims the next deliveries of the chosen lanes. */
  claim(limit: number, now: Date, lanes: LaneChoice): Claim[];
  /** Claims this one. */
  claimOne(id: number): Claim;
  /** Releases the deliveries with these leases. */
  reclaim(leases: readonly string[]): void;
  /** Shortens retries whose remaining delay exceeds their original delay. */
  clampRetries(now: Date): void;
}

/**
 * Prepares the lanes. The order of acceptance within a lane holds because rows are routed in that order and only routed
 * rows are claimed. Each claim is a few index seeks however many rows wait: the next repository after the last one
 * served, in it the next lane, of it the oldest row; busy lanes are skipped, and those are as few as the leases.
 */
export function createLanes(database: DatabaseSync, repeats: Pick<Repeats, 'originalOf'>): Lanes {
  const take = database.prepare(
    "UPDATE deliveries SET state = 'claimed', lease = ?, attempts = attempts + 1 WHERE id = ?",
  );
  const read = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = ?`,
  );
  const giveBack = database.prepare(
    "UPDATE deliveries SET state = 'accepted', lease = NULL WHERE state = 'claimed' AND lease = ?",
  );
  const waits = createWaits(database);
  const heads = createHeads(database);
  const repeatOf = database.prepare(
    'SELECT repeat_of FROM deliveries WHERE id = ? AND repeat_of IS NOT NULL',
  );
  const setRepeat = database.prepare('UPDATE deliveries SET repeat_of = ? WHERE id = ?');

  /** What a delivery repeats may have died since it was routed: then this one is the first that is handled. */
  const confirmRepeat = (id: number): void => {
    if (repeatOf.get(id) !== undefined) setRepeat.run(repeats.originalOf(id) ?? null, id);
  };

  const claimOne = (id: number): Claim => {
    const lease = randomUUID();
    take.run(lease, id);
    confirmRepeat(id);
    // The border to SQLite: every value of a row is one of the five storage classes.
    return { ...deliveryWithBodyOf(read.get(id) as SqlRow), lease };
  };

  return {
    claim(limit, now, { avoid, only }) {
      waits.endDue(now);
      const ids = only === undefined ? heads.next(limit, avoid) : heads.of(only).slice(0, limit);
      return ids.map(claimOne);
    },
    claimOne,

    reclaim(leases) {
      for (const lease of leases) giveBack.run(lease);
    },

    clampRetries: (now) => waits.clamp(now),
  };
}
