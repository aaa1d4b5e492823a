import { setTimeout as pause } from 'node:timers/promises';

/** Returns the milliseconds of the monotonic clock that all processes of a machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Waits until nothing is left, or until the rest has not changed for `stuckMs`; returns what is left. */
export async function untilDone(
  left: () => Promise<number>,
  { stuckMs, everyMs = 50 }: { readonly stuckMs: number; readonly everyMs?: number },
): Promise<number> {
  for (let [last, sinceMs] = [-1, nowMs()]; ; ) {
    const now = await left();
    if (now === 0 || nowMs() - sinceMs > stuckMs) return now;
    if (now !== last) [last, sinceMs] = [now, nowMs()];
    await pause(everyMs);
  }
}
