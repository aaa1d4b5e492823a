import { ReeveError } from '../../platform/errors.ts';
import { noteRuns } from '../incidents.ts';
import { leaseLost } from '../leases.ts';
import { type EncodedRun, encodeRuns, rowNumberOf } from '../rows.ts';
import type { AttemptEndings, Claim, DeliveryHistory } from '../store.ts';
import { prepareOnce, type Queryable, type SqlResult } from './connections.ts';
import type { PostgresContext } from './context.ts';
import { indexableText, nowSql, storableOrNull, storableText } from './postgres-sql.ts';

const insertRuns = 'INSERT INTO runs (id, delivery, repository_id, started_at, run)';

const replaceRun = `ON CONFLICT (id) DO UPDATE SET number = DEFAULT, delivery = excluded.delivery,
  repository_id = excluded.repository_id, started_at = excluded.started_at, run = excluded.run`;

/** Returns the runs with unique ids. If several have the same id, the last one is kept. */
function lastOfEach(runs: readonly EncodedRun[]): readonly EncodedRun[] {
  return [...new Map(runs.map((run) => [storableText(run.id), run])).values()];
}

/**
 * Ending of an attempt: the assignments to columns of the row, and their values, which are parameters from number 3 on.
 */
type AttemptEnding = {
  readonly set: string;
  readonly values: readonly unknown[];
  readonly runs: readonly EncodedRun[];
  /** Repository of the runs; default: the repository of the delivery. */
  readonly repositoryId?: number | undefined;
  /** Whether the runs are final. Failed rules in final runs are counted. */
  readonly isFinal?: boolean;
};

/** Assignment that every ending of an attempt makes. */
const over = 'suspicion = 0';

type Fenced = (claim: Claim, ending: AttemptEnding) => Promise<void>;

/** Calls a function that returns whether the lease of a claim was still held. */
type Fence = (claim: Claim, write: () => Promise<boolean>) => Promise<void>;

/** Returns the methods that end an attempt, record runs, or revive deliveries. */
export function createEndings(context: PostgresContext): AttemptEndings & DeliveryHistory {
  const { database, leases, at } = context;
  const fence = createFence(context);
  const settlements = new Settlements(context);
  const fenced: Fenced = (claim, ending) => fence(claim, () => writeAttempt(context, claim, ending));
  const end: Fenced = async (claim, ending) => {
    await fenced(claim, ending);
    leases.end(claim.lease);
  };

  return {
    async settle(claim, runs, reason) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      if (isPlain(encoded)) {
        const settlement = { claim, reason: storableOrNull(reason), runs: encoded };
        await fence(claim, () => settlements.settle(settlement));
        leases.end(claim.lease);
        return;
      }
      await end(claim, {
        set: `state = 'settled', reason = $3, settled_at = ${nowSql(4)}, ${over}`,
        values: [storableOrNull(reason), at()],
        runs: encoded,
        isFinal: true,
      });
    },
    async advance(claim, { runs, repositoryId, checkpoint }) {
      await fenced(claim, {
        set: 'checkpoint = $3',
        values: [JSON.stringify(checkpoint ?? null)],
        runs: encodeRuns(runs, repositoryId ?? claim.repositoryId),
        repositoryId,
        isFinal: true,
      });
    },
    async retry(claim, { afterMs, reason }) {
      await end(claim, {
        set: `state = 'retry', reason = $3, retry_wait_ms = $4, retry_at = ${nowSql(5)} + $4::bigint * interval '1 ms',
          failing_since = coalesce(failing_since, ${nowSql(5)}), ${over}`,
        values: [storableText(reason), waitOf(afterMs), at()],
        runs: [],
      });
    },
    async defer(claim, runs, { afterMs, why, key, isPaused = false }) {
      // This is not a failure, so the wait does not count as an attempt. The run is planned again, so a job also starts
      // again.
      await end(claim, {
        set: `state = 'deferred', reason = $3, retry_wait_ms = $4, retry_at = ${nowSql(5)} + $4::bigint * interval '1 ms',
          deferral_key = $6, paused = $7, attempts = attempts - 1, failing_since = NULL, checkpoint = NULL, ${over}`,
        values: [storableText(`deferred: ${why}`), waitOf(afterMs), at(), storableOrNull(key), isPaused],
        runs: encodeRuns(runs, claim.repositoryId),
        isFinal: true,
      });
      if (key !== undefined && claim.lane !== undefined)
        await database.query(supersede, [Number(claim.id), at()]);
    },
    async endDeferral(id, reason) {
      await database.query(
        `UPDATE deliveries SET state = 'settled', reason = $2, settled_at = ${nowSql(3)}, retry_at = NULL
         WHERE id = $1 AND state = 'deferred'`,
        [rowNumberOf(id), storableText(reason), at()],
      );
    },
    async release(claim, { isUnbegun = false } = {}) {
      await end(claim, {
        set: `state = 'accepted', attempts = attempts - 1${isUnbegun ? '' : `, ${over}`}`,
        values: [],
        runs: [],
      });
      context.announceWork();
    },
    async bury(claim, reason, runs = []) {
      await end(claim, {
        set: `state = 'dead', reason = $3, settled_at = ${nowSql(4)}, ${over}`,
        values: [storableText(reason), at()],
        runs: encodeRuns(runs, claim.repositoryId),
        isFinal: true,
      });
    },
    async appendRuns(runs, { repositoryId } = {}) {
      const encoded = encodeRuns(runs);
      if (encoded.length > 0)
        await database.query(`${insertRuns} SELECT ${runValues(1)} ${replaceRun}`, [
          ...runLists(encoded),
          null,
          repositoryId ?? null,
        ]);
    },
    async redrive(ids, by, { settled = false } = {}) {
      const numbers = ids.map(rowNumberOf).filter((id) => id >= 0);
      const { count } = await database.query(revive, [numbers, settled, at(), storableText(by)]);
      if (count > 0) context.announceWork();
      return count;
    },
  };
}

