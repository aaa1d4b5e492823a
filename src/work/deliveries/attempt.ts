import { shareReads } from '../../client/shared-reads.ts';
import { parsePayload } from '../../contract/events/parse-payload.ts';
import type { Deferral } from '../../engine/budget/deferral.ts';
import { standardDeliveryLifetimeMs } from '../../engine/limits.ts';
import type { Run } from '../../engine/record.ts';
import type { Clock } from '../../platform/clock.ts';
import { count } from '../../platform/count.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Handled, HandleEvent, HandleJob, Lease, WorkerStore } from '../../store/leases.ts';
import type { Claim } from '../../store/store.ts';
import type { Breaker, Ticket } from './breaker.ts';
import type { RoutedEvents } from './router.ts';
import type { Sleep, Timer } from './wake-loop.ts';

/** Called with runs that were stored, and the repository that they are about. */
export type OnRecorded = (runs: readonly Run[], repositoryId: number | undefined) => void;

type HeldClaim = { readonly signal: AbortSignal; readonly heartbeat: Heartbeat };

/** Makes one attempt at a claim and returns its ending. Never rejects. */
type Attempt = (claim: Claim, signal: AbortSignal, heartbeat: Heartbeat) => Promise<Ending>;

/** Time that a handler has to finish once its attempt is over. */
const endingMs = 1_000;

/** Number of crashes during the handling of a delivery alone, after which the delivery counts as their cause. */
const maxCrashes = 5;
/** Number of attempts that ended only with their lease, after which an expired delivery is given up. */
const maxUnended = 12;

type AttemptOptions = {
  readonly store: WorkerStore;
  readonly events: RoutedEvents;
  readonly handle: HandleEvent;
  readonly handleJob: HandleJob | undefined;
  readonly backoff: Backoff;
  readonly lifetimeMs: number;
  readonly breaker: Breaker;
  /** Returns the number of responses of the forge so far: an attempt without a request shows nothing about the forge. */
  readonly answers: () => number;
  /** Clock for the age of deliveries. */
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly stopping: AbortSignal;
  readonly onHostFailure: (error: ReeveError) => void;
  readonly onRecorded: OnRecorded;
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
        options.onRecorded(part.runs, part.repositoryId ?? claim.repositoryId);
        // A sweep may run for an hour; its first page already shows that the forge works.
        if (answers() > answered) breaker.succeeded(ticket);
      },
    };
    if (claim.door === 'webhook')
      return shareReads(() => options.handle(claim, options.events.take(claim), lease));
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
    // A refusal is also a response.
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
      // The calls of the handler end with the signal. Changes made until then are recorded while the lease is still
      // held.
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
    return `started ${count(claim.attempts - 1, 'time')} without an end`;
  }
  return undefined;
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/** Keeps the lease of work in progress alive. */
interface Heartbeat {
  /** Records progress: a hanging handler must not hold its lane indefinitely. */
  progress(): void;
  stop(): void;
}

/**
 * Sends four heartbeats per lease. Aborts the work when the lease is lost, or after `stallMs` without progress.
 */
export function startHeartbeat(
  claim: Claim,
  abortController: AbortController,
  options: { store: WorkerStore; timer: Timer; leaseMs: number; stallMs: number; log: Log },
): Heartbeat {
  const { store, timer, leaseMs, stallMs, log } = options;
  let sinceProgressMs = 0;
  let isBeating = true;
  const beat = async (): Promise<void> => {
    sinceProgressMs += leaseMs / 4;
    if (sinceProgressMs > stallMs) {
      abortController.abort(
        new AttemptAborted('retry', `no progress within ${Math.round(stallMs / 1_000)} s`),
      );
      return;
    }
    try {
      await store.heartbeat(claim, leaseMs);
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'lease-lost')
        abortController.abort(new AttemptAborted('lost', error.message));
      // The lease lasts for three more heartbeats.
      else log.warn({ delivery: claim.id, error }, 'a heartbeat failed');
    }
    if (isBeating) callOff = timer(beat, leaseMs / 4);
  };
  let callOff = timer(beat, leaseMs / 4);
  return {
    progress() {
      sinceProgressMs = 0;
    },
    stop() {
      isBeating = false;
      callOff();
    },
  };
}

/**
 * How an attempt ended. `released`: as if it had not started, or, with `isUnbegun`, because it never began; `lost`:
 * another worker has the delivery now.
 */
export type Ending =
  | { readonly how: 'settled'; readonly runs: readonly Run[]; readonly reason?: string | undefined }
  | { readonly how: 'retry'; readonly afterMs: number; readonly reason: string }
  | { readonly how: 'deferred'; readonly runs: readonly Run[]; readonly deferral: Deferral }
  | { readonly how: 'dead'; readonly reason: string; readonly runs?: readonly Run[] }
  | { readonly how: 'released'; readonly reason: string; readonly isUnbegun?: boolean }
  | { readonly how: 'lost' };

/** Thrown inside an attempt that must end now. */
export class AttemptAborted extends Error {
  readonly ending: 'released' | 'lost' | 'retry';

