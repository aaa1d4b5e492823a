import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { isolationMsOf, nextSuspected } from '../leases.ts';
import { deliveryColumns, deliveryWithBodyOf, encodeSummary, turnOf } from '../rows.ts';
import type { SqlRow } from '../sql.ts';
import type { Claim, DeliveryClaims, DeliveryWithBody, Routing } from '../store.ts';
import type { SqliteContext } from './context.ts';
import { asStoreError } from './failures.ts';

/** If the clock steps back by more than this, it was set back, and waits are compared with it again. */
const clockToleranceMs = 1_000;

/**
 * Returns the methods of the store that assign deliveries to lanes and claim them. With `takeBack`, the claims of an
 * earlier process are released now. The order of acceptance within a lane holds because rows are routed in that order
 * and only routed rows are claimed. Each claim is a few index seeks regardless of the number of waiting rows: the next
 * repository after the last one served, its next lane, and the oldest row of that lane. Busy lanes are skipped, of
 * which there are at most as many as leases.
 */
export function createClaims(context: SqliteContext, takeBack: boolean): DeliveryClaims {
  const { database, path, commits, leases, settled, clock, requireWorker } = context;
  const repeats = createRepeats(database);
  const routing = createRoutings(database, repeats.note);
  const crashes = createCrashes(database);
  const waits = createWaits(database);
  const heads = createHeads(database);
  const claimOne = createClaimOne(database, repeats);
  const giveBack = database.prepare(
    "UPDATE deliveries SET state = 'accepted', lease = NULL WHERE state = 'claimed' AND lease = ?",
  );
  /** How far the wall clock was ahead of the monotonic clock when waits were last compared. */
  let aheadMs = Number.POSITIVE_INFINITY;
  if (takeBack) crashes.takeBack();

  return {
    async unrouted(limit) {
      try {
        return routing.unrouted(limit);
      } catch (error) {
        throw asStoreError(error, path);
      }
    },
    async route(given) {
      requireWorker();
      // Not synced: after a power failure, the delivery is still accepted and is routed again.
      settled.add(await commits.writeUnsynced(() => routing.route(given, clock.now())));
    },
    async claim({ limit, leaseMs, avoid = [], only, routings = [] }) {
      requireWorker();
      const nowMs = clock.monotonicMs();
      const now = clock.now();
      const ended = leases.endedBy(nowMs);
      const nextIds = (): readonly number[] => {
        const turn = crashes.turn(nowMs);
        if (turn === 'wait') return [];
        // A suspected delivery has a separate turn and may need the forge.
        if (turn !== 'free') return only === undefined ? [turn] : [];
        waits.endDue(now);
        return only === undefined ? heads.next(limit, avoid) : heads.of(only).slice(0, limit);
      };
      // Not synced: a power failure ends the attempt as well, and the delivery is claimed again either way.
      let ends = 0;
      const claimed = await commits.writeUnsynced(() => {
        ends = routings.length === 0 ? 0 : routing.route(routings, now);
        for (const lease of ended) giveBack.run(lease);
        if (now.getTime() - nowMs < aheadMs - clockToleranceMs) waits.clamp(now);
        aheadMs = now.getTime() - nowMs;
        const claims = nextIds().map(claimOne);
        // Recorded before the COMMIT: if the disk refused it, these leases would otherwise never end.
        for (const claim of claims) {
          leases.grant(claim.lease, nowMs + leaseMs);
          crashes.claimed(Number(claim.id), nowMs);
        }
        // The sync in progress may include a claimed delivery, or the end of the delivery before it in its lane.
        return { claims, syncing: commits.syncing };
      });
      settled.add(ends);
      for (const lease of ended) leases.end(lease);
      const { claims, syncing } = claimed;
      return syncing === undefined ? claims : claims.map((claim) => ({ ...claim, durable: syncing }));
    },
    async heartbeat(claim, leaseMs) {
      leases.extend(claim, clock.monotonicMs(), leaseMs);
    },
  };
}

/** Recognises deliveries that repeat an earlier one: the same body with another uuid. */
export interface Repeats {
  /** Stores the digest of a delivery and returns the earlier one that it repeats. Called inside a transaction. */
  note(id: number, digest: Uint8Array): number | undefined;
  /** Returns the earlier delivery that a recorded one currently repeats. */
  originalOf(id: number): number | undefined;
}

/**
 * Prepares the recognition of repeats. A delivery repeats the oldest one with its digest that is not dead: a dead one
 * was not handled. The index contains the first 8 bytes of each digest; the whole digest is compared. Digests are
 * deleted with their deliveries.
 */