/**
 * Returns the function that ends an attempt, fenced by its lease. Either the row is changed and the runs are stored in
 * one transaction, or nothing is written and the function throws `lease-lost`.
 */
function createFence({ database, leases, requireWorker }: PostgresContext): Fence {
  /** Leases of calls that got no response, although the server may have executed them. */
  const unanswered = new Set<string>();

  return async (claim, write) => {
    requireWorker();
    try {
      if (await write()) return;
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'store-unwritable') unanswered.add(claim.lease);
      throw error;
    }
    const isDone = unanswered.delete(claim.lease) && (await isEnded(database, claim));
    leases.end(claim.lease);
    if (!isDone) throw leaseLost(claim);
  };
}

/** Writes the ending of an attempt. Returns whether the lease was still held. */
function writeAttempt(
  { database, sql }: PostgresContext,
  claim: Claim,
  ending: AttemptEnding,
): Promise<boolean> {
  const { runs, isFinal = false } = ending;
  const incidents = isFinal ? noteRuns(runs, claim.lane) : [];
  // Usually this is one statement, because a transaction takes three more.
  if (incidents.length === 0) return writeEnding(database, claim, ending);
  return database.transaction(async (session) => {
    const isHeld = await writeEnding(session, claim, ending);
    if (isHeld) await sql.run(session, incidents);
    return isHeld;
  });
}

/** Updates the row and stores the runs. Returns whether the lease was still held. */
async function writeEnding(
  sql: Queryable,
  claim: Claim,
  { set, values, runs, repositoryId }: AttemptEnding,
): Promise<boolean> {
  const update = `UPDATE deliveries SET ${set} WHERE id = $1 AND lease = $2 AND state = 'claimed'`;
  const given = [Number(claim.id), claim.lease, ...values];
  if (runs.length === 0) return (await sql.query(prepareOnce(update), given)).count === 1;
  const first = given.length + 1;
  const { count } = await sql.query(
    prepareOnce(`WITH ended AS (${update} RETURNING id), kept AS (
       ${insertRuns} SELECT ${runValues(first)} WHERE EXISTS (SELECT FROM ended) ${replaceRun})
     SELECT id FROM ended`),
    [...given, ...runLists(runs), Number(claim.id), repositoryId ?? claim.repositoryId ?? null],
  );
  return count === 1;
}

