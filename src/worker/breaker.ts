export type BreakerOptions = {
  /** Wait before the first probe; doubles with each probe that fails. Default 1 s. */
  readonly firstMs?: number;
  /** Longest wait between probes. Default 60 s. */
  readonly maxMs?: number;
};

/**
 * Keeps the lanes still while the forge cannot be reached. closed: work goes on · open: nothing is claimed · half-open:
 * one delivery is the probe.
 */
export interface Breaker {
  state(now: Date): 'closed' | 'open' | 'half-open';
  /** Says that an attempt begun at `startedAt` found nobody. */
  failed(startedAt: Date, now: Date): void;
  /** Says that an attempt reached the forge. */
  reached(): void;
  /** When the next probe may go; undefined while closed. */
  probeAt(): Date | undefined;
}

/** Creates the breaker, closed. */
export function createBreaker({ firstMs = 1_000, maxMs = 60_000 }: BreakerOptions = {}): Breaker {
  let delayMs = firstMs;
  let openedAt: Date | undefined;

  const waitedMs = (now: Date): number => now.getTime() - (openedAt?.getTime() ?? 0);
  return {
    state(now) {
      if (openedAt === undefined) return 'closed';
      // A clock set back would keep it open for as long as it was set back.
      return waitedMs(now) >= delayMs || waitedMs(now) < 0 ? 'half-open' : 'open';
    },
    failed(startedAt, now) {
      // Attempts that were under way when it opened fail with it: they are no probes.
      if (openedAt !== undefined && startedAt.getTime() <= openedAt.getTime()) return;
      delayMs = openedAt === undefined ? firstMs : Math.min(delayMs * 2, maxMs);
      openedAt = now;
    },
    reached() {
      openedAt = undefined;
      delayMs = firstMs;
    },
    probeAt: () => (openedAt === undefined ? undefined : new Date(openedAt.getTime() + delayMs)),
  };
}
