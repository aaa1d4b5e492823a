import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { turnOf } from '../lane.ts';
import type { Claim, DeliveryWithBody, Routing } from '../store.ts';
import type { Repeats } from './repeats.ts';
import { deliveryColumns, deliveryWithBodyOf, type Row } from './rows.ts';

/** At most this many deliveries return from their wait in one claim; the rest return in the next. */
const maxReturning = 500;

/** At most this many repositories whose round is remembered; beyond, all rounds start again. */
const maxRounds = 10_000;

/** Longest wait of rows that an earlier version wrote, which did not note it. */
const formerWaitMs = 7_200_000;

/** Bodies handed out for routing at once. */
const maxUnroutedBytes = 16 * 2 ** 20;

/** Lanes that a claim leaves out, or is limited to. */
export type LaneChoice = {
  readonly avoid: readonly string[];
  readonly only: readonly string[] | undefined;
};

/** The steps from unrouted to claimed, to be called inside a transaction. */
export interface Lanes {
  unrouted(limit: number): DeliveryWithBody[];
  /** Returns how many were settled. */
  route(routings: readonly Routing[], at: Date): number;
  /** Claims those whose turn it is, in the lanes that are chosen. */
  claim(limit: number, now: Date, lanes: LaneChoice): Claim[];
  /** Claims this one. */
  claimOne(id: number): Claim;
  /** Gives back what is claimed under the given leases. */
  reclaim(leases: readonly string[]): void;
  /** Brings retries nearer that are further away than they were when they began to wait. */
  clampRetries(now: Date): void;
}

/**
 * Prepares the lanes. The order of acceptance within a lane holds because rows are routed in that order and only routed
 * rows are claimed. Each claim is a few index seeks however many rows wait: the next repository after the last one
 * served, in it the next lane, of it the oldest row; busy lanes are skipped, and those are as few as the leases.
 */
export function createLanes(database: DatabaseSync, repeats: Repeats): Lanes {
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
  const returning = database.prepare(
    `UPDATE deliveries SET state = 'accepted', retry_at = NULL WHERE id IN
       (SELECT id FROM deliveries WHERE state = 'retry' AND retry_at <= ? ORDER BY retry_at LIMIT ${maxReturning})`,
  );
  const returningDeferred = database.prepare(
    `UPDATE deliveries SET state = 'accepted', retry_at = NULL, deferral_key = NULL WHERE id IN
       (SELECT id FROM deliveries WHERE state = 'deferred' AND retry_at <= ? ORDER BY retry_at LIMIT ${maxReturning})`,
  );
  const take = database.prepare(
    "UPDATE deliveries SET state = 'claimed', lease = ?, attempts = attempts + 1 WHERE id = ?",
  );
  const read = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = ?`,
  );
  const giveBack = database.prepare(
    "UPDATE deliveries SET state = 'accepted', lease = NULL WHERE state = 'claimed' AND lease = ?",
  );
  // Plain placeholders: node:sqlite of Node 22 cannot bind numbered ones.
  const nearest = `strftime('%Y-%m-%dT%H:%M:%fZ', julianday(?) + coalesce(retry_wait_ms, ${formerWaitMs}) / 86400000.0)`;
  const clamp = database.prepare(
    `UPDATE deliveries SET retry_at = ${nearest} WHERE state = 'retry' AND retry_at > ${nearest}`,
  );
  const clampDeferred = database.prepare(
    `UPDATE deliveries SET retry_at = ${nearest} WHERE state = 'deferred' AND retry_at > ${nearest}`,
  );
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
    return { ...deliveryWithBodyOf(rowOf(read.get(id))), lease };
  };

  return {
    unrouted(limit) {
      const found: DeliveryWithBody[] = [];
      let bytes = 0;
      for (const row of unrouted.iterate(limit)) {
        const delivery = deliveryWithBodyOf(rowOf(row));
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

    claim(limit, now, { avoid, only }) {
      returning.run(now.toISOString());
      returningDeferred.run(now.toISOString());
      const ids = only === undefined ? heads.next(limit, avoid) : heads.of(only).slice(0, limit);
      return ids.map(claimOne);
    },
    claimOne,

    reclaim(leases) {
      for (const lease of leases) giveBack.run(lease);
    },

    clampRetries(now) {
      const at = now.toISOString();
      clamp.run(at, at);
      clampDeferred.run(at, at);
    },
  };
}

/** Finds the deliveries whose turn it is. */
function createHeads(database: DatabaseSync): {
  next(limit: number, avoid: readonly string[]): number[];
  of(lanes: readonly string[]): number[];
} {
  const where = "state = 'accepted' AND routed = 1";
  const nextTurn = database.prepare(
    `SELECT turn FROM deliveries WHERE ${where} AND turn > ? ORDER BY turn LIMIT 1`,
  );
  const nextLane = database.prepare(
    `SELECT lane, id FROM deliveries WHERE ${where} AND turn = ? AND lane > ? ORDER BY lane, id LIMIT 1`,
  );
  const firstOf = database.prepare(
    `SELECT id FROM deliveries WHERE ${where} AND turn = ? AND lane = ?
       AND NOT EXISTS (SELECT 1 FROM deliveries WHERE state = 'claimed' AND lane = ?) ORDER BY id LIMIT 1`,
  );
  const busyLanes = database.prepare("SELECT lane FROM deliveries WHERE state = 'claimed'");
  let lastTurn = '';
  /** Where each repository's round stands; forgotten when it starts again. */
  const lastLanes = new Map<string, string>();

  const laneAfter = (turn: string, lane: string, busy: ReadonlySet<string>): Row | undefined => {
    let row = nextLane.get(turn, lane);
    while (row !== undefined && busy.has(String(row.lane))) row = nextLane.get(turn, String(row.lane));
    return row;
  };

  const headOf = (turn: string, busy: ReadonlySet<string>): number | undefined => {
    const last = lastLanes.get(turn) ?? '';
    const row = laneAfter(turn, last, busy) ?? (last === '' ? undefined : laneAfter(turn, '', busy));
    if (row === undefined) {
      lastLanes.delete(turn);
      return undefined;
    }
    lastLanes.set(turn, String(row.lane));
    return Number(row.id);
  };

  return {
    next(limit, avoid) {
      const busy = new Set([...busyLanes.all().map((row) => String(row.lane)), ...avoid]);
      const heads: number[] = [];
      /** Repositories all of whose lanes are busy: each holds a lease or is avoided, so they are few. */
      const idle = new Set<string>();
      let idleInARow = 0;
      while (heads.length < limit && idleInARow <= idle.size) {
        const row = nextTurn.get(lastTurn) ?? nextTurn.get('');
        if (row === undefined) break;
        const turn = String(row.turn);
        lastTurn = turn;
        const head = idle.has(turn) ? undefined : headOf(turn, busy);
        if (head === undefined) {
          idle.add(turn);
          idleInARow += 1;
          continue;
        }
        idleInARow = 0;
        busy.add(lastLanes.get(turn) ?? '');
        heads.push(head);
      }
      if (lastLanes.size > maxRounds) lastLanes.clear();
      return heads;
    },
    of: (lanes) =>
      lanes.flatMap((lane) => {
        const row = firstOf.get(turnOf(lane), lane, lane);
        return row === undefined ? [] : [Number(row.id)];
      }),
  };
}

function rowOf(row: unknown): Row {
  // The border to SQLite: every value of a row is one of the five storage classes.
  return row as Row;
}