export function createRepeats(database: DatabaseSync): Repeats {
  const insert = database.prepare('INSERT OR REPLACE INTO digests (delivery, digest) VALUES (?, ?)');
  const digestOf = database.prepare('SELECT digest FROM digests WHERE delivery = ?');
  const earlier = database.prepare(
    `SELECT delivery FROM digests CROSS JOIN deliveries ON id = delivery
     WHERE substr(digest, 1, 8) = ? AND delivery < ? AND digest = ? AND state <> 'dead' ORDER BY delivery LIMIT 1`,
  );

  const find = (id: number, digest: Uint8Array): number | undefined => {
    const row = earlier.get(digest.subarray(0, 8), id, digest);
    return row === undefined ? undefined : Number(row.delivery);
  };

  return {
    note(id, digest) {
      insert.run(id, digest);
      return find(id, digest);
    },
    originalOf(id) {
      const digest = digestOf.get(id)?.digest;
      return digest instanceof Uint8Array ? find(id, digest) : undefined;
    },
  };
}

/** Returns the function that claims a delivery, inside a transaction. */
function createClaimOne(database: DatabaseSync, repeats: Repeats): (id: number) => Claim {
  const take = database.prepare(
    "UPDATE deliveries SET state = 'claimed', lease = ?, attempts = attempts + 1 WHERE id = ?",
  );
  const read = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = ?`,
  );
  const repeatOf = database.prepare(
    'SELECT repeat_of FROM deliveries WHERE id = ? AND repeat_of IS NOT NULL',
  );
  const setRepeat = database.prepare('UPDATE deliveries SET repeat_of = ? WHERE id = ?');

  return (id) => {
    const lease = randomUUID();
    take.run(lease, id);
    // The delivery that this one repeats may have become dead since routing: then this one is the first that is
    // handled.
    if (repeatOf.get(id) !== undefined) setRepeat.run(repeats.originalOf(id) ?? null, id);
    // SQLite boundary: every value of a row is one of the five storage classes.
    return { ...deliveryWithBodyOf(read.get(id) as SqlRow), lease };
  };
}

/** Maximum size of bodies returned for routing at once. */
const maxUnroutedBytes = 16 * 2 ** 20;

/** Prepares the assignment of lanes to accepted deliveries; called inside a transaction. */
export function createRoutings(database: DatabaseSync, noteDigest: Repeats['note']) {
  const unrouted = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id)
     WHERE state = 'accepted' AND routed = 0 ORDER BY deliveries.id LIMIT ?`,
  );
  const toLane = database.prepare(
    `UPDATE deliveries SET routed = 1, lane = ?, turn = ?, repository_id = ?, repository = ?, repeat_of = ?,
       summary = coalesce(?, summary)
     WHERE id = ? AND state = 'accepted' AND routed = 0`,
  );
  const toEnd = database.prepare(
    `UPDATE deliveries SET routed = 1, state = ?, reason = ?, settled_at = ?, lane = coalesce(?, lane),
       repository_id = coalesce(?, repository_id), repository = coalesce(?, repository), summary = coalesce(?, summary)
     WHERE id = ? AND state = 'accepted' AND routed = 0`,
  );

  return {
    /** Returns accepted deliveries without a lane, in order of acceptance. */
    unrouted(limit: number): DeliveryWithBody[] {
      const found: DeliveryWithBody[] = [];
      let bytes = 0;
      for (const row of unrouted.iterate(limit)) {
        // SQLite boundary: every value of a row is one of the five storage classes.
        const delivery = deliveryWithBodyOf(row as SqlRow);
        bytes += delivery.bytes;
        if (found.length > 0 && bytes > maxUnroutedBytes) break;
        found.push(delivery);
      }
      return found;
    },

    /** Assigns lanes or ends deliveries. Returns the number of settled deliveries. */
    route(routings: readonly Routing[], at: Date): number {
      let settled = 0;
      for (const routing of routings) {
        const repository = 'repository' in routing ? (routing.repository ?? null) : null;
        const summary = encodeSummary(routing);
        const repositoryId = 'repositoryId' in routing ? (routing.repositoryId ?? null) : null;
        if (routing.to === 'lane') {
          const { lane, digest } = routing;
          const id = Number(routing.id);
          const original = digest === undefined ? undefined : noteDigest(id, digest);
          toLane.run(lane, turnOf(lane), repositoryId, repository, original ?? null, summary, id);
          continue;
        }
        const lane = 'lane' in routing ? (routing.lane ?? null) : null;
        const id = Number(routing.id);
        const { to, reason } = routing;
        const { changes } = toEnd.run(
          to,
          reason,
          at.toISOString(),
          lane,
          repositoryId,
          repository,
          summary,
          id,
        );
        if (to === 'settled') settled += Number(changes);
      }
      return settled;
    },
  };
}

