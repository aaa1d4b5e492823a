import type { DatabaseSync } from 'node:sqlite';

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
