import { standardDeliveryLifetimeMs } from '../../engine/limits.ts';
import type { Delivery } from '../../store/store.ts';

export type BackoffOptions = {
  /** Wait after the first failed attempt; doubles with each. Default 10 s. */
  readonly firstMs?: number;
  /** Age at which a failing delivery is given up. Default 7 days. */
  readonly lifetimeMs?: number | undefined;
  /** A number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
};

/** The part of a failed delivery that the next step depends on. */
type Failed = Pick<Delivery, 'attempts' | 'receivedAt' | 'redrivenAt'>;

/** Returns the delay before the next attempt after a failed one, or why there is none. */
export type Backoff = (
  delivery: Failed,
  failure: { readonly now: Date; readonly retryAfterMs: number | undefined },
) => { readonly afterMs: number } | { readonly giveUp: string };

const dayMs = 86_400_000;
/** Longest delay, unless the forge requests a longer one. */
const maxMs = 7_200_000;

/** Jitter: each delay is up to this share shorter or longer. */
const jitter = 0.2;

/**
 * Creates the exponential backoff: base 2, with jitter at every step including the longest delay, so that a thousand
 * deliveries that failed together are not retried together. A delivery is given up only by age, never by its number
 * of attempts. A pause that the forge requested is kept, even beyond the lifetime.
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

/** Returns whether a delivery is older than its lifetime, counted from its arrival or its last redrive. */
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