/** Maximum number of repositories whose round is remembered; with more, all rounds start again. */
const maxRounds = 10_000;

/** Finds the next deliveries in turn, each the oldest one of its lane. It remembers the last turn. */
export function createHeads(database: DatabaseSync) {
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
  /** Lane that was served last in each repository; removed when none of its lanes is free. */
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
    /** Returns the next deliveries, alternating between repositories, then between their lanes. */
    next(limit: number, avoid: readonly string[]): number[] {
      const busy = new Set([...busyLanes.all().map((row) => String(row.lane)), ...avoid]);
      const heads: number[] = [];
      /** Repositories whose lanes are all busy: each holds a lease or is avoided, so they are few. */
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
    /** Returns the oldest deliveries of the given lanes. */
    of: (lanes: readonly string[]): number[] =>
      lanes.flatMap((lane) => {
        const row = firstOf.get(turnOf(lane), lane, lane);
        return row === undefined ? [] : [Number(row.id)];
      }),
  };
}

/** Maximum number of deliveries that return from their wait in one claim; the rest return in the next. */
const maxReturning = 500;

/** Maximum wait of rows of an earlier version, which did not record the wait. */
const formerWaitMs = 7_200_000;

/** Prepares the ends of waits outside of lanes, for a retry or for room in a budget. */
export function createWaits(database: DatabaseSync) {
  // Runs on each claim, where an UPDATE with this condition would cost many times as much when no delivery is due.
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
    /** Returns deliveries whose wait has ended to their lanes. */
    endDue(now: Date): void {
      const at = now.toISOString();
      for (const due of [dueRetries, dueDeferred]) for (const { id } of due.all(at)) giveBack.run(Number(id));
    },

    /** Shortens waits that are longer than when they began. */
    clamp(now: Date): void {
      const at = now.toISOString();
      clampRetries.run(at, at);
      clampDeferred.run(at, at);
    },
  };
}

/**
 * Finds the delivery that crashes the process; called inside a transaction. A crash of the process reverts no claim and
 * no ending, so the rows that are claimed when a store is opened are those that were in flight when the process died.
 * If there was one, its attempt and the crash are counted. A power failure may revert the last claims: those deliveries
 * are then accepted, and are not suspected. If there were several, their attempts do not count, and each delivery is
 * suspected: it is handled alone for a while, so that the next crash identifies the cause. Deliveries in flight for
 * longer than that no longer count. Times are those of a monotonic clock.
 */
export function createCrashes(database: DatabaseSync) {
  const inFlight = database.prepare("SELECT id, suspicion FROM deliveries WHERE state = 'claimed'");
  const blame = database.prepare(
    "UPDATE deliveries SET state = 'accepted', lease = NULL, crashes = crashes + 1 WHERE state = 'claimed'",
  );
  const suspect = database.prepare(
    `UPDATE deliveries SET state = 'accepted', lease = NULL, attempts = attempts - 1, suspicion = suspicion + 1
     WHERE state = 'claimed'`,
  );
  const waiting = database.prepare(
    `SELECT id, suspicion FROM deliveries INDEXED BY suspected
     WHERE suspicion > 0 AND state = 'accepted' AND routed = 1 ORDER BY id`,
  );
  const claimedAtMs = new Map<number, number>();
  let isOver = false;

  const nextWaiting = (): number | undefined => nextSuspected(waiting.all() as readonly SqlRow[]);

  return {
    /** Releases the claims of an earlier process. */
    takeBack(): void {
      if (inFlight.all().length === 1) blame.run();
      else suspect.run();
    },
    /**
     * Returns the suspected delivery to claim next, alone; `wait` while one must stay alone; `free` if none is left.
     */
    turn(nowMs: number): number | 'wait' | 'free' {
      // New suspects appear only at startup.
      if (isOver) return 'free';
      const claims = inFlight.all().map(({ id, suspicion }) => {
        const isYoung = nowMs - (claimedAtMs.get(Number(id)) ?? nowMs) < isolationMsOf(Number(suspicion));
        return { isSuspected: Number(suspicion) > 0, isYoung };
      });
      if (claims.some(({ isSuspected, isYoung }) => isSuspected && isYoung)) return 'wait';
      const next = nextWaiting();
      if (next !== undefined) return claims.some(({ isYoung }) => isYoung) ? 'wait' : next;
      isOver = claims.every(({ isSuspected }) => !isSuspected);
      return 'free';
    },
    /** Records that a delivery is claimed. */
    claimed(id: number, nowMs: number): void {
      if (!isOver) claimedAtMs.set(id, nowMs);
    },
  };
}
