import type { DatabaseSync } from 'node:sqlite';
import { noteRuns } from '../incidents.ts';
import { leaseLost } from '../leases.ts';
import { noteAudit } from '../pauses.ts';
import { type EncodedRun, encodeRuns } from '../rows.ts';
import type { AttemptEndings, Claim, DeliveryHistory } from '../store.ts';
import type { SqliteContext } from './context.ts';

/**
 * Returns the methods of the store that end an attempt, and those that record runs or revive deliveries. Each end is
 * one UPDATE fenced by the lease; if the lease was lost, nothing is written. Only failed rules in final runs are
 * counted. Runs of a delivery that will run again are not final.
 */
export function createEndings(context: SqliteContext): AttemptEndings & DeliveryHistory {
  const { database, sql, commits, leases, settled, clock, requireWorker } = context;
  const statements = prepareStatements(database);

  const append = (runs: readonly EncodedRun[], delivery: number | null, repositoryId?: number): void => {
    for (const { id, startedAt, json } of runs)
      statements.insert.run(id, delivery, repositoryId ?? null, startedAt, json);
  };
  /** Appends the final runs of an attempt. */
  const record = (claim: Claim, runs: readonly EncodedRun[], repositoryId = claim.repositoryId): void => {
    append(runs, Number(claim.id), repositoryId);
    sql.run(noteRuns(runs, claim.lane));
  };
  /**
   * Runs a write under a lease. `work` returns whether the lease was still held; it must not throw, or the whole batch
   * runs again.
   */
  const fenced = async (claim: Claim, work: () => boolean): Promise<void> => {
    requireWorker();
    if (await commits.write(work)) return;
    leases.end(claim.lease);
    throw leaseLost(claim);
  };
  const end = async (claim: Claim, work: () => boolean): Promise<void> => {
    await fenced(claim, work);
    leases.end(claim.lease);
  };
  const isChanged = ({ changes }: { readonly changes: number | bigint }): boolean => changes !== 0;

  return {
    async settle(claim, runs, reason) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      await end(claim, () => {
        const at = clock.now().toISOString();
        if (!isChanged(statements.end.run('settled', reason ?? null, at, Number(claim.id), claim.lease)))
          return false;
        record(claim, encoded);
        return true;
      });
      settled.add(1);
    },
    async advance(claim, { runs, repositoryId, checkpoint }) {
      const encoded = encodeRuns(runs, repositoryId ?? claim.repositoryId);
      const json = JSON.stringify(checkpoint ?? null);
      await fenced(claim, () => {
        if (!isChanged(statements.goOn.run(json, Number(claim.id), claim.lease))) return false;
        record(claim, encoded, repositoryId);
        return true;
      });
    },
    async retry(claim, { afterMs, reason }) {
      await end(claim, () => {
        const { now, at, waitMs } = waitFrom(clock.now(), afterMs);
        return isChanged(statements.wait.run(reason, at, waitMs, now, Number(claim.id), claim.lease));
      });
    },
    async defer(claim, runs, { afterMs, why, key, isPaused }) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      let superseded = 0;
      await end(claim, () => {
        const id = Number(claim.id);
        const { now, at, waitMs } = waitFrom(clock.now(), afterMs);
        const values = [`deferred: ${why}`, at, waitMs, key ?? null, isPaused ? 1 : 0] as const;
        superseded = 0;
        if (!isChanged(statements.putOff.run(...values, id, claim.lease))) return false;
        record(claim, encoded);
        if (key === undefined || claim.lane === undefined) return true;
        const reason = `was deferred; delivery ${id} about the same subject runs in its place`;
        superseded = Number(statements.supersede.run(reason, now, claim.lane, key, id).changes);
        return true;
      });
      settled.add(superseded);
    },
    async release(claim, { isUnbegun = false } = {}) {
      const statement = isUnbegun ? statements.putBack : statements.giveBack;
      await end(claim, () => isChanged(statement.run(Number(claim.id), claim.lease)));
    },
    async bury(claim, reason, runs = []) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      await end(claim, () => {
        const at = clock.now().toISOString();
        if (!isChanged(statements.end.run('dead', reason, at, Number(claim.id), claim.lease))) return false;
        record(claim, encoded);
        return true;
      });
    },

    async endDeferral(id, reason) {
      const work = () => isChanged(statements.endWait.run(reason, clock.now().toISOString(), Number(id)));
      if (await commits.write(work)) settled.add(1);
    },
    async appendRuns(runs, { repositoryId } = {}) {
      const encoded = encodeRuns(runs);
      await commits.write(() => append(encoded, null, repositoryId));
    },
    async redrive(ids, by, { settled: also = false } = {}) {
      const revived = await commits.write(() => {
        const count = { others: 0, settled: 0 };
        for (const id of ids) {
          const values = [clock.now().toISOString(), by, Number(id)] as const;
          const wasWaiting =
            isChanged(statements.reviveDead.run(...values)) ||
            (also && isChanged(statements.reviveDeferred.run(...values)));
          const wasSettled = also && isChanged(statements.reviveSettled.run(...values));
          if (wasWaiting) count.others += 1;
          if (wasSettled) count.settled += 1;
          if (wasWaiting || wasSettled)
            sql.run(noteAudit({ by, action: 'redrive', object: `delivery ${id}` }));
        }
        return count;
      });
      settled.add(-revived.settled);
      return revived.others + revived.settled;
    },
  };
}

