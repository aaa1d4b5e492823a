import type { DatabaseSync } from 'node:sqlite';
import type { EncodedRun } from '../rows.ts';
import type { Claim, Store } from '../store.ts';
import type { IncidentTable } from './incident-table.ts';

/**
 * The endings of an attempt, to be called inside a transaction. Each is one UPDATE fenced by the lease and returns whether
 * the lease was still held; otherwise nothing was written. `settle`, `advance` and `bury` count the rules that
 * failed; a run whose delivery runs again (`append`, `defer`) is not final.
 */
export interface Completion {
  settle(claim: Claim, runs: readonly EncodedRun[], at: Date, reason: string | undefined): boolean;
  advance(
    claim: Claim,
    runs: readonly EncodedRun[],
    repositoryId: number | undefined,
    checkpoint: string,
  ): boolean;
  retry(claim: Claim, options: Parameters<Store['retry']>[1], now: Date): boolean;
  /** Returns the number of superseded deliveries, or undefined if the lease was lost. */
  defer(
    claim: Claim,
    runs: readonly EncodedRun[],
    wait: Parameters<Store['defer']>[2],
    now: Date,
  ): number | undefined;
  /** Returns whether the delivery was deferred. */
  endDeferral(id: string, reason: string, at: Date): boolean;
  release(claim: Claim): boolean;
  bury(claim: Claim, runs: readonly EncodedRun[], reason: string, at: Date): boolean;
  append(runs: readonly EncodedRun[], delivery: string | undefined, repositoryId: number | undefined): void;
}

/** Prepares the statements that complete work. */
export function createCompletion(database: DatabaseSync, incidents: Pick<IncidentTable, 'note'>): Completion {
  const statements = prepareStatements(database);

  const append: Completion['append'] = (runs, delivery, repositoryId) => {
    for (const run of runs) {
      const of = delivery === undefined ? null : Number(delivery);
      statements.insert.run(run.id, of, repositoryId ?? null, run.startedAt, run.json);
    }
  };

  const note = (runs: readonly EncodedRun[], lane: string | undefined): void => {
    for (const { results, item } of runs) incidents.note(results, item ?? lane);
  };

  return {
    append,

    settle(claim, runs, at, reason) {
      const { changes } = statements.end.run(
        'settled',
        reason ?? null,
        at.toISOString(),
        Number(claim.id),
        claim.lease,
      );
      if (changes === 0) return false;
      append(runs, claim.id, claim.repositoryId);
      note(runs, claim.lane);
      return true;
    },

    advance(claim, runs, repositoryId, checkpoint) {
      if (statements.goOn.run(checkpoint, Number(claim.id), claim.lease).changes === 0) return false;
      append(runs, claim.id, repositoryId ?? claim.repositoryId);
      note(runs, claim.lane);
      return true;
    },

    retry(claim, { afterMs, reason }, now) {
      const waitMs = Math.max(Math.round(afterMs), 0);
      const at = new Date(now.getTime() + waitMs).toISOString();
      return (
        statements.wait.run(reason, at, waitMs, now.toISOString(), Number(claim.id), claim.lease).changes ===
        1
      );
    },

    defer(claim, runs, { afterMs, why, key, isPaused }, now) {
      const waitMs = Math.max(Math.round(afterMs), 0);
      const at = new Date(now.getTime() + waitMs).toISOString();
      const id = Number(claim.id);
      const values = [`deferred: ${why}`, at, waitMs, key ?? null, isPaused ? 1 : 0] as const;
      if (statements.putOff.run(...values, id, claim.lease).changes === 0) return undefined;
      append(runs, claim.id, claim.repositoryId);
      note(runs, claim.lane);
      if (key === undefined || claim.lane === undefined) return 0;
      const reason = `was deferred; delivery ${claim.id} about the same subject runs in its place`;
      return Number(statements.supersede.run(reason, now.toISOString(), claim.lane, key, id).changes);
    },

    endDeferral: (id, reason, at) =>
      statements.endWait.run(reason, at.toISOString(), Number(id)).changes === 1,

    release: (claim) => statements.giveBack.run(Number(claim.id), claim.lease).changes === 1,

    bury(claim, runs, reason, at) {
      const { changes } = statements.end.run('dead', reason, at.toISOString(), Number(claim.id), claim.lease);
      if (changes === 0) return false;
      append(runs, claim.id, claim.repositoryId);
      note(runs, claim.lane);
      return true;
    },
  };
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
  // Not a failure: the wait spends no attempt. What the run was to do is planned anew, so a job begins anew, too.
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
  const giveBack = database.prepare(
    `UPDATE deliveries SET state = 'accepted', lease = NULL, attempts = attempts - 1, suspicion = 0 ${mine}`,
  );
  const goOn = database.prepare(`UPDATE deliveries SET checkpoint = ? ${mine}`);
  const insert = database.prepare(
    'INSERT OR REPLACE INTO runs (id, delivery, repository_id, started_at, run) VALUES (?, ?, ?, ?, ?)',
  );
  return { end, wait, putOff, supersede, endWait, giveBack, goOn, insert };
}
