import { standardDeliveryLifetimeMs } from '../engine/delivery-lifetime.ts';
import type { Delivery } from '../store/store.ts';

export type BackoffOptions = {
  /** Wait after the first failed attempt; doubles with each. Default 10 s. */
  readonly firstMs?: number;
  /** Age beyond which a delivery that fails is given up. Default 7 days. */
  readonly lifetimeMs?: number | undefined;
  /** A number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
};

/** The part of a failed delivery that decides what comes next. */
type Failed = Pick<Delivery, 'attempts' | 'receivedAt' | 'redrivenAt'>;

/** Returns what comes after a failed attempt: how long to wait before the next one, or why there is none. */
export type Backoff = (
  delivery: Failed,
  failure: { readonly now: Date; readonly retryAfterMs: number | undefined },
) => { readonly afterMs: number } | { readonly giveUp: string };

const dayMs = 86_400_000;
/** Longest wait that Reeve chooses. */
const maxMs = 7_200_000;

/** Each wait is this much shorter or longer than its share, at random. */
const jitter = 0.2;

/**
 * Creates the schedule of retries: base 2, with jitter at every step and at the longest wait too, so that a thousand
 * deliveries that failed together do not come back together. A delivery is given up for its age alone, never for a number
 * of attempts. Where the forge asked for a pause, it is waited for, even beyond the lifetime.
 */
export function createBackoff(options: BackoffOptions = {}): Backoff {
  const { firstMs = 10_000, lifetimeMs = standardDeliveryLifetimeMs } = options;
  const random = options.random ?? Math.random;
  return (delivery, { now, retryAfterMs = 0 }) => {
    if (isExpired(delivery, { now, lifetimeMs })) return { giveUp: `older than ${spell(lifetimeMs)}` };
    const doubled = firstMs * 2 ** Math.min(Math.max(delivery.attempts - 1, 0), 40);
    const share = Math.min(doubled, maxMs / (1 + jitter));
    const waitMs = share * (1 - jitter + 2 * jitter * random());
    return { afterMs: Math.round(Math.max(waitMs, retryAfterMs)) };
  };
}

/** Says whether a delivery is older than its lifetime, counted from when it came or was last redriven. */
export function isExpired(
  { receivedAt, redrivenAt }: Pick<Delivery, 'receivedAt' | 'redrivenAt'>,
  { now, lifetimeMs }: { readonly now: Date; readonly lifetimeMs: number },
): boolean {
  return now.getTime() - (redrivenAt ?? receivedAt).getTime() > lifetimeMs;
}

function spell(ms: number): string {
  if (ms >= dayMs) return `${round(ms / dayMs)} days`;
  return ms >= 3_600_000 ? `${round(ms / 3_600_000)} h` : `${round(ms / 60_000)} min`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