/**
 * Returns whether an earlier call has ended the attempt. The row keeps its lease until another process claims or takes
 * over the delivery.
 */
async function isEnded(sql: Queryable, claim: Claim): Promise<boolean> {
  const { count } = await sql.query(
    "SELECT id FROM deliveries WHERE id = $1 AND lease = $2 AND state <> 'claimed'",
    [Number(claim.id), claim.lease],
  );
  return count === 1;
}

/**
 * SQL of the rows for `runLists`, the delivery and the repository, with parameters from number `first` on. The rows are
 * ordered, so that their numbers increase.
 */
const runValues = (first: number): string =>
  `id, $${first + 3}::bigint, $${first + 4}::bigint, started_at, run
   FROM unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[]) WITH ORDINALITY
     AS given (id, started_at, run, position)`;

function runLists(runs: readonly EncodedRun[]): readonly unknown[] {
  const last = lastOfEach(runs);
  return [
    last.map(({ id }) => storableText(id)),
    last.map(({ startedAt }) => storableText(startedAt)),
    last.map(({ json }) => json),
  ];
}

function waitOf(afterMs: number): number {
  return Math.max(Math.round(afterMs), 0);
}

/** If several deliveries about one subject are deferred, only the last one runs. */
const supersede = `
  UPDATE deliveries SET state = 'settled', settled_at = ${nowSql(2)}, retry_at = NULL,
    reason = 'was deferred; delivery ' || $1::bigint || ' about the same subject runs in its place'
  FROM (SELECT lane, deferral_key FROM deliveries WHERE id = $1 AND state = 'deferred') AS last
  WHERE deliveries.state = 'deferred' AND deliveries.lane = last.lane AND deliveries.deferral_key = last.deferral_key
    AND deliveries.id < $1`;

const revive = `
  WITH revived AS (
    UPDATE deliveries SET state = 'accepted', routed = false, attempts = 0, crashes = 0, failing_since = NULL,
      settled_at = NULL, retry_at = NULL, deferral_key = NULL, reason = NULL, redriven_at = ${nowSql(3)}, redriven_by = $4
    WHERE id = ANY ($1::bigint[])
      AND (state = 'dead' OR $2 AND (state = 'deferred' OR state = 'settled' AND door = 'webhook'))
    RETURNING id
  ), noted AS (
    INSERT INTO audit (at, by, action, object) SELECT ${nowSql(3)}, $4, 'redrive', 'delivery ' || id FROM revived ORDER BY array_position($1::bigint[], id)
  )
  SELECT id FROM revived`;

/** Limits of one statement. */
const maxSettlements = 256;
const maxBytes = 4 * 2 ** 20;

/** Settlement of a delivery after a successful attempt, with its runs. */
type Settlement = {
  readonly claim: Claim;
  readonly reason: string | null;
  /** Runs without failed rules: see `isPlain`. */
  readonly runs: readonly EncodedRun[];
};

/** A settlement that waits for the next statement. */
type Waiting = Settlement & {
  readonly resolve: (isHeld: boolean) => void;
  readonly reject: (error: unknown) => void;
};

/** Returns whether runs can be settled in a batch. A failed rule has to be counted in a separate transaction. */
function isPlain(runs: readonly EncodedRun[]): boolean {
  return runs.every(({ results }) => results.failed.length === 0);
}

/**
 * Settles deliveries. All attempts that end during one statement are settled by the next, so that one commit serves
 * many of them. Each attempt is fenced by its own lease.
 */
class Settlements {
  readonly #context: PostgresContext;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;

  constructor(context: PostgresContext) {
    this.#context = context;
  }