function waitFrom(now: Date, afterMs: number) {
  const waitMs = Math.max(Math.round(afterMs), 0);
  return { now: now.toISOString(), at: new Date(now.getTime() + waitMs).toISOString(), waitMs };
}

/** Prepares the statements that end an attempt, each fenced by the lease. */
function prepareStatements(database: DatabaseSync) {
  const mine = "WHERE id = ? AND lease = ? AND state = 'claimed'";
  const end = database.prepare(
    `UPDATE deliveries SET state = ?, reason = ?, settled_at = ?, lease = NULL, suspicion = 0 ${mine}`,
  );
  const wait = database.prepare(
    `UPDATE deliveries SET state = 'retry', reason = ?, retry_at = ?, retry_wait_ms = ?, lease = NULL, suspicion = 0,
       failing_since = coalesce(failing_since, ?) ${mine}`,
  );
  // This is not a failure, so the wait does not count as an attempt. The run is planned again, so a job also starts
  // again.
  const putOff = database.prepare(
    `UPDATE deliveries SET state = 'deferred', reason = ?, retry_at = ?, retry_wait_ms = ?, deferral_key = ?, paused = ?, lease = NULL,
       suspicion = 0, attempts = attempts - 1, failing_since = NULL, checkpoint = NULL ${mine}`,
  );
  const supersede = database.prepare(
    `UPDATE deliveries SET state = 'settled', reason = ?, settled_at = ?, retry_at = NULL
     WHERE state = 'deferred' AND lane = ? AND deferral_key = ? AND id <> ?`,
  );
  const endWait = database.prepare(
    "UPDATE deliveries SET state = 'settled', reason = ?, settled_at = ?, retry_at = NULL WHERE id = ? AND state = 'deferred'",
  );
  const putBack = database.prepare(
    `UPDATE deliveries SET state = 'accepted', lease = NULL, attempts = attempts - 1 ${mine}`,
  );
  const giveBack = database.prepare(
    `UPDATE deliveries SET state = 'accepted', lease = NULL, attempts = attempts - 1, suspicion = 0 ${mine}`,
  );
  const goOn = database.prepare(`UPDATE deliveries SET checkpoint = ? ${mine}`);
  const revival = `UPDATE deliveries SET state = 'accepted', routed = 0, attempts = 0, crashes = 0, failing_since = NULL,
    settled_at = NULL, retry_at = NULL, deferral_key = NULL, reason = NULL, redriven_at = ?, redriven_by = ? WHERE id = ?`;
  const reviveDead = database.prepare(`${revival} AND state = 'dead'`);
  const reviveDeferred = database.prepare(`${revival} AND state = 'deferred'`);
  const reviveSettled = database.prepare(`${revival} AND state = 'settled' AND door = 'webhook'`);
  const insert = database.prepare(
    'INSERT OR REPLACE INTO runs (id, delivery, repository_id, started_at, run) VALUES (?, ?, ?, ?, ?)',
  );
  return {
    end,
    wait,
    putOff,
    supersede,
    endWait,
    giveBack,
    putBack,
    goOn,
    insert,
    reviveDead,
    reviveDeferred,
    reviveSettled,
  };
}
