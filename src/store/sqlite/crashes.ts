import type { DatabaseSync } from 'node:sqlite';

/** Time for which a delivery that may have crashed the process is handled alone; doubles with each suspicion. */
const isolationMs = 10_000;
const maxIsolationMs = 600_000;

/**
 * Finds the delivery that crashes the process; to be called inside a transaction.
 *
 * Claims and endings are durable, so the rows that are claimed when a store is opened are those that were in flight when
 * the process died. If there was one, its attempt is spent, and the crash is counted.
 * If there were several, no attempt is spent, and each is suspected: it is handled alone for a while, so that the next
 * crash identifies the cause. Deliveries that have been in flight for longer than that no longer count.
 */
export interface Crashes {
  /** Releases the claims of an earlier process. */
  takeBack(): void;
  /** Returns the suspected delivery to claim next, alone; `wait` while one must stay alone; `free` if none is left. */
  turn(nowMs: number): number | 'wait' | 'free';
  /** Records that a delivery is claimed. */
  claimed(id: number, nowMs: number): void;
}

/** Prepares the statements. Times are those of a monotonic clock. */
export function createCrashes(database: DatabaseSync): Crashes {
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

  /** Returns the next suspected delivery, alternating between both ends, so that a long-running one cannot hide the cause. */
  const nextWaiting = (): number | undefined => {
    const rows = waiting.all();
    const isOdd = Math.max(...rows.map(({ suspicion }) => Number(suspicion))) % 2 === 1;
    const row = isOdd ? rows[0] : rows.at(-1);
    return row === undefined ? undefined : Number(row.id);
  };

  return {
    takeBack() {
      if (inFlight.all().length === 1) blame.run();
      else suspect.run();
    },
    turn(nowMs) {
      // New suspects appear only at a start.
      if (isOver) return 'free';
      const claims = inFlight.all().map(({ id, suspicion }) => {
        const aloneMs = Math.min(isolationMs * 2 ** Math.max(Number(suspicion) - 1, 0), maxIsolationMs);
        const isYoung = nowMs - (claimedAtMs.get(Number(id)) ?? nowMs) < aloneMs;
        return { isSuspected: Number(suspicion) > 0, isYoung };
      });
      if (claims.some(({ isSuspected, isYoung }) => isSuspected && isYoung)) return 'wait';
      const next = nextWaiting();
      if (next !== undefined) return claims.some(({ isYoung }) => isYoung) ? 'wait' : next;
      isOver = claims.every(({ isSuspected }) => !isSuspected);
      return 'free';
    },
    claimed(id, nowMs) {
      if (!isOver) claimedAtMs.set(id, nowMs);
    },
  };
}
