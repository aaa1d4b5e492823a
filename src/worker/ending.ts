import type { Run } from '../engine/record.ts';
import { messageOf, ReeveError } from '../errors.ts';
import type { Claim } from '../store/store.ts';
import type { Backoff } from './backoff.ts';

/** How an attempt ended. `released`: as if it had not been; `lost`: somebody else has the delivery now. */
export type Ending =
  | { readonly how: 'settled'; readonly runs: readonly Run[]; readonly reason?: string }
  | { readonly how: 'retry'; readonly at: Date; readonly reason: string }
  | { readonly how: 'dead'; readonly reason: string }
  | { readonly how: 'released'; readonly reason: string }
  | { readonly how: 'lost' };

/** Raised inside an attempt that is to end now, whatever its handler does. */
export class Cut extends Error {
  readonly ending: 'released' | 'lost' | 'retry';

  constructor(ending: 'released' | 'lost' | 'retry', message: string) {
    super(message);
    this.name = 'Cut';
    this.ending = ending;
  }
}

/**
 * Returns how an attempt ends that threw. What may work later is tried again; nobody at home is no attempt at all; an
 * error that nobody foresaw is ours, and would be the same the next time.
 */
export function endingOf(error: unknown, claim: Claim, backoff: Backoff, now: Date): Ending {
  const reason = messageOf(error);
  if (error instanceof Cut && error.ending === 'lost') return { how: 'lost' };
  if (error instanceof Cut && error.ending === 'released') return { how: 'released', reason };
  if (error instanceof ReeveError) {
    if (error.code === 'lease-lost') return { how: 'lost' };
    if (error.code === 'forge-unreachable' || error.code === 'stopped') return { how: 'released', reason };
    if (!error.keepsWork) return { how: 'dead', reason };
  } else if (!(error instanceof Cut)) {
    return { how: 'dead', reason: `unexpected: ${reason}` };
  }
  const retryAfterMs = error instanceof ReeveError ? error.retryAfterMs : undefined;
  const next = backoff(claim, { now, retryAfterMs });
  if ('at' in next) return { how: 'retry', at: next.at, reason };
  return { how: 'dead', reason: `${next.giveUp}; last: ${reason}` };
}
