import type { DatabaseSync } from 'node:sqlite';
import type { SqlRow } from '../rows.ts';
import { isolationMsOf, nextSuspected } from '../suspicion.ts';

/**
 * Finds the delivery that crashes the process; to be called inside a transaction.
 *
 * A crash of the process undoes no claim and no ending, so the rows that are claimed when a store is opened are those that were
 * in flight when the process died. If there was one, its attempt is spent, and the crash is counted. A power failure may undo
 * the last claims: what was in flight then is accepted, and is not suspected.
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

  const nextWaiting = (): number | undefined => nextSuspected(waiting.all() as readonly SqlRow[]);

  return {
    takeBack() {
      if (inFlight.all().length === 1) blame.run();
      else suspect.run();
    },
    turn(nowMs) {
      // New suspects appear only at a start.
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
    claimed(id, nowMs) {
      if (!isOver) claimedAtMs.set(id, nowMs);
    },
  };
}
