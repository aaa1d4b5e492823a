import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { deliveryColumns, deliveryWithBodyOf, type SqlRow, turnOf } from '../../rows.ts';
import type { Claim } from '../../store.ts';
import type { Repeats } from '../repeats/repeats.ts';

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

/** At most this many repositories whose round is remembered; beyond, all rounds start again. */
const maxRounds = 10_000;

/** Finds the deliveries whose turn it is: each the oldest of its lane. */
interface Heads {
  /** Returns the next ones, taking turns between repositories, then between their lanes. */
  next(limit: number, avoid: readonly string[]): number[];
  /** Returns those of the given lanes. */
  of(lanes: readonly string[]): number[];
}

/** Creates the search. It remembers whose turn was last. */
export function createHeads(database: DatabaseSync): Heads {
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
  /** Position of each repository's round; removed when it starts again. */
  const lastLanes = new Map<string, string>();

  const laneAfter = (turn: string, lane: string, busy: ReadonlySet<string>): SqlRow | undefined => {
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

/** At most this many deliveries return from their wait in one claim; the rest return in the next. */
const maxReturning = 500;

/** Longest wait of rows that an earlier version wrote, which did not note it. */
const formerWaitMs = 7_200_000;

/** The deliveries that wait outside of their lanes, for a retry or for room in a budget. */
interface Waits {
  /** Returns those whose wait is over to their lanes. */
  endDue(now: Date): void;
  /** Brings those nearer that are further away than they were when they began to wait. */
  clamp(now: Date): void;
}

/** Prepares the waits. */
export function createWaits(database: DatabaseSync): Waits {
  // Asked by each claim: an update with the question inside costs many times as much when none is due.
  const dueRetries = database.prepare(
    `SELECT id FROM deliveries WHERE state = 'retry' AND retry_at <= ? ORDER BY retry_at LIMIT ${maxReturning}`,
  );
  const dueDeferred = database.prepare(
    `SELECT id FROM deliveries WHERE state = 'deferred' AND retry_at <= ? ORDER BY retry_at LIMIT ${maxReturning}`,
  );
  const giveBack = database.prepare(
    "UPDATE deliveries SET state = 'accepted', retry_at = NULL, deferral_key = NULL WHERE id = ?",
  );
  // Plain placeholders: node:sqlite of Node 22 cannot bind numbered ones.
  const nearest = `strftime('%Y-%m-%dT%H:%M:%fZ', julianday(?) + coalesce(retry_wait_ms, ${formerWaitMs}) / 86400000.0)`;
  const clampRetries = database.prepare(
    `UPDATE deliveries SET retry_at = ${nearest} WHERE state = 'retry' AND retry_at > ${nearest}`,
  );
  const clampDeferred = database.prepare(
    `UPDATE deliveries SET retry_at = ${nearest} WHERE state = 'deferred' AND retry_at > ${nearest}`,
  );

  return {
    endDue(now) {
      const at = now.toISOString();
      for (const due of [dueRetries, dueDeferred]) for (const { id } of due.all(at)) giveBack.run(Number(id));
    },

    clamp(now) {
      const at = now.toISOString();
      clampRetries.run(at, at);
      clampDeferred.run(at, at);
    },
  };
}
