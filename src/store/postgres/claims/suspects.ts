import type { Claim } from '../../store.ts';
import { isolationMsOf, nextSuspected } from '../../suspicion.ts';
import type { ClaimLook } from './look.ts';

/**
 * Finds the delivery that ends the process. When a process dies, the deliveries that it handled are suspected if there were several
 * (`takeovers.ts`). Each is handled alone for a while, by whichever process has nothing else in flight, so that the next
 * crash identifies the cause. Deliveries that have been in flight for longer than that no longer count.
 */
export function createSuspects() {
  /** When this process claimed its deliveries. */
  const claimedAtMs = new Map<string, number>();
  return {
    /** Returns a suspected delivery to claim alone; `wait` while one must stay alone; `free` if there is none. */
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
    /** Records what is claimed, beside what was. */
    note({ own }: ClaimLook, claims: readonly Claim[], nowMs: number): void {
      const held = new Set(own.map(({ id }) => String(id)));
      for (const id of claimedAtMs.keys()) if (!held.has(id)) claimedAtMs.delete(id);
      for (const { id } of claims) claimedAtMs.set(id, nowMs);
    },
  };
}
