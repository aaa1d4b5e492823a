import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { Clock } from '../../platform/clock.ts';
import { turnOf } from '../../store/rows.ts';

export type BreakerOptions = {
  /** A number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
};

/** Delay before the first probe of the forge; doubles with each failed probe. */
const firstMs = 1_000;
/** Longest delay between probes. */
const maxMs = 30_000;

/** closed: work continues · open: nothing is claimed · half-open: the forge answers, and one delivery is tried. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** One attempt in the breaker. */
export type Ticket = { readonly lane: string; readonly isTrial: boolean };

/**
 * Circuit breaker: stops all lanes while the whole forge fails. A failure that may affect the whole forge (5xx, no answer, a refused
 * credential) opens it; then one delivery of another lane decides whether it does.
 */
export interface Breaker {
  state(): BreakerState;
  /** Returns how many of these free slots may be used. */
  room(places: number): number;
  /** Returns whether it is open and the delay is over: the forge must be probed. */
  isDue(): boolean;
  /** Records the result of a probe. */
  probed(isAnswered: boolean): void;
  /** Records the start of an attempt. */
  begin(lane: string): Ticket;
  /** Records a host failure. Returns whether it affects the `host`, so that no attempt is spent, or only the `item`. */
  failed(ticket: Ticket): 'host' | 'item';
  /** Records that the forge answered an attempt. */
  succeeded(ticket: Ticket): void;
  /** Records the end of an attempt. */
  ended(ticket: Ticket): void;
  /** Lanes that have failed since it opened; the tried delivery must be from another one. */
  suspects(): readonly string[];
}

/** Number of failing repositories that count as a host failure although the forge answers the probe. */
const manyRepositories = 3;
const maxKnown = 1_000;
const jitter = 0.2;

/**
 * Creates the breaker, closed.
 *
 * Closed: the first host failure of a lane opens it; a lane with a known failure fails on its own. Open: after a
 * delay the forge is probed repeatedly, with a longer delay each time; no delivery is claimed. Half-open: one delivery
 * is tried. If it succeeds, work continues, and the failed lanes are known. If it fails, it is a host failure if
 * at least three repositories have failed since it opened; otherwise the forge works for others and only the item fails.
 */
export function createBreaker({
  clock,
  random = Math.random,
}: BreakerOptions & { clock: Pick<Clock, 'monotonicMs'> }): Breaker {
  let state: BreakerState = 'closed';
  let delayMs = firstMs;
  let dueAtMs = 0;
  let trial: Ticket | undefined;
  /** Lanes that have failed and not succeeded since. */
  const known = new BoundedMap<string, true>(maxKnown);
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
    // In the order of the first failure.
    if (!known.has(lane)) known.set(lane, true);
  };
  const failingRepositories = (): number => new Set([...failing].map(turnOf)).size;

  return {
    state: () => state,
    room(places) {
      if (state === 'closed') return places;
      // Attempts from before the opening do not count: a sweep may run for an hour.
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
      // The result of an attempt from before the opening does not show the current state.
      if (ticket === trial) close();
    },
    ended(ticket) {
      if (ticket === trial) trial = undefined;
    },
    suspects: () => [...failing],
  };
}
