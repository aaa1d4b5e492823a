import type { Clock } from '../clock.ts';
import { turnOf } from '../store/lane.ts';

export type BreakerOptions = {
  /** A number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
};

/** Wait before the forge is probed first; doubles with each probe that fails. */
const firstMs = 1_000;
/** Longest wait between probes. */
const maxMs = 30_000;

/** closed: work goes on · open: nothing is claimed · half-open: the forge answers, and one delivery is tried. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** One attempt, as the breaker knows it. */
export type Ticket = { readonly lane: string; readonly isTrial: boolean };

/**
 * Stops all lanes while the forge as a whole fails. A failure that may be the forge's as a whole (5xx, no answer, a refused
 * credential) opens it, wherever it comes from; then one delivery of another lane decides whether it was.
 */
export interface Breaker {
  state(): BreakerState;
  /** Returns how many of these free places may be taken. */
  room(places: number): number;
  /** Says whether it is open and the wait is over: the forge is to be probed. */
  isDue(): boolean;
  /** Notes how a probe ended. */
  probed(isAnswered: boolean): void;
  /** Notes that an attempt begins. */
  begin(lane: string): Ticket;
  /** Notes a failure of the host. Returns whose it is: the `host`'s, so that no attempt is spent, or the `item`'s own. */
  failed(ticket: Ticket): 'host' | 'item';
  /** Notes that the forge did what an attempt wanted. */
  succeeded(ticket: Ticket): void;
  /** Notes that an attempt is over, whatever it showed. */
  ended(ticket: Ticket): void;
  /** Lanes that have failed since it opened; the delivery that is tried is to come from another one. */
  suspects(): readonly string[];
}

/** Repositories that have to fail one after the other before their failures count as the host's though it answers. */
const manyRepositories = 3;
const maxKnown = 1_000;
const jitter = 0.2;

/**
 * Creates the breaker, closed.
 *
 * Closed: the first host failure of a lane opens it; a lane whose failure is known already fails for itself. Open: after a
 * wait the forge is probed, again and again, with a longer wait each time; no delivery is touched. Half-open: one delivery
 * is tried. If it succeeds, work goes on, and lanes that had failed are known. If it fails, it is the host's failure where
 * at least three repositories have failed since it opened; otherwise the forge answers others and the failure is its own.
 */
export function createBreaker({
  clock,
  random = Math.random,
}: BreakerOptions & { clock: Pick<Clock, 'monotonicMs'> }): Breaker {
  let state: BreakerState = 'closed';
  let delayMs = firstMs;
  let dueAtMs = 0;
  let trial: Ticket | undefined;
  /** Lanes that failed, and have not succeeded since. */
  const known = new Set<string>();
  const failing = new Set<string>();

  const open = (waitMs: number): void => {
    state = 'open';
    trial = undefined;
    delayMs = Math.min(waitMs, maxMs);
    dueAtMs = clock.monotonicMs() + delayMs * (1 - jitter + 2 * jitter * random());
  };
  const close = (): void => {
    state = 'closed';
    trial = undefined;
    failing.clear();
  };
  const note = (lane: string): void => {
    known.add(lane);
    const [oldest] = known;
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
  };
  const failingRepositories = (): number => new Set([...failing].map(turnOf)).size;

  return {
    state: () => state,
    room(places) {
      if (state === 'closed') return places;
      // What began before it opened takes no place of the one that is tried: a sweep may go on for an hour.
      return state === 'half-open' && trial === undefined ? 1 : 0;
    },
    isDue: () => state === 'open' && clock.monotonicMs() >= dueAtMs,
    probed(isAnswered) {
      if (state !== 'open') return;
      if (isAnswered) state = 'half-open';
      else open(delayMs * 2);
    },
    begin(lane) {
      const ticket = { lane, isTrial: state === 'half-open' };
      if (ticket.isTrial) trial = ticket;
      return ticket;
    },
    failed(ticket) {
      const { lane } = ticket;
      if (state === 'closed') {
        if (known.has(lane)) return 'item';
        note(lane);
        failing.add(lane);
        open(firstMs);
        return 'host';
      }
      note(lane);
      failing.add(lane);
      if (ticket !== trial) return 'host';
      if (failingRepositories() >= manyRepositories) {
        open(delayMs * 2);
        return 'host';
      }
      close();
      return 'item';
    },
    succeeded(ticket) {
      known.delete(ticket.lane);
      failing.delete(ticket.lane);
      // What began before it opened says nothing of the time after.
      if (ticket === trial) close();
    },
    ended(ticket) {
      if (ticket === trial) trial = undefined;
    },
    suspects: () => [...failing],
  };
}
