import type { Clock } from '../../platform/clock.ts';
import type { Lease } from '../../store/leases.ts';

/** Controls of a long job. */
export type Leash = { readonly check: () => void; readonly pause: (ms: number) => Promise<void> };

/**
 * Returns the controls for the handler of a long job: `check` throws if the job must stop, and `pause` waits before it
 * does the same check. A long wait ends as soon as the process is asked to stop; the job then continues at its
 * checkpoint.
 */
export function createLeash(
  lease: Lease,
  clock: Clock,
  why = 'the process is stopping; it continues at its checkpoint',
): Leash {
  const check = (): void => {
    if (lease.signal.aborted) throw lease.signal.reason;
    if (lease.stopping.aborted) throw lease.giveBack(why);
  };
  const stop = AbortSignal.any([lease.signal, lease.stopping]);
  const pause = async (ms: number): Promise<void> => {
    await clock.sleep(ms, stop).catch(() => {}); // Aborted: `check` throws.
    check();
  };
  return { check, pause };
}
