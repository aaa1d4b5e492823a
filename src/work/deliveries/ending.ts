import type { Deferral } from '../../engine/budget/deferral.ts';
import type { Run } from '../../engine/record.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Claim } from '../../store/store.ts';
import type { Backoff } from './backoff.ts';

/** How an attempt ended. `released`: as if it had not started; `lost`: another worker has the delivery now. */
export type Ending =
  | { readonly how: 'settled'; readonly runs: readonly Run[]; readonly reason?: string | undefined }
  | { readonly how: 'retry'; readonly afterMs: number; readonly reason: string }
  | { readonly how: 'deferred'; readonly runs: readonly Run[]; readonly deferral: Deferral }
  | { readonly how: 'dead'; readonly reason: string; readonly runs?: readonly Run[] }
  | { readonly how: 'released'; readonly reason: string }
  | { readonly how: 'lost' };

/** Thrown inside an attempt that must end now. */
export class AttemptAborted extends Error {
  readonly ending: 'released' | 'lost' | 'retry';

  constructor(ending: 'released' | 'lost' | 'retry', message: string) {
    super(message);
    this.name = 'Cut';
    this.ending = ending;
  }
}

/** Input for the ending of an attempt that threw. */
type AttemptFailure = {
  readonly error: unknown;
  readonly claim: Claim;
  readonly backoff: Backoff;
  readonly now: Date;
  /** Whether a host failure affects the host, which spends no attempt, or only the delivery. */
  readonly blame: 'host' | 'item';
  /** Whether the delivery was tried alone, after the forge had answered a probe. */
  readonly isTrial: boolean;
};

/**
 * Returns the ending of an attempt that threw. Retryable errors are retried; a host failure spends no attempt; an
 * unexpected error is a defect of Reeve and would occur again.
 */
export function endingOf(failure: AttemptFailure): Ending {
  const { error, claim, backoff, now, blame } = failure;
  const reason = messageOf(error);
  if (error instanceof AttemptAborted && error.ending === 'lost') return { how: 'lost' };
  if (error instanceof AttemptAborted && error.ending === 'released') return { how: 'released', reason };
  if (error instanceof ReeveError) {
    if (error.code === 'lease-lost') return { how: 'lost' };
    if (error.code === 'stopped') return { how: 'released', reason };
    if (!error.keepsWork) return { how: 'dead', reason };
  } else if (!(error instanceof AttemptAborted)) {
    return { how: 'dead', reason: `unexpected: ${reason}` };
  }
  const retryAfterMs = error instanceof ReeveError ? error.retryAfterMs : undefined;
  const next = backoff(claim, { now, retryAfterMs });
  const isHosts = error instanceof ReeveError && error.isHostFailure && blame === 'host';
  // In an outage, an old delivery is given up only if it was the one being tried: the others wait.
  if (isHosts && ('afterMs' in next || !failure.isTrial)) return { how: 'released', reason };
  if ('afterMs' in next) return { how: 'retry', afterMs: next.afterMs, reason };
  return { how: 'dead', reason: `${next.giveUp}; last: ${reason}` };
}
