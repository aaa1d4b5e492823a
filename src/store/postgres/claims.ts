import { copyWindowMs } from '../fingerprint.ts';
import { isolationMsOf, leaseLost, nextSuspected } from '../leases.ts';
import { deliveryColumns, deliveryWithBodyOf, encodeSummary, turnOf } from '../rows.ts';
import type { SqlRow } from '../sql.ts';
import type { Claim, ClaimOptions, DeliveryClaims, Routing } from '../store.ts';
import { isDuplicate, prepareOnce, type Queryable } from './connections.ts';
import type { PostgresContext } from './context.ts';
import { indexableText, nowSql, storableOrNull } from './postgres-sql.ts';

/** Maximum total size of the bodies that are returned for routing at once. */
const maxUnroutedBytes = 16 * 2 ** 20;

/** Returns the methods that assign lanes to accepted deliveries, claim deliveries, and keep claims. */
export function createClaims(context: PostgresContext): DeliveryClaims {
  const { database, worker, leases, monotonicMs } = context;
  const claim = createClaim(context);
  let last: Promise<unknown> = Promise.resolve();

  return {
    async unrouted(limit) {
      const { rows } = await database.query(unrouted, [limit]);
      return rows.map(deliveryWithBodyOf);
    },
    async route(routings) {
      context.requireWorker();
      if (routings.length === 0) return;
      await database.query(route, [...valuesOf(routings), context.at()]);
      // Usually, one process routes for all others.
      if (routings.some(({ to }) => to === 'lane')) context.announceWork();
    },
    async claim(options) {
      context.requireWorker();
      // Calls run sequentially, because a call would not know the claims of another pending call.
      const claiming = last.then(() => claim(options));
      last = claiming.catch(() => {});
      return claiming;
    },
    async heartbeat(claim, leaseMs) {
      if (!worker.isCurrent()) throw leaseLost(claim);
      leases.extend(claim, monotonicMs(), leaseMs);
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
    routings.map((routing) => storableOrNull(encodeSummary(routing) ?? undefined)),
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
 * This is one statement, because a process may stall between two. Rows are locked in id order, because several
 * processes may route the same ones. A delivery repeats the oldest delivery that has the same digest and is not dead.
 */
const route = `
  WITH given AS MATERIALIZED (
    SELECT id, state, lane, turn, repository_id, repository, decode(digest, 'hex') AS digest, reason, summary
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[],
        $9::text[])
      AS given (id, state, lane, turn, repository_id, repository, digest, reason, summary)
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
    reason = coalesce(given.reason, deliveries.reason), summary = coalesce(given.summary, deliveries.summary),
    settled_at = CASE WHEN given.state <> 'accepted' THEN ${nowSql(10)} END,
    repeat_of = CASE WHEN given.digest IS NOT NULL THEN least(
      (SELECT earlier.delivery FROM digests AS earlier JOIN deliveries AS it ON it.id = earlier.delivery
        WHERE earlier.digest = given.digest AND earlier.delivery < given.id AND it.state <> 'dead'
        ORDER BY earlier.delivery LIMIT 1),
      nullif(firsts.id, given.id)) END
  FROM given JOIN open USING (id) LEFT JOIN firsts USING (digest) WHERE deliveries.id = given.id`;

/** If the clock steps back by more than this, it was set back, and waits are compared with it again. */
const clockToleranceMs = 1_000;
/** Maximum number of attempts of a claim while other processes claim the same lanes. */
const maxAttempts = 3;

/** Returns the function that claims deliveries. Its calls must not overlap. */
function createClaim(context: PostgresContext): (options: ClaimOptions) => Promise<readonly Claim[]> {
  const { hasty, leases, worker, monotonicMs } = context;
  const rounds = createRounds();
  const suspects = createSuspects();
  const look = createLookout(context);

  /**
   * Returns to their lanes the deliveries whose lease ended without a heartbeat, and the claims whose response never
   * arrived.
   */
  const giveBack = async (own: ClaimLook['own'], lately: ReadonlySet<string>): Promise<boolean> => {
    const ended = leases.endedBy(monotonicMs());
    const held = own.map(({ lease }) => String(lease));
    const unknown = held.filter((lease) => !leases.has(lease) && !lately.has(lease));
    if (ended.length + unknown.length === 0) return false;
    await hasty.query(giveBackLeases, [ended, unknown]);
    for (const lease of ended) leases.end(lease);
    return true;
  };

  const choose = (seen: ClaimLook, { limit, avoid = [], only }: ClaimOptions): Choice | undefined => {
    const turn = suspects.turn(seen, monotonicMs());
    if (turn === 'wait') return undefined;
    // A suspected delivery needs a turn of its own and may need the forge.
    if (turn !== 'free') return only === undefined ? { by: 'id', id: turn } : undefined;
    if (only !== undefined)
      return { by: 'lane', lanes: only.map(indexableText).map((lane) => [turnOf(lane), lane]) };
    return seen.turns.length === 0
      ? undefined
      : rounds.choose(seen, { limit, avoid: avoid.map(indexableText) });
  };

  const claimOnce = async (options: ClaimOptions): Promise<readonly Claim[]> => {
    // A lease that ends during the query may still appear as claimed.
    const lately = leases.noteEnds();
    let seen = await look(rounds.lastTurn, options.limit);
    if (await giveBack(seen.own, lately)) seen = await look(rounds.lastTurn, options.limit);
    const choice = choose(seen, options);
    if (choice === undefined) return [];
    const nowMs = monotonicMs();
    const limit = choice.by === 'id' ? 1 : options.limit;
    const claims = await takeClaims(hasty, choice, { worker: worker.id, at: context.at(), limit });
    // If the process has stalled in the meantime, its next claim returns these deliveries.
    if (!worker.isCurrent()) return [];
    for (const { lease } of claims) leases.grant(lease, nowMs + options.leaseMs);
    suspects.note(seen, claims, nowMs);
    rounds.note(claims);
    return claims;
  };

  return async (options) => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      try {
        return await claimOnce(options);
      } catch (error) {
        // Another process claimed one of the lanes concurrently.
        if (!isDuplicate(error)) throw error;
      }
    }
    return [];
  };
}

/** Returns the function that reads the state for a claim, after it has ended expired waits. */
function createLookout(context: PostgresContext): (lastTurn: string, limit: number) => Promise<ClaimLook> {
  const { hasty, worker, monotonicMs } = context;
  /** How far the wall clock was ahead of the monotonic clock when waits were last compared. */
  let aheadMs = Number.POSITIVE_INFINITY;

  return async (lastTurn, limit) => {
    const ask = () => lookAround(hasty, { at: context.at(), worker: worker.id, lastTurn, limit });
    let seen = await ask();
    if (!seen.isAlive) {
      await worker.renew();
      seen = await ask();
    }
    const nowAheadMs = seen.now.getTime() - monotonicMs();
    const wasSetBack = nowAheadMs < aheadMs - clockToleranceMs;
    aheadMs = nowAheadMs;
    if (wasSetBack) await clampWaits(hasty, context.at());
    if (wasSetBack || seen.isDue) {
      await endWaits(hasty, context.at());
      seen = await ask();
    }
    return seen;
  };
}

/**
 * Returns deliveries to their lanes. The attempts of expired leases ($1) count; those of claims that were never handled
 * ($2) do not.
 */
const giveBackLeases = `
  UPDATE deliveries SET state = 'accepted', lease = NULL, worker = NULL,
    attempts = attempts - (lease = ANY ($2::uuid[]))::integer
  WHERE state = 'claimed' AND (lease = ANY ($1::uuid[]) OR lease = ANY ($2::uuid[]))`;

/** Maximum number of repositories whose round is remembered. Beyond it, all rounds start again. */
const maxRounds = 10_000;

/**
 * Remembers whose turn it was among the repositories, and among the lanes of each. Every process has its own rounds.
 */
function createRounds() {
  let lastTurn = '';
  const lastLanes = new Map<string, string>();
  return {
    get lastTurn(): string {
      return lastTurn;
    },
    choose(
      { turns, busyLanes }: ClaimLook,
      { limit, avoid }: { readonly limit: number; readonly avoid: readonly string[] },
    ): Choice {
      const busy = [...busyLanes, ...avoid];
      const busyTurns = new Set(busy.map(turnOf));
      // Each repository without a busy lane yields one lane, so later repositories are not needed.
      const free = turns.filter((turn) => !busyTurns.has(turn)).slice(0, limit);
      const last = free.length < limit ? turns.length : turns.indexOf(free.at(-1) ?? '') + 1;
      return {
        by: 'turn',
        turns: turns.slice(0, last).map((turn) => [turn, lastLanes.get(turn) ?? '']),
        busy,
        // Several lanes of one repository are needed only if there are few repositories.
        lanes: Math.max(limit - Math.max(free.length - 1, 0), 1),
      };
    },
    note(claims: readonly Claim[]): void {
      if (lastLanes.size > maxRounds) lastLanes.clear();
      for (const { lane = '' } of claims) {
        lastTurn = turnOf(lane);
        lastLanes.set(lastTurn, lane);
      }
    },
  };
}

/**
 * Finds the delivery that crashes the process. When a process dies while handling several deliveries, all of them are
 * suspected (`presence.ts`). Each is then handled alone for a while, by a process that has nothing else in flight, so
 * that the next crash identifies the cause. Deliveries in flight for longer than that no longer count.
 */
function createSuspects() {
  /** Times at which this process claimed the deliveries it holds. */
  const claimedAtMs = new Map<string, number>();
  return {
    /**
     * Returns a suspected delivery to claim alone; `wait` while a delivery must stay alone; `free` if there is none.
     */
    turn({ own, suspects }: ClaimLook, nowMs: number): number | 'wait' | 'free' {
      const claims = own.map(({ id, suspicion }) => ({
        isSuspected: Number(suspicion) > 0,
        isYoung: nowMs - (claimedAtMs.get(String(id)) ?? nowMs) < isolationMsOf(Number(suspicion)),
      }));
      if (claims.some(({ isSuspected, isYoung }) => isSuspected && isYoung)) return 'wait';
      const next = nextSuspected(suspects);
      if (next === undefined) return 'free';
      return claims.some(({ isYoung }) => isYoung) ? 'wait' : next;
    },
    /** Records the claimed deliveries, in addition to the earlier ones that are still held. */
    note({ own }: ClaimLook, claims: readonly Claim[], nowMs: number): void {
      const held = new Set(own.map(({ id }) => String(id)));
      for (const id of claimedAtMs.keys()) if (!held.has(id)) claimedAtMs.delete(id);
      for (const { id } of claims) claimedAtMs.set(id, nowMs);
    },
  };
}

/** Maximum number of deliveries whose wait ends in one statement. The rest follow in the next one. */
const maxReturning = 500;

/** Returns deliveries to their lanes once their wait, for a retry or for room in a budget, has ended. */
async function endWaits(sql: Queryable, at: string | null): Promise<void> {
  await sql.query(endOf('retry'), [at]);
  await sql.query(endOf('deferred'), [at]);
}

/** Shortens waits that are longer than when they began, because the clock was set back. */
async function clampWaits(sql: Queryable, at: string | null): Promise<void> {
  const nearest = `${nowSql(1)} + retry_wait_ms * interval '1 ms'`;
  // Two statements, because a single one would not use the indexes of both states.
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

/** State of the store on which the choice of a claim is based. */
type ClaimLook = {
  /** Current time of the clock that the store uses for all times. */
  readonly now: Date;
  /** Whether the row of this process still exists. */
  readonly isAlive: boolean;
  /** Whether any waits have ended. */
  readonly isDue: boolean;
  /** Claims of this process: `id`, `lease`, `suspicion`. */
  readonly own: readonly SqlRow[];
  /** Lanes that any process has claimed. */
  readonly busyLanes: readonly string[];
  /** Waiting deliveries that may have crashed a process, as `id` and `suspicion`, in id order. */
  readonly suspects: readonly SqlRow[];
  /** The next repositories with waiting deliveries, in turn order. */
  readonly turns: readonly string[];
};

/** Reads the state for a claim. `lastTurn` is the repository whose turn was last. */
async function lookAround(
  sql: Queryable,
  given: {
    readonly at: string | null;
    readonly worker: string | undefined;
    readonly lastTurn: string;
    readonly limit: number;
  },
): Promise<ClaimLook> {
  const { rows } = await sql.query(look, [given.at, given.worker, given.lastTurn, given.limit]);
  const [row = {}] = rows;
  // Database boundary: the statement below returns these columns.
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
 * Every value is found by index seeks, regardless of the number of waiting rows: `later` and `earlier` jump from one
 * repository to the next. If the condition on suspicion also required waiting rows, the server would read all waiting
 * rows until it has statistics.
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

/** The deliveries to claim, each of which is the oldest of its lane. */
type Choice =
  | {
      readonly by: 'turn';
      /** Repositories, each with the lane whose turn was last. */
      readonly turns: readonly (readonly [turn: string, lastLane: string])[];
      /** Lanes to skip. */
      readonly busy: readonly string[];
      /** Maximum number of lanes per repository. */
      readonly lanes: number;
    }
  | { readonly by: 'lane'; readonly lanes: readonly (readonly [turn: string, lane: string])[] }
  | { readonly by: 'id'; readonly id: number };

/** Worker and time of the claims. */
type Taking = { readonly worker: string | undefined; readonly at: string | null; readonly limit: number };

/** Claims the chosen deliveries, except those that another process claims concurrently. */
async function takeClaims(sql: Queryable, choice: Choice, taking: Taking): Promise<readonly Claim[]> {
  const values = [taking.worker, taking.at, taking.limit, copyWindowMs, ...choiceValues(choice)];
  const { rows } = await sql.query(statements[choice.by], values);
  return rows.map((row) => ({ ...deliveryWithBodyOf(row), lease: String(row.lease) }));
}

function choiceValues(choice: Choice): readonly unknown[] {
  if (choice.by === 'id') return [choice.id];
  const pairs = choice.by === 'turn' ? choice.turns : choice.lanes;
  const lists = [pairs.map(([turn]) => turn), pairs.map(([, lane]) => lane)];
  return choice.by === 'turn' ? [...lists, choice.busy, choice.lanes] : lists;
}

/**
 * The condition `waiting` for a known id, in a form that only the primary key serves. Otherwise, a plan made while no
 * delivery waited would scan the whole index of waiting deliveries, and this plan is cached.
 */
const waitingById = "coalesce(state, '') = 'accepted' AND coalesce(routed, false)";
const inTurn = `${waiting} AND turn = given.turn`;

/**
 * Jumps from lane to lane of a repository, from `after` to `upTo`, and returns the oldest delivery of each lane. The
 * claimed lanes are an array that is read once; with a join, the server would jump through all lanes before it returns
 * the first one.
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
 * Makes this commit wait for the disk if anything is claimed. Otherwise, a claim that is lost when the server restarts
 * would be given to another process while this one still handles it.
 */
const durable = "set_config('synchronous_commit', 'on', true)";

/** The next lane of each repository comes first, then the lane after it. */
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
 * This is one statement. The row of the process is locked until the claim is committed, and nothing is claimed once
 * that row is deleted: see `presence.ts`. The unique index on the lane of claimed rows rejects the whole statement if a
 * lane was claimed concurrently. The delivery that a repeat refers to may have died since routing; the repeat is then
 * the first one that is handled. Copies that another process stored concurrently are settled when the first of them is
 * claimed. They are found and locked separately from the update, because in one step a server without statistics reads
 * all waiting deliveries.
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