  /** Settles a delivery. Returns whether the lease was still held; if not, nothing was written. */
  settle(settlement: Settlement): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...settlement, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    // Other attempts that end in this turn of the event loop join the first statement.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#settle(this.#take());
    this.#draining = undefined;
  }

  /**
   * Removes the next batch from the queue. A statement changes a row only once, so two settlements with the same run go
   * into separate batches.
   */
  #take(): readonly Waiting[] {
    const ids = new Set<string>();
    let bytes = 0;
    let count = 0;
    for (const { claim, runs } of this.#waiting) {
      const own = [claim.id, ...runs.map(({ id }) => `run ${storableText(id)}`)];
      const size = runs.reduce((sum, { json }) => sum + json.length, 0);
      const isFull = count === maxSettlements || bytes + size > maxBytes || own.some((id) => ids.has(id));
      if (count > 0 && isFull) break;
      for (const id of own) ids.add(id);
      bytes += size;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const { rows } = await this.#write(batch);
      const ended = new Set(rows.map(({ id }) => String(id)));
      for (const { claim, resolve } of batch) resolve(ended.has(claim.id));
    } catch (error) {
      const isRefusal = error instanceof ReeveError && error.code === 'store-unwritable';
      if (isRefusal || batch.length === 1) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // A settlement that the server rejects must not fail the others.
      for (const one of batch) await this.#settle([one]);
    }
  }

  #write(batch: readonly Waiting[]): Promise<SqlResult> {
    const { planned, at } = this.#context;
    const given = [
      batch.map(({ claim }) => Number(claim.id)),
      batch.map(({ claim }) => claim.lease),
      batch.map(({ reason }) => reason),
      at(),
    ];
    const runs = batch.flatMap(({ claim, runs }) => lastOfEach(runs).map((run) => ({ claim, run })));
    if (runs.length === 0) return planned.query(settle, given);
    const passed = runs.flatMap(({ claim, run: { item, results } }) => {
      const subject = item ?? claim.lane;
      if (subject === undefined) return [];
      return results.passed.map((rule) => [Number(claim.id), indexableText(subject), indexableText(rule)]);
    });
    return planned.query(settleWithRuns, [
      ...given,
      runs.map(({ run }) => storableText(run.id)),
      runs.map(({ claim }) => Number(claim.id)),
      runs.map(({ claim }) => claim.repositoryId ?? null),
      runs.map(({ run }) => storableText(run.startedAt)),
      runs.map(({ run }) => run.json),
      passed.map(([id]) => id),
      passed.map(([, subject]) => subject),
      passed.map(([, , rule]) => rule),
    ]);
  }
}

const ended = `
  given AS MATERIALIZED (
    SELECT id, lease, reason FROM unnest($1::bigint[], $2::uuid[], $3::text[]) AS given (id, lease, reason)
  ), ended AS (
    UPDATE deliveries SET state = 'settled', reason = given.reason, settled_at = ${nowSql(4)}, suspicion = 0
    FROM given WHERE deliveries.id = given.id AND deliveries.lease = given.lease AND state = 'claimed'
    RETURNING deliveries.id
  )`;

const settle = prepareOnce(`WITH ${ended} SELECT id FROM ended`);

/** Incidents end if their rule has passed on the subject of its last failure. */
const settleWithRuns = prepareOnce(`
  WITH ${ended}, kept AS (
    ${insertRuns} SELECT id, delivery, repository_id, started_at, run
    FROM unnest($5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[]) WITH ORDINALITY
      AS given (id, delivery, repository_id, started_at, run, position)
    WHERE delivery IN (SELECT id FROM ended) ORDER BY position ${replaceRun}
  ), passed AS (
    DELETE FROM incidents USING unnest($10::bigint[], $11::text[], $12::text[]) AS given (delivery, subject, key)
    WHERE incidents.kind = 'rule-failed' AND incidents.key = given.key AND incidents.subject = given.subject
      AND given.delivery IN (SELECT id FROM ended)
  )
  SELECT id FROM ended`);
