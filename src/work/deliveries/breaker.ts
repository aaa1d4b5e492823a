import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
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

/** An attempt that the breaker tracks. */
export type Ticket = { readonly lane: string; readonly isTrial: boolean };

/** Number of failing repositories that counts as a host failure although the forge answers the probe. */
const manyRepositories = 3;
const maxKnown = 1_000;
const jitter = 0.2;

/**
 * Circuit breaker: stops all lanes while the whole forge fails. A failure that may affect the whole forge (5xx, no
 * response, a refused credential) opens the breaker; one delivery of another lane then decides whether the whole forge
 * fails. Closed: the first host failure of a lane opens the breaker; a lane whose failures are known does not. Open:
 * after a delay the forge is probed repeatedly, with a longer delay each time; no delivery is claimed. Half-open: one
 * delivery is tried. If it succeeds, work continues, and the failed lanes are known. If it fails, this is a host
 * failure if at least three repositories have failed since the breaker opened; otherwise the forge works for others and
 * only the item fails.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #random: () => number;
  #state: BreakerState = 'closed';
  #delayMs = firstMs;
  #dueAtMs = 0;
  #trial: Ticket | undefined;
  /** Lanes that have failed and not succeeded since. */
  readonly #known = new BoundedMap<string, true>(maxKnown);
  readonly #failing = new Set<string>();

  constructor(clock: Clock, { random = Math.random }: BreakerOptions = {}) {
    this.#clock = clock;
    this.#random = random;
  }

  state(): BreakerState {
    return this.#state;
  }

  /** Returns how many of these free slots may be used. */
  room(places: number): number {
    if (this.#state === 'closed') return places;
    // Attempts from before the breaker opened do not count, because a sweep may run for an hour.
    return this.#state === 'half-open' && this.#trial === undefined ? 1 : 0;
  }

  /** Returns whether the breaker is open and its delay is over, so that the forge must be probed. */
  isDue(): boolean {
    return this.#state === 'open' && this.#clock.monotonicMs() >= this.#dueAtMs;
  }

  /** Lanes that have failed since the breaker opened; the delivery to try must be from another lane. */
  suspects(): readonly string[] {
    return [...this.#failing];
  }

  /** Records the result of a probe. */
  probed(isAnswered: boolean): void {
    if (this.#state !== 'open') return;
    if (isAnswered) this.#state = 'half-open';
    else this.#open(this.#delayMs * 2);
  }

  /** Records the start of an attempt. */
  begin(lane: string): Ticket {
    const ticket = { lane, isTrial: this.#state === 'half-open' };
    if (ticket.isTrial) this.#trial = ticket;
    return ticket;
  }

  /**
   * Records a host failure. Returns whether it affects the `host`, so that the attempt does not count, or only the
   * `item`.
   */
  failed(ticket: Ticket): 'host' | 'item' {
    const { lane } = ticket;
    if (this.#state === 'closed') {
      if (this.#known.has(lane)) return 'item';
      this.#note(lane);
      this.#open(firstMs);
      return 'host';
    }
    this.#note(lane);
    if (ticket !== this.#trial) return 'host';
    const repositories = new Set([...this.#failing].map(turnOf)).size;
    if (repositories >= manyRepositories) {
      this.#open(this.#delayMs * 2);
      return 'host';
    }
    this.#close();
    return 'item';
  }

  /** Records that the forge answered an attempt. */
  succeeded(ticket: Ticket): void {
    this.#known.delete(ticket.lane);
    this.#failing.delete(ticket.lane);
    // The result of an attempt from before the breaker opened does not show the current state.
    if (ticket === this.#trial) this.#close();
  }

  /** Records the end of an attempt. */
  ended(ticket: Ticket): void {
    if (ticket === this.#trial) this.#trial = undefined;
  }

  #open(waitMs: number): void {
    this.#state = 'open';
    this.#trial = undefined;
    this.#delayMs = Math.min(waitMs, maxMs);
    this.#dueAtMs = this.#clock.monotonicMs() + this.#delayMs * (1 - jitter + 2 * jitter * this.#random());
  }

  #close(): void {
    this.#state = 'closed';
    this.#trial = undefined;
    this.#failing.clear();
  }

  #note(lane: string): void {
    // In the order of the first failure.
    if (!this.#known.has(lane)) this.#known.set(lane, true);
    this.#failing.add(lane);
  }
}

/** State of the whole forge. `refused`: the forge does not accept our credential. */
export type ForgeState =
  | { readonly state: 'ok' }
  | { readonly state: 'failing' | 'refused'; readonly since: Date; readonly reason: string };

/** Dependencies of the forge watch. */
type ForgeWatchParts = {
  readonly breaker: Breaker;
  readonly probe: (() => Promise<unknown>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the forge answered a probe. */
  readonly onAnswer: () => void;
};

/** Follows the breaker: probes the forge while the breaker is open, and logs the state. */
export class ForgeWatch {
  readonly #parts: ForgeWatchParts;
  #trouble: Exclude<ForgeState, { state: 'ok' }> | undefined;
  #isProbing = false;

  constructor(parts: ForgeWatchParts) {
    this.#parts = parts;
  }

  /** Records a host failure. */
  failed(error: ReeveError): void {
    const { clock, log } = this.#parts;
    const state = error.code === 'forge-unauthorized' ? 'refused' : 'failing';
    // Only a change of the kind of failure is logged.
    if (this.#trouble?.state !== state) {
      log.warn({ error: error.message }, `${headlines[state]}; work waits until it answers again`);
    }
    this.#trouble = { state, since: this.#trouble?.since ?? clock.now(), reason: error.message };
  }

  /** Probes the forge if a probe is due. */
  look(): void {
    const { breaker, probe, log } = this.#parts;
    if (this.#trouble !== undefined && breaker.state() === 'closed') {
      log.info({ since: this.#trouble.since.toISOString() }, 'the forge answers again; work continues');
      this.#trouble = undefined;
    }
    if (!breaker.isDue() || this.#isProbing) return;
    if (probe === undefined) {
      breaker.probed(true);
      return;
    }
    this.#isProbing = true;
    void this.#probe(probe);
  }

  state(): ForgeState {
    if (this.#parts.breaker.state() === 'closed') return { state: 'ok' };
    return this.#trouble ?? { state: 'ok' };
  }

  async #probe(ask: () => Promise<unknown>): Promise<void> {
    const { breaker, log, onAnswer } = this.#parts;
    try {
      await ask();
      breaker.probed(true);
    } catch (error) {
      const isHosts = error instanceof ReeveError && error.isHostFailure;
      if (isHosts) this.failed(error);
      else if (!isStopped(error)) log.debug({ error: messageOf(error) }, 'the forge answers a probe');
      breaker.probed(!isHosts && !isStopped(error));
    }
    this.#isProbing = false;
    if (breaker.state() !== 'open') onAnswer();
  }
}

const headlines = {
  failing: 'the forge fails',
  refused: 'the forge refuses our credential',
} as const;

function isStopped(error: unknown): boolean {
  return error instanceof ReeveError && error.code === 'stopped';
}
