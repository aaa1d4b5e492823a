import { parsePayload } from '../../contract/events/parse-payload.ts';
import type { Clock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { Handled, HandleEvent, HandleJob, Lease, WorkerStore } from '../../store/leases.ts';
import type { Claim } from '../../store/store.ts';
import { type Backoff, isExpired } from './backoff.ts';
import type { Breaker, Ticket } from './breaker.ts';
import { AttemptAborted, type Ending, endingOf } from './ending.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { RoutedEvents } from './routed-events.ts';
import type { Sleep } from './timer.ts';

type HeldClaim = { readonly signal: AbortSignal; readonly heartbeat: Heartbeat };

/** Makes one attempt at a claim and returns how it ended. Never rejects. */
type Attempt = (claim: Claim, signal: AbortSignal, heartbeat: Heartbeat) => Promise<Ending>;

/** Time that a handler has to finish once its attempt is over. */
const endingMs = 1_000;

/** Crashes while a delivery was handled alone, after which the delivery is considered their cause. */
const maxCrashes = 5;
/** Attempts without an end, each cut off with its lease, after which an old delivery is given up. */
const maxUnended = 12;

type AttemptOptions = {
  readonly store: Pick<WorkerStore, 'advance'>;
  readonly events: Pick<RoutedEvents, 'take'>;
  readonly handle: HandleEvent;
  readonly handleJob: HandleJob | undefined;
  readonly backoff: Backoff;
  readonly lifetimeMs: number;
  readonly breaker: Breaker;
  /** Returns the number of answers of the forge so far: an attempt without a request proves nothing about the forge. */
  readonly answers: () => number;
  /** For the age of deliveries. */
  readonly clock: Pick<Clock, 'now'>;
  readonly sleep: Sleep;
  readonly stopping: AbortSignal;
  readonly onHostFailure: (error: ReeveError) => void;
};

/** Creates the function that makes attempts: it calls the handler, and decides how to continue after an error. */
export function createAttempt(options: AttemptOptions): Attempt {
  const { store, backoff, lifetimeMs, breaker, answers, clock, sleep, stopping } = options;

  const handle = async (claim: Claim, ticket: Ticket, { signal, heartbeat }: HeldClaim): Promise<Handled> => {
    const answered = answers();
    const lease: Lease = {
      signal,
      stopping,
      giveBack: (reason) => new AttemptAborted('released', reason),
      async advance(part) {
        heartbeat.progress();
        await store.advance(claim, part);
        // A sweep may run for an hour; its first page already shows that the forge works.
        if (answers() > answered) breaker.succeeded(ticket);
      },
    };
    if (claim.door === 'webhook') return options.handle(claim, options.events.take(claim), lease);
    if (options.handleJob === undefined) {
      throw new ReeveError('internal', `there is no handler for jobs of kind ${claim.eventType}`);
    }
    return options.handleJob(claim, parsePayload(claim.body), lease);
  };

  const blameFor = (error: unknown, ticket: Ticket, hasAnswers: boolean): 'host' | 'item' => {
    if (error instanceof ReeveError && error.isHostFailure) {
      const blame = breaker.failed(ticket);
      if (blame === 'host') options.onHostFailure(error);
      return blame;
    }
    // A refusal is an answer.
    if (hasAnswers && error instanceof ReeveError && error.code !== 'stopped') breaker.succeeded(ticket);
    return 'item';
  };

  return async (claim, signal, heartbeat) => {
    const doomed = reasonToGiveUp(claim, { now: clock.now(), lifetimeMs });
    if (doomed !== undefined) return { how: 'dead', reason: doomed };
    const answered = answers();
    const ticket = breaker.begin(claim.lane ?? '');
    const work = handle(claim, ticket, { signal, heartbeat });
    try {
      const handled = await Promise.race([work, rejectionOf(signal)]);
      if (answers() > answered) breaker.succeeded(ticket);
      return endingOfHandled(handled, isExpired(claim, { now: clock.now(), lifetimeMs }));
    } catch (error) {
      // Its calls end with the signal. Changes made until then are recorded while the lease is still held.
      if (signal.aborted) await Promise.race([work.catch(() => {}), sleep(endingMs)]);
      const blame = blameFor(error, ticket, answers() > answered);
      return endingOf({ error, claim, backoff, blame, now: clock.now(), isTrial: ticket.isTrial });
    } finally {
      breaker.ended(ticket);
    }
  };
}

/** Returns the ending of an attempt that did not throw. A deferred delivery that exceeds its lifetime is dead. */
function endingOfHandled({ runs, reason, deferral }: Handled, isTooOld: boolean): Ending {
  if (deferral === undefined) return { how: 'settled', runs, reason };
  if (!isTooOld) return { how: 'deferred', runs, deferral };
  return { how: 'dead', runs, reason: `${deferral.why}, and its lifetime has ended` };
}

/** Returns why a delivery is given up before another attempt, or undefined. */
function reasonToGiveUp(claim: Claim, age: { now: Date; lifetimeMs: number }): string | undefined {
  if (claim.crashes >= maxCrashes) {
    return `the process died ${claim.crashes} times while it handled this delivery alone`;
  }
  if (claim.attempts > maxUnended && claim.failingSince === undefined && isExpired(claim, age)) {
    return `started ${claim.attempts - 1} times without an end`;
  }
  return undefined;
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