  constructor(ending: 'released' | 'lost' | 'retry', message: string) {
    super(message);
    this.name = 'AttemptAborted';
    this.ending = ending;
  }
}

/** Input for the ending of an attempt that threw. */
type AttemptFailure = {
  readonly error: unknown;
  readonly claim: Claim;
  readonly backoff: Backoff;
  readonly now: Date;
  /** Whether the failure is attributed to the host, so that the attempt does not count, or only to the delivery. */
  readonly blame: 'host' | 'item';
  /** Whether the delivery was tried alone, after the forge had answered a probe. */
  readonly isTrial: boolean;
};

/**
 * Returns the ending of an attempt that threw. Retryable errors are retried; a host failure does not count as an
 * attempt; an unexpected error is a defect of Reeve and would occur again.
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
  // In an outage, an expired delivery is given up only if it was the trial delivery: the others wait.
  if (isHosts && ('afterMs' in next || !failure.isTrial)) return { how: 'released', reason };
  if ('afterMs' in next) return { how: 'retry', afterMs: next.afterMs, reason };
  return { how: 'dead', reason: `${next.giveUp}; last: ${reason}` };
}

export type BackoffOptions = {
  /** Wait after the first failed attempt; doubles with each. Default 10 s. */
  readonly firstMs?: number;
  /** Age at which a failing delivery is given up. Default 7 days. */
  readonly lifetimeMs?: number | undefined;
  /** A number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
};

/** Times of a delivery's arrival and of its last redrive. */
type Age = { readonly receivedAt: Date; readonly redrivenAt?: Date | undefined };

/** The part of a failed delivery that the next step depends on. */
type Failed = Age & { readonly attempts: number };

/** Returns the delay before the next attempt after a failed one, or why there is none. */
type Backoff = (
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
function isExpired(
  { receivedAt, redrivenAt }: Age,
  { now, lifetimeMs }: { readonly now: Date; readonly lifetimeMs: number },
): boolean {
  return now.getTime() - (redrivenAt ?? receivedAt).getTime() > lifetimeMs;
}

function spell(ms: number): string {
  if (ms >= dayMs) return `${count(round(ms / dayMs), 'day')}`;
  return ms >= 3_600_000 ? `${round(ms / 3_600_000)} h` : `${round(ms / 60_000)} min`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Records the ending of an attempt in the store. */
type RecordEnding = (claim: Claim, ending: Ending, signal: AbortSignal) => Promise<void>;

/**
 * Creates the recorder. While the disk refuses writes, it retries: completed work must not be repeated. It
 * gives up when the process stops, or the signal is aborted.
 */
export function createRecorder(options: {
  readonly store: WorkerStore;
  readonly sleep: Sleep;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly onRecorded: OnRecorded;
  readonly onEnded: (claim: Claim, ending: Ending) => void;
}): RecordEnding {
  const { store, sleep, stopping, log, onRecorded, onEnded } = options;

  const write = async (claim: Claim, ending: Ending): Promise<void> => {
    if (ending.how === 'settled') return store.settle(claim, ending.runs, ending.reason);
    if (ending.how === 'retry') return store.retry(claim, ending);
    if (ending.how === 'deferred') return store.defer(claim, ending.runs, ending.deferral);
    if (ending.how === 'dead') return store.bury(claim, ending.reason, ending.runs);
    if (ending.how === 'released')
      return ending.isUnbegun ? store.release(claim, { isUnbegun: true }) : store.release(claim);
  };

  const logEnding = ({ id, door, eventType, attempts, entry, repository }: Claim, ending: Ending): void => {
    const about = { delivery: id, eventType, attempts };
    if (ending.how === 'settled') log.debug(about, 'settled');
    else if (ending.how === 'released' && ending.isUnbegun) log.debug({ ...about, ...ending }, 'not begun');
    else if (ending.how === 'deferred') {
      const { why, afterMs } = ending.deferral;
      const details = { ...about, repository, why, seconds: Math.ceil(afterMs / 1_000) };
      // A job that polls is deferred every few seconds, and logs what happens itself.
      if (door === 'webhook') log.info(details, 'a run is deferred');
      else log.debug(details, 'a job is deferred');
    } else log.warn({ ...about, entry, ...ending, runs: undefined }, `a delivery is ${ending.how}`);
  };

  return async (claim, ending, signal) => {
    for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 30_000)) {
      try {
        await write(claim, ending);
        if (ending.how === 'settled') onRecorded(ending.runs, claim.repositoryId);
        onEnded(claim, ending);
        logEnding(claim, ending);
        return;
      } catch (error) {
        const mayPass = error instanceof ReeveError && error.code === 'store-unwritable' && !stopping.aborted;
        log.warn(
          { delivery: claim.id, error: messageOf(error) },
          `could not record that it was ${ending.how}`,
        );
        if (!mayPass) return;
        await sleep(waitMs, signal);
        if (signal.aborted) return;
      }
    }
  };
}
