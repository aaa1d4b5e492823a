import { parsePayload } from '../contract/parse-payload.ts';
import { ReeveError } from '../errors.ts';
import type { Claim } from '../store/store.ts';
import type { Backoff } from './backoff.ts';
import type { Breaker } from './breaker.ts';
import { Cut, type Ending, endingOf } from './ending.ts';
import type { Heart } from './heart.ts';
import type { Handled, HandleEvent, HandleJob, Lease, WorkerStore } from './lease.ts';
import { eventOf } from './routing.ts';
import type { Sleep } from './timer.ts';

/** Makes one attempt at a claim and returns how it ended. Never rejects. */
export type Attempt = (claim: Claim, signal: AbortSignal, heart: Heart) => Promise<Ending>;

/** Time that a handler has to come to its end once its attempt is over. */
const endingMs = 1_000;

/** Creates the function that makes attempts: calls the handler, and decides what comes of what it threw. */
export function createAttempt(options: {
  readonly store: Pick<WorkerStore, 'advance'>;
  readonly handle: HandleEvent;
  readonly handleJob: HandleJob | undefined;
  readonly backoff: Backoff;
  readonly maxAttempts: number;
  readonly breaker: Breaker;
  readonly clock: { now(): Date };
  readonly sleep: Sleep;
  readonly stopping: AbortSignal;
}): Attempt {
  const { store, backoff, maxAttempts, breaker, clock, sleep, stopping } = options;

  const handle = async (claim: Claim, signal: AbortSignal, heart: Heart): Promise<Handled> => {
    const lease: Lease = {
      signal,
      stopping,
      giveBack: (reason) => new Cut('released', reason),
      async advance(part) {
        heart.progress();
        await store.advance(claim, part);
      },
    };
    if (claim.door === 'webhook') return options.handle(claim, eventOf(claim), lease);
    if (options.handleJob === undefined) {
      throw new ReeveError('internal', `nobody handles jobs of kind ${claim.eventType}`);
    }
    return { runs: await options.handleJob(claim, parsePayload(claim.body), lease) };
  };

  return async (claim, signal, heart) => {
    const startedAt = clock.now();
    if (claim.attempts > maxAttempts) {
      return { how: 'dead', reason: `begun ${maxAttempts} times and never ended: it takes the process down` };
    }
    const work = handle(claim, signal, heart);
    try {
      const handled = await Promise.race([work, rejectionOf(signal)]);
      breaker.reached();
      return { how: 'settled', ...handled };
    } catch (error) {
      // Its calls end with the signal. What it has written by then is recorded while the lease is still held.
      if (signal.aborted) await Promise.race([work.catch(() => {}), sleep(endingMs)]);
      if (error instanceof ReeveError && error.code === 'forge-unreachable') {
        breaker.failed(startedAt, clock.now());
      } else if (!(error instanceof Cut)) {
        breaker.reached();
      }
      return endingOf(error, claim, backoff, clock.now());
    }
  };
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
