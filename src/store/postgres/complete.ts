import { ReeveError } from '../../platform/errors.ts';
import { type EncodedRun, encodeRuns } from '../encoded-runs.ts';
import { leaseLost } from '../leases.ts';
import { rowNumberOf } from '../paging.ts';
import type { Claim, Store } from '../store.ts';
import { insertAudit } from './audit.ts';
import type { PostgresContext } from './context.ts';
import { noteResults } from './incidents.ts';
import { type Connections, prepareOnce, type Sql } from './link/connections.ts';
import { storableOrNull, storableText } from './link/text.ts';
import { nowSql } from './link/time.ts';
import { insertRuns, lastOfEach, replaceRun } from './runs.ts';
import { isPlain, Settlements } from './settlements.ts';

/** The end of an attempt: what is set in the row, with the values from parameter 3 on. */
type AttemptEnding = {
  readonly set: string;
  readonly values: readonly unknown[];
  readonly runs: readonly EncodedRun[];
  /** Of the runs; default: that of the delivery. */
  readonly repositoryId?: number | undefined;
  /** Whether the runs are final: rules that failed in them are counted. */
  readonly isFinal?: boolean;
};

/** What every end of an attempt sets. */
const over = 'suspicion = 0';

type Fenced = (claim: Claim, ending: AttemptEnding) => Promise<void>;

/** Calls a function that returns whether the lease of a claim was still held. */
type Fence = (claim: Claim, write: () => Promise<boolean>) => Promise<void>;

/** Returns the methods that end an attempt, and those that record runs or revive deliveries. */
export function createEndingMethods(
  context: PostgresContext,
): Pick<
  Store,
  'settle' | 'advance' | 'retry' | 'defer' | 'endDeferral' | 'release' | 'bury' | 'appendRuns' | 'redrive'
> {
  const { database, leases, at } = context;
  const fence = createFence(context);
  const settlements = new Settlements(context);
  const fenced: Fenced = (claim, ending) => fence(claim, () => writeAttempt(database, claim, ending));
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
    ...createWaitMethods(context, end),
    async release(claim) {
      await end(claim, {
        set: `state = 'accepted', attempts = attempts - 1, ${over}`,
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

/** Returns the methods by which a delivery waits outside of its lane. */
function createWaitMethods(
  { database, at }: Pick<PostgresContext, 'database' | 'at'>,
  end: Fenced,
): Pick<Store, 'retry' | 'defer' | 'endDeferral'> {
  return {
    async retry(claim, { afterMs, reason }) {
      await end(claim, {
        set: `state = 'retry', reason = $3, retry_wait_ms = $4, retry_at = ${nowSql(5)} + $4::bigint * interval '1 ms',
          failing_since = coalesce(failing_since, ${nowSql(5)}), ${over}`,
        values: [storableText(reason), waitOf(afterMs), at()],
        runs: [],
      });
    },
    async defer(claim, runs, { afterMs, why, key, isPaused = false }) {
      // Not a failure: the wait spends no attempt. What the run was to do is planned anew, so a job begins anew, too.
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
  };
}

/**
 * Returns the function that ends an attempt, fenced by its lease: the row changes and the runs are stored together, or nothing
 * happens and it throws `lease-lost`.
 */
function createFence({ database, leases, requireWorker }: PostgresContext): Fence {
  /** Leases of calls without an answer: the server may have done what they asked for. */
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

/** Returns whether the lease was still held. */
function writeAttempt(database: Connections, claim: Claim, ending: AttemptEnding): Promise<boolean> {
  const { runs, isFinal = false } = ending;
  const results = runs.map((run) => run.results);
  // Usually one statement: a transaction takes three more.
  if (!isFinal || results.every(({ failed, passed }) => failed.length + passed.length === 0))
    return writeEnding(database, claim, ending);
  return database.transaction(async (sql) => {
    const isHeld = await writeEnding(sql, claim, ending);
    if (isHeld) await noteResults(sql, runs, claim.lane);
    return isHeld;
  });
}

/** Returns whether the lease was still held. */
async function writeEnding(
  sql: Sql,
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

/** Whether an earlier call ended the attempt: the row keeps its lease until another process takes or takes over the delivery. */
async function isEnded(sql: Sql, claim: Claim): Promise<boolean> {
  const { count } = await sql.query(
    "SELECT id FROM deliveries WHERE id = $1 AND lease = $2 AND state <> 'claimed'",
    [Number(claim.id), claim.lease],
  );
  return count === 1;
}

/** The rows of `runLists`, the delivery and the repository, from parameter `first` on. In order: their numbers grow. */
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

/** Of several deferred deliveries about one subject, the last runs. */
const supersede = `
  UPDATE deliveries SET state = 'settled', settled_at = ${nowSql(2)}, retry_at = NULL,
    reason = 'was deferred; delivery ' || $1::bigint || ' about the same subject runs in its place'
  FROM (SELECT lane, deferral_key FROM deliveries WHERE id = $1 AND state = 'deferred') AS last
  WHERE deliveries.state = 'deferred' AND deliveries.lane = last.lane AND deliveries.deferral_key = last.deferral_key
    AND deliveries.id < $1`;

const revive = `
  WITH revived AS (
    UPDATE deliveries SET state = 'accepted', routed = false, attempts = 0, crashes = 0, failing_since = NULL,
      settled_at = NULL, reason = NULL, redriven_at = ${nowSql(3)}, redriven_by = $4
    WHERE id = ANY ($1::bigint[]) AND (state = 'dead' OR $2 AND state = 'settled' AND door = 'webhook')
    RETURNING id
  ), noted AS (
    ${insertAudit} SELECT ${nowSql(3)}, $4, 'redrive', 'delivery ' || id FROM revived ORDER BY array_position($1::bigint[], id)
  )
  SELECT id FROM revived`;
